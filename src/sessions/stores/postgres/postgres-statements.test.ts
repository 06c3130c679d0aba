import pg from 'pg';
import { describe, expect, it } from 'vitest';
import {
  aboutToPause,
  address,
  answer,
  newSchema,
  open,
  query,
  server,
} from '../../../../test/setup/postgres-stores.ts';
import {
  at,
  call,
  EXECUTION,
  leaseOf,
  line,
  makeHarness,
  message,
  root,
  step,
} from '../../../testing/store-contract/store-harness.ts';
import type { PoolLike, PostgresStoreOptions } from './index.ts';

const apply = ['remote_apply', 'remote_apply', 'remote_apply'];

describe('the statements of the PostgreSQL store', () => {
  /** Creates a pool that records the statements. */
  function noted(): { readonly pool: PoolLike; readonly sent: string[]; end(): Promise<void> } {
    const pool = new pg.Pool({ connectionString: server.url, max: 2 });
    const sent: string[] = [];
    const noting: PoolLike = {
      async connect() {
        const client = await pool.connect();
        return {
          query: (query) => {
            sent.push(query.text);
            return client.query(query);
          },
          on: (event, listener) => client.on(event, listener),
          removeListener: (event, listener) => client.removeListener(event, listener),
          release: (destroy) => client.release(destroy),
        };
      },
      on: (event, listener) => pool.on(event, listener),
      removeListener: (event, listener) => pool.removeListener(event, listener),
      end: () => pool.end(),
    };
    return { pool: noting, sent, end: () => pool.end() };
  }

  it('use one statement for a commit, and two for a refused one', async () => {
    const { pool, sent, end } = noted();
    const store = open({ pool });
    const { id, token, commit } = await aboutToPause(store);
    const count = async (work: Promise<unknown>): Promise<number> => {
      const before = sent.length;
      await work.catch(() => {});
      return sent.length - before;
    };
    const parts = { root: root(), messages: [message(0)], calls: [call('b', 'started')] };
    expect(await count(commit(parts))).toBe(1);
    expect(await count(store.decide(id, answer))).toBe(1);
    expect(await count(store.request(id, { pause: 'lunch' }))).toBe(1);
    expect(await count(commit({ calls: [call('b', 'started')] }))).toBe(2);
    const stale = { sessionId: id, token: token - 1, revision: 2, at: at(9) };
    expect(await count(store.commit(stale))).toBe(2);
    expect(await count(commit({ end: 'paused' }))).toBe(1);
    await end();
  });

  it('let a commit start and finish the same call, and write the same agent twice', async () => {
    const store = open();
    const { id, token, commit } = await makeHarness(store, 60).held();
    const agent = { executionId: EXECUTION, agentId: 'sub', callId: 'a', messageCount: 0 };
    await commit({
      calls: [call('a', 'waiting'), call('a', 'started'), call('a', 'committed', { result: '1' })],
      agents: [
        { ...agent, stepCount: 0, head: '"first"' },
        { ...agent, stepCount: 1, head: '"second"' },
      ],
    });
    expect(await line(store, id, 'a')).toMatchObject({ state: 'committed', starts: 1, token });
    expect(await store.agents(id, EXECUTION)).toMatchObject([{ head: '"second"', stepCount: 1 }]);
    const twice = commit({ calls: [call('b', 'started'), call('b', 'started')] });
    await expect(twice).rejects.toMatchObject({ code: 'conflict' });
    await commit({ calls: [call('b', 'started'), call('b', 'started', { again: true })] });
    expect(await line(store, id, 'b')).toMatchObject({ state: 'started', starts: 2 });
  });

  it('replace characters of a tool name that a column cannot hold', async () => {
    const store = open();
    const { id, commit } = await makeHarness(store, 60).held();
    await commit({ calls: [call('a', 'started', { tool: 'a\0b\ud800c' })] });
    expect(await line(store, id, 'a')).toMatchObject({ tool: 'a\ufffdb\ufffdc' });
  });

  it('keep nested agents of the last execution on prune, although their execution ids differ', async () => {
    const store = open();
    const { id, commit } = await aboutToPause(store);
    const agent = {
      executionId: EXECUTION,
      callId: 'a',
      head: '{}',
      messageCount: 1,
      stepCount: 1,
    };
    const rowsOf = (agentId: string) => ({
      messages: [message(0, { agentId })],
      steps: [step(0, { agentId, executionId: `own of ${agentId}` })],
    });
    await commit({ agents: [{ ...agent, agentId: 'old' }], ...rowsOf('old') });
    const later = { executionId: 'exe-2' };
    await commit({
      root: root(later),
      agents: [{ ...agent, ...later, agentId: 'new' }],
      ...rowsOf('new'),
    });
    await commit({ end: 'ended' });
    const { owner } = (await store.find(id))!;
    await store.prune({ olderThan: at(1000), owner });
    const left = async (agentId: string): Promise<number[]> => [
      (await store.messages(id, agentId)).length,
      (await store.steps(id, agentId)).length,
    ];
    expect([await left('old'), await left('new')]).toEqual([
      [0, 0],
      [1, 1],
    ]);
  });

  it.each<[string, PostgresStoreOptions['durability'], string, readonly string[]]>([
    ['power, the default, waits for the disk', undefined, 'off', ['on', 'on', 'on', 'off']],
    ['a stricter setting of the server stays', 'power', 'remote_apply', [...apply, 'off']],
    ['process waits only for a claim', 'process', 'on', ['off', 'on', 'off', 'off']],
    ['a given pool makes no difference', undefined, 'local', ['on', 'on', 'on', 'off']],
  ])('durability: %s; heartbeats never wait', async (name, durability, setting, expected) => {
    const own = newSchema();
    const connectionString = address({ options: `-c synchronous_commit=${setting}` });
    const pool = new pg.Pool({ connectionString, max: 2 });
    const store = open({
      ...(name.includes('pool') ? { pool } : { connectionString }),
      ...(durability && { durability }),
      schema: own,
    });
    await store.find('x');
    await query(`create table "${own}".seen (n serial, value text)`);
    await query(`create function "${own}".see() returns trigger language plpgsql as $$ begin
      insert into "${own}".seen (value) values (current_setting('synchronous_commit')); return null; end $$`);
    await query(`create constraint trigger see after update on "${own}".sessions
      deferrable initially deferred for each row execute function "${own}".see()`);
    const lease = await makeHarness(store, 60).held();
    await lease.commit({ messages: [message(0)] });
    await store.renew({ worker: lease.worker, ttlMs: 60_000, leases: [leaseOf(lease)] });
    const seen = await query<{ value: string }>(`select value from "${own}".seen order by n`);
    expect(seen.map(({ value }) => value)).toEqual(expected);
    await pool.end();
  });
});
