const DAY_MS = 86_400_000;

/** Days as `2026-01-31`; the demo has no hours. */
export const isoDay = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

export const daysBefore = (today: string, days: number): string =>
  isoDay(Date.parse(today) - days * DAY_MS);

export const daysBetween = (from: string, to: string): number =>
  Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS);

export interface DateRange {
  readonly from: string;
  readonly to: string;
}

/** Returns the first and last day of the quarter of `today`, or of a later quarter. */
export function quarterOf(today: string, later: number = 0): DateRange {
  const year = Number(today.slice(0, 4));
  const first = Math.floor((Number(today.slice(5, 7)) - 1) / 3) * 3 + later * 3;
  return { from: isoDay(Date.UTC(year, first, 1)), to: isoDay(Date.UTC(year, first + 3, 0)) };
}

/** Returns a day of that quarter that has not passed. */
export function dayInQuarter(today: string, later: number, share: number): string {
  const { from, to } = quarterOf(today, later);
  const start = from > today ? from : today;
  return daysBefore(start, -Math.round(daysBetween(start, to) * share));
}
