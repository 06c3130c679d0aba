import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startPostgres, type TestPostgres } from '../../../test/setup/postgres.ts';
import { AgentError } from '../../errors/agent-error.ts';
import { sessionStoreContract } from '../../testing/session-store-contract.ts';
import { at, call, command, EXECUTION, fresh, line } from '../../testing/store-contract/rig.ts';
import {
  LONG_MS,
  makeRig,
  message,
  root,
  step,
  type Held,
} from '../../testing/store-contract/rig.ts';
import type { SessionStore } from '../session-store.ts';
import { postgresStore, type PoolLike, type PostgresStoreOptions } from './postgres.ts';

let server: TestPostgres;
/** A superuser's own connections, to look and to disturb. */
let admin: pg.Pool;
const opened: SessionStore[] = [];
const schemas: string[] = [];
/** Schemas of this run, which may share a server with others. */
const newSchema = (): string => {
  const schema = `test_${fresh('s').replaceAll('-', '').slice(0, 20)}`;
  schemas.push(schema);
  return schema;
};
const schema = newSchema();

/** The server's address, with more parameters. */
const address = (parameters: Record<string, string> = {}): string => {
  const url = new URL(server.url);
  for (const [name, value] of Object.entries({ application_name: schema, ...parameters }))
    url.searchParams.set(name, value);
  return url.href;
};
const open = (options: PostgresStoreOptions = {}): SessionStore => {
  const where = options.pool ? {} : { connectionString: address() };
  const store = postgresStore({ ...where, schema, ...options });
  opened.push(store);
  return store;
};
const query = async <Row extends pg.QueryResultRow>(text: string, values: unknown[] = []) =>
  (await admin.query<Row>(text, values)).rows;

beforeAll(async () => {
  server = await startPostgres();
  admin = new pg.Pool({ connectionString: server.url, application_name: 'admin' });
  admin.on('error', () => {});
}, 60_000);
afterAll(async () => {
  await Promise.all(opened.map((store) => store.close()));
  for (const name of schemas) await admin?.query(`drop schema if exists "${name}" cascade`);
  await admin?.end();
  await server?.stop();
}, 60_000);

/** Waits until as many connections of our stores wait for a lock. */
async function untilBlocked(count: number): Promise<number[]> {
  for (let tries = 0; tries < 1000; tries++) {
    const rows = await query<{ pid: number }>(
      `select pid from pg_stat_activity where application_name = $1 and wait_event_type = 'Lock'`,
      [schema],
    );
    if (rows.length === count) return rows.map(({ pid }) => pid);
    await wait(2);
  }
  throw new Error(`Never saw ${count} connections wait.`);
}

async function whileLocked<T>(
  sessionId: string,
  work: (unlock: () => Promise<unknown>) => Promise<T>,
): Promise<T> {
  const client = await admin.connect();
  try {
    await client.query('begin');
    await client.query(`select from "${schema}".sessions where id = $1 for update`, [sessionId]);
    return await work(() => client.query('commit'));
  } finally {
    client.release(true);
  }
}

/** Starts the works one after the other while the session is locked, so that each waits with an old view of it. */
const queued = async <T extends readonly (() => Promise<unknown>)[]>(
  sessionId: string,
  ...works: T
): Promise<{ [I in keyof T]: Awaited<ReturnType<T[I]>> }> =>
  whileLocked(sessionId, async (unlock) => {
    const running: Promise<unknown>[] = [];
    for (const work of works) {
      running.push(work());
      await untilBlocked(running.length);
    }
    await unlock();
    return (await Promise.all(running)) as never; // in the order of the works
  });

/** What a call says whose connection is ended while it waits. */
const cutOff = (sessionId: string, work: () => Promise<unknown>): Promise<unknown> =>
  whileLocked(sessionId, async () => {
    const pending = work().catch((error: unknown) => error);
    const [pid] = await untilBlocked(1);
    await query('select pg_terminate_backend($1)', [pid]);
    return pending;
  });

const answer = { executionId: EXECUTION, callId: 'a', body: '{"approved":true}', at: at(40) };

/** A held session with nothing left to do but a call that waits. */
async function aboutToPause(store: SessionStore): Promise<Held> {
  const held = await makeRig(store, 60).held();
  const { number: done } = (await store.nextCommand(held.id))!;
  await held.commit({ root: root(), done, calls: [call('a', 'waiting')] });
  return held;
}

describe('the PostgreSQL store keeps the contract', () => {
  for (const { name, run } of sessionStoreContract(() => open())) it(name, run);
});

describe('the contract also holds where the server isolates transactions more strictly', () => {
  const strict = (): SessionStore => {
    const connectionString = address({ options: '-c default_transaction_isolation=serializable' });
    return open({ connectionString, schema: newSchema() });
  };
  for (const { name, run } of sessionStoreContract(strict)) it(name, run);
});

describe('starting', () => {
  it('any number of stores may start at once on an empty database', async () => {
    const shared = newSchema();
    const stores = Array.from({ length: 16 }, () => open({ schema: shared, poolSize: 2 }));
    const owners = await Promise.all(
      stores.map(async (store) => (await makeRig(store, 60).idle()).owner),
    );
    for (const owner of owners)
      expect(await stores[0]!.list({ owner, limit: 9 })).toMatchObject([{ owner }]);
    expect(await query(`select version from "${shared}".migrations`)).toEqual([{ version: 1 }]);
  });

  it('refuses tables of a newer release, and says so, until it is that release', async () => {
    const newer = newSchema();
    await open({ schema: newer }).find('x');
    await query(`insert into "${newer}".migrations (version) values (99)`);
    const store = open({ schema: newer });
    await expect(store.find('x')).rejects.toMatchObject({
      code: 'store_failed',
      message: expect.stringMatching(/version 99.*Upgrade onward/) as string,
    });
    await query(`delete from "${newer}".migrations where version = 99`);
    expect(await store.find('x')).toBeNull();
  });

  it('no session has an id with a NUL character', async () => {
    expect(await open().find('a\0b')).toBeNull();
  });

  it('connects on first use', async () => {
    const store = postgresStore({ connectionString: 'postgres://127.0.0.1:1/none' });
    await store.close();
  });

  it.each(['', 'Onward', '1a', 'a-b', 'a"b', 'ä', 'a'.repeat(64)])(
    'refuses %j as schema',
    (name) => {
      expect(() => postgresStore({ schema: name })).toThrow(
        expect.objectContaining({ code: 'invalid_option' }),
      );
    },
  );

  it.each([
    [{ poolSize: 0 }, 'poolSize'],
    [{ maxBytes: -1 }, 'maxBytes'],
    [{ durability: 'disk' as 'power' }, 'durability'],
    [{ connectionString: 5 as unknown as string }, 'connectionString'],
  ])('refuses %j', (options, named) => {
    expect(() => postgresStore(options)).toThrow(named);
  });

  it('takes a word of SQL as schema', async () => {
    await query('drop schema if exists "select" cascade');
    schemas.push('select');
    const rig = makeRig(open({ schema: 'select' }), 60);
    const { commit } = await rig.held();
    expect(await commit({ messages: [message(0)] })).toMatchObject({ phase: 'open' });
  });

  it('needs no right to create anything once the tables are there', async () => {
    const made = newSchema();
    const role = `role_${made}`;
    await open({ schema: made }).find('x');
    await query(`create role ${role}`);
    try {
      await query(`grant usage on schema "${made}" to ${role}`);
      await query(`grant all on all tables in schema "${made}" to ${role}`);
      await query(`grant all on all sequences in schema "${made}" to ${role}`);
      const connectionString = address({ options: `-c role=${role}` });
      const store = open({ connectionString, schema: made });
      const { commit } = await makeRig(store, 60).held();
      await commit({ messages: [message(0)] });
      await store.close();
    } finally {
      await query(`drop owned by ${role}`);
      await query(`drop role ${role}`);
    }
  });
});

describe('races', () => {
  it('an answer that comes before a pause, in the queue for the session, keeps it open', async () => {
    const store = open();
    const { id, commit, worker } = await aboutToPause(store);
    const [given, receipt] = await queued(
      id,
      () => store.decide(id, answer),
      () => commit({ root: root({ status: 'paused' }), end: 'paused' }),
    );
    expect([given, receipt.phase]).toEqual(['accepted', 'open']);
    expect(await store.find(id)).toMatchObject({ phase: 'open', worker, isLeased: true });
  });

  it('an answer that comes after a pause opens the session again', async () => {
    const store = open();
    const { id, commit } = await aboutToPause(store);
    const [receipt, given] = await queued(
      id,
      () => commit({ root: root({ status: 'paused' }), end: 'paused' }),
      () => store.decide(id, answer),
    );
    expect([given, receipt.phase]).toEqual(['accepted', 'paused']);
    expect(await store.find(id)).toMatchObject({ phase: 'open', worker: null });
  });

  it('an answer to a call that the commit before it put down is taken', async () => {
    const store = open();
    const { id, commit } = await makeRig(store, 60).held();
    const pause = { root: root({ status: 'paused' }), calls: [call('a', 'waiting')] };
    const [, given] = await queued(
      id,
      () => commit({ ...pause, end: 'paused' }),
      () => store.decide(id, answer),
    );
    expect(given).toBe('accepted');
    expect(await store.find(id)).toMatchObject({ phase: 'open' });
  });

  it('an answer that a commit overtakes with a result holds up no later pause', async () => {
    const store = open();
    const { id, commit } = await aboutToPause(store);
    const [given] = await queued(
      id,
      () => store.decide(id, answer),
      () => commit({ calls: [call('a', 'committed', { result: '"aborted"' })] }),
    );
    expect(given).toBe('accepted');
    expect(await line(store, id, 'a')).toMatchObject({ state: 'committed', answer: answer.body });
    expect(await commit({ end: 'paused' })).toMatchObject({ phase: 'paused' });
  });

  it('a message that comes before an end, in the queue for the session, is not left lying', async () => {
    const store = open();
    const { id, commit, worker } = await aboutToPause(store);
    const [given, receipt] = await queued(
      id,
      () => store.accept(id, command('{"n":2}'), { phases: ['open'] }),
      () => commit({ root: root({ status: 'completed' }), end: 'ended' }),
    );
    expect([given, receipt.phase]).toEqual([{ accepted: true, phase: 'open' }, 'open']);
    expect(await store.find(id)).toMatchObject({ phase: 'open', worker, isLeased: true });
  });

  it('a message that comes after an end finds the session idle', async () => {
    const store = open();
    const { id, commit } = await aboutToPause(store);
    const [receipt, given] = await queued(
      id,
      () => commit({ root: root({ status: 'completed' }), end: 'ended' }),
      () => store.accept(id, command('{"n":2}'), { phases: ['open'] }),
    );
    expect([given, receipt.phase]).toEqual([{ accepted: false, phase: 'idle' }, 'idle']);
    expect(await store.nextCommand(id)).toBeNull();
  });

  it('a stop that comes before a pause, in the queue for the session, keeps it open', async () => {
    const store = open();
    const { id, commit } = await aboutToPause(store);
    const [, receipt] = await queued(
      id,
      () => store.request(id, { stop: 'enough' }),
      () => commit({ end: 'paused' }),
    );
    expect(receipt).toEqual({ phase: 'open', stopReason: 'enough', pauseReason: null });
  });

  it('a deletion takes along what a commit before it wrote, and the commit after it is stale', async () => {
    const store = open();
    const { id, commit, next } = await aboutToPause(store);
    const late = next({ messages: [message(1)] });
    const [, isGone] = await queued(
      id,
      () => commit({ messages: [message(0)], calls: [call('b', 'started')] }),
      () => store.delete(id),
    );
    expect(isGone).toBe(true);
    await expect(store.commit(late)).rejects.toMatchObject({ code: 'stale_owner' });
    expect(await store.size(id)).toEqual({ rows: 0, bytes: 0 });
  });

  it('200 answers against 200 pauses: no answer is lost', async () => {
    const [store, other] = [open(), open()];
    const seen = { open: 0, paused: 0, idle: 0 };
    const one = async (i: number): Promise<void> => {
      const { id, commit, worker } = await aboutToPause(store);
      const decide = async (): Promise<string> => {
        await wait(i % 3);
        return other.decide(id, answer);
      };
      const [given, receipt] = await Promise.all([
        decide(),
        commit({ root: root({ status: 'paused' }), end: 'paused' }),
      ]);
      expect(given).toBe('accepted');
      seen[receipt.phase]++;
      const isKept = receipt.phase === 'open';
      expect(await store.find(id)).toMatchObject({
        phase: 'open',
        worker: isKept ? worker : null,
        isLeased: isKept,
      });
      if (isKept) await commit({ calls: [call('a', 'started')] });
      else await (await makeRig(store, 60).take(id)).commit({ calls: [call('a', 'started')] });
    };
    for (let i = 0; i < 200; i += 8)
      await Promise.all(Array.from({ length: 8 }, (_, n) => one(i + n)));
    expect(seen.open + seen.paused).toBe(200);
  }, 60_000);

  it('200 messages against 200 ends: each is accepted and kept in work, or refused', async () => {
    const [store, other] = [open(), open()];
    const one = async (i: number): Promise<void> => {
      const { id, commit, worker } = await aboutToPause(store);
      const send = async (): ReturnType<SessionStore['accept']> => {
        await wait(i % 3);
        return other.accept(id, command('{"n":2}'), { phases: ['open'] });
      };
      const [given, receipt] = await Promise.all([
        send(),
        commit({ root: root({ status: 'completed' }), end: 'ended' }),
      ]);
      const isFirst = given?.accepted === true;
      expect(given).toEqual({ accepted: isFirst, phase: isFirst ? 'open' : 'idle' });
      expect(receipt.phase).toBe(isFirst ? 'open' : 'idle');
      expect(await store.find(id)).toMatchObject({
        phase: isFirst ? 'open' : 'idle',
        worker: isFirst ? worker : null,
      });
      expect((await store.nextCommand(id))?.body).toBe(isFirst ? '{"n":2}' : undefined);
    };
    for (let i = 0; i < 200; i += 8)
      await Promise.all(Array.from({ length: 8 }, (_, n) => one(i + n)));
  }, 60_000);

  it('a session claimed by 20 at once goes to one', async () => {
    const stores = [open(), open(), open(), open()];
    for (let round = 0; round < 10; round++) {
      const { id } = await makeRig(stores[0]!, 60).open();
      const claims = await Promise.all(
        Array.from({ length: 20 }, (_, i) =>
          stores[i % 4]!.claim(id, { worker: `w${i}`, ttlMs: LONG_MS }),
        ),
      );
      const won = claims.filter((row) => row !== null);
      expect(won).toHaveLength(1);
      expect(await stores[1]!.find(id)).toEqual(won[0]);
    }
  });

  it('everything at once on a few sessions ends in no deadlock and in no error', async () => {
    const deadlocks = async (): Promise<unknown> =>
      query(`select deadlocks from pg_stat_database where datname = current_database()`);
    const before = await deadlocks();
    const stores = [open(), open(), open()];
    const rig = makeRig(stores[0]!, 60);
    const ids = await Promise.all(Array.from({ length: 4 }, async () => (await rig.idle()).id));
    const tolerated = new Set<string>(['stale_owner', 'conflict']);
    const works: ((store: SessionStore, id: string) => Promise<unknown>)[] = [
      (store, id) => store.accept(id, command(), { phases: ['idle', 'open', 'paused'] }),
      (store, id) => store.decide(id, answer),
      (store, id) => store.request(id, { stop: 'enough' }),
      (store) => store.renew({ worker: 'w', ttlMs: 5 }),
      (store) => store.prune({ olderThan: at(1000) }),
      (store, id) => store.fork(id, { ...forked, id: fresh('ses') }),
      async (store, id) => {
        const row = await store.claim(id, { worker: 'w', ttlMs: 5 });
        if (!row) return;
        const commit = { sessionId: id, token: row.token, at: at(5), root: root() };
        const done = (await store.nextCommand(id))?.number;
        const first = { ...commit, revision: row.revision, calls: [call('a', 'waiting')] };
        await store.commit(done === undefined ? first : { ...first, done });
        await store.commit({ ...commit, revision: row.revision + 1, end: 'paused' });
      },
    ];
    const until = Date.now() + 1500;
    const run = async (n: number): Promise<void> => {
      for (let i = n; Date.now() < until; i += 7) {
        const work = works[i % works.length]!(stores[n % 3]!, ids[(i * 3 + n) % 4]!);
        await work.catch((error: unknown) => {
          if (!AgentError.is(error) || !tolerated.has(error.code)) throw error;
        });
        await wait(Math.random() * 3);
      }
    };
    await Promise.all(Array.from({ length: 14 }, (_, n) => run(n)));
    expect(await deadlocks()).toEqual(before);
  }, 30_000);
});

const forked = {
  owner: 'o',
  agent: 'support',
  status: 'stopped',
  executionId: EXECUTION,
  head: '{}',
  messageCount: 3,
  stepCount: 2,
  createdAt: at(200),
} as const;

describe('connections', () => {
  it('a connection that is ended makes its call reject; the next call works, and the same commit too', async () => {
    const store = open();
    const { id, next } = await aboutToPause(store);
    const commit = next({ messages: [message(0)] });
    expect(await cutOff(id, () => store.commit(commit))).toMatchObject({
      code: 'store_failed',
      message: expect.stringContaining('could not commit') as string,
    });
    expect(await store.messages(id, '')).toEqual([]);
    await store.commit(commit);
    expect(await store.messages(id, '')).toEqual([message(0)]);
  });

  it('a connection that is ended in a transaction makes its call reject; the next one works', async () => {
    const store = open();
    const { id } = await makeRig(store, 60).idle();
    expect(await cutOff(id, () => store.delete(id))).toMatchObject({ code: 'store_failed' });
    expect(await store.delete(id)).toBe(true);
  });

  it('idle connections that are ended disturb nobody', async () => {
    const store = open();
    await Promise.all(Array.from({ length: 5 }, () => store.find('x')));
    await query(
      `select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1 and state = 'idle'`,
      [schema],
    );
    await wait(100);
    expect(await store.find('x')).toBeNull();
  });

  it.each([
    ['a refused connection', 'postgres://bob:hunter2secret@127.0.0.1:1/db', 'ECONNREFUSED'],
    ['an address that is none', 'postgres://bob:hunter2secret@:x/db', 'ERR_INVALID_URL'],
    ['the style of libpq', 'host=127.0.0.1 user=bob password=hunter2secret', ''],
  ])('secrets of the connection string are in no error: %s', async (_, connectionString, code) => {
    const store = open({ connectionString });
    const error: unknown = await store.find('x').catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'store_failed' });
    expect((error as Error).message).toContain(`could not find a session: ${code}`);
    expect(everythingIn(error)).not.toContain('hunter2');
  });

  it('secrets and names of a refused login are in no message', async () => {
    const url = new URL(server.url);
    url.username = 'nobody_we_know';
    url.password = 'hunter2secret';
    url.pathname = '/no_such_database';
    const store = open({ connectionString: url.href });
    const error: unknown = await store.find('x').catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'store_failed' });
    expect((error as Error).message).toMatch(/the server (refused the login|has no such database)/);
    expect((error as Error).message).not.toContain('nobody_we_know');
    expect(everythingIn(error)).not.toContain('hunter2');
  });

  it.each([
    ['a NUL character', 'a secret body\0'],
    ['half a character', 'a secret body\ud800'],
  ])('%s is refused, and the body is in no error', async (_, body) => {
    const store = open();
    const { id, commit } = await makeRig(store, 60).held();
    const error: unknown = await commit({ messages: [message(0, { body })] }).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toMatchObject({ code: 'store_failed' });
    expect(everythingIn(error)).not.toContain('secret');
    expect(await store.find(id)).toMatchObject({ revision: 0 });
  });

  it('a place that is taken is refused, nothing of the commit is written, and no body is in the error', async () => {
    const store = open();
    const { id, commit } = await makeRig(store, 60).held();
    await commit({ messages: [message(0)] });
    const twice = commit({ steps: [step(0)], messages: [message(0, { body: '"secret"' })] });
    const error: unknown = await twice.catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'store_failed', details: { code: '23505' } });
    expect(everythingIn(error)).not.toContain('secret');
    expect(await store.steps(id, '')).toEqual([]);
    expect(await store.find(id)).toMatchObject({ revision: 1 });
  });

  it('a pool that was given is used, and stays open', async () => {
    const pool = new pg.Pool({ connectionString: server.url, max: 2 });
    const store = open({ pool });
    const { commit } = await makeRig(store, 60).held();
    await commit({ messages: [message(0)] });
    expect(pool.totalCount).toBeGreaterThan(0);
    await store.close();
    await expect(store.find('x')).rejects.toMatchObject({ code: 'store_failed' });
    expect(pool.listenerCount('error')).toBe(0);
    expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
    await pool.end();
    expect(() => postgresStore({ pool, connectionString: 'x' })).toThrow('not both');
  });

  it('a closed store says so, also when it is closed twice; what runs is finished first', async () => {
    const store = open();
    await store.find('x');
    const running = store.list({ limit: 1 });
    await Promise.all([store.close(), store.close()]);
    expect(await running).toBeInstanceOf(Array);
    for (const late of [store.find('x'), store.delete('x'), store.list({ limit: 1 })])
      await expect(late).rejects.toMatchObject({
        code: 'store_failed',
        message: expect.stringContaining('closed') as string,
      });
  });
});

/** All that logging an error might print, but for our own stack. */
function everythingIn(error: unknown): string {
  const seen: string[] = [];
  for (let at: unknown = error; at instanceof Error; at = at.cause)
    seen.push(at.message, String(at.stack), JSON.stringify({ ...at }));
  return seen.join('\n');
}

describe('what it sends', () => {
  /** A pool that notes what is sent. */
  function noted(): { readonly pool: PoolLike; readonly sent: string[]; end(): Promise<void> } {
    const pool = new pg.Pool({ connectionString: server.url, max: 2 });
    const sent: string[] = [];
    const noting: PoolLike = {
      query: (config) => {
        sent.push(config.text);
        return pool.query(config);
      },
      connect: () => pool.connect(),
      on: (event, listener) => pool.on(event, listener),
      removeListener: (event, listener) => pool.removeListener(event, listener),
      end: () => pool.end(),
    };
    return { pool: noting, sent, end: () => pool.end() };
  }

  it('a commit is one statement, and a refused one is two', async () => {
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

  it('a commit may start and end a call at once, and name an agent twice', async () => {
    const store = open();
    const { id, token, commit } = await makeRig(store, 60).held();
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

  it('a tool may be called by a name that no column can hold', async () => {
    const store = open();
    const { id, commit } = await makeRig(store, 60).held();
    await commit({ calls: [call('a', 'started', { tool: 'a\0b\ud800c' })] });
    expect(await line(store, id, 'a')).toMatchObject({ tool: 'a\ufffdb\ufffdc' });
  });

  it('prune keeps an agent of the last execution, whose own executions have other names', async () => {
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

  it.each<[string, PostgresStoreOptions['durability'], boolean, readonly string[]]>([
    ['process waits for the disk only when it claims', undefined, false, ['off', 'on', 'off']],
    ['power always waits for the disk', 'power', false, ['on', 'on', 'on']],
    ['a given pool does what its server is set to', undefined, true, ['local', 'local', 'local']],
    ['unless it is asked for more', 'power', true, ['on', 'on', 'on']],
  ])('durability: %s', async (_, durability, isGiven, expected) => {
    const own = newSchema();
    const connectionString = address({ options: '-c synchronous_commit=local' });
    const pool = new pg.Pool({ connectionString, max: 2 });
    const store = open({
      ...(isGiven ? { pool } : { connectionString }),
      ...(durability && { durability }),
      schema: own,
    });
    await store.find('x');
    await query(`create table "${own}".seen (n serial, value text)`);
    await query(`create function "${own}".see() returns trigger language plpgsql as $$ begin
      insert into "${own}".seen (value) values (current_setting('synchronous_commit')); return null; end $$`);
    await query(`create constraint trigger see after update on "${own}".sessions
      deferrable initially deferred for each row execute function "${own}".see()`);
    const { commit } = await makeRig(store, 60).held();
    await commit({ messages: [message(0)] });
    const seen = await query<{ value: string }>(`select value from "${own}".seen order by n`);
    expect(seen.map(({ value }) => value)).toEqual(expected);
    await pool.end();
  });
});
