import { describe, expect, it } from 'vitest';
import { defaultRedactor } from '../errors/redactor.ts';
import { failureText, isSpent, waitAfter, waitAfterDeath } from './attempts.ts';

describe('attempts', () => {
  it('waits grow, and the first death waits for nothing', () => {
    const seconds = [0, 1, 2, 3, 4, 5, 6, 40].map((n) => waitAfter(n, 15_000) / 1_000);
    expect(seconds).toEqual([0, 1, 3, 9, 27, 60, 60, 60]);
    expect(waitAfterDeath({ deaths: 0, worker: null }, 15_000)).toBe(0);
    expect(waitAfterDeath({ deaths: 0, worker: 'gone' }, 15_000)).toBe(1_000);
    expect(waitAfterDeath({ deaths: 2, worker: null }, 15_000)).toBe(3_000);
  });

  it.each([
    [{ tries: 1, deaths: 0 }, false],
    [{ tries: 9, deaths: 0 }, false], // own failures are counted where they happen
    [{ tries: 9, deaths: 2 }, false], // deaths in company
    [{ tries: 5, deaths: 4 }, false],
    [{ tries: 6, deaths: 5 }, true],
    [{ tries: 1, deaths: 9 }, false],
    [{ tries: 1, deaths: 10 }, true],
  ])('%o is spent: %s', (row, expected) => {
    expect(isSpent(row)).toBe(expected);
  });

  it.each([
    [new Error('a\u0000b\nc'), 'a\\u0000b\\nc'],
    ['text', 'text'],
    [Object.create(null), '{}'],
    [new Error(''), 'Error'],
    [
      {
        toJSON() {
          throw new Error('no');
        },
        toString() {
          throw new Error('no');
        },
      },
      'something was thrown that cannot be shown',
    ],
    [new Error('key sk-live-0123456789abcdef0123'), 'key [redacted]'],
  ])('keeps %o in one safe line', (thrown, text) => {
    expect(failureText(thrown, defaultRedactor)).toBe(text);
  });
});
