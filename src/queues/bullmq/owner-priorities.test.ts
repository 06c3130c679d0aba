import { describe, expect, it } from 'vitest';
import { OwnerPriorities } from './owner-priorities.ts';

const UNIT_MS = 15_000;
const LARGEST = 2 ** 21 - 1;

function at(start: number) {
  let now = start;
  const priorities = new OwnerPriorities(() => now);
  const first = priorities.next('first', 0);
  return {
    /** Returns the priority relative to that of the first session. */
    next: (owner: string, waiting: number): number => priorities.next(owner, waiting) - first,
    raw: (owner: string, waiting: number): number => priorities.next(owner, waiting),
    pass: (ms: number): void => void (now += ms),
  };
}

describe('the order of owners in a shared queue', () => {
  it('puts the first sessions of all owners before their second ones', () => {
    const { next } = at(0);
    expect([next('a', 9), next('a', 9), next('a', 9), next('b', 9), next('b', 9)]).toEqual([
      0, 1, 2, 0, 1,
    ]);
  });

  it('puts sessions that have waited long before new ones', () => {
    const { next, pass } = at(0);
    const third = [next('a', 9), next('a', 9), next('a', 9)][2]!;
    pass(3 * UNIT_MS);
    expect(next('b', 9)).toBeGreaterThan(third);
    expect(next('a', 9)).toBe(3);
  });

  it('does not count more sessions of an owner than wait in total', () => {
    const { next } = at(0);
    for (let n = 0; n < 5; n++) next('a', 100);
    expect(next('a', 2)).toBe(2);
    expect(next('a', 0)).toBe(0);
  });

  it('knows at most how many sessions of an owner wait', () => {
    let now = 0;
    const priorities = new OwnerPriorities(() => now);
    for (let n = 0; n < 5; n++) priorities.next('a', 100);
    const counts = (waiting: number) =>
      ['a', 'b'].map((owner) => priorities.waitingOf(owner, waiting));
    expect([counts(100), counts(2), counts(0)]).toEqual([
      [5, 0],
      [2, 0],
      [0, 0],
    ]);
    now += 2 * UNIT_MS;
    expect(counts(100)).toEqual([3, 0]);
    now += 99 * UNIT_MS;
    expect(counts(100)).toEqual([0, 0]);
  });

  it.each([
    ['at the epoch', 0],
    ['today', 1_790_000_000_000],
    ['when the time wraps around', (2 ** 20 - 1) * UNIT_MS],
    ['right before the wrap', (2 ** 20 - 1) * UNIT_MS - 1],
  ])('stays within the priorities of BullMQ: %s', (_, now) => {
    const { raw } = at(now);
    for (let n = 0; n < 100; n++) {
      const priority = raw('a', Number.MAX_SAFE_INTEGER);
      expect(priority).toBeGreaterThanOrEqual(1);
      expect(priority).toBeLessThanOrEqual(LARGEST);
    }
  });

  it('forgets owners without waiting sessions', () => {
    let now = 0;
    const priorities = new OwnerPriorities(() => now);
    for (const owner of ['a', 'a', 'b', 'c']) priorities.next(owner, 9);
    now += UNIT_MS;
    priorities.next('d', 9);
    expect(priorities.size).toBe(2);
    now += UNIT_MS;
    priorities.next('d', 9);
    expect(priorities.size).toBe(1);
  });
});
