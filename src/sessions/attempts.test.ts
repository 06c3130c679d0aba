import { describe, expect, it } from 'vitest';
import { isSpent, waitAfter, waitAfterDeath } from './attempts.ts';

describe('attempts', () => {
  it('lengthens the wait with each failure, and retries immediately after the first death', () => {
    const seconds = [0, 1, 2, 3, 4, 5, 6, 40].map((n) => waitAfter(n, 15_000) / 1_000);
    expect(seconds).toEqual([0, 1, 3, 9, 27, 60, 60, 60]);
    expect(waitAfterDeath({ deaths: 0, worker: null }, 15_000)).toBe(0);
    expect(waitAfterDeath({ deaths: 0, worker: 'gone' }, 15_000)).toBe(1_000);
    expect(waitAfterDeath({ deaths: 2, worker: null }, 15_000)).toBe(3_000);
  });

  it.each([
    [{ tries: 1, deaths: 0 }, false],
    [{ tries: 9, deaths: 0 }, false], // failures of the session itself are counted where they happen
    [{ tries: 9, deaths: 2 }, false], // deaths beside other sessions
    [{ tries: 5, deaths: 4 }, false],
    [{ tries: 6, deaths: 5 }, true],
    [{ tries: 1, deaths: 9 }, false],
    [{ tries: 1, deaths: 10 }, true],
  ])('%o is spent: %s', (row, expected) => {
    expect(isSpent(row)).toBe(expected);
  });
});
