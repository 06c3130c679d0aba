import { setTimeout as wait } from 'node:timers/promises';
import type { SessionStore } from 'onward/stores';
import { postgresStore } from 'onward/stores/postgres';
import { sqliteStore } from 'onward/stores/sqlite';
import { memoryStore } from 'onward/stores/memory';
import { describe, expect, it, onTestFinished } from 'vitest';
import { keyValueStore } from '../../src/sessions/stores/key-value/index.ts';
import { finished } from '../../src/testing/store-contract/finished-session.ts';
import {
  at,
  command,
  event,
  makeHarness,
  message,
  root,
} from '../../src/testing/store-contract/store-harness.ts';
import { mapDriver } from '../setup/key-values.ts';
import { newSchema, query, server } from '../setup/postgres-stores.ts';
import { sqlitePlace } from '../setup/sessions.ts';
import { lockedBy } from '../setup/sqlite-lock.ts';

const SESSIONS = Number(process.env['ONWARD_UPKEEP'] ?? 300);
const olderThan = at(500);

const closing = (store: SessionStore): SessionStore => {
  onTestFinished(() => store.close());
  return store;
};

/** Measures the longest time that this process blocked the event loop, without the CPU time of other processes. */
function longestHold(): () => number {
  let last = performance.now();
  let cpu = process.cpuUsage();
  let longest = 0;
  const look = (): void => {
    const now = performance.now();
    const { user, system } = process.cpuUsage(cpu);
    longest = Math.max(longest, Math.min(now - last, (user + system) / 1_000));
    last = now;
    cpu = process.cpuUsage();
  };
  const timer = setInterval(look, 2);
  onTestFinished(() => clearInterval(timer));
  return () => {
    look();
    clearInterval(timer);
    return longest;
  };
}

/** Longest block in milliseconds. It is 50 on an idle machine; a busy one is slower. */
const MOST_HELD_MS = 400;

/** Sends to one session after the other until the work is done. Returns how long the slowest send took. */
async function whileSending(
  store: SessionStore,
  ids: readonly string[],
  work: Promise<unknown>,
): Promise<{ sends: number; slowest: number }> {
  let isOver = false;
  void work.finally(() => (isOver = true)).catch(() => {});
  let [sends, slowest] = [0, 0];
  for (let i = 0; !isOver; i = (i * 7 + 3) % ids.length) {
    const start = performance.now();
    await store.accept(ids[i]!, command('{}', 900), { phases: ['idle', 'open'] });
    slowest = Math.max(slowest, performance.now() - start);
    sends += 1;
    await wait(5);
  }
  return { sends, slowest };
}

/** Creates many copies of one finished session. */
async function manyInPostgres(
  schema: string,
  connectionString: string,
): Promise<{ store: SessionStore; ids: string[] }> {
  const store = closing(postgresStore({ connectionString, schema }));
  const seed = await finished(makeHarness(store, 60));
  const tables = await query<{ name: string; columns: string[] }>(
    `select table_name as name, array_agg(column_name::text) as columns from information_schema.columns
     where table_schema = $1 and table_name not in ('migrations', 'executions', 'workers') group by 1`,
    [schema],
  );
  for (const { name, columns } of tables) {
    const key = name === 'sessions' ? 'id' : 'session_id';
    const values = columns.map((column) => (column === key ? `'copy-' || g` : `t."${column}"`));
    // a long log, like that of sessions that are worth pruning
    const times = name === 'events' ? 100 : 1;
    if (name === 'events') values[columns.indexOf('seq')] = 'n';
    await query(
      `insert into "${schema}"."${name}" (${columns.map((column) => `"${column}"`).join(', ')})
       select ${values.join(', ')} from "${schema}"."${name}" t, generate_series(1, ${SESSIONS}) g,
       generate_series(1, ${times}) n where t."${key}" = $1`,
      [seed.id],
    );
  }
  await store.delete(seed.id);
  await query('analyze');
  return { store, ids: Array.from({ length: SESSIONS }, (_, i) => `copy-${i + 1}`) };
}

describe.each(['prune', 'expire'] as const)('%s in PostgreSQL', (work) => {
  it('does not block messages to these or other sessions', async () => {
    const { store, ids } = await manyInPostgres(newSchema(), server.url);
    const other = closing(postgresStore({ connectionString: server.url, schema: newSchema() }));
    await other.find('warm');
    const progress: number[] = [];
    const start = performance.now();
    const running = store[work]({ olderThan, onProgress: ({ rows }) => progress.push(rows) });
    const { sends, slowest } = await whileSending(store, ids, running);
    const result = await running;
    const took = performance.now() - start;
    console.log(
      `${work} of ${SESSIONS} sessions: ${Math.round(took)} ms, ${result.rows} rows in ` +
        `${progress.length} batches; ${sends} sends meanwhile, the slowest ${Math.round(slowest)} ms`,
    );
    expect(result.sessions).toBeGreaterThan(SESSIONS / 2);
    expect(progress.length).toBeGreaterThan(3);
    // a send waits for at most one of all batches
    expect(slowest).toBeLessThan(Math.max(1_000, took / 2));
  }, 120_000);

  it('skips a session that another transaction has locked, and processes it the next time', async () => {
    const schema = newSchema();
    const { store, ids } = await manyInPostgres(schema, server.url);
    const { Client } = (await import('pg')).default;
    const client = new Client({ connectionString: server.url });
    await client.connect();
    onTestFinished(() => client.end());
    await client.query('begin');
    await client.query(`select from "${schema}".sessions where id = $1 for update`, [ids[3]]);
    const first = await store[work]({ olderThan });
    expect(first.sessions).toBe(SESSIONS - 1);
    await client.query('rollback');
    expect((await store[work]({ olderThan })).sessions).toBe(1);
    const left = await query(`select 1 from "${schema}".events`);
    expect(left).toEqual([]);
  }, 120_000);

  it('processes a session with a very long log in several transactions', async () => {
    const schema = newSchema();
    const store = closing(postgresStore({ connectionString: server.url, schema }));
    const { id } = await finished(makeHarness(store, 60));
    await query(
      `insert into "${schema}".events (session_id, execution_id, seq, type, body)
       select $1, 'exe-2', n, 'x', repeat('y', 200) from generate_series(10, 8009) n`,
      [id],
    );
    const { rows } = await store.size(id);
    const seen: number[] = [];
    const dropped = await store[work]({ olderThan, onProgress: (sum) => seen.push(sum.rows) });
    expect(dropped.sessions).toBe(1);
    expect(dropped.rows).toBe(rows - (await store.size(id)).rows);
    expect(seen.length).toBeGreaterThan(8);
  });
});

/** Creates sessions with logs so long that deleting them in one go would block the event loop. */
async function filled(store: SessionStore): Promise<string[]> {
  const harness = makeHarness(store, 60);
  const ids: string[] = [];
  for (let n = 0; n < 6; n++) {
    const held = await harness.held();
    const executionId = 'exe-1';
    const events = Array.from({ length: 4_000 }, (_, i) =>
      event(i + 1, { executionId, body: JSON.stringify('e'.repeat(500)) }),
    );
    const blobs = Array.from({ length: 4 }, (_, i) => ({
      scope: executionId,
      hash: `h${i}`,
      body: JSON.stringify('b'.repeat(500_000)),
    }));
    await held.commit({ root: root(), seq: 4_000, events, blobs, messages: [message(0)] });
    const done = (await store.nextCommand(held.id))!.number;
    const end = { executionId: 'exe-2', status: 'completed' } as const;
    await held.commit({ root: root(end), done, end: 'ended', at: at(100) });
    ids.push(held.id);
  }
  return ids;
}

describe.each(['prune', 'expire'] as const)('%s in SQLite', (work) => {
  it('never blocks the event loop for long, and other processes can write', async () => {
    const place = sqlitePlace();
    const store = place.open();
    const ids = await filled(store);
    const other = closing(sqliteStore({ path: `${place.folder}/sessions.db` }));
    await other.find('warm');
    const held = longestHold();
    const began = performance.now();
    const batches: number[] = [];
    const running = store[work]({ olderThan, onProgress: ({ rows }) => batches.push(rows) });
    const { sends, slowest } = await whileSending(other, ['none'], running);
    const longest = held();
    const result = await running;
    const took = performance.now() - began;
    console.log(
      `${work} in SQLite: ${result.rows} rows, the event loop was blocked for at most ${Math.round(longest)} ms; ` +
        `${sends} statements of another store, the slowest ${Math.round(slowest)} ms`,
    );
    expect(result.sessions).toBe(ids.length);
    expect(batches.length).toBeGreaterThan(ids.length / 2);
    expect(longest).toBeLessThan(MOST_HELD_MS);
    expect(slowest).toBeLessThan(Math.max(1_000, took / 2));
  }, 60_000);

  it('waits for a writer that locks the file, and continues', async () => {
    const place = sqlitePlace();
    const store = place.open();
    await finished(makeHarness(store, 60));
    const lock = await lockedBy(`${place.folder}/sessions.db`, 'BEGIN IMMEDIATE');
    const running = store[work]({ olderThan });
    await wait(100);
    await lock.release();
    expect((await running).sessions).toBe(1);
  });
});

it('delete of a long session in SQLite never blocks the event loop for long', async () => {
  const store = sqlitePlace().open();
  const ids = await filled(store);
  const held = longestHold();
  for (const id of ids) expect(await store.delete(id)).toBe(true);
  const longest = held();
  console.log(`delete in SQLite: the event loop was blocked for at most ${Math.round(longest)} ms`);
  expect(longest).toBeLessThan(MOST_HELD_MS);
  for (const id of ids) expect(await store.size(id)).toEqual({ rows: 0, bytes: 0 });
}, 60_000);

describe.each<[string, () => SessionStore]>([
  ['memory', () => memoryStore()],
  ['key-value', () => keyValueStore(mapDriver())],
  ['sqlite', () => sqlitePlace().open()],
])('%s: prune and expire', (_name, open) => {
  it('work in batches', async () => {
    const store = open();
    const harness = makeHarness(store, 60);
    for (let n = 0; n < 60; n++) await finished(harness);
    for (const work of ['prune', 'expire'] as const) {
      const batches: number[] = [];
      const { sessions } = await store[work]({
        olderThan,
        onProgress: (sum) => batches.push(sum.sessions),
      });
      expect(sessions).toBe(60);
      expect(batches.length).toBeGreaterThan(2);
    }
  });
});
