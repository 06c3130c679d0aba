import { expect, it } from 'vitest';
import { pacer } from './pacing.ts';

it('lets short work run through', () => {
  const pause = pacer('ann', 60_000);
  expect(pause()).toBeUndefined();
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
