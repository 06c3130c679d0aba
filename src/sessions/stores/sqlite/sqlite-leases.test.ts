import { afterAll, describe, expect, it } from 'vitest';
import { newPath, open } from '../../../../test/setup/sqlite-files.ts';
import { makeHarness } from '../../../testing/store-contract/store-harness.ts';
import type { SessionStore } from '../../session-store.ts';
import { bootId, machineMs } from '../machine-time.ts';
import { sqliteStore } from './index.ts';

const stores: SessionStore[] = [];
afterAll(() => Promise.all(stores.map((store) => store.close())));

/** Creates a session that a worker holds for ten minutes, then changes its row from another connection. */
async function heldAs(columns: string): Promise<{ id: string; store: SessionStore }> {
  const path = newPath();
  const [first, store] = [sqliteStore({ path }), sqliteStore({ path })];
  stores.push(first, store);
  const { id } = await makeHarness(first, 60).held();
  expect(await store.claim(id, { worker: 'other', ttlMs: 1_000 })).toBeNull();
  const db = await open(path);
  db.exec(`UPDATE sessions SET ${columns}`);
  db.close();
  return { id, store };
}

const now = machineMs();
const cases = [
  ['from another boot has expired', `lease_boot = 'another'`, true],
  [
    'with more time left than its length has expired, if the system has no boot id',
    `lease_boot = '', lease_end = lease_end + lease_ms`,
    true,
  ],
  ['is valid if the system has no boot id', `lease_boot = ''`, false],
  ['is valid by the monotonic clock, even if not by the wall clock', 'leased_until = 0', false],
  [
    'has expired by the monotonic clock, even if not by the wall clock',
    `lease_end = ${now - 1}`,
    true,
  ],
  [
    'of an earlier release has expired by the wall clock',
    `token = token + 1, leased_until = ${Date.now() - 1}`,
    true,
  ],
  [
    'of an earlier release is valid by the wall clock',
    `token = token + 1, lease_boot = 'another', lease_end = 0`,
    false,
  ],
] as const;

describe('a lease in a SQLite file', () => {
  it.each(cases)('%s', async (_what, columns, isOut) => {
    const { id, store } = await heldAs(columns);
    expect(await store.find(id)).toMatchObject({ isLeased: !isOut });
    const listed = await store.urgent({ agents: ['support'], limit: 9 });
    expect(listed).toEqual(isOut ? [id] : []);
    const claimed = await store.claim(id, { worker: 'other', ttlMs: 1_000 });
    expect(claimed?.worker).toBe(isOut ? 'other' : undefined);
  });

  it('has no more wait if the wait is from another boot', async () => {
    const { id, store } = await heldAs(`worker = NULL, wait_ms = 600000`);
    expect(await store.claim(id, { worker: 'other', ttlMs: 1_000 })).toBeNull();
    const other = await heldAs(`worker = NULL, wait_ms = 600000, lease_boot = 'another'`);
    const claimed = await other.store.claim(other.id, { worker: 'other', ttlMs: 1_000 });
    expect(claimed).toMatchObject({ worker: 'other' });
  });

  it.runIf(process.platform === 'linux')('gets the boot id from Linux', () => {
    expect(bootId).toMatch(/^[0-9a-f]{8}-[0-9a-f-]{27}$/);
  });
});
