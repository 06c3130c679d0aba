import type { Grants } from '../continuation/grants.ts';
import { printable } from './paint.ts';

/** `240 ms`, `1.2 s`, `2m 05s`, `1h 02m`. */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1_000);
  if (seconds < 3_600) return `${Math.floor(seconds / 60)}m ${two(seconds % 60)}s`;
  return `${Math.floor(seconds / 3_600)}h ${two(Math.floor(seconds / 60) % 60)}m`;
}

const two = (n: number): string => String(n).padStart(2, '0');

export const number = (value: number): string => value.toLocaleString('en-US');

export const count = (n: number, word: string): string =>
  `${number(n)} ${word}${n === 1 ? '' : 's'}`;

/** As few digits as say something: `$0.0012`, `$1.20`. */
export function money(cost: number | null): string {
  if (cost === null) return '';
  return `$${cost === 0 || cost >= 0.1 ? cost.toFixed(2) : Number(cost.toPrecision(2)).toFixed(decimals(cost))}`;
}

const decimals = (cost: number): number => Math.min(8, 1 - Math.floor(Math.log10(cost)));

/** `just now`, `5 min ago`, `3 h ago`, `2 days ago`, then the date. */
export function ago(iso: string, now: number): string {
  const minutes = Math.floor((now - Date.parse(iso)) / 60_000);
  if (minutes < 1) return 'just now';
  if (minutes < 60) return `${minutes} min ago`;
  if (minutes < 48 * 60) return `${Math.floor(minutes / 60)} h ago`;
  const days = Math.floor(minutes / 1_440);
  return days < 30 ? `${days} days ago` : iso.slice(0, 10);
}

/** One line of at most so many characters, safe to print. */
export function oneLine(text: string, most: number): string {
  const line = printable(text).replace(/\s+/g, ' ').trim();
  const letters = Array.from(line.slice(0, most * 2 + 2));
  return letters.length > most ? `${letters.slice(0, most - 1).join('')}…` : line;
}

/** Arguments as a glance needs them. */
export const argsSummary = (args: unknown, most: number = 80): string =>
  isEmpty(args) ? '' : oneLine(JSON.stringify(args) ?? '', most);

const isEmpty = (args: unknown): boolean =>
  args === null ||
  args === undefined ||
  (typeof args === 'object' && Object.keys(args).length === 0);

/** As `--grant` takes it: `steps=5,tokens=2000`. */
export const grantText = (grant: Grants): string =>
  Object.entries(grant)
    .map(([kind, amount]) => `${kind}=${String(amount)}`)
    .join(',');

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-/i;

/** The beginning of an id that nobody chose is enough; one that somebody chose stays whole. */
export const shortId = (id: string): string => (UUID.test(id) ? id.slice(0, 8) : id);
