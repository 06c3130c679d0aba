import { readFileSync, statSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  at,
  makeHarness,
  message,
  root,
  step,
  event,
} from '../../../testing/store-contract/store-harness.ts';
import { newPath, oldFile } from '../../../../test/setup/sqlite-files.ts';
import { lockedBy } from '../../../../test/setup/sqlite-lock.ts';
import type { SessionStore } from '../../session-store.ts';
import { sqliteStore } from './index.ts';

const olderThan = at(500);

/** Counts the occurrences of the text in all files of the database. */
function copies(path: string, canary: string): number {
  return [path, `${path}-wal`, `${path}-shm`].reduce((sum, file) => {
    try {
      return sum + readFileSync(file).toString('latin1').split(canary).length - 1;
    } catch {
      return sum;
    }
  }, 0);
}

/** Creates texts of different lengths, so that they lie inside pages, across pages and on their own pages. */
const text = (canary: string, times: number): string => JSON.stringify(`${canary} `.repeat(times));

/** Creates a finished session with the canary in every text. */
async function filled(store: SessionStore, canary: string, times: number): Promise<string> {
  const harness = makeHarness(store, 60);
  const body = text(canary, times);
  const owner = 'o';
  const { id } = await harness.idle({ owner, head: body });
  const sent = { kind: 'message', executionId: 'exe-1', body, at: at(1) } as const;
  await store.accept(id, sent, { phases: ['idle'] });
  const held = await harness.take(id);
  const done = (await store.nextCommand(id))!.number;
  for (let n = 0; n < 4; n++)
    await held.commit({
      root: root({ head: body, messageCount: n + 1, stepCount: n + 1 }),
      seq: n + 1,
      messages: [message(n, { body })],
      steps: [step(n, { body, mark: body })],
      events: [event(n + 1, { body })],
      blobs: [{ scope: 'exe-1', hash: `h${n}`, body }],
      calls: [
        { executionId: 'exe-1', callId: `c${n}`, tool: 't', state: 'committed', result: body },
      ],
      ...(n === 0 && { done }),
    });
  await held.commit({
    root: root({ head: '{}', executionId: 'exe-2' }),
    end: 'ended',
    at: at(100),
  });
  return id;
}

const sizes = [1, 20, 300, 3_000];

async function open(path = newPath()): Promise<{ path: string; store: SessionStore }> {
  const store = sqliteStore({ path });
  onTestFinished(() => store.close());
  return { path, store };
}

/** Alternates sessions with and without the canary, so that they share pages. */
async function mixed(store: SessionStore, canary: string): Promise<string[]> {
  const ids: string[] = [];
  for (const times of [...sizes, ...sizes]) {
    ids.push(await filled(store, canary, times));
    await makeHarness(store, 60).idle({ head: text('bystander', times) });
  }
  return ids;
}

describe('deleted data', () => {
  it.each<[string, (store: SessionStore, ids: readonly string[]) => Promise<unknown>]>([
    ['delete', (store, ids) => Promise.all(ids.map((id) => store.delete(id)))],
    [
      'delete, one by one',
      async (store, ids) => {
        for (const id of ids) await store.delete(id);
      },
    ],
    ['expire', (store) => store.expire({ olderThan, owner: 'o' })],
  ])('is in none of the files after %s, and its space is freed', async (_name, drop) => {
    const { path, store } = await open();
    const canary = 'CANARY-4711';
    const ids = await mixed(store, canary);
    await store.close();
    const before = statSync(path).size;
    expect(copies(path, canary)).toBeGreaterThan(10_000);

    const { store: again } = await open(path);
    await drop(again, ids);
    expect(copies(path, canary)).toBe(0);
    expect(statSync(path).size).toBeLessThan(before / 2);
    expect(copies(path, 'bystander')).toBeGreaterThan(6_000);
  });

  it('is in none of the files after prune', async () => {
    const { path, store } = await open();
    const harness = makeHarness(store, 60);
    const held = await harness.held();
    const body = text('CANARY-4712', 3_000);
    const done = (await store.nextCommand(held.id))!.number;
    await held.commit({
      root: root(),
      seq: 9,
      events: [event(9, { body })],
      steps: [step(0, { body })],
    });
    await held.commit({ root: root({ executionId: 'exe-2' }), done, end: 'ended', at: at(100) });
    expect(copies(path, 'CANARY-4712')).toBeGreaterThan(0);
    const grown = statSync(path).size + statSync(`${path}-wal`).size;
    expect(await store.prune({ olderThan })).toMatchObject({ sessions: 1 });
    expect(copies(path, 'CANARY-4712')).toBe(0);
    expect(statSync(path).size + statSync(`${path}-wal`).size).toBeLessThan(grown);
  });

  it('includes the command of a message that was carried out', async () => {
    const { path, store } = await open();
    const harness = makeHarness(store, 60);
    const { id } = await harness.idle();
    const body = text('CANARY-4713', 4_000);
    await store.accept(
      id,
      { kind: 'message', executionId: 'e', body, at: at(1) },
      { phases: ['idle'] },
    );
    const held = await harness.take(id);
    const done = (await store.nextCommand(id))!.number;
    await held.commit({ root: root(), done, end: 'ended', at: at(2) });
    const other = await harness.idle();
    await store.delete(other.id); // empties the log
    expect(copies(path, 'CANARY-4713')).toBe(0);
  });

  it('stays in the log while another process reads an old state, until the next deletion', async () => {
    const { path, store } = await open();
    const id = await filled(store, 'CANARY-4714', 300);
    const lock = await lockedBy(path, 'BEGIN; SELECT count(*) FROM sessions');
    await store.delete(id);
    expect(await store.find(id)).toBeNull();
    expect(copies(path, 'CANARY-4714')).toBeGreaterThan(0);
    await lock.release();
    const next = await makeHarness(store, 60).idle();
    await store.delete(next.id);
    expect(copies(path, 'CANARY-4714')).toBe(0);
  });

  it('is removed even if the store is closed immediately', async () => {
    const { path, store } = await open();
    const id = await filled(store, 'CANARY-4715', 300);
    const deleting = store.delete(id);
    await Promise.all([deleting, store.close()]);
    expect(copies(path, 'CANARY-4715')).toBe(0);
    const { store: again } = await open(path);
    expect(await again.find(id)).toBeNull();
  });
});

describe('files of an earlier release', () => {
  it('overwrite deleted data but keep their free pages', async () => {
    const path = oldFile();
    const { store } = await open(path);
    const id = await filled(store, 'CANARY-4716', 300);
    const size = statSync(path).size;
    await store.delete(id);
    expect(copies(path, 'CANARY-4716')).toBe(0);
    expect(statSync(path).size).toBeGreaterThanOrEqual(size);
  });
});
