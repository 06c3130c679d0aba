import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll } from 'vitest';
import type { SessionStore } from '../../src/sessions/session-store.ts';
import {
  postgresStore,
  type PostgresStoreOptions,
} from '../../src/sessions/stores/postgres/index.ts';
import {
  at,
  call,
  EXECUTION,
  fresh,
  makeHarness,
  root,
  type Held,
} from '../../src/testing/store-contract/store-harness.ts';
import { startPostgres, type TestPostgres } from './postgres.ts';

export let server: TestPostgres;
/** Superuser connections to inspect and disturb the server. */
let admin: pg.Pool;
const opened: SessionStore[] = [];
export const schemas: string[] = [];
/** Creates a schema for this run, which may share a server with others. */
export const newSchema = (): string => {
  const schema = `test_${fresh('s').replaceAll('-', '').slice(0, 20)}`;
  schemas.push(schema);
  return schema;
};
export const schema: string = newSchema();

/** The address of the server with more parameters. */
export const address = (parameters: Record<string, string> = {}): string => {
  const url = new URL(server.url);
  for (const [name, value] of Object.entries({ application_name: schema, ...parameters }))
    url.searchParams.set(name, value);
  return url.href;
};
export const open = (options: PostgresStoreOptions = {}): SessionStore => {
  const where = options.pool ? {} : { connectionString: address() };
  const store = postgresStore({ ...where, schema, ...options });
  opened.push(store);
  return store;
};
export const query = async <Row extends pg.QueryResultRow>(
  text: string,
  values: unknown[] = [],
): Promise<Row[]> => (await admin.query<Row>(text, values)).rows;

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

/** Waits until this many store connections wait for a lock. */
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

/** Starts the works one by one while the session is locked, so that each waits with an old view of it. */
export const queued = async <T extends readonly (() => Promise<unknown>)[]>(
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
    return (await Promise.all(running)) as never; // in order
  });

/** Returns the result of a call whose connection is closed while it waits. */
export const cutOff = (sessionId: string, work: () => Promise<unknown>): Promise<unknown> =>
  whileLocked(sessionId, async () => {
    const pending = work().catch((error: unknown) => error);
    const [pid] = await untilBlocked(1);
    await query('select pg_terminate_backend($1)', [pid]);
    return pending;
  });

export const answer: Parameters<SessionStore['decide']>[1] = {
  executionId: EXECUTION,
  callId: 'a',
  body: '{"approved":true}',
  at: at(40),
};

/** A held session with only a waiting call left. */
export async function aboutToPause(store: SessionStore): Promise<Held> {
  const held = await makeHarness(store, 60).held();
  const next = await store.nextCommand(held.id);
  if (!next) throw new Error('no command waits');
  await held.commit({ root: root(), done: next.number, calls: [call('a', 'waiting')] });
  return held;
}
