import { expect, it } from 'vitest';
import { stepPosition } from './step-position.ts';

const execution = (id: string, stepCount: number) => ({ id, stepCount, startedAt: null });
const trace = { executions: [execution('b', 3), execution('c', 2), execution('d', 4)] };
const detail = { executionId: 'd', stepCount: 20, executionStepCount: 4 };

it('a step has the same number in its session, whichever execution it belongs to', () => {
  // eleven steps are older than the list
  expect(stepPosition(2, { detail, trace, chosen: { executionId: 'd' } })).toBe(18);
  expect(stepPosition(2, { detail, trace, chosen: { executionId: 'c' } })).toBe(16);
  expect(stepPosition(1, { detail, trace, chosen: { executionId: 'b' } })).toBe(12);
});

it('a continued run does not change earlier numbers', () => {
  const later = { ...detail, stepCount: 23, executionStepCount: 7 };
  expect(stepPosition(2, { detail: later, trace, chosen: { executionId: 'c' } })).toBe(16);
});

it('the first execution counts like the session, also before its record is read', () => {
  const only = { executions: [execution('a', 4)] };
  expect(stepPosition(3, { detail: null, trace: only, chosen: { executionId: 'a' } })).toBe(3);
  expect(stepPosition(3, { detail: null, trace: null, chosen: null })).toBe(3);
});
