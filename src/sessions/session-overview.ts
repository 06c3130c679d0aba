import { pacer } from '../pacing.ts';
import { attentionTimes } from './attention.ts';
import { feedsOf } from './feed/feeds-of.ts';
import { runDetails } from './run-record.ts';
import {
  runStatistics,
  type ReadRun,
  type RunStatistics,
  type StatisticsRange,
} from './run-statistics.ts';
import type { AnySessionRuntime } from './session-handle.ts';
import type { SessionStore } from './session-store.ts';

/** Most sessions that a count of attention counts, of each kind. */
const MOST_COUNTED = 100;
/** Most run records that charts are made from, the newest. */
const MOST_RUNS = 5_000;

/** Number of sessions that need a person, by reason. */
export interface AttentionCounts {
  readonly gaveUp: number;
  readonly stuck: number;
  readonly failed: number;
  readonly waiting: number;
}

export interface SessionOverview {
  /** Statistics of the range. */
  readonly range: RunStatistics;
  /** Statistics by day, up to the end of the range. */
  readonly days: RunStatistics;
  /** Whether there are more run records than were read: then older ones are not counted. */
  readonly isTruncated: boolean;
}

/** Counts the sessions of an owner, or of all owners, that need a person. */
export async function attentionCounts(
  runtime: AnySessionRuntime,
  owner?: string,
): Promise<AttentionCounts> {
  const { store } = feedsOf(runtime).lookup;
  const times = attentionTimes(runtime.clock.now());
  const of = owner === undefined ? {} : { owner };
  const count = (filter: Parameters<SessionStore['count']>[0]): Promise<number> =>
    store.count({ ...of, ...filter, attention: { ...times, isNeeded: true } }, MOST_COUNTED);
  const [gaveUp, stuck, failed, waiting] = await Promise.all([
    count({ phase: 'parked' }),
    count({ phase: 'open' }),
    count({ phase: 'idle' }),
    count({ phase: 'paused' }),
  ]);
  return { gaveUp, stuck, failed, waiting };
}

/** Makes the statistics of charts from the run records of an owner, or of all owners. */
export async function sessionOverview(
  runtime: AnySessionRuntime,
  {
    owner,
    range,
    days,
  }: {
    readonly owner?: string;
    readonly range: StatisticsRange;
    readonly days: StatisticsRange;
  },
): Promise<SessionOverview> {
  const { store } = feedsOf(runtime).lookup;
  const rows = await store.runs({
    ...(owner !== undefined && { owner }),
    from: new Date(Math.min(range.from, days.from)).toISOString(),
    before: new Date(Math.max(range.before, days.before)).toISOString(),
    limit: MOST_RUNS + 1,
  });
  const pause = pacer(owner ?? '');
  const runs: ReadRun[] = [];
  for (const { body, ...row } of rows.slice(0, MOST_RUNS)) {
    runs.push({ ...row, details: await detailsIn(store, body) });
    await pause();
  }
  return {
    range: runStatistics(runs, range),
    days: runStatistics(runs, days),
    isTruncated: rows.length > MOST_RUNS,
  };
}

/** A body that cannot be read has no details: one row must not hide all others. */
async function detailsIn({ codec }: SessionStore, body: string): Promise<ReadRun['details']> {
  try {
    return runDetails(JSON.parse(codec ? await codec.decode(body) : body));
  } catch {
    return runDetails(null);
  }
}
