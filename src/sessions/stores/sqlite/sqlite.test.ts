import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  at,
  folder,
  held,
  message,
  newPath,
  open,
  session,
} from '../../../../test/setup/sqlite-files.ts';
import { sessionStoreContract } from '../../../testing/session-store-contract.ts';
import type { SqliteDatabase } from './sqlite-database.ts';
import { sqliteStore } from './index.ts';

const shared = sqliteStore({ path: join(folder, 'shared.db') });
afterAll(() => shared.close());

describe('the contract of the SQLite store', () => {
  for (const { name, run } of sessionStoreContract(() => shared)) it(name, run);
});

describe('concurrent commits', () => {
  it('are not affected by one that is refused or fails', async () => {
    const path = newPath();
    const store = sqliteStore({ path });
    const nexts = await Promise.all(Array.from({ length: 300 }, (_, n) => held(store, `s${n}`)));
    await Promise.all(nexts.map((next) => store.commit(next({ messages: [message(0)] }))));
    const secret = 'a body that no error may show';
    const outcomes = await Promise.allSettled(
      nexts.map((next, n) => {
        if (n === 7) return store.commit({ ...next(), token: 1_000_000, messages: [message(1)] });
        const steps = [{ agentId: '', position: 0, executionId: 'e', body: secret, mark: '{}' }];
        return store.commit(next({ steps, messages: [message(n === 9 ? 0 : 1, secret)] }));
      }),
    );
    const bad = outcomes.flatMap((outcome, n) => (outcome.status === 'rejected' ? [n] : []));
    expect(bad).toEqual([7, 9]);
    expect(outcomes[7]).toMatchObject({
      reason: { code: 'stale_owner', details: { sessionId: 's7', token: 1_000_000 } },
    });
    const { reason } = outcomes[9] as PromiseRejectedResult;
    expect(reason).toMatchObject({ code: 'store_failed', cause: expect.any(Error) });
    expect(reason.message).toMatch(/commit/);
    expect(`${reason.message} ${JSON.stringify(reason.details)} ${reason.cause}`).not.toContain(
      secret,
    );
    for (const [n] of nexts.entries()) {
      const isBad = bad.includes(n);
      expect(await store.messages(`s${n}`, '')).toHaveLength(isBad ? 1 : 2);
      expect(await store.steps(`s${n}`, '')).toHaveLength(isBad ? 0 : 1);
      expect(await store.find(`s${n}`)).toMatchObject({ revision: isBad ? 1 : 2 });
    }
    await store.close();
  });

  it('of one session are written in order', async () => {
    const next = await held(shared, 'in-order');
    await Promise.all(
      Array.from({ length: 50 }, (_, n) => shared.commit(next({ messages: [message(n)] }))),
    );
    expect(await shared.find('in-order')).toMatchObject({ revision: 50 });
  });

  it('D38: write a number of bytes to disk that does not grow with the history', async () => {
    const path = newPath();
    const store = sqliteStore({ path });
    const next = await held(store, 's');
    const db = await open(path);
    db.exec('PRAGMA wal_autocheckpoint = 0');
    const pages = (): number =>
      (db.prepare('PRAGMA wal_checkpoint(PASSIVE)').get() as { log: number }).log;
    const written = async (from: number): Promise<number> => {
      const before = pages();
      for (let n = from; n < from + 20; n++)
        await store.commit(next({ messages: [message(n, `"${'x'.repeat(300)}"`)] }));
      return pages() - before;
    };
    const early = await written(0);
    for (let n = 20; n < 1500; n++) await store.commit(next({ messages: [message(n)] }));
    const late = await written(1500);
    expect(early).toBeGreaterThan(0);
    expect(late).toBeLessThan(early * 1.5);
    db.close();
    await store.close();
  });
});

describe('a history that spreads over many eras', () => {
  const path = newPath();
  const store = sqliteStore({ path });
  const step = (position: number, executionId: string) => ({
    agentId: '',
    position,
    executionId,
    body: `"step ${position}"`,
    mark: '{}',
  });
  let others: SqliteDatabase;
  beforeAll(async () => {
    const next = await held(store, 's');
    others = await open(path);
    const pass = others.prepare(`INSERT INTO events (era, session, execution_id, seq, type, body)
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 700) SELECT ?, -1, 'x', i, 't', '' FROM n`);
    for (let n = 0; n < 12; n++) {
      const executionId = n < 6 ? 'first' : 'second';
      const event = { executionId, seq: (n % 6) + 1, type: 'AgentStateUpdated', body: `"${n}"` };
      await store.commit(
        next({
          messages: [message(2 * n), { ...message(2 * n + 1), role: 'assistant' }],
          steps: [step(n, executionId)],
          events: [event],
          seq: event.seq,
          ...(n === 11 && { done: 1, end: 'ended' }),
        }),
      );
      pass.run(-n); // writes of other sessions in between
    }
  });
  afterAll(() => {
    others.close();
    return store.close();
  });
  const rowsOf = (table: string): number =>
    (others.prepare(`SELECT count(*) AS n FROM ${table} WHERE session > 0`).get() as { n: number })
      .n;

  it('is read as one history', async () => {
    expect(rowsOf('eras')).toBeGreaterThan(5);
    const places = async (range?: object): Promise<number[]> =>
      (await store.messages('s', '', range)).map(({ position }) => position);
    expect(await places()).toEqual(Array.from({ length: 24 }, (_, i) => i));
    expect(await places({ limit: 3 })).toEqual([21, 22, 23]);
    expect(await places({ before: 10, limit: 4 })).toEqual([6, 7, 8, 9]);
    expect(await places({ from: 20 })).toEqual([20, 21, 22, 23]);
    expect(await places({ role: 'assistant', limit: 2 })).toEqual([21, 23]);
    expect(await places({ role: 'user', before: 9, limit: 1 })).toEqual([8]);
    const steps = await store.steps('s', '', { executionId: 'second', limit: 2 });
    expect(steps.map(({ position }) => position)).toEqual([10, 11]);
    const log = await store.events('s', 'second', { after: 2, limit: 3 });
    expect(log.map(({ seq, body }) => [seq, body])).toEqual([
      [3, '"8"'],
      [4, '"9"'],
      [5, '"10"'],
    ]);
  });

  it('is forked, pruned and deleted completely', async () => {
    const { rows } = await store.size('s');
    expect(rows).toBe(1 + 24 + 12 + 12);
    await store.fork('s', {
      ...session('fork'),
      messageCount: 10,
      stepCount: 5,
      executionId: 'second',
    });
    expect(await store.messages('fork', '')).toHaveLength(10);
    expect(await store.steps('fork', '')).toHaveLength(5);
    const later = '2027-01-01T00:00:00.000Z';
    // 12 events and the steps of the first execution of the session, and all steps of the fork
    expect(await store.prune({ olderThan: later })).toEqual({ sessions: 2, rows: 12 + 6 + 5 });
    expect(await store.messages('s', '')).toHaveLength(24);
    await store.delete('s');
    await store.delete('fork');
    for (const table of ['messages', 'steps', 'events', 'eras']) expect(rowsOf(table)).toBe(0);
  });
});

describe('closing', () => {
  it('finishes pending writes, then rejects new calls', async () => {
    const path = newPath();
    const store = sqliteStore({ path });
    const next = await held(store, 's');
    const writes = Array.from({ length: 10 }, (_, n) =>
      store.commit(next({ messages: [message(n)] })),
    );
    const closed = store.close();
    await Promise.all([...writes, closed, store.close()]);
    for (const call of [store.find('s'), store.commit(next()), store.prune({ olderThan: at })])
      await expect(call).rejects.toMatchObject({
        code: 'store_failed',
        message: expect.stringContaining('closed'),
      });
    const again = sqliteStore({ path });
    expect(await again.messages('s', '')).toHaveLength(10);
    await again.close();
  });

  it('waits for a file that is being opened, and creates none', async () => {
    const store = sqliteStore({ path: newPath() });
    const made = store.create(session('s'));
    await store.close();
    expect(await made).toBe(true);
    const unused = newPath();
    await sqliteStore({ path: unused }).close();
    expect(existsSync(unused)).toBe(false);
  });
});

it('checks options, and exposes codec and maxBytes to the runtime', () => {
  expect(() => sqliteStore({ path: '' })).toThrow('path');
  expect(() => sqliteStore({ path: 'x', durability: 'full' as never })).toThrow('durability');
  expect(() => sqliteStore({ path: 'x', busyTimeoutMs: -1 })).toThrow('busyTimeoutMs');
  expect(() => sqliteStore({ path: 'x', maxBytes: 0 })).toThrow('maxBytes');
  const codec = { encode: (text: string) => text, decode: (text: string) => text };
  expect(sqliteStore({ path: 'x', codec, maxBytes: 9 })).toMatchObject({ codec, maxBytes: 9 });
});
