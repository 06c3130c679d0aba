import { describe, expect, it } from 'vitest';
import {
  calledView,
  cutCall,
  errorRecord,
  failedCall,
  runView,
  stepView,
} from '../../test/setup/run-view.ts';
import { ErrorContext } from '../errors/error-context.ts';
import { ErrorPolicy } from '../errors/error-policy.ts';
import type { ErrorRecord } from '../errors/error-record.ts';
import { agentErrorContextResolver } from './error-context-resolver.ts';
import type { ExecutionView, StepView } from './run-view.ts';

const counted: Partial<ExecutionView> = { consecutiveFailures: 2, totalFailures: 5 };

const resolve = (
  step: StepView | null,
  execution: Partial<ExecutionView> = counted,
  policy: ErrorPolicy = ErrorPolicy.retryToolErrors(3),
): ErrorContext =>
  agentErrorContextResolver.resolve(runView({ steps: step ? [step] : [], execution }), policy);

const withErrors = (...errors: readonly ErrorRecord[]): StepView =>
  calledView([{ name: 'search' }], { errors });

describe('agentErrorContextResolver', () => {
  it('returns the newest failure and the number of failures in a row', () => {
    expect(resolve(withErrors(errorRecord({ toolName: 'search' })))).toEqual({
      type: 'tool',
      modelCall: false,
      countedAs: 'tool',
      consecutiveFailures: 2,
      totalFailures: 5,
      message: 'boom',
      toolName: 'search',
      retryable: true,
      metadata: { code: 'tool_failed' },
    });
  });

  it.each<[string, Partial<ErrorRecord>, string | undefined]>([
    ['a time from the provider', { retryAfterMs: 1_500 }, '2026-01-16T12:00:01.500Z'],
    ['no time', {}, undefined],
    ['now', { retryAfterMs: 0 }, undefined],
    ['a time out of range', { retryAfterMs: 1e300 }, undefined],
    ['a record without a time', { retryAfterMs: 1_500, at: '' }, undefined],
  ])('returns the end of the wait: %s', (_why, reported, until) => {
    const record = errorRecord({ at: '2026-01-16T12:00:00.000Z', ...reported });
    expect(resolve(withErrors(record)).metadata['until']).toBe(until);
  });

  it('returns none() before the first failure', () => {
    expect(resolve(stepView(), {})).toBe(ErrorContext.none());
    expect(resolve(null, {})).toBe(ErrorContext.none());
  });

  it.each<[string, StepView | null, Partial<ExecutionView>]>([
    ['a clean step', stepView(), counted],
    ['before the first step', null, counted],
    ['a step of an earlier execution', failedCall({ executionId: 'exec_0' }), counted],
    ['a failure that a grant has settled', failedCall(), { ...counted, handledStep: 1 }],
    [
      'an interrupted step is not a failure, even if a tool failed before',
      cutCall({ errors: [errorRecord()] }),
      counted,
    ],
  ])('%s: no failure, and the total is kept', (_why, step, execution) => {
    expect(resolve(step, execution)).toEqual({ ...ErrorContext.none(), totalFailures: 5 });
  });

  it.each<[string, StepView, boolean]>([
    ['a failed model call', failedCall(), true],
    [
      'an answer in the wrong format: there is no answer to continue with either',
      stepView({ errors: [errorRecord({ type: 'validation' })] }),
      true,
    ],
    ['a failed tool', withErrors(errorRecord()), false],
  ])('%s', (_why, step, modelCall) => {
    expect(resolve(step).modelCall).toBe(modelCall);
  });

  it.each<[string, ErrorPolicy, string]>([
    ['stop beats retry', ErrorPolicy.retryToolErrors(3), 'unknown'],
    ['stop beats ignore', ErrorPolicy.ignoreToolErrors(), 'unknown'],
    [
      'retry beats ignore',
      ErrorPolicy.ignoreToolErrors().withHandling('unknown', 'ignore'),
      'timeout',
    ],
    ['among equals the first', ErrorPolicy.retryAll(), 'tool'],
  ])('reports the error with the strictest handling: %s', (_why, policy, type) => {
    const errors = [
      errorRecord({ type: 'tool', toolName: 'a' }),
      errorRecord({ type: 'timeout', toolName: 'b' }),
      errorRecord({ type: 'unknown', toolName: 'c' }),
    ];
    expect(resolve(withErrors(...errors), counted, policy).type).toBe(type);
    if (policy.on.unknown !== policy.on.tool)
      expect(resolve(withErrors(...errors.toReversed()), counted, policy).type).toBe(type);
  });
});
