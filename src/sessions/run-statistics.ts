import type { RunDetails } from './run-record.ts';
import type { SessionRunRow } from './session-rows.ts';

/** A run record with its body. */
export interface ReadRun extends Omit<SessionRunRow, 'body'> {
  readonly details: RunDetails;
}

export interface StatisticsRange {
  /** Begin of the first bucket, in milliseconds since the epoch. */
  readonly from: number;
  /** End of the last bucket. */
  readonly before: number;
  readonly bucketMs: number;
}

/** Number of runs by outcome. Paused runs are not over, and not counted. */
export interface RunCounts {
  readonly finished: number;
  /** Stopped by a limit or a guard. */
  readonly limited: number;
  readonly failed: number;
  /** Stopped by a user. */
  readonly cancelled: number;
}

export interface RunBucket extends RunCounts {
  readonly at: string;
  readonly cost: number;
  readonly steps: number;
  /** Milliseconds of a step; null without steps. */
  readonly p50: number | null;
  readonly p95: number | null;
}

export interface ToolErrors {
  readonly tool: string;
  readonly calls: number;
  readonly failed: number;
}

export interface RunStatistics extends RunCounts {
  readonly buckets: readonly RunBucket[];
  readonly cost: number;
  readonly p50: number | null;
  readonly p95: number | null;
  /** Tools, most failed calls first. */
  readonly tools: readonly ToolErrors[];
  /** Costs by model, highest first. */
  readonly models: readonly { readonly model: string; readonly cost: number }[];
}

type Outcome = keyof RunCounts;
type Counting = { -readonly [K in Outcome]: number };

const none: RunCounts = { finished: 0, limited: 0, failed: 0, cancelled: 0 };

/** Summarizes the runs that ended in a range, and the steps that began in it. */
export function runStatistics(
  runs: readonly ReadRun[],
  { from, before, bucketMs }: StatisticsRange,
): RunStatistics {
  const count = Math.max(1, Math.ceil((before - from) / bucketMs));
  const buckets = Array.from({ length: count }, () => ({
    ...none,
    cost: 0,
    times: [] as number[],
  }));
  const total: Counting = { ...none };
  const tools = new Map<string, [number, number]>();
  const models = new Map<string, number>();
  const at = (time: number): (typeof buckets)[number] | undefined =>
    time < from || time >= before ? undefined : buckets[Math.floor((time - from) / bucketMs)];
  for (const { endedAt, startedAt, status, stopReason, cost, model, details } of runs) {
    const bucket = at(Date.parse(endedAt));
    const outcome = outcomeOf(status, stopReason);
    if (bucket && outcome) {
      bucket[outcome] += 1;
      total[outcome] += 1;
    }
    if (bucket) {
      bucket.cost += cost ?? 0;
      if (cost !== null && model !== null) models.set(model, (models.get(model) ?? 0) + cost);
      for (const [tool, [calls, failed]] of Object.entries(details.tools)) {
        const [c, f] = tools.get(tool) ?? [0, 0];
        tools.set(tool, [c + calls, f + failed]);
      }
    }
    const start = Date.parse(startedAt);
    for (const [seconds, ms] of details.steps) at(start + seconds * 1000)?.times.push(ms);
  }
  const times = buckets.flatMap((bucket) => bucket.times);
  return {
    ...total,
    buckets: buckets.map(({ times: own, ...counts }, i) => ({
      at: new Date(from + i * bucketMs).toISOString(),
      ...counts,
      steps: own.length,
      ...percentiles(own),
    })),
    cost: buckets.reduce((sum, bucket) => sum + bucket.cost, 0),
    ...percentiles(times),
    tools: Array.from(tools, ([tool, [calls, failed]]) => ({ tool, calls, failed })).toSorted(
      (a, b) => b.failed - a.failed || b.calls - a.calls || (a.tool < b.tool ? -1 : 1),
    ),
    models: Array.from(models, ([model, cost]) => ({ model, cost })).toSorted(
      (a, b) => b.cost - a.cost,
    ),
  };
}

function outcomeOf(status: string, stopReason: string | null): Outcome | null {
  if (status === 'completed') return 'finished';
  if (status === 'failed') return 'failed';
  if (status !== 'stopped') return null;
  return stopReason === 'user_requested' ? 'cancelled' : 'limited';
}

function percentiles(times: readonly number[]): Pick<RunBucket, 'p50' | 'p95'> {
  const sorted = times.toSorted((a, b) => a - b);
  const rank = (part: number): number | null =>
    sorted[Math.max(0, Math.ceil(sorted.length * part) - 1)] ?? null;
  return { p50: rank(0.5), p95: rank(0.95) };
}
