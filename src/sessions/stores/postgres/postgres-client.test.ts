import { setTimeout as wait } from 'node:timers/promises';
import { expect, it, vi } from 'vitest';
import { inTransaction, onClient, type PoolClientLike, type PoolLike } from './postgres-client.ts';

const deadlines = { connectMs: 20, statementMs: 1_234, aborts: new Set<(error: Error) => void>() };

function poolOf(connect: PoolLike['connect']): PoolLike {
  return { connect, on() {}, removeListener() {}, end: async () => {} };
}

function clientThat(query: PoolClientLike['query'] = async () => ({ rows: [] })) {
  return { query: vi.fn(query), release: vi.fn(), on() {}, removeListener() {} };
}

it('stops waiting for a pool that gives no connection, and releases a late one', async () => {
  const client = clientThat();
  let give = (_client: PoolClientLike): void => {};
  const pool = poolOf(() => new Promise((resolve) => (give = resolve)));
  await expect(onClient(pool, deadlines, async () => 'done')).rejects.toThrow('connection');
  give(client);
  await wait(1);
  expect(client.release).toHaveBeenCalledTimes(1);
  expect(client.query).not.toHaveBeenCalled();
});

it('begins a transaction with read committed isolation and an idle timeout on the server', async () => {
  const client = clientThat();
  const pool = poolOf(async () => client);
  expect(await inTransaction(pool, deadlines, ['set local x = 1'], async () => 'done')).toBe(
    'done',
  );
  expect(client.query.mock.calls.map(([{ text }]) => text)).toEqual([
    'begin isolation level read committed; set local idle_in_transaction_session_timeout = 1234; set local x = 1',
    'commit',
  ]);
});
