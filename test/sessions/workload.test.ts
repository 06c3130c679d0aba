import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import type { SessionRow } from '../../src/sessions/session-rows.ts';
import type { AgentLoad, SessionStore } from '../../src/sessions/session-store.ts';
import { keyValueStore } from '../../src/sessions/stores/key-value/index.ts';
import { memoryStore } from '../../src/sessions/stores/memory/index.ts';
import { workloadOf } from '../../src/sessions/stores/workload-rules.ts';
import {
  at,
  makeHarness,
  type StoreHarness,
} from '../../src/testing/store-contract/store-harness.ts';
import { mapDriver } from '../setup/key-values.ts';
import { newSchema, open } from '../setup/postgres-stores.ts';
import { sqlitePlace } from '../setup/sessions.ts';

/** An empty store of each kind. */
const stores: readonly (readonly [string, () => SessionStore])[] = [
  ['memory', () => memoryStore()],
  ['key-value', () => keyValueStore(mapDriver())],
  ['sqlite', () => sqlitePlace().open()],
  ['postgres', () => open({ schema: newSchema() })],
];

describe.each(stores)('the workload of a %s store', (_name, make) => {
  let harness: StoreHarness;
  beforeEach(() => {
    harness = makeHarness(make(), 60);
  });

  it('is empty without open or parked sessions', async () => {
    const nothing = { agents: [], workers: [] };
    expect(await harness.store.workload()).toEqual(nothing);
    await harness.idle();
    await harness.paused();
    expect(await harness.store.workload()).toEqual(nothing);
  });

  it('counts each session once, by its agent, its phase and its worker', async () => {
    const { store } = harness;
    for (const owner of ['ann', 'ann', 'bob']) await harness.open({ owner });
    const parked = await harness.held({}, { agent: 'other' });
    const attempt = { kind: 'park', error: 'e', tries: 5, at: at(9) } as const;
    await store.release(parked.id, parked.token, attempt);
    const held = await harness.held();
    const handed = await harness.held();
    await handed.commit({ end: 'handover' });
    await store.reportWorker({ worker: 'w', body: '{}' });
    const { workers, agents } = await store.workload();
    const none = { waiting: 0, waitingSince: null, active: 0, recovered: 0, expired: 0, parked: 0 };
    expect(agents).toEqual([
      { ...none, agent: 'other', parked: 1 },
      { ...none, agent: 'support', waiting: 4, waitingSince: expect.any(String), active: 1 },
    ]);
    expect(workers.map(({ seenMsAgo: _ago, ...load }) => load)).toEqual(
      [
        { worker: held.worker, leases: 1, expired: 0, body: null },
        { worker: 'w', leases: 0, expired: 0, body: '{}' },
      ].toSorted((a, b) => (a.worker < b.worker ? -1 : 1)),
    );
  });

  it('agrees with the rows after random changes', async () => {
    const { store } = harness;
    const agents = ['a', 'B', "o'brien", 'é'];
    const moves = [
      (agent: string) => harness.idle({ agent }),
      (agent: string) => harness.open({ agent }),
      (agent: string) => harness.held({}, { agent }),
      (agent: string) => harness.held({ ttlMs: 1 }, { agent }),
      (agent: string) => harness.dying(1, { agent }),
      (agent: string) => harness.paused([], { agent }),
      async (agent: string) => {
        const { id, token } = await harness.held({}, { agent });
        await store.release(id, token, { kind: 'park', error: 'e', tries: 5, at: at(9) });
      },
    ];
    const random = fc.sample(fc.tuple(fc.nat(agents.length - 1), fc.nat(moves.length - 1)), 24);
    for (const [agent, move] of random) await moves[move]!(agents[agent]!);
    await harness.lapse();
    const rows = await store.list({ limit: 1_000 });
    const expected = workloadOf(rows, [], 0);
    expect(await store.workload()).toEqual(expected);
    expect(expected.agents.length).toBeGreaterThan(1);
    const sum = (of: (load: AgentLoad) => number): number =>
      expected.agents.reduce((total, load) => total + of(load), 0);
    const count = (is: (row: SessionRow) => boolean): number => rows.filter(is).length;
    expect(sum((load) => load.parked)).toBe(count(({ phase }) => phase === 'parked'));
    expect(sum((load) => load.waiting + load.active + load.expired)).toBe(
      count(({ phase }) => phase === 'open'),
    );
    expect(sum((load) => load.active)).toBe(count(({ isLeased }) => isLeased));
  });

  it('has the last change of the session that has waited longest', async () => {
    const { store } = harness;
    for (const second of [30, 10, 20]) {
      const { id } = await harness.idle();
      const command = {
        kind: 'message',
        executionId: `e-${second}`,
        body: '{}',
        at: at(second),
      } as const;
      await store.accept(id, command, { phases: ['idle'] });
    }
    expect((await store.workload()).agents[0]?.waitingSince).toBe(at(10));
  });
});
