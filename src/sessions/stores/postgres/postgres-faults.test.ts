import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { address, open, query, schema, server } from '../../../../test/setup/postgres-stores.ts';
import { postgresProxy, type PostgresProxy } from '../../../../test/setup/postgres-proxy.ts';
import {
  command,
  fresh,
  leaseOf,
  makeHarness,
  message,
} from '../../../testing/store-contract/store-harness.ts';
import type { SessionStore } from '../../session-store.ts';
import type { PostgresStoreOptions } from './index.ts';

let proxy: PostgresProxy;
beforeEach(async () => {
  await open().find('x'); // create the tables
  proxy = await postgresProxy(address());
});
afterEach(() => proxy.close());

const STATEMENT_MS = 400;
const behind = (options: PostgresStoreOptions = {}): SessionStore =>
  open({ connectionString: proxy.url, statementTimeoutMs: STATEMENT_MS, ...options });

const isCommit = /write_commits/;
const isClaim = /nextval/;
const isRenewal = /skip locked/;
const isFind = /"isLeased".*where s\.id = \$1$/s;

async function took(work: Promise<unknown>): Promise<number> {
  const from = performance.now();
  await work.catch(() => {});
  return performance.now() - from;
}

describe('a commit without an answer', () => {
  it.each([
    ['is interrupted before it arrives', 'cut'],
    ['runs, and the connection breaks', 'lose'],
    ['does not arrive, and the connection goes silent', 'silence'],
    ['runs, and the connection goes silent', 'swallow'],
  ] as const)('%s: rejects in time, and the same commit is written once', async (_, effect) => {
    const store = behind();
    const { id, next } = await makeHarness(store, 60).held();
    proxy.arm({ effect, on: isCommit });
    const commit = next({ messages: [message(0)] });
    await expect(store.commit(commit)).rejects.toMatchObject({ code: 'store_failed' });
    expect(await store.commit(commit)).toMatchObject({ phase: 'open' });
    expect(await store.commit(commit)).toMatchObject({ phase: 'open' });
    expect(await store.messages(id, '')).toEqual([message(0)]);
    expect(await store.find(id)).toMatchObject({ revision: 1 });
  });

  it('is ignored if it reaches the server after it was sent again', async () => {
    const store = behind();
    const { id, next, commit } = await makeHarness(store, 60).held();
    const first = next({ messages: [message(0)] });
    await commit({ messages: [message(0)] });
    await commit({ messages: [message(1)] });
    expect(await open().commit(first)).toMatchObject({ phase: 'open' });
    expect(await store.messages(id, '')).toEqual([message(0), message(1)]);
  });
});

describe('a connection that goes silent', () => {
  it('is never used again, and reads are repeated on another one', async () => {
    const store = behind();
    const { id } = await makeHarness(store, 60).idle();
    proxy.arm({ effect: 'silence', on: isFind });
    expect(await store.find(id)).toMatchObject({ id });
    proxy.arm({ effect: 'swallow', on: isFind });
    expect(await store.find(id)).toMatchObject({ id });
  });

  it('makes the store replace all idle connections', async () => {
    const store = behind();
    await Promise.all(Array.from({ length: 10 }, () => store.find('x')));
    expect(proxy.connections).toBeGreaterThan(5);
    proxy.silenceAll();
    expect(await store.find('x')).toBeNull();
    expect(await took(store.list({ limit: 1 }))).toBeLessThan(STATEMENT_MS);
    expect(await makeHarness(store, 60).idle()).toMatchObject({ agent: 'support' });
  });

  it('does not block a stop request', async () => {
    const store = behind();
    const { id } = await makeHarness(store, 60).held();
    proxy.silenceAll();
    expect(await store.request(id, { stop: 'enough' })).toBe('open');
    expect(await store.find(id)).toMatchObject({ stopReason: 'enough' });
  });

  it('does not prevent the store from closing', async () => {
    const store = behind({ statementTimeoutMs: 60_000 });
    const { id, next } = await makeHarness(store, 60).held();
    proxy.arm({ effect: 'silence', on: isCommit });
    const lost = store.commit(next({ messages: [message(0)] })).catch((error: unknown) => error);
    await expect.poll(() => proxy.statements.some((text) => isCommit.test(text))).toBe(true);
    const waiting = store.request(id, { stop: 'behind it' }).catch((error: unknown) => error);
    await store.close();
    expect(await lost).toMatchObject({ code: 'store_failed' });
    expect(await waiting).toMatchObject({ code: 'store_failed' });
  });

  it('rejects in time while it is opened, and the next call opens a new one', async () => {
    const own = behind({ connectTimeoutMs: 300 });
    proxy.refuse();
    await expect(own.find('x')).rejects.toMatchObject({ code: 'store_failed' });
    proxy.accept();
    expect(await own.find('x')).toBeNull();
  });
});

describe('a renewal', () => {
  it('is sent again on another connection if its answer is lost', async () => {
    const store = behind();
    const lease = await makeHarness(store, 60).held();
    proxy.arm({ effect: 'swallow', on: isRenewal });
    const { worker } = lease;
    const renewed = await store.renew({ worker, ttlMs: 1_500, leases: [leaseOf(lease)] });
    expect(renewed).toMatchObject([{ sessionId: lease.id }]);
  });

  it.each([
    ['its own', () => behind({ poolSize: 2, statementTimeoutMs: 5_000 })],
    ['a shared', () => open({ pool: sharedPool(2), statementTimeoutMs: 5_000 })],
  ])(
    'waits neither for a locked row nor for work that occupies all other connections of %s pool',
    async (_whose, opened) => {
      const store = opened();
      const harness = makeHarness(store, 60);
      const worker = fresh('wrk');
      const leases = [await harness.held({ worker }), await harness.held({ worker })];
      const [locked, other] = leases as [(typeof leases)[0], (typeof leases)[0]];
      const busy = [await harness.idle(), await harness.idle()];
      const client = await lock(locked.id, ...busy.map(({ id }) => id));
      try {
        const pending = busy.map(({ id }) => store.accept(id, command(), { phases: ['idle'] }));
        const renewal = { worker, ttlMs: 60_000, leases: leases.map(leaseOf) };
        let settled = 0;
        for (const one of pending) void one.finally(() => (settled += 1)).catch(() => {});
        const renewed = await store.renew(renewal);
        expect(settled).toBe(0);
        expect(renewed).toHaveLength(2);
        expect(renewed.find(({ sessionId }) => sessionId === other.id)).not.toHaveProperty(
          'isBusy',
        );
        expect(renewed.find(({ sessionId }) => sessionId === locked.id)).toMatchObject({
          isBusy: true,
          token: locked.token,
        });
        expect(await store.signals(worker)).toHaveLength(2);
        await client.unlock();
        await Promise.all(pending);
        for (const lease of await store.renew(renewal)) expect(lease).not.toHaveProperty('isBusy');
      } finally {
        await client.unlock();
      }
    },
  );
});

describe('a row that stays locked', () => {
  it('blocks only its own session, and its statements time out before their connections do', async () => {
    const store = open({ poolSize: 2, statementTimeoutMs: 2_000 });
    const harness = makeHarness(store, 60);
    const [locked, free] = [await harness.idle(), await harness.idle()];
    const client = await lock(locked.id);
    try {
      const sends = Array.from({ length: 6 }, () =>
        store.accept(locked.id, command(), { phases: ['idle'] }).catch((error: unknown) => error),
      );
      let settled = 0;
      for (const send of sends) void send.then(() => (settled += 1));
      await store.accept(free.id, command(), { phases: ['idle'] });
      expect(settled).toBe(0);
      expect(await sends[0]).toMatchObject({ code: 'store_failed', details: { code: '55P03' } });
      // a claim of a locked session is not an error
      await client.unlock();
      await Promise.all(sends);
    } finally {
      await client.unlock();
    }
  });

  it('cannot be deleted, and delete rejects after the lock timeout', async () => {
    const store = open({ statementTimeoutMs: 500 });
    const { id } = await makeHarness(store, 60).idle();
    const client = await lock(id);
    await expect(store.delete(id)).rejects.toMatchObject({ details: { code: '55P03' } });
    await client.unlock();
    expect(await store.delete(id)).toBe(true);
  });

  it('cannot be claimed', async () => {
    const store = open({ statementTimeoutMs: 500 });
    const { id } = await makeHarness(store, 60).open();
    const client = await lock(id);
    expect(await store.claim(id, { worker: 'w', ttlMs: 1_000 })).toBeNull();
    await client.unlock();
    expect(await store.claim(id, { worker: 'w', ttlMs: 1_000 })).toMatchObject({ id });
  });
});

describe('a claim whose answer is lost', () => {
  it.each(['lose', 'swallow'] as const)('is found by its worker (%s)', async (effect) => {
    const store = behind();
    const { id } = await makeHarness(store, 60).open();
    proxy.arm({ effect, on: isClaim });
    const claim = store.claim(id, { worker: 'w', ttlMs: 60_000 });
    await expect(claim).rejects.toMatchObject({ code: 'store_failed' });
    expect(await store.find(id)).toMatchObject({ worker: 'w', isLeased: true });
  });
});

/** Creates a pool that the program shares with the store. */
function sharedPool(max: number): pg.Pool {
  const pool = new pg.Pool({ connectionString: server.url, max });
  onTestFinished(() => pool.end());
  return pool;
}

/** Locks rows as a transaction of another program would. */
async function lock(...ids: readonly string[]): Promise<{ unlock(): Promise<void> }> {
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  await client.query('begin');
  await client.query(`select from "${schema}".sessions where id = any($1) for update`, [ids]);
  let isLocked = true;
  const unlock = async (): Promise<void> => {
    if (!isLocked) return;
    isLocked = false;
    await client.end();
    await query('select 1');
  };
  onTestFinished(unlock);
  return { unlock };
}
