import { usageError } from './usage-error.ts';

const MS: ReadonlyMap<string, number> = new Map([
  ['m', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
  ['w', 604_800_000],
]);

/** Returns the time before which something is old: `90d` counts back from now, a date is itself. */
export function olderThan(text: string, now: number): Date {
  const [, count, unit = ''] = /^(\d{1,6})([mhdw])$/.exec(text) ?? [];
  const time =
    count === undefined
      ? Date.parse(/^\d{4}-\d\d-\d\d/.test(text) ? text : '')
      : now - Number(count) * (MS.get(unit) ?? 0);
  if (Number.isNaN(time) || time > now)
    throw usageError(
      `--older-than got "${text}", expected an age such as 90d (m, h, d or w) or a past date such as 2026-01-31.`,
    );
  return new Date(time);
}
