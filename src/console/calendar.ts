const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

const two = (value: number): string => String(value).padStart(2, '0');

/** Formats "14:04" in the reader's time zone. */
export const clockText = (at: Date): string => `${two(at.getHours())}:${two(at.getMinutes())}`;

/** Formats "3 Nov", with the year if it is another one. */
export function dateText(at: Date, now: Date): string {
  const year = at.getFullYear() === now.getFullYear() ? '' : ` ${at.getFullYear()}`;
  return `${at.getDate()} ${months[at.getMonth()]}${year}`;
}

/** Returns the start of the reader's day. */
const midnight = (at: Date): number => new Date(at).setHours(0, 0, 0, 0);

/**
 * Counts the days between two dates; 0 is the same day. Rounds, because days with a clock change have another length.
 */
export const daysBetween = (at: Date, now: Date): number =>
  Math.round((midnight(now) - midnight(at)) / 86_400_000);
