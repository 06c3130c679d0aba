import { afterEach, describe, expect, it, vi } from 'vitest';
import { held } from '../../test/setup/session-moments.ts';
import {
  ann,
  builderWith,
  clientOn,
  followingDriver,
  pause,
  until,
} from '../../test/setup/sessions.ts';
import { systemClock } from '../clock.ts';
import { mockTool } from '../testing/mock-tool.ts';
import { ScenarioStep } from '../testing/scenario-step.ts';
import { waitAfter } from './attempts.ts';
import type { ExecutionQueue } from './execution-queue.ts';
import { Quarantine, type QuarantineTimes, type Stay } from './quarantine.ts';
import { SessionLookup } from './session-lookup.ts';
import type { SessionStore } from './session-store.ts';
import { SessionSweep } from './session-sweep.ts';
import { SessionWorker } from './session-worker.ts';
import { memoryStore } from './stores/memory/index.ts';

const { final, toolCall } = ScenarioStep;
const LEASE_MS = 60_000;
const QUICK = { calmMs: 1, holdMs: 1, leaveMs: 20_000 };
const WINDOW = { maxMessages: 100, maxCharacters: 100_000 };

afterEach(() => {
  vi.restoreAllMocks();
});

/** Creates a worker and a session with one message, and records the worker's calls to the store. */
async function harness(
  given: {
    readonly faults?: (store: SessionStore) => Partial<SessionStore>;
    readonly deps?: () => Promise<Record<string, unknown>>;
    readonly leaseMs?: number;
    readonly times?: Partial<QuarantineTimes>;
    readonly tool?: ReturnType<typeof mockTool>;
  } = {},
) {
  const { leaseMs = LEASE_MS, deps = async () => ({}), tool = mockTool('slow') } = given;
  const own = memoryStore();
  const asked: string[] = [];
  const counted = (name: 'claim' | 'nextCommand' | 'messages'): Partial<SessionStore> => ({
    [name]: (...args: never[]) => {
      asked.push(name);
      return (own[name] as (...args: never[]) => unknown)(...args);
    },
  });
  const store: SessionStore = {
    ...own,
    ...counted('claim'),
    ...counted('nextCommand'),
    ...counted('messages'),
    ...given.faults?.(own),
  };
  const driver = followingDriver([toolCall('slow'), final('done')], [final('next')]);
  const agent = builderWith(driver, tool).build();
  const client = clientOn(own, agent);
  const { id } = await client.create(ann);
  await client.send(id, 'go', ann);
  const later: [string, number][] = [];
  vi.spyOn(SessionSweep.prototype, 'later').mockImplementation((...[sessionId, waitMs]) => {
    later.push([sessionId, waitMs]);
  });
  const failures: unknown[] = [];
  const quarantine = new Quarantine({ ...QUICK, ...given.times });
  const places: (Stay | null)[] = [];
  const join = quarantine.join.bind(quarantine);
  quarantine.join = async (sessionId) => {
    const place = await join(sessionId);
    places.push(place);
    return place;
  };
  const workerWith = (agents: readonly [typeof agent]) => {
    let turn: (sessionId: string) => Promise<void> = async () => {};
    const queue: ExecutionQueue = {
      start: (work) => void (turn = work),
      add() {},
      isFull: false,
      waiting: 0,
      drain: async () => {},
    };
    const lease = { leaseMs, heartbeatMs: leaseMs / 2, signalMs: LEASE_MS };
    const onError = (error: unknown): void => void failures.push(error);
    const lookup = new SessionLookup({ store, agents }, systemClock, WINDOW);
    const worker = new SessionWorker(lookup, { queue, deps, lease, onError }, quarantine);
    return { worker, work: () => turn(id) };
  };
  const { worker, work } = workerWith([agent]);
  const row = async () => (await own.find(id))!;
  /** Simulates workers that died with the session. */
  const died = async (times: number): Promise<void> => {
    for (let n = 0; n < times; n++) {
      await until(() => own.claim(id, { worker: 'gone', ttlMs: 5, alone: true }));
      await pause(10);
    }
  };
  return {
    id,
    store: own,
    client,
    worker,
    workerWith,
    quarantine,
    places,
    work,
    row,
    died,
    later,
    failures,
    asked,
  };
}

const fails = async (): Promise<never> => {
  throw new Error('no tenant');
};

describe('the stay of a session', () => {
  it('ends after the step if another session needs the process for itself, and is requested again', async () => {
    const slow = held();
    const { id, work, row, quarantine, places, later } = await harness({ tool: slow.tool });
    const working = work();
    await slow.began();
    const alone = quarantine.isolate('poison');
    await until(() => places[0]?.mustLeave);
    slow.open();
    await working;
    expect(await row()).toMatchObject({ phase: 'open', worker: null, stepCount: 1, tries: 0 });
    expect(later).toEqual([[id, 500]]);
    expect(await alone).toMatchObject({ isAlone: true });
  });

  it('is requested again if it was refused, by a process that has the agent', async () => {
    const { id, store, workerWith, work, died, quarantine, later, asked } = await harness({
      times: { leaveMs: 1 },
    });
    await died(2);
    const other = await quarantine.join('another');
    await work();
    expect(later).toEqual([[id, 500]]);
    other?.leave();
    const stranger = builderWith(followingDriver([final('hi')]))
      .withName('stranger')
      .build();
    await workerWith([stranger]).work();
    expect(later).toHaveLength(1);
    expect(asked).toEqual([]);
    expect(await store.find(id)).toMatchObject({ tries: 2, deaths: 1 });
  });

  it('is shared after a step that the session ran alone, in the store too', async () => {
    const cleared: (boolean | undefined)[] = [];
    const { work, row, died } = await harness({
      faults: (store) => ({
        commit(commit) {
          if (commit.steps?.length) cleared.push(commit.endsQuarantine);
          return store.commit(commit);
        },
      }),
    });
    await died(3);
    expect(await row()).toMatchObject({ isQuarantined: true });
    await work();
    expect(cleared[0]).toBe(true);
    expect(await row()).toMatchObject({ phase: 'idle', isQuarantined: false });
  });

  it('is not used if it is granted while the process closes', async () => {
    const { work, worker, quarantine, places, asked } = await harness();
    const alone = await quarantine.isolate('poison');
    const working = work();
    await pause(5);
    alone?.leave();
    await Promise.all([worker.close(), working]);
    expect(places).toMatchObject([{ isAlone: false }]);
    expect(asked).toEqual([]);
  });
});

describe('a claim', () => {
  it('of a session whose row appears leased is made only if the store has reported it free', async () => {
    const { work, row, worker, asked } = await harness({
      faults: (store) => ({
        // as with a clock that was set back
        find: async (id) => {
          const found = await store.find(id);
          return found && { ...found, isLeased: true };
        },
      }),
    });
    await work();
    expect(asked).toEqual([]);
    expect(await worker.recover()).toBe(1);
    await work();
    expect(await row()).toMatchObject({ status: 'completed', phase: 'idle' });
  });

  it('names the wait that applies if this worker dies too', async () => {
    const waits: unknown[] = [];
    const { work, died } = await harness({
      faults: (store) => ({
        claim(id, lease) {
          waits.push(lease.waitMs);
          return store.claim(id, lease);
        },
      }),
    });
    await died(1);
    await work();
    expect(waits).toEqual([waitAfter(1, LEASE_MS)]);
  });
});

describe('a failed try', () => {
  it('is retried by no process for a while', async () => {
    const { id, store, work, row, later } = await harness({ deps: fails });
    await work();
    expect(await row()).toMatchObject({ worker: null, tries: 1, error: 'no tenant' });
    expect(await store.claim(id, { worker: 'other', ttlMs: 1_000 })).toBeNull();
    expect(later).toEqual([[id, waitAfter(1, LEASE_MS)]]);
  });

  it('releases its lease even if the row cannot be read', async () => {
    let reads = 0;
    const { work, row } = await harness({
      deps: fails,
      faults: (store) => ({
        find: (id) => (reads++ === 0 ? store.find(id) : Promise.reject(new Error('down'))),
      }),
    });
    await work();
    expect(await row()).toMatchObject({ worker: null, error: 'no tenant' });
  });

  it('is followed immediately by a stop that was requested in between', async () => {
    const { id, work, row, later } = await harness({
      deps: fails,
      faults: (store) => ({
        async claim(sessionId, lease) {
          const claimed = await store.claim(sessionId, lease);
          await store.request(sessionId, { stop: 'enough' });
          return claimed;
        },
      }),
    });
    await work();
    expect(later).toEqual([[id, 0]]);
    await work();
    expect(await row()).toMatchObject({ status: 'stopped', phase: 'idle' });
  });

  it('schedules no retry if another worker holds the session', async () => {
    const { work, row, later, failures } = await harness({
      leaseMs: 20,
      deps: fails,
      faults: (store) => ({
        async claim(sessionId, lease) {
          const claimed = await store.claim(sessionId, lease);
          await pause(40);
          await until(() => store.claim(sessionId, { worker: 'other', ttlMs: LEASE_MS }));
          return claimed;
        },
      }),
    });
    await work();
    expect(await row()).toMatchObject({ worker: 'other', error: null });
    expect(later).toEqual([]);
    expect(failures).toMatchObject([{ message: 'no tenant' }]);
  });
});

describe('a session that has killed too many workers', () => {
  it('is stopped on its row without reading its messages', async () => {
    const { work, row, died, client, id, asked } = await harness();
    await died(6);
    await client.stop(id, { ...ann, reason: 'enough' });
    await work();
    expect(await row()).toMatchObject({ status: 'stopped', phase: 'idle' });
    expect((await row()).closeReason).toContain('enough');
    expect(asked).not.toContain('messages');
  });

  it('is stopped, not parked, if the stop comes after the claim', async () => {
    const { work, row, died, failures } = await harness({
      faults: (store) => ({
        async claim(sessionId, lease) {
          const claimed = await store.claim(sessionId, lease);
          await store.request(sessionId, { stop: 'enough' });
          return claimed;
        },
      }),
    });
    await died(6);
    await work();
    expect(await row()).toMatchObject({ status: 'stopped', phase: 'idle' });
    expect(failures).toEqual([]);
  });

  it('keeps the queued message when a stop ends the execution before it', async () => {
    const slow = held();
    const never = (): Promise<never> => new Promise(() => {});
    const { id, store, work, row, died, client } = await harness({
      tool: slow.tool,
      leaseMs: 50,
      faults: () => ({ renew: never, signals: never }),
    });
    // the session begins here and dies in its first tool
    const working = work();
    await slow.began();
    await client.send(id, 'more', { ...ann, whenBusy: 'queue' });
    await died(6);
    slow.open();
    await working;
    await client.stop(id, ann);
    await work();
    expect(await row()).toMatchObject({ phase: 'open' });
    expect(await store.nextCommand(id)).not.toBeNull();
  });
});
