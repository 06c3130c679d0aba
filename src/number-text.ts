/** Creates a formatter on first use and keeps it: creating one takes a millisecond, and a list has many rows. */
function lazily(most: number, least: number = 0): { format(value: number): string } {
  let made: Intl.NumberFormat | null = null;
  return {
    format: (value) =>
      (made ??= new Intl.NumberFormat('en-US', {
        minimumFractionDigits: least,
        maximumFractionDigits: most,
      })).format(value),
  };
}
const plain = /* @__PURE__ */ lazily(6);
const tenths = /* @__PURE__ */ lazily(1);
const cents = /* @__PURE__ */ lazily(2, 2);
const exact = /* @__PURE__ */ lazily(6, 2);

/** Formats a duration with about three digits: "3 ms", "0.31 s", "17.3 s", "4m 12s", "1h 23m", "2d 05h". */
export function durationText(ms: number): string {
  if (ms < 99.5) return `${Math.round(ms)} ms`;
  if (ms < 9_995) return `${(ms / 1000).toFixed(2)} s`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  if (hours < 1) return `${minutes}m ${two(seconds % 60)}s`;
  if (hours < 48) return `${hours}h ${two(minutes % 60)}m`;
  return `${Math.floor(hours / 24)}d ${two(hours % 24)}h`;
}

const two = (value: number): string => String(value).padStart(2, '0');

/** Formats seconds to tenths: "120", "119.6". */
export const secondsText = (value: number): string => tenths.format(value);

/** Formats a number with at most six decimals: "20,000", "0.5". */
export const countText = (value: number): string => plain.format(value);

/** Formats a count with its noun: "1 call", "2 calls". */
export const counted = (value: number, one: string, many: string = `${one}s`): string =>
  `${countText(value)} ${value === 1 ? one : many}`;

/** Formats a number of times: "once", "twice", "4 times". */
export const timesText = (value: number): string =>
  value === 1 ? 'once' : value === 2 ? 'twice' : counted(value, 'time');

/** Formats a cost: "$0.0225", "$12.40". Small amounts keep more digits, and align in a column. */
export function moneyText(value: number): string {
  if (value === 0) return '$0.00';
  if (value < 5e-8) return '< $0.0000001';
  if (value < 0.0001) return `$${value.toFixed(7).replace(/0+$/, '')}`;
  return `$${value >= 0.99995 ? cents.format(value) : value.toFixed(4)}`;
}

/** Formats a configured amount with two to six decimals: "$0.10", "$0.1004". */
export const exactMoneyText = (value: number): string => `$${exact.format(value)}`;

/** Formats a size: "512 bytes", "5.1 KB", "1.2 MB". */
export function bytesText(bytes: number): string {
  if (bytes < 1000) return counted(bytes, 'byte');
  const isLarge = bytes >= 999_950;
  return `${tenths.format(bytes / (isLarge ? 1_000_000 : 1000))} ${isLarge ? 'MB' : 'KB'}`;
}
