import type { RunRow } from '../../sessions/session-rows.ts';
import type { SessionFilter, SessionQuery } from '../../sessions/session-query.ts';
import { same } from './expect.ts';
import {
  at,
  EXECUTION,
  fresh,
  type HarnessCase,
  type Held,
  LONG_MS,
  root,
  type StoreHarness,
} from './store-harness.ts';

const runRow = (patch: Partial<RunRow> = {}): RunRow => ({
  executionId: EXECUTION,
  startedAt: at(1),
  endedAt: at(20),
  status: 'completed',
  stopReason: 'completed',
  model: 'm-1',
  cost: 0.25,
  sessionCost: 0.5,
  errors: 0,
  body: '{"steps":[]}',
  ...patch,
});

/** Creates a session that has finished a run. */
async function ended(
  { held }: StoreHarness,
  { id, owner, agent = 'support' }: { id: string; owner: string; agent?: string },
  run: Partial<RunRow>,
  stepCount = 1,
): Promise<Held> {
  const session = await held({}, { id, owner, agent });
  await session.commit({
    root: root({ status: run.status ?? 'completed', stepCount }),
    run: runRow(run),
    done: 1,
    end: 'ended',
    at: run.endedAt ?? at(20),
  });
  return session;
}

interface Sample {
  readonly owner: string;
  /** Letters to ids. */
  readonly name: (id: string) => string;
  readonly ids: Readonly<Record<'a' | 'b' | 'c' | 'd' | 'e', string>>;
}

/** a: cheap, m-1; b: dear, m-2, errors; c: failed, other agent; d: never ran; e: needs approval since long ago. */
async function sample(harness: StoreHarness): Promise<Sample> {
  const owner = fresh('own');
  const names = ['a', 'b', 'c', 'd', 'e'] as const;
  const ids = Object.fromEntries(names.map((name) => [name, fresh(name)])) as Sample['ids'];
  await ended(harness, { id: ids.a, owner }, { endedAt: at(30), sessionCost: 0.1 }, 3);
  await ended(
    harness,
    { id: ids.b, owner },
    { endedAt: at(40), sessionCost: 2, model: 'm-2', errors: 2 },
    9,
  );
  await ended(
    harness,
    { id: ids.c, owner, agent: 'sales' },
    { endedAt: at(50), sessionCost: null, model: null, status: 'failed', stopReason: 'error' },
    1,
  );
  await harness.idle({ id: ids.d, owner, createdAt: at(60) });
  await harness.paused([], { id: ids.e, owner });
  return { owner, ids, name: (id) => names.find((one) => ids[one] === id) ?? id };
}

const times = { pausedBefore: at(1_000), failedFrom: at(45), waitingBefore: at(1_000) };

const filters: readonly (readonly [filter: SessionFilter, expected: string])[] = [
  [{}, 'dcbae'],
  [{ statuses: ['completed', 'paused'] }, 'bae'],
  [{ statuses: [] }, ''],
  [{ agents: ['sales', 'other'] }, 'c'],
  [{ updatedFrom: at(40) }, 'dcb'],
  [{ updatedBefore: at(40) }, 'ae'],
  [{ models: ['m-1', 'm-3'] }, 'a'],
  [{ models: ['m-1', 'm-2'] }, 'ba'],
  [{ costFrom: 0.1 }, 'ba'],
  [{ costFrom: 0.2 }, 'b'],
  [{ costBefore: 2 }, 'a'],
  [{ hasError: true }, 'cb'],
  [{ hasError: false }, 'dae'],
  [{ attention: { ...times, isNeeded: true } }, 'ce'],
  [{ attention: { ...times, isNeeded: false } }, 'dba'],
  [{ attention: { ...times, failedFrom: at(51), isNeeded: true } }, 'e'],
  [{ attention: { ...times, pausedBefore: at(2), isNeeded: true } }, 'c'],
  [{ hasError: true, models: ['m-2'], costFrom: 1, agents: ['support'] }, 'b'],
];

const orders: readonly (readonly [order: Partial<SessionQuery>, expected: string])[] = [
  [{}, 'dcbae'],
  [{ isAscending: true }, 'eabcd'],
  [{ by: 'steps' }, 'ba'],
  [{ by: 'cost', models: ['m-1', 'm-2'] }, 'ba'],
  [{ by: 'cost', models: ['m-1', 'm-2'], isAscending: true }, 'ab'],
  [{ by: 'created' }, 'd'],
];

export const queryCases: readonly HarnessCase[] = [
  {
    name: 'a list and a count select by status, agent, time, model, cost, errors and attention',
    async run(harness) {
      const { store } = harness;
      const { owner, name } = await sample(harness);
      for (const [filter, expected] of filters) {
        const rows = await store.list({ owner, limit: 10, ...filter });
        same(rows.map(({ id }) => name(id)).join(''), expected, JSON.stringify(filter));
        same(await store.count({ owner, ...filter }, 10), rows.length, JSON.stringify(filter));
      }
      same(await store.count({ owner }, 3), 3, 'a count up to 3');
    },
  },
  {
    name: 'a list is sorted by change, creation, cost or steps, and continues after a session',
    async run(harness) {
      const { store } = harness;
      const { owner, name } = await sample(harness);
      for (const [order, expected] of orders) {
        const rows = await store.list({ owner, limit: 10, withRun: true, ...order });
        const found = rows.map(({ id }) => name(id)).join('');
        same(found.slice(0, expected.length), expected, JSON.stringify(order));
        const seen: string[] = [];
        let after: SessionQuery['after'];
        for (let page = 0; page < 10; page++) {
          const [row] = await store.list({
            owner,
            limit: 1,
            withRun: true,
            ...order,
            ...(after && { after }),
          });
          if (!row) break;
          seen.push(name(row.id));
          const { id, updatedAt, createdAt, stepCount, run } = row;
          const { by } = order;
          const value =
            by === 'created' ? createdAt : by === 'steps' ? stepCount : (run?.sessionCost ?? -1);
          after = { id, updatedAt, ...(by !== undefined && { value }) };
        }
        same(seen.join(''), found, `page by page: ${JSON.stringify(order)}`);
      }
    },
  },
  {
    name: 'a list shows the facts of the newest run record if it is asked for them',
    async run(harness) {
      const { store, row } = harness;
      const { owner, ids } = await sample(harness);
      const rows = await store.list({ owner, limit: 10, withRun: true });
      const run = (id: string): unknown => rows.find((one) => one.id === id)?.run;
      same(run(ids.b), { model: 'm-2', sessionCost: 2, errors: 2 }, 'facts of a run');
      same(run(ids.c), { model: null, sessionCost: null, errors: 0 }, 'unknown facts');
      same(run(ids.d), null, 'facts of a session without a run');
      same('run' in (await row(ids.b)), false, 'whether find has them');
      const [plain] = await store.list({ owner, limit: 1 });
      same(plain && 'run' in plain, false, 'whether any other list has them');
    },
  },
  {
    name: 'sessions without a worker, with a lost one and parked ones need attention',
    async run(harness) {
      const { store, held, open, leaseMs, lapse } = harness;
      const owner = fresh('own');
      const waiting = await open({ owner });
      // has a worker
      await held({ ttlMs: LONG_MS }, { owner });
      const parked = await held({}, { owner });
      const released = { kind: 'park', error: 'no', tries: 3, at: at(60) } as const;
      await store.release(parked.id, parked.token, released);
      const lost = await held({ ttlMs: leaseMs }, { owner });
      await lapse();
      const needed = async (waitingBefore: string): Promise<string[]> => {
        const attention = { ...times, waitingBefore, isNeeded: true };
        const rows = await store.list({ owner, limit: 10, attention });
        return rows.map(({ id }) => id).toSorted();
      };
      same(await needed(at(1)), [lost.id, parked.id].toSorted(), 'lost and parked ones');
      same(
        await needed(at(2)),
        [lost.id, parked.id, waiting.id].toSorted(),
        'also those that wait for a worker',
      );
    },
  },
  {
    name: 'run records are read by time, newest first, each execution once, with its session',
    async run(harness) {
      const { store } = harness;
      const owner = fresh('own');
      const id = fresh('ses');
      const first = await ended(harness, { id, owner }, { endedAt: at(20), cost: 1 });
      await store.accept(id, commandFor('exe-2', 25), { phases: ['idle'] });
      const again = await harness.take(first.id);
      await again.commit({ root: root({ executionId: 'exe-2' }), done: 2 });
      const second = runRow({ executionId: 'exe-2', endedAt: at(30), status: 'paused' });
      await again.commit({ run: second, end: 'paused' });
      const read = async (from: number, before: number, more: object = {}) =>
        (await store.runs({ owner, from: at(from), before: at(before), limit: 10, ...more })).map(
          ({ executionId, endedAt }) => [executionId, endedAt],
        );
      same(
        await read(0, 100),
        [
          ['exe-2', at(30)],
          [EXECUTION, at(20)],
        ],
        'both',
      );
      same(await read(0, 30), [[EXECUTION, at(20)]], 'the end of the range is exclusive');
      same(await read(30, 100), [['exe-2', at(30)]], 'its beginning is inclusive');
      same(await read(0, 100, { limit: 1 }), [['exe-2', at(30)]], 'up to the limit');
      same(await read(0, 100, { agent: 'support' }).then((all) => all.length), 2, 'of its agent');
      same(await read(0, 100, { agent: 'sales' }), [], 'of another agent');
      const [newest] = await store.runs({ owner, from: at(0), before: at(100), limit: 1 });
      same(newest, { ...second, sessionId: id, owner, agent: 'support' }, 'the whole record');

      await store.request(id, { stop: 'end it' });
      const last = await harness.take(id);
      const replaced = runRow({ executionId: 'exe-2', endedAt: at(50), errors: 4 });
      await last.commit({ run: replaced, end: 'ended' });
      same(
        await read(0, 100),
        [
          ['exe-2', at(50)],
          [EXECUTION, at(20)],
        ],
        'once per execution',
      );
      const foreign = await store.runs({
        owner: fresh('own'),
        from: at(0),
        before: at(100),
        limit: 10,
      });
      same(foreign, [], 'records of another owner');
      await store.delete(id);
      same(await read(0, 100), [], 'records of a deleted session');
      same(await store.size(id), { rows: 0, bytes: 0 }, 'what is left of it');
    },
  },
];

const commandFor = (executionId: string, second: number) =>
  ({ kind: 'message', executionId, body: '{}', at: at(second) }) as const;
