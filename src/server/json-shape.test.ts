import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { jsonShape } from './json-shape.ts';

it.each([
  ['1', 0, 1],
  ['{"a":1}', 1, 2],
  ['[1,2,[3]]', 2, 5],
  ['{"a":"[[[,,,\\"[["}', 1, 2],
  ['"\\\\"', 0, 1],
  ['"unfinished [[', 0, 1],
  ['[[[[', 4, 5],
  [']]]]', 0, 1],
])('%s has depth %i and about %i values', (text, depth, values) => {
  expect(jsonShape(text)).toEqual({ depth, values });
});

it('never counts fewer values than there are, nor more than twice as many', () => {
  const count = (value: unknown): number =>
    typeof value === 'object' && value !== null
      ? Object.values(value).reduce((sum: number, inner) => sum + count(inner), 1)
      : 1;
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 8 }), (value) => {
      const { values } = jsonShape(JSON.stringify(value));
      expect(values).toBeGreaterThanOrEqual(count(value));
      expect(values).toBeLessThanOrEqual(2 * count(value));
    }),
  );
});
