import {
  AgentBuilder,
  agentErrorContextResolver,
  ErrorPolicy,
  pairingProblem,
  type AgentState,
  type ErrorContextResolver,
} from 'onward';
import { DeterministicDriver, mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { at, limited, policyEvaluation, setUp } from './setup/error-policy.ts';

const { toolCall, toolCalls, final } = ScenarioStep;

describe('the default policy', () => {
  it('D59: is pinned, visible in describe() and stated in the outcome', async () => {
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
      'withErrorPolicy(ErrorPolicy.retryToolErrors(3))',
    );
  });

  it('the context has exactly the six fields of the contract on every step', async () => {
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

describe('which decision counts', () => {
  it.each<[string, ErrorPolicy, object]>([
    [
      'stop beats retry and ignore',
      ErrorPolicy.retryAll().withHandling('tool', 'ignore').withHandling('validation', 'stop'),
      { decision: 'forbid', context: { errorType: 'validation', handling: 'stop' } },
    ],
    [
      'retry beats ignore',
      ErrorPolicy.retryAll().withHandling('tool', 'ignore'),
      { decision: 'allow', context: { errorType: 'validation', handling: 'retry' } },
    ],
    [
      'among equals the first in call order is reported',
      ErrorPolicy.retryAll(),
      { decision: 'allow', context: { errorType: 'tool', toolName: 'breaks' } },
    ],
  ])('of several errors of one step: %s', async (_rule, policy, expected) => {
    const { builder } = setUp(
      [toolCalls([{ name: 'breaks' }, { name: 'strict', args: {} }]), final('done')],
      policy,
    );
    const state = await builder.build().run('go');
    expect(policyEvaluation(state.steps.at(0))).toMatchObject(expected);
  });

  it.each<[string, ScenarioStep, ErrorPolicy, string]>([
    ['the policy stops on it', limited(), ErrorPolicy.stopOnAnyError(), 'error'],
    ['a retry that is spent', limited(), ErrorPolicy.retryAll(0), 'retry_limit'],
    [
      'no retry can fix it',
      limited({ retryable: false, code: 'quota' }),
      ErrorPolicy.retryAll(),
      'error',
    ],
    ['tools: the policy stops on it', toolCall('breaks'), ErrorPolicy.stopOnAnyError(), 'error'],
    ['tools: a retry that is spent', toolCall('breaks'), ErrorPolicy.retryAll(0), 'retry_limit'],
  ])('%s', async (_why, step, policy, stopReason) => {
    const { builder } = setUp([step], policy);
    expect(await builder.build().run('go')).toMatchObject({ status: 'failed', stopReason });
  });

  it('a tool error is always shown to the model, whatever the policy makes of it', async () => {
    for (const policy of [ErrorPolicy.stopOnAnyError(), ErrorPolicy.ignoreToolErrors()]) {
      const { builder } = setUp([toolCall('breaks'), final('done')], policy);
      const state = await builder.build().run('go');
      expect(state.messages.at(2)).toMatchObject({
        role: 'tool',
        content: 'Error: the index is offline',
      });
      expect(pairingProblem(state.messages)).toBeNull();
    }
  });

  it('a tool that takes too long is a timeout for the policy to judge, and the run continues', async () => {
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

  it('a hook that throws around the model call is an unknown error', async () => {
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

describe('a resolver of one’s own', () => {
  /** Tools of this product answer `{ ok: false }` instead of throwing. */
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

  it('its failure is settled by a grant like any other', async () => {
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

  it('one that throws ends the run as a broken criterion, not as an exception', async () => {
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

describe('misuse', () => {
  it('a policy that is none is refused when the agent is built', () => {
    const { builder } = setUp([]);
    for (const policy of ['retryAll', ErrorPolicy.retryAll, { maxRetries: -1 }])
      expect(() => builder.withErrorPolicy(policy as never).build()).toThrowError(
        expect.objectContaining({ code: 'invalid_option' }),
      );
  });
});
