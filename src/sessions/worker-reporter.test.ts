import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { fakeClock } from '../testing/fake-clock.ts';
import type { SessionStore, WorkerReport } from './session-store.ts';
import { WorkerReporter } from './worker-reporter.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function reporting(reportWorker: SessionStore['reportWorker'], leaseMs = 15_000) {
  const state = { isDraining: false, active: 0 };
  const worker = {
    id: 'w',
    leaseMs,
    lookup: { store: { reportWorker }, clock: fakeClock(), agentNames: ['support'] },
    get isDraining() {
      return state.isDraining;
    },
  };
  type Reporting = ConstructorParameters<typeof WorkerReporter>[0];
  const reporter = new WorkerReporter(worker as unknown as Reporting, () => state.active); // what it reads
  return { reporter, state };
}

const bodies = (reports: readonly WorkerReport[]): unknown[] =>
  reports.map(({ body }) => (body === null ? null : JSON.parse(body)));

it('reports at the start and every 10 seconds, and takes the worker off the list at its end', async () => {
  const reports: WorkerReport[] = [];
  const { reporter, state } = reporting(async (report) => void reports.push(report));
  reporter.start();
  reporter.start();
  await vi.advanceTimersByTimeAsync(0);
  state.active = 3;
  await vi.advanceTimersByTimeAsync(60_000);
  state.isDraining = true;
  reporter.report();
  await reporter.end();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(reports).toHaveLength(1 + 6 + 2);
  expect(bodies(reports)[0]).toMatchObject({
    host: expect.any(String),
    pid: process.pid,
    agents: ['support'],
    everyMs: 10_000,
    active: 0,
    isDraining: false,
  });
  expect(bodies(reports)[1]).toMatchObject({ active: 3 });
  expect(bodies(reports).at(-2)).toMatchObject({ isDraining: true });
  expect(bodies(reports).at(-1)).toBeNull();
});

it('reports as often as a shorter lease lasts', async () => {
  const reports: WorkerReport[] = [];
  const { reporter } = reporting(async (report) => void reports.push(report), 1_500);
  reporter.start();
  await vi.advanceTimersByTimeAsync(6_000);
  expect(reports).toHaveLength(5);
  await reporter.end();
});

it('writes nothing if it never began', async () => {
  const reports: WorkerReport[] = [];
  const { reporter } = reporting(async (report) => void reports.push(report));
  reporter.report();
  await reporter.end();
  expect(reports).toEqual([]);
});

it('makes one report at a time, and its end waits for a store that hangs 2 seconds at most', async () => {
  let asked = 0;
  const { reporter } = reporting(() => {
    asked += 1;
    return new Promise(() => {});
  });
  reporter.start();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(asked).toBe(1);
  let hasEnded = false;
  void reporter.end().then(() => (hasEnded = true));
  await vi.advanceTimersByTimeAsync(1_999);
  expect(hasEnded).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  expect(hasEnded).toBe(true);
});

it('survives a store that fails', async () => {
  let asked = 0;
  const { reporter } = reporting(async () => {
    asked += 1;
    throw new Error('disk full');
  });
  reporter.start();
  await vi.advanceTimersByTimeAsync(20_000);
  await reporter.end();
  expect(asked).toBe(4);
});
