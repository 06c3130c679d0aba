import { expect, it } from 'vitest';
import { clockText, dateText, daysBetween } from './calendar.ts';

const at = new Date(2026, 8, 3, 9, 5);

it('formats a time and a date briefly', () => {
  expect(clockText(at)).toBe('09:05');
  expect(clockText(new Date(2026, 8, 3))).toBe('00:00');
  expect(dateText(at, new Date(2026, 11, 31))).toBe('3 Sep');
  expect(dateText(at, new Date(2027, 0, 1))).toBe('3 Sep 2026');
});

it.each([
  [new Date(2026, 8, 3), 0, 'the same day'],
  [new Date(2026, 8, 4, 0, 1), 1, 'after the night, however short ago'],
  [new Date(2026, 8, 2, 23, 59), -1, 'a clock that is ahead'],
  [new Date(2026, 10, 3), 61, 'over the change of the clock'],
])('%s is %d days later: %s', (now, days) => expect(daysBetween(at, now)).toBe(days));
