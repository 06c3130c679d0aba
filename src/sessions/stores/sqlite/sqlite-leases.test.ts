import { afterAll, describe, expect, it } from 'vitest';
import { newPath, open } from '../../../../test/setup/sqlite-files.ts';
import { makeHarness } from '../../../testing/store-contract/store-harness.ts';
import type { SessionStore } from '../../session-store.ts';
import { bootId, machineMs } from '../machine-time.ts';
import { sqliteStore } from './index.ts';

const stores: SessionStore[] = [];
afterAll(() => Promise.all(stores.map((store) => store.close())));

/** A session that a worker holds for ten minutes, whose row is then as given; by another process. */
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
  ['of another start of the machine', `lease_boot = 'another'`, true],
  [
    'that has more left than it began with, where the system names no start',
    `lease_boot = '', lease_end = lease_end + lease_ms`,
    true,
  ],
  ['where the system names no start, and that is good', `lease_boot = ''`, false],
  ['that is good by the machine, though not by the wall clock', 'leased_until = 0', false],
  ['that has ended, though not by the wall clock', `lease_end = ${now - 1}`, true],
  [
    'of an earlier release, by the wall clock',
    `token = token + 1, leased_until = ${Date.now() - 1}`,
    true,
  ],
  [
    'of an earlier release that is good by the wall clock',
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

  it('a wait of another start of the machine is over', async () => {
    const { id, store } = await heldAs(`worker = NULL, wait_ms = 600000`);
    expect(await store.claim(id, { worker: 'other', ttlMs: 1_000 })).toBeNull();
    const other = await heldAs(`worker = NULL, wait_ms = 600000, lease_boot = 'another'`);
    const claimed = await other.store.claim(other.id, { worker: 'other', ttlMs: 1_000 });
    expect(claimed).toMatchObject({ worker: 'other' });
  });

  it.runIf(process.platform === 'linux')('Linux names the start of the machine', () => {
    expect(bootId).toMatch(/^[0-9a-f]{8}-[0-9a-f-]{27}$/);
  });
});
