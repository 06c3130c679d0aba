import type { AgentLoad, SessionStore, WorkerLoad } from '../../sessions/session-store.ts';
import { found, holds, same } from './expect.ts';
import { at, fresh, type HarnessCase, leaseOf, LONG_MS } from './store-harness.ts';

const loadOf = async (store: SessionStore, worker: string): Promise<WorkerLoad | undefined> =>
  (await store.workload()).workers.find((load) => load.worker === worker);

const workOf = async (store: SessionStore, agent: string): Promise<AgentLoad | undefined> =>
  (await store.workload()).agents.find((load) => load.agent === agent);

const nothing = { waiting: 0, waitingSince: null, active: 0, recovered: 0, expired: 0, parked: 0 };

/** What operators see of the workers and of the work. */
export const workerCases: readonly HarnessCase[] = [
  {
    name: 'workload counts what waits, runs and is parked by agent, of all owners',
    async run({ store, idle, open, held }) {
      const agent = fresh('agt');
      await idle({ agent });
      same(await workOf(store, agent), undefined, 'an agent without work');
      for (const owner of [fresh('own'), fresh('own')]) await open({ owner, agent });
      await held({}, { agent });
      const { id, token } = await held({}, { agent });
      await store.release(id, token, { kind: 'park', error: 'e', tries: 5, at: at(1) });
      const { waitingSince, ...counts } = found(await workOf(store, agent), 'the agent');
      const { waitingSince: _none, ...none } = nothing;
      same(counts, { ...none, agent, waiting: 2, active: 1, parked: 1 }, 'its work');
      holds(waitingSince !== null, 'the time since when one waits');
    },
  },
  {
    name: 'workload names the oldest change of the sessions that wait',
    async run({ store, open, row }) {
      const agent = fresh('agt');
      const { id } = await open({ agent });
      const { updatedAt } = await row(id);
      same((await workOf(store, agent))?.waitingSince, updatedAt, 'the time since when it waits');
    },
  },
  {
    name: 'workload separates active sessions from those whose lease ran out, and counts the recovered',
    async run({ store, held, take, leaseMs, lapse }) {
      const agent = fresh('agt');
      await held({ ttlMs: LONG_MS }, { agent });
      same(await workOf(store, agent), { agent, ...nothing, active: 1 }, 'while it runs');
      const { id } = await held({ ttlMs: leaseMs }, { agent });
      await lapse();
      const lapsed = { agent, ...nothing, active: 1, expired: 1 };
      same(await workOf(store, agent), lapsed, 'after the lease of one');
      await take(id);
      const recovered = { agent, ...nothing, active: 2, recovered: 1 };
      same(await workOf(store, agent), recovered, 'after a takeover');
    },
  },
  {
    name: 'workload counts the leases of each worker, and those that ran out',
    async run({ store, held, take, open, leaseMs, lapse }) {
      const first = await held({ ttlMs: leaseMs });
      const second = await open();
      await store.claim(second.id, { worker: first.worker, ttlMs: LONG_MS });
      await lapse();
      const load = found(await loadOf(store, first.worker), 'the worker');
      same([load.leases, load.expired], [1, 1], 'leases that it holds, and that ran out');
      same([load.body, load.seenMsAgo], [null, null], 'its report');
      await take(first.id);
      const later = found(await loadOf(store, first.worker), 'the worker after a takeover');
      same([later.leases, later.expired], [1, 0], 'its leases after a takeover');
    },
  },
  {
    name: 'the newest report of a worker is kept until it closes',
    async run({ store }) {
      const worker = fresh('wrk');
      await store.reportWorker({ worker, body: '{"a":1}' });
      await store.reportWorker({ worker, body: '{"a":2}' });
      const load = found(await loadOf(store, worker), 'the worker');
      same([load.leases, load.expired, load.body], [0, 0, '{"a":2}'], 'what is known of it');
      const ago = found(load.seenMsAgo, 'the time since its report');
      holds(ago >= 0 && ago < 600_000, 'it was made just now');
      await store.reportWorker({ worker, body: null });
      same(await loadOf(store, worker), undefined, 'the worker after it closed');
      await store.reportWorker({ worker, body: null });
    },
  },
  {
    name: 'workers that report at the same time are all kept, whatever their names',
    async run({ store }) {
      const names = ['a/b', 'A', "o'brien", '__proto__', 'é\u{1f600}'];
      const workers = names.map((name) => `${fresh('wrk')}-${name}`);
      await Promise.all(workers.map((worker) => store.reportWorker({ worker, body: worker })));
      const loads = (await store.workload()).workers;
      for (const worker of workers)
        same(loads.find((load) => load.worker === worker)?.body, worker, `the report of ${worker}`);
      await Promise.all(workers.map((worker) => store.reportWorker({ worker, body: null })));
    },
  },
  {
    name: 'a worker that holds a lease and reports is one entry',
    async run({ store, held }) {
      const lease = await held();
      const { worker } = lease;
      await store.reportWorker({ worker, body: 'b' });
      const loads = (await store.workload()).workers.filter((load) => load.worker === worker);
      same(
        loads.map(({ leases, body }) => ({ leases, body })),
        [{ leases: 1, body: 'b' }],
        'the entries of the worker',
      );
      await store.renew({ worker, ttlMs: LONG_MS, leases: [leaseOf(lease)] });
      await store.reportWorker({ worker, body: null });
      same((await loadOf(store, worker))?.body, null, 'its report after it closed');
    },
  },
];
