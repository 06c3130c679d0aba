import { expect, it } from 'vitest';
import { topOf } from './bars.tsx';

it.each([
  [0, 1],
  [1, 1],
  [3, 4],
  [4.1, 5],
  [7, 10],
  [26, 40],
  [0.0123, 0.02],
])('%d fits below %d', (most, top) => {
  expect(topOf(most)).toBeCloseTo(top);
});
