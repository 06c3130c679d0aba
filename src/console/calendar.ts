const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

const two = (value: number): string => String(value).padStart(2, '0');

/** "14:04", in the reader's zone. */
export const clockText = (at: Date): string => `${two(at.getHours())}:${two(at.getMinutes())}`;

/** "3 Nov", and the year where it is another one. */
export function dateText(at: Date, now: Date): string {
  const year = at.getFullYear() === now.getFullYear() ? '' : ` ${at.getFullYear()}`;
  return `${at.getDate()} ${months[at.getMonth()]}${year}`;
}

/** When the reader's day began. */
const midnight = (at: Date): number => new Date(at).setHours(0, 0, 0, 0);

/** How many nights lie between: 0 is the same day. Days of a clock change have another length. */
export const daysBetween = (at: Date, now: Date): number =>
  Math.round((midnight(now) - midnight(at)) / 86_400_000);
