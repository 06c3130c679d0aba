/** `3 ms`, `0.31 s`, `17.3 s`, `4m 12s`, `1h 23m`: as exact as a reader of a timeline needs it. */
export function durationText(ms: number): string {
  if (ms < 99.5) return `${Math.round(ms)} ms`;
  if (ms < 9_995) return `${(ms / 1000).toFixed(2)} s`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m ${two(seconds % 60)}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes >= 48 * 60)
    return `${Math.floor(minutes / 1440)}d ${two(Math.floor(minutes / 60) % 24)}h`;
  return `${Math.floor(minutes / 60)}h ${two(minutes % 60)}m`;
}

const two = (value: number): string => String(value).padStart(2, '0');

// made once: a row has four numbers, and a list has many rows
const numbers = new Intl.NumberFormat('en-US', { maximumFractionDigits: 2 });
const cents = new Intl.NumberFormat('en-US', {
  minimumFractionDigits: 2,
  maximumFractionDigits: 2,
});
const exact = new Intl.NumberFormat('en-US', {
  minimumFractionDigits: 2,
  maximumFractionDigits: 6,
});

/** `9,924`. */
export const countText = (value: number): string => numbers.format(value);

/** `$0.0225`, `$12.40`: small sums keep the digits that tell them apart, and all as many, so that columns line up. */
export function moneyText(value: number): string {
  if (value === 0) return '$0.00';
  if (value < 0.0001) return `$${value.toFixed(7).replace(/0+$/, '')}`;
  return `$${value >= 1 ? cents.format(value) : value.toFixed(4)}`;
}

/** A round sum that somebody wrote down: `$0.10`. */
export const moneyLimitText = (value: number): string => `$${exact.format(value)}`;

/** Seconds beside their limit: the unit stands once where both can share it. */
export function secondsOfText(used: number, limit: number): readonly [string, string] {
  const share = used >= 0.0995 && used < 600 && limit < 600;
  if (!share) return [durationText(used * 1000), limitText(limit)];
  return [trimmed(used), `${trimmed(limit)} s`];
}

/** A limit is a round number that somebody wrote down: `120 s`, `30m`, `2h`. */
function limitText(seconds: number): string {
  if (seconds < 600) return `${trimmed(seconds)} s`;
  return durationText(seconds * 1000).replace(/ 00[sm]$/, '');
}

const trimmed = (seconds: number): string =>
  seconds >= 100 ? String(Math.round(seconds)) : String(Math.round(seconds * 10) / 10);

/** `1 call`, `2 calls`. */
export const counted = (count: number, one: string, many: string = `${one}s`): string =>
  `${countText(count)} ${count === 1 ? one : many}`;

/** Rounded, but what took time is never 0 %, and what left some is never all of it. */
export function shareText(ms: number, all: number): string {
  if (all <= 0) return '–';
  const share = (ms / all) * 100;
  if (share > 0 && share < 1) return '< 1 %';
  return share < 100 && share > 99 ? '> 99 %' : `${Math.round(share)} %`;
}
