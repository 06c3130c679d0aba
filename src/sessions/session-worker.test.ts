import { describe, expect, it } from 'vitest';
import { held } from '../../test/setup/session-moments.ts';
import {
  ann,
  builderWith,
  clientOn,
  followingDriver,
  pause,
  until,
} from '../../test/setup/sessions.ts';
import { durableAgent } from '../agent/durable-agent.ts';
import { systemClock } from '../clock.ts';
import { mockTool } from '../testing/mock-tool.ts';
import { ScenarioStep } from '../testing/scenario-step.ts';
import { waitAfter } from './attempts.ts';
import { LeaseKeeper } from './lease-keeper.ts';
import { Quarantine, type QuarantineTimes, type Stay } from './quarantine.ts';
import type { SessionStore } from './session-store.ts';
import { workOn, type WorkerContext } from './session-worker.ts';
import { memoryStore } from './stores/memory/index.ts';

const { final, toolCall } = ScenarioStep;
const LEASE_MS = 60_000;
const QUICK = { calmMs: 1, holdMs: 1, leaveMs: 20_000 };

/** A worker over a session that has one message, and what the worker asks for. */
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
  const failures: unknown[] = [];
  const state = { isDraining: false, isFree: false };
  const quarantine = new Quarantine({ ...QUICK, ...given.times });
  const places: (Stay | null)[] = [];
  const join = quarantine.join.bind(quarantine);
  quarantine.join = async (sessionId) => {
    const place = await join(sessionId);
    places.push(place);
    return place;
  };
  const context: WorkerContext = {
    store,
    worker: 'me',
    keeper: new LeaseKeeper(store, 'me', { leaseMs, heartbeatMs: LEASE_MS, signalMs: LEASE_MS }),
    quarantine,
    leaseMs,
    window: { maxMessages: 100, maxCharacters: 100_000 },
    clock: systemClock,
    agentNamed: (name) => (name === 'support' ? durableAgent(agent) : undefined),
    depsFor: deps,
    isDraining: () => state.isDraining,
    isFree: () => state.isFree,
    onEvent() {},
    hasListeners: () => false,
    failed: (error) => failures.push(error),
    tryLater: (sessionId, waitMs) => later.push([sessionId, waitMs]),
  };
  const work = (): Promise<boolean> => workOn(context, id);
  const row = async () => (await own.find(id))!;
  /** Workers that died with it. */
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
    context,
    state,
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

describe('a place', () => {
  it('is left after the step for a session that needs the process for itself, and asked for again', async () => {
    const slow = held();
    const { id, work, row, quarantine, places, later } = await harness({ tool: slow.tool });
    const working = work();
    await slow.began();
    const alone = quarantine.isolate('poison');
    await until(() => places[0]?.mustLeave);
    slow.open();
    expect(await working).toBe(true);
    expect(await row()).toMatchObject({ phase: 'open', worker: null, stepCount: 1, tries: 0 });
    expect(later).toEqual([[id, 500]]);
    expect(await alone).toMatchObject({ isAlone: true });
  });

  it('that was not to be had is asked for again, by a process that has the agent', async () => {
    const { id, store, context, work, died, quarantine, later, asked } = await harness({
      times: { leaveMs: 1 },
    });
    await died(2);
    const other = await quarantine.join('another');
    expect(await work()).toBe(true);
    expect(later).toEqual([[id, 500]]);
    other?.leave();
    expect(await workOn({ ...context, agentNamed: () => undefined }, id)).toBe(true);
    expect(later).toHaveLength(1);
    expect(asked).toEqual([]);
    expect(await store.find(id)).toMatchObject({ tries: 2, deaths: 1 });
  });

  it('that comes when the process closes is not used', async () => {
    const { work, quarantine, state, asked } = await harness();
    const alone = await quarantine.isolate('poison');
    const working = work();
    await pause(5);
    state.isDraining = true;
    alone?.leave();
    expect(await working).toBe(true);
    expect(asked).toEqual([]);
  });
});

describe('a claim', () => {
  it('is made of what a row calls leased only where the store has called it free', async () => {
    const { work, row, state, asked } = await harness({
      faults: (store) => ({
        // as a clock says that was set back
        find: async (id) => {
          const found = await store.find(id);
          return found && { ...found, isLeased: true };
        },
      }),
    });
    expect(await work()).toBe(true);
    expect(asked).toEqual([]);
    state.isFree = true;
    expect(await work()).toBe(true);
    expect(await row()).toMatchObject({ status: 'completed', phase: 'idle' });
  });

  it('names the wait for the case that this worker dies too', async () => {
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

describe('a try that failed', () => {
  it('is left alone for a while by every process', async () => {
    const { id, store, work, row, later } = await harness({ deps: fails });
    expect(await work()).toBe(false);
    expect(await row()).toMatchObject({ worker: null, tries: 1, error: 'no tenant' });
    expect(await store.claim(id, { worker: 'other', ttlMs: 1_000 })).toBeNull();
    expect(later).toEqual([[id, waitAfter(1, LEASE_MS)]]);
  });

  it('gives its lease back though the row cannot be read', async () => {
    let reads = 0;
    const { work, row } = await harness({
      deps: fails,
      faults: (store) => ({
        find: (id) => (reads++ === 0 ? store.find(id) : Promise.reject(new Error('down'))),
      }),
    });
    expect(await work()).toBe(false);
    expect(await row()).toMatchObject({ worker: null, error: 'no tenant' });
  });

  it('is followed by a stop that came meanwhile, at once', async () => {
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
    expect(await work()).toBe(false);
    expect(later).toEqual([[id, 0]]);
    await work();
    expect(await row()).toMatchObject({ status: 'stopped', phase: 'idle' });
  });

  it('plans nothing where another worker has the session', async () => {
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
    await work().catch(() => {});
    expect(await row()).toMatchObject({ worker: 'other', error: null });
    expect(later).toEqual([]);
    expect(failures).toMatchObject([{ message: 'no tenant' }]);
  });
});

describe('a session that has killed too many workers', () => {
  it('is stopped on its row, and nothing of it is read', async () => {
    const { work, row, died, client, id, asked } = await harness();
    await died(6);
    await client.stop(id, { ...ann, reason: 'enough' });
    await work();
    expect(await row()).toMatchObject({ status: 'stopped', phase: 'idle' });
    expect((await row()).closeReason).toContain('enough');
    expect(asked).not.toContain('messages');
  });

  it('is stopped, not parked, where the stop comes after the claim', async () => {
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

  it('keeps the message behind the execution that a stop ends', async () => {
    const slow = held();
    const { id, store, work, row, died, client } = await harness({ tool: slow.tool, leaseMs: 50 });
    // it begins here, and dies in its first tool
    const working = work().catch(() => {});
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
