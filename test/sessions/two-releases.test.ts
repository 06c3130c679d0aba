import { join } from 'node:path';
import { SessionRuntime } from 'onward';
import { postgresStore } from 'onward/stores/postgres';
import { sqliteStore } from 'onward/stores/sqlite';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { ada, oldAgent } from '../setup/old-sessions.ts';
import { newSchema, query, server } from '../setup/postgres-stores.ts';
import { releases, type ReleaseProcess } from '../setup/release-processes.ts';
import { sqlitePlace } from '../setup/sessions.ts';

let both: Awaited<ReturnType<typeof releases>>;
beforeAll(async () => {
  both = await releases();
}, 60_000);
afterAll(() => both.remove());

const wait = { ...ada, wait: true };
const status = async (process: ReleaseProcess, id: string): Promise<string> =>
  (await process.call<{ status: string }>('get', id, ada)).status;

/** Starts a process of 0.1.0 that creates the tables, and one of this release that migrates them. */
async function oldBeforeNew(): Promise<{
  schema: string;
  place: { connectionString: string; schema: string };
  older: ReleaseProcess;
  newer: ReleaseProcess;
}> {
  const schema = newSchema();
  const place = { connectionString: server.url, schema };
  const older = await both.start('0.1.0', place);
  await older.call('create', { ...ada, id: 'first' });
  await older.call('send', 'first', 'work*1', wait);
  const newer = await both.start('this release', place);
  expect(await status(newer, 'first')).toBe('completed');
  return { schema, place, older, newer };
}

/** Expects that no tool call began twice. */
function expectOnce(): void {
  const calls = both.effects().map(([, executionId, callId]) => `${executionId} ${callId}`);
  expect(calls.length).toBe(new Set(calls).size);
}

describe('0.1.0 beside this release on one PostgreSQL', () => {
  it('works on the same sessions without losing or repeating work', async () => {
    const { older, newer, place } = await oldBeforeNew();
    const another = await both.start('this release', place);
    const processes = [older, newer, another];
    for (const process of processes) await process.call('start');
    const ids = Array.from({ length: 6 }, (_, i) => `s-${i}`);
    for (const [i, id] of ids.entries()) await processes[i % 3]!.call('create', { ...ada, id });
    for (let turn = 0; turn < 4; turn++)
      await Promise.all(
        ids.map(async (id, i) => {
          const process = processes[(i + turn) % 3]!;
          const options = { ...wait, executionId: `${place.schema}-${id}-${turn}` };
          const session = await process.call('send', id, turn === 2 ? 'slow*1' : 'work*3', options);
          expect(session).toMatchObject({ status: 'completed' });
        }),
      );
    for (const id of ids) {
      const [seen, asOld] = [await newer.call('get', id, ada), await older.call('get', id, ada)];
      // 4 turns: 3 of 3 calls and one of 1, each with its message and its answer
      expect(seen).toMatchObject({ status: 'completed', stepCount: 14, messageCount: 28 });
      expect(asOld).toMatchObject({ status: 'completed', stepCount: 14, messageCount: 28 });
    }
    const mine = both.effects().filter(([, executionId]) => executionId.startsWith(place.schema));
    expect(new Set(mine.map(([by]) => by))).toEqual(new Set(['0.1.0', 'this release']));
    expect(mine).toHaveLength(6 * 10);
    expectOnce();
  }, 60_000);

  it('is taken over if it is killed, and its unfinished call does not run again', async () => {
    const { older, newer, schema } = await oldBeforeNew();
    await older.call('create', { ...ada, id: 's' });
    void older.call('send', 's', 'slow*3', { ...wait, executionId: schema }).catch(() => {});
    const begun = () => both.effects().filter(([, id]) => id === schema).length;
    await expect.poll(begun).toBe(1);
    await older.kill();
    await newer.call('start');
    await expect.poll(() => status(newer, 's'), { timeout: 20_000 }).toBe('failed');
    expect(begun()).toBe(1);
    expect(await newer.call('send', 's', 'work*1', wait)).toMatchObject({ status: 'completed' });
  }, 40_000);

  it('rejects every call with the remedy if it starts after the upgrade', async () => {
    const { newer, place } = await oldBeforeNew();
    const late = await both.start('0.1.0', place);
    const calls: readonly (readonly [string, ...unknown[]])[] = [
      ['get', 'first', ada],
      ['send', 'first', 'work*1', ada],
      ['recover'],
    ];
    for (const call of calls)
      await expect(late.call(...call)).rejects.toThrow(
        /of version \d+.*knows versions up to 1.*Upgrade onward/,
      );
    expect(await newer.call('send', 'first', 'work*1', wait)).toMatchObject({
      status: 'completed',
    });
  }, 30_000);

  it('never claims sessions with grants, closed executions, waits, quarantine or parking', async () => {
    const { older, newer, schema } = await oldBeforeNew();
    const stop = { ...wait, executionId: `${schema}-limit` };
    await newer.call('create', { ...ada, id: 'granted' });
    await newer.call('send', 'granted', 'work*6', stop);
    expect(await status(newer, 'granted')).toBe('stopped');
    // a client of this release that runs no sessions
    const store = postgresStore({ connectionString: server.url, schema });
    onTestFinished(() => store.close());
    const idle = { start() {}, add() {}, isFull: false, waiting: 0, drain: async () => {} };
    const client = new SessionRuntime({ store, agents: [oldAgent()], queue: idle });
    for (const id of ['closed', 'waiting', 'alone', 'parked']) {
      await client.create({ ...ada, id });
      await client.send(id, 'work*1', ada);
    }
    await client.resume('granted', { ...ada, grant: { steps: 4 } });
    const marks: readonly (readonly [string, string])[] = [
      ['closed', `close_reason = 'x', requires = 2`],
      ['waiting', `wait_ms = 600000, leased_until = clock_timestamp()`],
      ['alone', `quarantined = true`],
      ['parked', `phase = 'parked', parked_at = updated_at, error = 'too often', tries = 5`],
    ];
    for (const [id, mark] of marks)
      await query(`update "${schema}".sessions set ${mark} where id = $1`, [id]);
    const ids = ['granted', ...marks.map(([name]) => name)];
    const tokens = () => Promise.all(ids.map(async (id) => [id, (await store.find(id))?.token]));
    const before = await tokens();
    for (const id of ids) expect([id, await older.call('claim', id)]).toEqual([id, null]);
    await older.call('recover');
    for (const id of ids) expect([id, await older.call('claim', id)]).toEqual([id, null]);
    expect(await tokens()).toEqual(before);

    expect(await store.find('granted')).toMatchObject({ requires: 2, worker: null });
    await expect(older.call('send', 'parked', 'work*1', ada)).rejects.toMatchObject({
      code: 'conflict',
    });
    expect(await store.find('parked')).toMatchObject({ phase: 'parked', error: 'too often' });
    await older.call('stop', 'parked', ada);
    expect(await store.find('parked')).toMatchObject({ phase: 'open', parkedAt: null });
    await newer.call('start');
    await expect.poll(() => status(newer, 'parked'), { timeout: 20_000 }).toBe('stopped');
    await expect.poll(() => status(newer, 'granted'), { timeout: 20_000 }).toBe('completed');
    // because of its grant log the session stays with this release
    expect(await store.find('granted')).toMatchObject({ requires: 2 });
    expect(await client.get('granted', ada)).toMatchObject({ grantLog: [{ grant: { steps: 4 } }] });
    await client.send('granted', 'work*1', ada);
    expect(await older.call('claim', 'granted')).toBeNull();
    expectOnce();
  }, 60_000);

  it('does not open a parked session when it accepts an answer', async () => {
    const { older, newer, schema } = await oldBeforeNew();
    await newer.call('create', { ...ada, id: 's' });
    await newer.call('send', 's', 'pay*1', wait);
    const mark = `phase = 'parked', parked_at = updated_at, error = 'too often', tries = 5`;
    await query(`update "${schema}".sessions set ${mark} where id = 's'`);
    await older.call('approve', 's', 'call_0_0', ada);
    const [row] = await query(`select phase from "${schema}".sessions where id = 's'`);
    expect(row).toEqual({ phase: 'parked' });
  }, 30_000);

  it('has its accepted messages remembered until the session is deleted', async () => {
    const { older, newer, schema } = await oldBeforeNew();
    await older.call('create', { ...ada, id: 's' });
    const first = `${schema}-one`;
    await older.call('send', 's', 'work*1', { ...wait, executionId: first });
    await older.call('send', 's', 'work*1', { ...wait, executionId: `${schema}-two` });
    const again = newer.call('send', 's', 'work*1', { ...wait, executionId: first });
    await expect(again).rejects.toMatchObject({ code: 'conflict' });
    const runs = both.effects().filter(([, executionId]) => executionId === first);
    expect(runs).toHaveLength(1);
    await older.call('send', 's', 'pay*1', wait);
    await older.call('stop', 's', { ...ada, wait: true });
    const left = (table: string) =>
      query(`select 1 from "${schema}".${table} where session_id = 's'`);
    expect(await left('waits')).toHaveLength(1);
    await older.call('delete', 's', ada);
    for (const table of ['executions', 'waits'])
      expect([table, await left(table)]).toEqual([table, []]);
  }, 30_000);

  it('has its executions and waits recorded by the upgrade', async () => {
    const place = { connectionString: server.url, schema: newSchema() };
    const { schema } = place;
    const older = await both.start('0.1.0', place);
    await older.call('create', { ...ada, id: 's' });
    for (const [name, content] of [
      ['done', 'work*1'],
      ['paused', 'pay*1'],
    ])
      await older.call('send', 's', content, { ...wait, executionId: `${schema}-${name}` });
    // one current execution without a step, and one in the queue
    await query(`insert into "${schema}".sessions select (jsonb_populate_record(s,
      '{"id": "begun", "execution_id": "${schema}-begun"}')).* from "${schema}".sessions s`);
    await query(`insert into "${schema}".commands (session_id, number, kind, execution_id, body, at)
      values ('s', 9, 'message', '${schema}-queued', '{}', ''), ('s', 10, 'resume', 'none', '{}', '')`);
    const store = postgresStore(place);
    onTestFinished(() => store.close());
    await store.find('s');
    const kept = await query(
      `select execution_id as id from "${schema}".executions order by execution_id collate "C"`,
    );
    const names = ['begun', 'done', 'paused', 'queued'];
    expect(kept).toEqual(names.map((name) => ({ id: `${schema}-${name}` })));
    const waits = await query(`select execution_id as id, call_id as call from "${schema}".waits`);
    expect(waits).toEqual([{ id: `${schema}-paused`, call: 'call_4_0' }]);
  }, 30_000);

  it('leaves counts that are reset for the next execution', async () => {
    const schema = newSchema();
    const store = postgresStore({ connectionString: server.url, schema });
    onTestFinished(() => store.close());
    const idle = { start() {}, add() {}, isFull: false, waiting: 0, drain: async () => {} };
    const client = new SessionRuntime({ store, agents: [oldAgent()], queue: idle });
    await client.create({ ...ada, id: 's' });
    await query(`update "${schema}".sessions set tries = 4, deaths = 2, quarantined = true`);
    await client.send('s', 'work*1', ada);
    expect(await store.find('s')).toMatchObject({ tries: 0, deaths: 0, isQuarantined: false });
  });

  it('continues after several processes upgrade the tables at the same time', async () => {
    const place = { connectionString: server.url, schema: newSchema() };
    const older = await both.start('0.1.0', place);
    await older.call('create', { ...ada, id: 's' });
    const stores = Array.from({ length: 6 }, () => postgresStore(place));
    onTestFinished(async () => {
      await Promise.all(stores.map((store) => store.close()));
    });
    const rows = await Promise.all(stores.map((store) => store.find('s')));
    expect(rows.map((row) => row?.requires)).toEqual(rows.map(() => 1));
    const [{ newest } = { newest: 0 }] = await query<{ newest: number }>(
      `select max(version) as newest from "${place.schema}".migrations`,
    );
    expect(newest).toBeGreaterThan(3);
    const versions = await query(
      `select array_agg(version order by version) as all from "${place.schema}".migrations`,
    );
    expect(versions).toEqual([{ all: Array.from({ length: newest }, (_, i) => i + 1) }]);
    expect(await older.call('send', 's', 'work*1', wait)).toMatchObject({ status: 'completed' });
  }, 30_000);
});

describe('a later release that upgrades the tables of PostgreSQL', () => {
  it.each([
    ['is compatible with this one by default', 'default', true],
    ['can exclude this one', '99', false],
  ])('%s', async (_name, oldest, isWorking) => {
    const place = { connectionString: server.url, schema: newSchema() };
    const before = postgresStore(place);
    await before.find('s');
    await query(
      `insert into "${place.schema}".migrations (version, oldest) values (99, ${oldest})`,
    );
    const store = postgresStore(place);
    onTestFinished(async () => {
      await Promise.all([before.close(), store.close()]);
    });
    if (isWorking) expect(await store.find('s')).toBeNull();
    else await expect(store.find('s')).rejects.toThrow('Upgrade onward on this machine');
  });
});

describe('0.1.0 on a SQLite file of this release', () => {
  it('rejects it with an error that names the remedy', async () => {
    const place = sqlitePlace();
    const path = join(place.folder, 'sessions.db');
    const store = sqliteStore({ path });
    await store.find('s');
    await store.close();
    const older = await both.start('0.1.0', { path });
    await expect(older.call('get', 's', ada)).rejects.toThrow(/newer release.*Upgrade onward/);
  });
});
