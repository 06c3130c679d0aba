import { describe, expect, it } from 'vitest';
import { at, held, newPath, oldFile, session } from '../../../../test/setup/sqlite-files.ts';
import { lockedBy, watchLoop } from '../../../../test/setup/sqlite-lock.ts';
import type { SessionStore } from '../../session-store.ts';
import { sqliteStore } from './index.ts';

const busyTimeoutMs = 400;
/** A writer in the middle of a transaction. It does not block readers. */
const WRITER = 'BEGIN IMMEDIATE; DELETE FROM commands';
/** A process that blocks readers too. */
const ALONE =
  'PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE; DELETE FROM commands WHERE number < 0; COMMIT';
/** A file that is being created, before it has a write-ahead log. */
const NEW = 'BEGIN EXCLUSIVE; CREATE TABLE other (a)';

const locked = (operation: string, path: string): object => ({
  code: 'store_failed',
  message: expect.stringMatching(
    new RegExp(`at ${operation}.*locked.*400 ms.*${path}.*busyTimeoutMs`),
  ),
  details: { reason: 'busy', path },
});

describe('a file that another process locks', () => {
  const writes: [string, (store: SessionStore) => Promise<unknown>][] = [
    ['create', (store) => store.create(session('t'))],
    ['claim', (store) => store.claim('s', { worker: 'w', ttlMs: 1 })],
    [
      'renew',
      (store) => store.renew({ worker: 'w', ttlMs: 1, leases: [{ sessionId: 's', token: 1 }] }),
    ],
    ['request', (store) => store.request('s', { stop: 'now' })],
    ['delete', (store) => store.delete('s')],
    ['prune', (store) => store.prune({ olderThan: '2030-01-01T00:00:00.000Z' })],
  ];
  const reads: [string, (store: SessionStore) => Promise<unknown>][] = [
    ['find', (store) => store.find('s')],
    ['list', (store) => store.list({ limit: 9 })],
    ['messages', (store) => store.messages('s', '')],
    ['recoverable', (store) => store.recoverable({ agents: [{ agent: 'a' }], limit: 9 })],
    ['size', (store) => store.size('s')],
  ];

  it('makes a writer wait without blocking the event loop, then reject with a typed error', async () => {
    const path = newPath();
    const store = sqliteStore({ path, busyTimeoutMs });
    await store.create(session('s'));
    const lock = await lockedBy(path, WRITER);
    const loop = watchLoop();
    for (const [operation, write] of writes)
      await expect(write(store)).rejects.toMatchObject(locked(operation, path));
    for (const [, read] of reads) await read(store);
    expect(loop.blockedShare).toBeLessThan(0.5);
    loop.stop();
    const late = store.create(session('t'));
    await lock.release();
    expect(await late).toBe(true);
    await store.close();
  });

  it('makes a reader wait the same way', async () => {
    const path = oldFile();
    const lock = await lockedBy(path, ALONE);
    const loop = watchLoop();
    const store = sqliteStore({ path, busyTimeoutMs });
    for (const [, read] of reads)
      await expect(read(store)).rejects.toMatchObject(locked('open', path));
    expect(loop.blockedShare).toBeLessThan(0.5);
    const late = Promise.all(reads.map(([, read]) => read(store)));
    await lock.release();
    expect(await late).toHaveLength(reads.length);
    await store.close();
  });

  it('is opened once it is unlocked, even if it has no tables yet', async () => {
    const path = oldFile();
    const empty = `${path}-new`;
    const loop = watchLoop();
    for (const [file, sql] of [
      [path, ALONE],
      [empty, NEW],
    ] as const) {
      const lock = await lockedBy(file, sql);
      const store = sqliteStore({ path: file, busyTimeoutMs });
      await expect(store.find('s')).rejects.toMatchObject(locked('open', file));
      await lock.release();
      expect(await store.create(session('s'))).toBe(true);
      await store.close();
    }
    expect(loop.blockedShare).toBeLessThan(0.5);
  });

  it('is closed in time, and waiting operations are rejected', async () => {
    const path = newPath();
    const store = sqliteStore({ path, busyTimeoutMs });
    await store.create(session('s'));
    await lockedBy(path, WRITER);
    const waiting = store.create(session('t'));
    const loop = watchLoop();
    const closed = store.close();
    await expect(waiting).rejects.toMatchObject(locked('create', path));
    await closed;
    expect(loop.blockedShare).toBeLessThan(0.5);
  });

  it('delays commits without changing their order', async () => {
    const path = newPath();
    const store = sqliteStore({ path });
    const next = await held(store, 's');
    const lock = await lockedBy(path, WRITER);
    const commits = ['a', 'b', 'c'].map((body, position) =>
      store.commit(next({ at, messages: [{ agentId: '', position, role: 'user', body }] })),
    );
    setTimeout(() => void lock.release(), 100);
    await Promise.all(commits);
    expect((await store.messages('s', '')).map(({ body }) => body)).toEqual(['a', 'b', 'c']);
    await store.close();
  });
});
