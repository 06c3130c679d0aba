import {
  AgentBuilder,
  agentErrorContextResolver,
  ErrorPolicy,
  type AgentState,
  type ErrorContextResolver,
} from 'onward';
import { DeterministicDriver, mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { at, limited, policyEvaluation, setUp } from './setup/error-policy.ts';

const { toolCall, toolCalls, final } = ScenarioStep;

describe('the default error policy', () => {
  it('D59: is fixed, listed by describe() and named in the outcome', async () => {
    const agent = AgentBuilder.base()
      .withDriver(DeterministicDriver.fromSteps(toolCall('breaks')))
      .withTools(mockTool('breaks', new Error('offline')))
      .build();
    expect(agent.describe().errorPolicy).toEqual({
      on: {
        tool: 'stop',
        model: 'stop',
        validation: 'stop',
        rate_limit: 'stop',
        timeout: 'stop',
        unknown: 'stop',
      },
      maxRetries: 0,
      backoff: { initialMs: 500, factor: 2, maxMs: 30_000, jitter: 0.5 },
    });
    const state = await agent.run('go');
    expect(state).toMatchObject({ status: 'failed', stopReason: 'error' });
    expect(state.lastContinuationOutcome?.decisive).toMatchObject({
      criterion: 'ErrorPolicyCriterion',
      context: {
        errorType: 'tool',
        handling: 'stop',
        consecutiveFailures: 1,
        totalFailures: 1,
        maxRetries: 0,
        toolName: 'breaks',
      },
    });
    expect(state.lastContinuationOutcome?.decisive?.remedy?.text).toContain(
      'withErrorPolicy(ErrorPolicy.production())',
    );
  });

  it('the evaluation context has the six contract fields on every step', async () => {
    const { builder } = setUp(
      [toolCall('breaks'), limited(), final('done')],
      at(ErrorPolicy.retryAll()),
    );
    const state = await builder.build().run('go');
    for (const step of state.steps)
      expect(Object.keys(policyEvaluation(step)?.context ?? {})).toEqual([
        'errorType',
        'handling',
        'consecutiveFailures',
        'totalFailures',
        'maxRetries',
        'toolName',
      ]);
  });
});

describe('how the error policy decides', () => {
  it.each<[string, ErrorPolicy, object]>([
    [
      'stop overrides retry and ignore',
      ErrorPolicy.retryAll().withHandling('tool', 'ignore').withHandling('validation', 'stop'),
      { decision: 'forbid', context: { errorType: 'validation', handling: 'stop' } },
    ],
    [
      'retry overrides ignore',
      ErrorPolicy.retryAll().withHandling('tool', 'ignore'),
      { decision: 'allow', context: { errorType: 'validation', handling: 'retry' } },
    ],
    [
      'equal decisions report the first error in call order',
      ErrorPolicy.retryAll(),
      { decision: 'allow', context: { errorType: 'tool', toolName: 'breaks' } },
    ],
  ])('several errors in one step: %s', async (_rule, policy, expected) => {
    const { builder } = setUp(
      [toolCalls([{ name: 'breaks' }, { name: 'strict', args: {} }]), final('done')],
      policy,
    );
    const state = await builder.build().run('go');
    expect(policyEvaluation(state.steps.at(0))).toMatchObject(expected);
  });

  it.each<[string, ScenarioStep, ErrorPolicy, string]>([
    ['model error: the policy stops', limited(), ErrorPolicy.stopOnAnyError(), 'error'],
    ['model error: no retries left', limited(), ErrorPolicy.retryAll(0), 'retry_limit'],
    [
      'model error: not retryable',
      limited({ retryable: false, code: 'quota' }),
      ErrorPolicy.retryAll(),
      'error',
    ],
    ['tool error: the policy stops', toolCall('breaks'), ErrorPolicy.stopOnAnyError(), 'error'],
    ['tool error: no retries left', toolCall('breaks'), ErrorPolicy.retryAll(0), 'retry_limit'],
  ])('%s', async (_why, step, policy, stopReason) => {
    const { builder } = setUp([step], policy);
    expect(await builder.build().run('go')).toMatchObject({ status: 'failed', stopReason });
  });

  it('sends every tool error to the model, regardless of the policy', async () => {
    for (const policy of [ErrorPolicy.stopOnAnyError(), ErrorPolicy.ignoreToolErrors()]) {
      const { builder } = setUp([toolCall('breaks'), final('done')], policy);
      const state = await builder.build().run('go');
      expect(state.messages.at(2)).toMatchObject({
        role: 'tool',
        content: 'Error: the index is offline',
      });
      expect(state.messages.pairingProblem()).toBeNull();
    }
  });

  it('handles a tool timeout as an error, and the run continues', async () => {
    const { builder, clock } = setUp(
      [toolCall('slow'), final('done')],
      ErrorPolicy.retryToolErrors(1),
    );
    const run = builder.build().run('go');
    await clock.advance(1_000);
    const state = await run;
    expect(policyEvaluation(state.steps.at(0))).toMatchObject({
      decision: 'allow',
      reason: 'timeout error in slow, retrying (1/1)',
    });
    expect(state.output).toBe('done');
  });

  it('treats an exception in a model call hook as an unknown error', async () => {
    const { builder, driver } = setUp([], ErrorPolicy.retryToolErrors(3));
    const state = await builder
      .withHooks({ name: 'audit', aroundModelCall: () => Promise.reject(new Error('no disk')) })
      .build()
      .run('go');
    expect(driver.requests.length).toBe(0);
    expect(state).toMatchObject({ status: 'failed', stopReason: 'error' });
    expect(policyEvaluation(state.steps.at(-1))?.context).toMatchObject({ errorType: 'unknown' });
  });
});

describe('a custom error context resolver', () => {
  /** Tools in this test return `{ ok: false }` instead of throwing. */
  const softErrors: ErrorContextResolver<AgentState> = {
    resolve(state, policy) {
      const found = agentErrorContextResolver.resolve(state, policy);
      const refused = state.currentStep?.results.find(
        ({ value }) => typeof value === 'object' && value !== null && 'ok' in value && !value.ok,
      );
      if (found.message !== undefined || !refused) return found;
      return { ...found, type: 'tool', message: 'the tool said no', toolName: 'lookup' };
    },
  };

  it('decides what counts as a failure', async () => {
    const driver = DeterministicDriver.fromSteps(toolCall('lookup'), toolCall('lookup'));
    const state = await AgentBuilder.base()
      .withDriver(driver)
      .withTools(mockTool('lookup', [{ ok: true }, { ok: false }]))
      .withErrorPolicy(ErrorPolicy.stopOnAnyError(), { resolver: softErrors })
      .build()
      .run('go');
    expect(state).toMatchObject({ status: 'failed', stopReason: 'error', stepCount: 2 });
    expect(state.lastContinuationOutcome?.decisive?.reason).toBe(
      'tool error in lookup (the tool said no), and the policy stops on tool errors',
    );
  });

  it('a grant clears a failure that it reported', async () => {
    const driver = DeterministicDriver.fromSteps(toolCall('lookup'), final('done'));
    const agent = AgentBuilder.base()
      .withDriver(driver)
      .withTools(mockTool('lookup', { ok: false }))
      .withErrorPolicy(ErrorPolicy.stopOnAnyError(), { resolver: softErrors })
      .build();
    const failed = await agent.run('go');
    expect(failed.stopReason).toBe('error');
    const done = await agent.resume(failed, { grant: { retries: 1 } });
    expect(done).toMatchObject({ status: 'completed', output: 'done' });
  });

  it('ends the run with a failed criterion if it throws', async () => {
    const { builder } = setUp([]);
    const state = await builder
      .withErrorPolicy(ErrorPolicy.retryAll(), {
        resolver: {
          resolve: () => {
            throw new Error('bug');
          },
        },
      })
      .build()
      .run('go');
    expect(state).toMatchObject({ status: 'failed', stopReason: 'error' });
    expect(state.lastContinuationOutcome?.decisive?.reason).toBe('ErrorPolicyCriterion threw: bug');
  });
});

describe('invalid error policies', () => {
  it('are rejected when the agent is built', () => {
    const { builder } = setUp([]);
    for (const policy of ['retryAll', ErrorPolicy.retryAll, { maxRetries: -1 }])
      expect(() => builder.withErrorPolicy(policy as never).build()).toThrowError(
        expect.objectContaining({ code: 'invalid_option' }),
      );
  });
});
