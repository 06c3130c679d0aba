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
  it('allows a step without an error and reports the failure counts', () => {
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

  it('always has exactly the six contract fields in its context', () => {
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
      'allows and counts a retry',
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
      'stops with error if the policy says stop',
      ErrorPolicy.stopOnAnyError(),
      1,
      {
        decision: 'forbid',
        stopReason: 'error',
        reason: 'tool error in search (boom), and the policy stops on tool errors',
      },
    ],
    [
      'stops with retry_limit once all retries are used',
      ErrorPolicy.retryToolErrors(3),
      4,
      {
        decision: 'forbid',
        stopReason: 'retry_limit',
        reason: 'tool error in search (boom), tried again 3 of 3 times',
      },
    ],
    [
      'stops with retry_limit if the policy retries 0 times',
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
        text: 'rephrase the request in a new message, or call resume(state, { grant: { retries: 1 } }).',
        grant: { retries: 1 },
      },
    });
  });

  it.each([
    ['server', true, 'call resume(state, { grant: { retries: 1 } }), or retry these errors'],
    [
      'quota',
      false,
      'call resume(state, { grant: { retries: 1 } }), or raise the quota at the model provider first.',
    ],
    ['auth', false, 'set a valid API key, then call'],
  ])('keeps the retry time that the provider asks for: %s', (code, ...expected) => {
    const [retryable, text] = expected;
    const at = '2026-01-16T12:00:00.000Z';
    const record = errorRecord({ type: 'model', code, retryable, at, retryAfterMs: 60_000 });
    const { remedy, facts } = judge(ErrorPolicy.stopOnAnyError(), failedCall({ errors: [record] }));
    expect(remedy?.text).toContain(text);
    expect(facts).toMatchObject({ kind: 'error', until: '2026-01-16T12:01:00.000Z' });
  });

  it('writes type names as words: rate limit, not rate_limit', () => {
    const step = failedCall({ errors: [errorRecord({ type: 'rate_limit', message: '429' })] });
    expect(judge(ErrorPolicy.stopOnAnyError(), step).reason).toBe(
      'rate limit error (429), and the policy stops on rate limit errors',
    );
  });

  it.each<[string, StepView, ErrorPolicy, number, string, number]>([
    [
      'names production() by default',
      toolError(),
      ErrorPolicy.stopOnAnyError(),
      1,
      'ErrorPolicy.production()',
      1,
    ],
    [
      'names production() for a model error too',
      failedCall(),
      ErrorPolicy.retryToolErrors(3),
      1,
      'ErrorPolicy.production()',
      1,
    ],
    [
      'names retryAll for an error that production() does not retry',
      toolError({ type: 'unknown' }),
      ErrorPolicy.production(),
      1,
      'ErrorPolicy.retryAll()',
      1,
    ],
    [
      'names withMaxRetries once all retries are used',
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
    expect(remedy?.option).toBe('errorPolicyCriterion(...)');
    expect(remedy?.grant).toEqual({ retries });
  });

  it.each<[number, number, 'allow' | 'forbid', string]>([
    [3, 2, 'allow', 'granted retries are added to those of the policy'],
    [5, 2, 'allow', 'the last granted retry'],
    [6, 2, 'forbid', 'used up'],
    [4, 0.9, 'forbid', 'a fraction of a retry does not count'],
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

  it('granted retries do not change which errors the policy stops on', () => {
    const execution = { consecutiveFailures: 1, totalFailures: 1, grants: { retries: 9 } };
    expect(judge(ErrorPolicy.stopOnAnyError(), toolError(), execution)).toMatchObject({
      decision: 'forbid',
      stopReason: 'error',
    });
  });

  it('accepts a policy as JSON and a custom resolver', () => {
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
    [0, 'forbid', 'the policy applies'],
    [1, 'allow', 'a grant settled the step'],
  ])(
    'handledStep %d and a failure that a resolver reports for step 1: %s (%s)',
    (handledStep, decision) => {
      const criterion = errorPolicyCriterion(ErrorPolicy.stopOnAnyError(), {
        resolve: () => ({ ...ErrorContext.none(), type: 'tool', message: 'x' }),
      });
      const view = runView({ steps: [stepView()], execution: { handledStep } });
      expect(criterion.evaluate(view, asked())).toMatchObject({ decision });
    },
  );

  it('applies the policy to a failure of a resolver that the loop did not count', () => {
    const criterion = errorPolicyCriterion(ErrorPolicy.stopOnAnyError(), {
      resolve: () => ({ ...ErrorContext.none(), type: 'tool', message: 'the tool said ok: false' }),
    });
    expect(criterion.evaluate(runView(), asked())).toMatchObject({
      decision: 'forbid',
      stopReason: 'error',
    });
  });

  it('reuses one evaluation while the numbers stay the same', () => {
    const criterion = errorPolicyCriterion(ErrorPolicy.retryAll());
    const clean = runView({ steps: [stepView()] });
    expect(criterion.evaluate(clean, asked())).toBe(criterion.evaluate(clean, asked()));
    const later = runView({ steps: [stepView()], execution: { totalFailures: 1 } });
    expect(criterion.evaluate(later, asked())).toMatchObject({ context: { totalFailures: 1 } });
  });
});
