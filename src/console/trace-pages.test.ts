import { expect, it } from 'vitest';
import type { Trace, TraceStep } from '../trace/trace.ts';
import { withEarlier, withNewest } from './trace-pages.ts';

const trace = (executionId: string, steps: readonly number[], hasEarlier: boolean): Trace =>
  ({
    executionId,
    steps: steps.map((number) => ({ number, attempt: 1 }) as TraceStep),
    pauses: [],
    hasEarlier,
  }) as unknown as Trace;
const numbers = ({ steps }: Trace): number[] => steps.map(({ number }) => number);

it('a trace that is read again keeps the loaded earlier steps', () => {
  const whole = withEarlier(trace('e', [5, 6], true), trace('e', [3, 4, 5], true));
  expect(numbers(whole)).toEqual([3, 4, 5, 6]);
  const fresh = withNewest(whole, trace('e', [6, 7], true));
  expect(numbers(fresh)).toEqual([3, 4, 5, 6, 7]);
  expect(fresh.hasEarlier).toBe(true);
});

it('another execution replaces the trace', () => {
  expect(numbers(withNewest(trace('e', [1, 2], false), trace('f', [1], false)))).toEqual([1]);
  const shown = trace('e', [5], true);
  expect(withEarlier(shown, trace('f', [4], false))).toBe(shown);
});

it('the first step ends loading', () => {
  expect(withEarlier(trace('e', [2], true), trace('e', [1], false)).hasEarlier).toBe(false);
  const all = trace('e', [1, 2, 3], false);
  expect(withNewest(trace('e', [1, 2], false), all)).toBe(all);
});
