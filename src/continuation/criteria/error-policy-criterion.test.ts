import { describe, expect, it } from 'vitest';
import {
  asked,
  calledView,
  errorRecord,
  failedCall,
  runView,
  stepView,
} from '../../../test/setup/run-view.ts';
import { ErrorContext } from '../../errors/error-context.ts';
import { ErrorPolicy } from '../../errors/error-policy.ts';
import type { ErrorRecord } from '../../errors/error-record.ts';
import type { ContinuationEvaluation } from '../evaluation.ts';
import type { ExecutionView, StepView } from '../run-view.ts';
import { errorPolicyCriterion } from './error-policy-criterion.ts';

const judge = (
  policy: ErrorPolicy,
  step: StepView | null,
  execution: Partial<ExecutionView> = { consecutiveFailures: 1, totalFailures: 1 },
): ContinuationEvaluation => {
  const view = runView({ steps: step ? [step] : [], execution });
  const { grants } = view.execution;
  return errorPolicyCriterion(policy).evaluate(view, asked({ grants })) as ContinuationEvaluation;
};

const toolError = (more: Partial<ErrorRecord> = {}): StepView =>
  calledView([{ name: 'search', kind: 'error' }], {
    errors: [errorRecord({ toolName: 'search', ...more })],
  });

describe('ErrorPolicyCriterion', () => {
  it('no error: no objection, with the count that it keeps an eye on', () => {
    expect(judge(ErrorPolicy.retryToolErrors(3), stepView(), { totalFailures: 2 })).toEqual({
      criterion: 'ErrorPolicyCriterion',
      decision: 'allow',
      reason: 'no error',
      context: {
        errorType: null,
        handling: null,
        consecutiveFailures: 0,
        totalFailures: 2,
        maxRetries: 3,
        toolName: null,
      },
    });
  });

  it('the context has exactly the six fields of the contract, in every case', () => {
    const fields = [
      'consecutiveFailures',
      'errorType',
      'handling',
      'maxRetries',
      'toolName',
      'totalFailures',
    ];
    for (const policy of [
      ErrorPolicy.stopOnAnyError(),
      ErrorPolicy.retryAll(),
      ErrorPolicy.ignoreToolErrors(),
    ])
      for (const step of [stepView(), toolError(), failedCall()])
        expect(Object.keys(judge(policy, step).context).toSorted()).toEqual(fields);
  });

  it.each<[string, ErrorPolicy, number, object]>([
    [
      'a retry is allowed and counted',
      ErrorPolicy.retryToolErrors(3),
      1,
      {
        decision: 'allow',
        reason: 'tool error in search, retrying (1/3)',
        context: {
          errorType: 'tool',
          handling: 'retry',
          consecutiveFailures: 1,
          totalFailures: 4,
          maxRetries: 3,
          toolName: 'search',
        },
      },
    ],
    [
      'ignored',
      ErrorPolicy.ignoreToolErrors(),
      1,
      { decision: 'allow', reason: 'tool error in search, ignored' },
    ],
    [
      'the policy says stop: error',
      ErrorPolicy.stopOnAnyError(),
      1,
      {
        decision: 'forbid',
        stopReason: 'error',
        reason: 'tool error in search (boom), and the policy stops on tool errors',
      },
    ],
    [
      'a retry that is spent: retry_limit',
      ErrorPolicy.retryToolErrors(3),
      4,
      {
        decision: 'forbid',
        stopReason: 'retry_limit',
        reason: 'tool error in search (boom), tried again 3 of 3 times',
      },
    ],
    [
      'a retry that was never given: retry_limit too, for the policy says retry',
      ErrorPolicy.retryAll(0),
      1,
      {
        decision: 'forbid',
        stopReason: 'retry_limit',
        reason: 'tool error in search (boom), tried again 0 of 0 times',
      },
    ],
  ])('%s', (_why, policy, consecutiveFailures, expected) => {
    expect(judge(policy, toolError(), { consecutiveFailures, totalFailures: 4 })).toMatchObject(
      expected,
    );
  });

  it('stops at once on a model error that is not retryable', () => {
    const step = failedCall({
      errors: [errorRecord({ type: 'model', code: 'refusal', message: 'no', retryable: false })],
    });
    expect(judge(ErrorPolicy.retryAll(), step)).toMatchObject({
      decision: 'forbid',
      stopReason: 'error',
      reason: 'model error (no), which is not retryable',
      remedy: {
        text: 'send a new message in other words, or call resume(state, { grant: { retries: 1 } }).',
        grant: { retries: 1 },
      },
    });
  });

  it('type names are words: rate limit, not rate_limit', () => {
    const step = failedCall({ errors: [errorRecord({ type: 'rate_limit', message: '429' })] });
    expect(judge(ErrorPolicy.stopOnAnyError(), step).reason).toBe(
      'rate limit error (429), and the policy stops on rate limit errors',
    );
  });

  it.each<[string, StepView, ErrorPolicy, number, string, number]>([
    [
      'the default names retryToolErrors(3)',
      toolError(),
      ErrorPolicy.stopOnAnyError(),
      1,
      'ErrorPolicy.retryToolErrors(3)',
      1,
    ],
    [
      'an error that retryToolErrors would not retry names retryAll',
      failedCall(),
      ErrorPolicy.stopOnAnyError(),
      1,
      'ErrorPolicy.retryAll()',
      1,
    ],
    [
      'spent retries name the count',
      toolError(),
      ErrorPolicy.retryToolErrors(3),
      4,
      'withMaxRetries(...)',
      3,
    ],
  ])('remedy: %s', (_why, step, policy, consecutiveFailures, text, retries) => {
    const { remedy } = judge(policy, step, { consecutiveFailures, totalFailures: 4 });
    expect(remedy?.text).toContain(text);
    expect(remedy?.text).toContain(`resume(state, { grant: { retries: ${retries} } })`);
    expect(remedy?.option).toBe('withErrorPolicy(...)');
    expect(remedy?.grant).toEqual({ retries });
  });

  it.each<[number, number, 'allow' | 'forbid', string]>([
    [3, 2, 'allow', 'granted retries come on top of the policy’s'],
    [5, 2, 'allow', 'the last granted one'],
    [6, 2, 'forbid', 'used up'],
    [4, 0.9, 'forbid', 'part of a retry is none'],
  ])(
    '%d failures with %d granted on top of 3: %s (%s)',
    (consecutiveFailures, retries, decision) => {
      const execution = { consecutiveFailures, totalFailures: 9, grants: { retries } };
      expect(judge(ErrorPolicy.retryToolErrors(3), toolError(), execution)).toMatchObject({
        decision,
        context: { maxRetries: 3 + Math.floor(retries) },
      });
    },
  );

  it('granted retries do not change what the policy stops on', () => {
    const execution = { consecutiveFailures: 1, totalFailures: 1, grants: { retries: 9 } };
    expect(judge(ErrorPolicy.stopOnAnyError(), toolError(), execution)).toMatchObject({
      decision: 'forbid',
      stopReason: 'error',
    });
  });

  it('takes the JSON of a policy, and a resolver of one’s own', () => {
    const json = ErrorPolicy.retryAll(1).toJSON();
    const criterion = errorPolicyCriterion(json, {
      resolve: (_state, policy) => ({
        ...ErrorContext.none(),
        type: 'timeout',
        message: 'slow',
        consecutiveFailures: 2,
        totalFailures: 2,
        metadata: { maxRetries: policy.maxRetries },
      }),
    });
    expect(criterion.evaluate(runView(), asked())).toMatchObject({
      decision: 'forbid',
      stopReason: 'retry_limit',
      reason: 'timeout error (slow), tried again 1 of 1 times',
    });
  });

  it.each<[number, 'allow' | 'forbid', string]>([
    [0, 'forbid', 'judged by the policy'],
    [1, 'allow', 'settled by a grant, whatever the resolver says'],
  ])('handledStep %d: a resolver’s failure on step 1 is %s (%s)', (handledStep, decision) => {
    const criterion = errorPolicyCriterion(ErrorPolicy.stopOnAnyError(), {
      resolve: () => ({ ...ErrorContext.none(), type: 'tool', message: 'x' }),
    });
    const view = runView({ steps: [stepView()], execution: { handledStep } });
    expect(criterion.evaluate(view, asked())).toMatchObject({ decision });
  });

  it('a resolver’s failure that the loop did not count is judged all the same', () => {
    const criterion = errorPolicyCriterion(ErrorPolicy.stopOnAnyError(), {
      resolve: () => ({ ...ErrorContext.none(), type: 'tool', message: 'the tool said ok: false' }),
    });
    expect(criterion.evaluate(runView(), asked())).toMatchObject({
      decision: 'forbid',
      stopReason: 'error',
    });
  });

  it('most steps get the same words: one object as long as the numbers stay', () => {
    const criterion = errorPolicyCriterion(ErrorPolicy.retryAll());
    const clean = runView({ steps: [stepView()] });
    expect(criterion.evaluate(clean, asked())).toBe(criterion.evaluate(clean, asked()));
    const later = runView({ steps: [stepView()], execution: { totalFailures: 1 } });
    expect(criterion.evaluate(later, asked())).toMatchObject({ context: { totalFailures: 1 } });
  });
});
