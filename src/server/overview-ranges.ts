import type { StatisticsRange } from '../sessions/run-statistics.ts';

export const rangeNames = ['1h', '12h', '14d'] as const;
export type RangeName = (typeof rangeNames)[number];

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** Number of days with a cost. */
const DAYS = 14;

const shapes: Readonly<Record<RangeName, { readonly bucketMs: number; readonly count: number }>> = {
  '1h': { bucketMs: 5 * MINUTE, count: 12 },
  '12h': { bucketMs: HOUR, count: 12 },
  '14d': { bucketMs: DAY, count: DAYS },
};

/** Returns the range of the charts, and that of the days, so that buckets are whole hours and days of the reader. */
export function rangesAt(
  now: number,
  name: RangeName,
  utcOffsetMinutes: number,
): { readonly range: StatisticsRange; readonly days: StatisticsRange } {
  const upTo = (bucketMs: number, count: number): StatisticsRange => {
    const offset = utcOffsetMinutes * MINUTE;
    const before = Math.floor((now + offset) / bucketMs) * bucketMs + bucketMs - offset;
    return { from: before - count * bucketMs, before, bucketMs };
  };
  const { bucketMs, count } = shapes[name];
  return { range: upTo(bucketMs, count), days: upTo(DAY, DAYS) };
}
