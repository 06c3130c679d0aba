import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { pacer } from './pacing.ts';

let now = 0;
/** Works without a pause for this many milliseconds. */
const busy = (ms: number): void => void (now += ms);
beforeEach(() => void vi.spyOn(performance, 'now').mockImplementation(() => now));
afterEach(() => void vi.restoreAllMocks());

const nextTurn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

it('does not pause short work', () => {
  const pause = pacer('ann', 60_000);
  expect(pause()).toBeUndefined();
});

it('counts the work of a turn over all functions and requests of a key', async () => {
  await nextTurn();
  const first = pacer('ann', 20);
  busy(15);
  expect(first()).toBeUndefined();
  const second = pacer('ann', 20);
  busy(10);
  const wait = second();
  expect(wait).toBeInstanceOf(Promise);
  await wait;
  expect(second()).toBeUndefined();
});

it('lets a small read of another key run in a turn whose slice is used up', async () => {
  await nextTurn();
  const large = pacer('ann', 20);
  busy(25);
  const wait = large();
  expect(wait).toBeInstanceOf(Promise);
  const small = pacer('bob', 20);
  expect(small()).toBeUndefined();
  busy(5);
  const isLargeNow = small();
  expect(isLargeNow).toBeInstanceOf(Promise);
  await Promise.all([wait, isLargeNow]);
});

it('does not charge a key for work that ran before', async () => {
  await nextTurn();
  pacer('ann', 20);
  busy(25);
  const small = pacer('bob', 20);
  expect(small()).toBeUndefined();
});

it('gives one turn per task, to each key in rotation', async () => {
  const order: string[] = [];
  const work = async (key: string, name: string): Promise<void> => {
    const pause = pacer(key, 0);
    for (let piece = 1; piece <= 3; piece += 1) {
      await pause();
      order.push(`${name}${piece}`);
    }
  };
  await Promise.all([work('ann', 'a'), work('ann', 'b'), work('ann', 'c'), work('bob', 'x')]);
  // a key with one piece waits for one piece of the other key, not for all three
  expect(order.indexOf('x1')).toBeLessThanOrEqual(1);
  expect(order.indexOf('x3')).toBeLessThanOrEqual(6);
  expect(order.toSorted()).toEqual([
    'a1',
    'a2',
    'a3',
    'b1',
    'b2',
    'b3',
    'c1',
    'c2',
    'c3',
    'x1',
    'x2',
    'x3',
  ]);
});
