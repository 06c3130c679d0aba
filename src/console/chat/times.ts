import { durationText } from '../../number-text.ts';
import { clockText, dateText, daysBetween } from '../calendar.ts';

/** Formats "4 s" or "2m 05s", for a number that changes while it is read. */
export const elapsedText = (ms: number): string =>
  ms < 60_000 ? `${Math.max(0, Math.floor(ms / 1000))} s` : durationText(ms);

const days = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];

/** Formats "Today, 14:04", "Yesterday, 09:17", "Monday, 16:20", "3 Nov 2025, 11:32". */
export function dayText(at: Date, now: Date): string {
  const clock = clockText(at);
  const age = daysBetween(at, now);
  if (age === 0) return `Today, ${clock}`;
  if (age === 1) return `Yesterday, ${clock}`;
  if (age > 1 && age < 7) return `${days[at.getDay()]}, ${clock}`;
  return `${dateText(at, now)}, ${clock}`;
}

/** Milliseconds between messages after which a new time is shown. */
const breakMs = 3_600_000;

/** Whether a new time is shown above the message at `at`. */
export function needsDay(before: string | null, at: string): boolean {
  const [then, now] = [Date.parse(before ?? ''), Date.parse(at)];
  if (Number.isNaN(now)) return false;
  if (Number.isNaN(then)) return true;
  return now - then > breakMs || daysBetween(new Date(then), new Date(now)) !== 0;
}
