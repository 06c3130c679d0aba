import { describe, expect, it } from 'vitest';
import { runStatistics, type ReadRun } from './run-statistics.ts';

const HOUR = 3_600_000;
const start = Date.UTC(2026, 0, 1);
const range = { from: start, before: start + 3 * HOUR, bucketMs: HOUR };
const time = (hours: number): string => new Date(start + hours * HOUR).toISOString();

const run = (patch: Partial<ReadRun> = {}): ReadRun => ({
  sessionId: 's',
  owner: 'ann',
  agent: 'support',
  executionId: 'e',
  startedAt: time(0),
  endedAt: time(0.5),
  status: 'completed',
  stopReason: 'completed',
  model: 'm',
  cost: 0.5,
  sessionCost: 0.5,
  errors: 0,
  details: { steps: [], tools: {} },
  ...patch,
});

describe('the statistics of runs', () => {
  it.each<[Partial<ReadRun>, object]>([
    [{}, { finished: 1 }],
    [{ status: 'stopped', stopReason: 'steps_limit' }, { limited: 1 }],
    [{ status: 'stopped', stopReason: 'guard' }, { limited: 1 }],
    [{ status: 'stopped', stopReason: 'user_requested' }, { cancelled: 1 }],
    [{ status: 'failed', stopReason: 'error' }, { failed: 1 }],
    [{ status: 'paused', stopReason: null }, {}],
    [{ endedAt: time(3) }, {}],
    [{ endedAt: time(-0.001) }, {}],
  ])('count %j as %j', (patch, counts) => {
    const { finished, limited, failed, cancelled } = runStatistics([run(patch)], range);
    expect({ finished, limited, failed, cancelled }).toEqual({
      finished: 0,
      limited: 0,
      failed: 0,
      cancelled: 0,
      ...counts,
    });
  });

  it('put runs, costs and steps into their buckets', () => {
    const { buckets, cost, p50, p95 } = runStatistics(
      [
        run({
          endedAt: time(2.5),
          details: {
            steps: [
              [0, 100],
              [HOUR / 1000, 300],
            ],
            tools: {},
          },
        }),
        run({ cost: null }),
      ],
      range,
    );
    expect(buckets.map(({ at, finished, steps }) => [at, finished, steps])).toEqual([
      [time(0), 1, 1],
      [time(1), 0, 1],
      [time(2), 1, 0],
    ]);
    expect(buckets.map((one) => [one.cost, one.p50, one.p95])).toEqual([
      [0, 100, 100],
      [0, 300, 300],
      [0.5, null, null],
    ]);
    expect([cost, p50, p95]).toEqual([0.5, 100, 300]);
  });

  it('sum up tools, most failures first, and models, highest cost first', () => {
    const { tools, models } = runStatistics(
      [
        run({ details: { steps: [], tools: { a: [5, 0], b: [2, 1] } } }),
        run({ cost: 2, model: 'n', details: { steps: [], tools: { b: [2, 2], c: [9, 0] } } }),
        run({ cost: 1, model: null }),
      ],
      range,
    );
    expect(tools).toEqual([
      { tool: 'b', calls: 4, failed: 3 },
      { tool: 'c', calls: 9, failed: 0 },
      { tool: 'a', calls: 5, failed: 0 },
    ]);
    expect(models).toEqual([
      { model: 'n', cost: 2 },
      { model: 'm', cost: 0.5 },
    ]);
  });
});
