import {
  AgentBuilder,
  agentErrorContextResolver,
  AgentState,
  createAgent,
  ErrorPolicy,
  pairingProblem,
  type AgentEvent,
  type AgentStep,
  type ErrorContextResolver,
} from 'onward';
import { DeterministicDriver, fakeClock, mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';

const { toolCall, toolCalls, final, error, stream } = ScenarioStep;

const at = (policy: ErrorPolicy) => policy.withBackoff({ initialMs: 0 });
const limited = (more: object = {}) => error({ type: 'rate_limit', message: '429', ...more });

function setUp(script: readonly ScenarioStep[], policy: ErrorPolicy = ErrorPolicy.retryAll()) {
  const clock = fakeClock();
  const driver = DeterministicDriver.create(script, { clock });
  const builder = AgentBuilder.base()
    .withDriver(driver)
    .withTools(
      mockTool('ok', 'fine'),
      mockTool('breaks', new Error('the index is offline')),
      mockTool('strict', 'fine', { parameters: z.object({ page: z.number() }) }),
      mockTool('slow', () => new Promise(() => {}), { timeoutMs: 1_000 }),
    )
    .withClock(clock)
    .withErrorPolicy(policy);
  return { clock, driver, builder };
}

const policyVoice = (step: AgentStep | undefined) =>
  step?.outcome?.evaluationFor('ErrorPolicyCriterion');

const roles = (state: AgentState) => state.messages.toJSON().map((m) => m.role);

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
      expect(Object.keys(policyVoice(step)?.context ?? {})).toEqual([
        'errorType',
        'handling',
        'consecutiveFailures',
        'totalFailures',
        'maxRetries',
        'toolName',
      ]);
  });
});

describe('D57: one counter, in the state', () => {
  const script = {
    ok: toolCall('ok'),
    tool: toolCall('breaks'),
    validation: toolCall('strict', { page: 'one' }),
    unknownTool: toolCall('no_such_tool'),
    model: limited(),
    both: toolCalls([{ name: 'breaks' }, { name: 'strict', args: {} }]),
    two: toolCalls([{ name: 'breaks' }, { name: 'breaks' }]),
    done: final('done'),
  };
  type Kind = keyof typeof script;
  const policy = at(ErrorPolicy.retryAll(9).withHandling('validation', 'ignore'));

  it.each<[string, [Kind, consecutive: number, total: number][]]>([
    [
      'a clean step resets the count, the total stays',
      [
        ['tool', 1, 1],
        ['tool', 2, 2],
        ['ok', 0, 2],
        ['tool', 1, 3],
        ['done', 0, 3],
      ],
    ],
    [
      'one counter for all types',
      [
        ['tool', 1, 1],
        ['model', 2, 2],
        ['tool', 3, 3],
        ['done', 0, 3],
      ],
    ],
    [
      'ignored errors neither raise nor reset',
      [
        ['validation', 0, 0],
        ['tool', 1, 1],
        ['validation', 1, 1],
        ['unknownTool', 1, 1],
        ['tool', 2, 2],
        ['done', 0, 2],
      ],
    ],
    [
      'one failure is one step, however many of its calls failed',
      [
        ['two', 1, 1],
        ['both', 2, 2],
        ['done', 0, 2],
      ],
    ],
  ])('%s', async (_rule, rows) => {
    for (const stored of [false, true]) {
      const { builder } = setUp(
        rows.map(([kind]) => script[kind]),
        policy,
      );
      const agent = builder.build();
      const seen: [string, number, number][] = [];
      let state = AgentState.empty().withUserMessage('go');
      for (const [kind] of rows) {
        state = await agent.nextStep(
          stored ? AgentState.from(JSON.parse(JSON.stringify(state))) : state,
        );
        seen.push([kind, state.execution.consecutiveFailures, state.execution.totalFailures]);
      }
      expect(seen).toEqual(rows);
      expect(state.status).toBe('completed');
    }
  });

  it('a new execution counts from zero', async () => {
    const { builder } = setUp(
      [toolCall('breaks'), toolCall('breaks')],
      ErrorPolicy.stopOnAnyError(),
    );
    const agent = builder.build();
    const first = await agent.run('go');
    const second = await agent.run(first.withUserMessage('again'));
    expect(second.execution).toMatchObject({ consecutiveFailures: 1, totalFailures: 1 });
  });

  it('D60: fail, ok, fail, ok … runs on: consecutive, not total', async () => {
    const blips = Array.from({ length: 10 }, () => [limited(), toolCall('ok')]).flat();
    const { builder } = setUp([...blips, final('done')], at(ErrorPolicy.retryAll(2)));
    const state = await builder.build().run('go');
    expect(state).toMatchObject({ stopReason: 'completed', stepCount: 21 });
    expect(state.execution).toMatchObject({ consecutiveFailures: 0, totalFailures: 10 });
  });

  it('D60: the same with tools that fail', async () => {
    const blips = Array.from({ length: 9 }, () => [toolCall('breaks'), toolCall('ok')]).flat();
    const { builder } = setUp([...blips, final('done')], ErrorPolicy.retryToolErrors(1));
    const state = await builder.build().run('go');
    expect(state.stopReason).toBe('completed');
    expect(state.execution.totalFailures).toBe(9);
  });

  it('the trace counts the tries: (1/3), (2/3), (3/3), then retry_limit', async () => {
    const { builder } = setUp(Array(4).fill(toolCall('breaks')), ErrorPolicy.retryToolErrors(3));
    const state = await builder.build().run('go');
    expect([...state.steps].map((step) => policyVoice(step)?.reason)).toEqual([
      'tool error in breaks, retrying (1/3)',
      'tool error in breaks, retrying (2/3)',
      'tool error in breaks, retrying (3/3)',
      'tool error in breaks (the index is offline), tried again 3 of 3 times',
    ]);
    expect(state).toMatchObject({ status: 'failed', stopReason: 'retry_limit' });
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
    expect(policyVoice(state.steps.at(0))).toMatchObject(expected);
  });

  it.each<[string, ScenarioStep, ErrorPolicy, string]>([
    ['the policy stops on it', limited(), ErrorPolicy.stopOnAnyError(), 'error'],
    ['a retry that is spent', limited(), ErrorPolicy.retryAll(0), 'retry_limit'],
    [
      'no retry can mend it',
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

  it('a tool that takes too long is a timeout for the policy to judge, and the run goes on', async () => {
    const { builder, clock } = setUp(
      [toolCall('slow'), final('done')],
      ErrorPolicy.retryToolErrors(1),
    );
    const run = builder.build().run('go');
    await clock.advance(1_000);
    const state = await run;
    expect(policyVoice(state.steps.at(0))).toMatchObject({
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
    expect(policyVoice(state.steps.at(-1))?.context).toMatchObject({ errorType: 'unknown' });
  });
});

describe('a failed model call', () => {
  it.each([0, 1, 2, 5])('D58: with maxRetries %d it is sent 1 + maxRetries times', async (max) => {
    for (const before of [[], [toolCall('ok')]]) {
      const script = [...before, ...Array<ScenarioStep>(20).fill(limited())];
      const { builder, driver } = setUp(script, at(ErrorPolicy.retryAll(max)));
      const state = await builder.build().run('go');
      expect(driver.requests.length - before.length).toBe(1 + max);
      expect(state.stopReason).toBe('retry_limit');
    }
  });

  it('D58: at most that many when the step before had failed too', async () => {
    const { builder, driver } = setUp(
      [toolCall('breaks'), limited(), limited(), limited()],
      at(ErrorPolicy.retryAll(2)),
    );
    await builder.build().run('go');
    expect(driver.requests.length - 1).toBe(2);
  });

  it('is a step of its own, tried again with the same messages', async () => {
    const { builder, driver } = setUp(
      [toolCall('ok'), limited(), limited(), final('done')],
      at(ErrorPolicy.retryAll()),
    );
    const state = await builder.build().run('go');
    expect([...state.steps].map((s) => [s.number, s.type, s.attempt])).toEqual([
      [1, 'tool_calls', 1],
      [2, 'error', 1],
      [3, 'error', 2],
      [4, 'final', 3],
    ]);
    expect(driver.requests.map((r) => r.messageCount)).toEqual([1, 3, 3, 3]);
    expect(roles(state)).toEqual(['user', 'assistant', 'tool', 'assistant']);
  });

  it('cannot be ignored: ignore is read as retry, its cap included', async () => {
    const policy = at(ErrorPolicy.retryAll(2).withHandling('rate_limit', 'ignore'));
    const { builder, driver } = setUp(Array(9).fill(limited()), policy);
    const state = await builder.build().run('go');
    expect(driver.requests.length).toBe(3);
    expect(policyVoice(state.steps.at(0))).toMatchObject({
      decision: 'allow',
      reason: 'rate limit error, retrying (1/2)',
      context: { handling: 'retry' },
    });
    expect(state.stopReason).toBe('retry_limit');
  });

  it('D55: in mid-stream fails that step alone; what was shown is taken back, what ran is not run again', async () => {
    const search = mockTool('search', 'found');
    const driver = DeterministicDriver.fromSteps(
      toolCall('search'),
      error({ type: 'timeout', message: 'reset' }, { chunks: ['The ans', 'wer is'] }),
      stream(['The answer ', 'is 42.']),
    );
    const events: AgentEvent[] = [];
    const state = await AgentBuilder.base()
      .withDriver(driver)
      .withTools(search)
      .withErrorPolicy(at(ErrorPolicy.retryToolErrors(3)))
      .build()
      .run('go', { wiretap: (e) => events.push(e) });
    expect(search.calls.length).toBe(1);
    expect(state.output).toBe('The answer is 42.');
    expect(state.messages.length).toBe(4);
    const ofStep2 = events.filter((e) => 'stepNumber' in e && e.stepNumber === 2);
    expect(ofStep2.map((e) => e.type)).toEqual([
      'AgentStepStarted',
      'StreamChunk',
      'StreamChunk',
      'StepFailed',
      'StreamDiscarded',
      'ContinuationEvaluated',
    ]);
  });

  it('a refusal stops at once, and what the model said is kept once', async () => {
    const { builder, driver } = setUp([final('', { refusal: 'I cannot help with that.' })]);
    const state = await builder.build().run('go');
    expect(driver.requests.length).toBe(1);
    expect(state).toMatchObject({ status: 'failed', stopReason: 'error' });
    expect(state.steps.at(0)?.errors).toMatchObject([
      { type: 'model', code: 'refusal', retryable: false },
    ]);
    expect(state.messages.toJSON().map((m) => [m.role, m.content])).toEqual([
      ['user', 'go'],
      ['assistant', 'I cannot help with that.'],
    ]);
  });
});

describe('the wait before the next try', () => {
  const noJitter = ErrorPolicy.retryAll().withBackoff({ jitter: 0 });

  it('half a second, doubled, on the agent’s clock; drawn once and recorded', async () => {
    const { builder, clock, driver } = setUp(
      [limited(), limited(), limited(), final('done')],
      noJitter,
    );
    const run = builder.build().run('go');
    const sent: [number, number][] = [];
    for (const ms of [499, 1, 999, 1, 1_999, 1]) {
      await clock.advance(ms);
      sent.push([clock.now() - Date.parse('2026-01-16T12:00:00.000Z'), driver.requests.length]);
    }
    expect(sent).toEqual([
      [499, 1],
      [500, 2],
      [1_499, 2],
      [1_500, 3],
      [3_499, 3],
      [3_500, 4],
    ]);
    const state = await run;
    expect([...state.steps].map((s) => [s.waitMs, s.waitedMs])).toEqual([
      [500, undefined],
      [1_000, 500],
      [2_000, 1_000],
      [undefined, 2_000],
    ]);
    expect(state.execution.cumulativeSeconds).toBe(3.5);
    expect(state.info.cumulativeExecutionSeconds).toBe(3.5);
    expect(clock.pendingTimers).toBe(0);
  });

  it('is spread by the agent’s random source', async () => {
    const clock = fakeClock();
    const agent = createAgent({
      driver: DeterministicDriver.create([limited(), final('done')]),
      errorPolicy: ErrorPolicy.retryAll(),
      clock,
      random: () => 0.5,
    });
    const run = agent.run('go');
    await clock.advance(500);
    expect((await run).steps.at(0)?.waitMs).toBe(375);
  });

  it.each<[number, number, string]>([
    [7_000, 7_000, 'the provider’s word wins over the backoff'],
    [0, 0, 'also when it says at once'],
    [3_600_000, 60_000, 'but never longer than a minute'],
    [-5, 0, 'and never into the past'],
  ])('retryAfterMs %d: %d ms (%s)', async (retryAfterMs, waitMs) => {
    const { builder, clock } = setUp([limited({ retryAfterMs }), final('done')], noJitter);
    const run = builder.build().run('go');
    await clock.advance(60_000);
    expect((await run).steps.at(0)?.waitMs).toBe(waitMs);
  });

  it('listeners hear how long it will be', async () => {
    const { builder, clock } = setUp([limited({ retryAfterMs: 7_000 }), final('done')]);
    const failed: AgentEvent[] = [];
    const agent = builder.build();
    agent.on('StepFailed', (e) => failed.push(e));
    const run = agent.run('go');
    await clock.advance(7_000);
    await run;
    expect(failed).toMatchObject([
      { stepNumber: 1, attempt: 1, waitMs: 7_000, error: { type: 'rate_limit', message: '429' } },
    ]);
  });

  it('no wait is drawn where there will be no next try', async () => {
    for (const policy of [ErrorPolicy.stopOnAnyError(), ErrorPolicy.retryAll(0)]) {
      const { builder } = setUp([limited({ retryAfterMs: 5_000 })], policy);
      const state = await builder.build().run('go');
      expect(state.steps.at(-1)).not.toHaveProperty('waitMs');
    }
  });

  it('an abort ends it: a cut step with the time really waited and the verdict', async () => {
    const { builder, clock, driver } = setUp([limited({ retryAfterMs: 20_000 }), final('late')]);
    const abort = new AbortController();
    const run = builder.build().run('go', { signal: abort.signal });
    await clock.advance(3_000);
    abort.abort('Mira pressed stop');
    const state = await run;
    expect(driver.requests.length).toBe(1);
    expect(state).toMatchObject({ status: 'stopped', stopReason: 'user_requested' });
    expect([...state.steps]).toMatchObject([
      { type: 'error', number: 1, attempt: 1, waitMs: 20_000 },
      { type: 'cut', number: 2, attempt: 2, waitedMs: 3_000, durationMs: 0, errors: [] },
    ]);
    expect(state.steps.at(-1)?.outcome).toBe(state.lastContinuationOutcome);
    expect(state.execution).toMatchObject({
      cumulativeSeconds: 3,
      consecutiveFailures: 1,
      answeredSteps: 0,
    });
    expect(clock.pendingTimers).toBe(0);
  });

  it('a process that died while waiting waits for the rest only', async () => {
    const { builder, clock, driver } = setUp([limited({ retryAfterMs: 10_000 }), final('done')]);
    const agent = builder.build();
    const open = await agent.nextStep('go');
    clock.jump(4_000);
    const run = agent.resume(AgentState.from(JSON.parse(JSON.stringify(open))));
    await clock.advance(5_999);
    expect(driver.requests.length).toBe(1);
    await clock.advance(1);
    const state = await run;
    expect(state.steps.at(-1)?.waitedMs).toBe(6_000);
    expect(state.execution.cumulativeSeconds).toBe(6);
  });

  it('tool errors are tried again at once: the model has to think first', async () => {
    const { builder } = setUp([toolCall('breaks'), final('done')], noJitter);
    const state = await builder.build().run('go');
    expect(state.steps.at(0)).not.toHaveProperty('waitMs');
    expect(state.execution.cumulativeSeconds).toBe(0);
  });
});

describe('an answer that does not match the response format', () => {
  const schema = z.object({ total: z.number() });
  const setUpFormat = (script: readonly ScenarioStep[], policy: ErrorPolicy) => {
    const made = setUp(script, policy);
    return { ...made, builder: made.builder.withResponseFormat(schema) };
  };

  it('is an answered step with a validation error; the model is told, and tries again at once', async () => {
    const { builder } = setUpFormat(
      [final('Three.'), final('{"total": 3}')],
      ErrorPolicy.retryToolErrors(3),
    );
    const state = await builder.build().run('go');
    expect(state).toMatchObject({ stopReason: 'completed', output: { total: 3 } });
    const [first] = [...state.steps];
    expect(first).toMatchObject({ type: 'final', attempt: 1 });
    expect(first?.errors).toMatchObject([{ type: 'validation', code: 'response_format_mismatch' }]);
    expect(first).not.toHaveProperty('waitMs');
    expect(policyVoice(first)).toMatchObject({
      decision: 'allow',
      reason: 'validation error, retrying (1/3)',
    });
    expect(state.execution).toMatchObject({ answeredSteps: 2, totalFailures: 1 });
    expect(roles(state)).toEqual(['user', 'assistant', 'user', 'assistant']);
    expect(state.messages.at(2)).toMatchObject({ metadata: { synthetic: true } });
    expect(state.messages.at(2)?.text).toMatch(/^The answer does not match the response format: /);
  });

  it('names what is wrong with a value of the wrong shape', async () => {
    const { builder } = setUpFormat(
      [final('{"total": "three"}'), final('{"total": 3}')],
      ErrorPolicy.retryToolErrors(3),
    );
    const state = await builder.build().run('go');
    expect(state.messages.at(2)?.text).toContain('total');
  });

  it('ignore is read as retry, its cap included', async () => {
    const { builder, driver } = setUpFormat(
      Array(9).fill(final('Three.')),
      ErrorPolicy.ignoreToolErrors().withMaxRetries(2),
    );
    const state = await builder.build().run('go');
    expect(driver.requests.length).toBe(3);
    expect(state).toMatchObject({
      status: 'failed',
      stopReason: 'retry_limit',
      output: null,
      outputText: 'Three.',
    });
  });

  it('the default policy stops on it', async () => {
    const { builder } = setUpFormat([final('Three.')], ErrorPolicy.stopOnAnyError());
    expect(await builder.build().run('go')).toMatchObject({
      status: 'failed',
      stopReason: 'error',
    });
  });

  it('counts for StepsLimit: it was answered', async () => {
    const { builder, driver } = setUpFormat(
      [final('Three.'), final('Four.')],
      ErrorPolicy.retryAll(),
    );
    const state = await builder.withMaxSteps(2).build().run('go');
    expect(driver.requests.length).toBe(2);
    expect(state.stopReason).toBe('steps_limit');
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
