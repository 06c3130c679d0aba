import { expect, it } from 'vitest';
import { queueView } from './queue-view.ts';
import type { AgentLoad, WorkerLoad } from './session-store.ts';

const now = Date.UTC(2026, 0, 1, 0, 1);
const work = (agent: string, patch: Partial<AgentLoad> = {}): AgentLoad => ({
  agent,
  waiting: 0,
  waitingSince: null,
  active: 0,
  recovered: 0,
  expired: 0,
  parked: 0,
  ...patch,
});
const worker = (agents: readonly string[], patch: Partial<WorkerLoad> = {}): WorkerLoad => ({
  worker: 'w',
  leases: 0,
  expired: 0,
  body: JSON.stringify({ agents }),
  seenMsAgo: 1,
  ...patch,
});

it('sums the work of all agents and names the oldest that waits', () => {
  const agents = [
    work('a', { waiting: 2, waitingSince: '2026-01-01T00:00:30.000Z', active: 1, recovered: 1 }),
    work('b', { waiting: 1, waitingSince: '2026-01-01T00:00:10.000Z', expired: 2, parked: 3 }),
  ];
  const { agents: rows, ...sums } = queueView({ agents, workers: [] }, now);
  expect(sums).toEqual({
    waiting: 3,
    oldestWaitingMs: 50_000,
    active: 1,
    recovered: 1,
    expired: 2,
    parked: 3,
    workers: 0,
  });
  expect(rows.map(({ agent, oldestWaitingMs }) => [agent, oldestWaitingMs])).toEqual([
    ['a', 30_000],
    ['b', 50_000],
  ]);
});

it('counts the workers that claim sessions of an agent, also of one without work', () => {
  const workers = [
    worker(['a', 'c']),
    worker(['a'], { leases: 2 }),
    worker(['a'], { expired: 1 }),
    worker(['a'], { body: JSON.stringify({ agents: ['a'], isDraining: true }) }),
    worker([], { body: null, seenMsAgo: null, leases: 1 }),
  ];
  const view = queueView({ agents: [work('a'), work('b')], workers }, now);
  expect(view.workers).toBe(3);
  expect(view.agents.map(({ agent, workers: count }) => [agent, count])).toEqual([
    ['a', 2],
    ['b', 0],
    ['c', 1],
  ]);
});

it('shows no age below 0 where clocks differ, and none for a time that cannot be read', () => {
  const ages = ['2026-01-01T00:09:00.000Z', 'soon'].map(
    (waitingSince) =>
      queueView({ agents: [work('a', { waiting: 1, waitingSince })], workers: [] }, now)
        .oldestWaitingMs,
  );
  expect(ages).toEqual([0, null]);
});
