import {
  AgentBuilder,
  sessionStepsLimit,
  type AgentEvent,
  type ContinuationCriterion,
} from 'onward';
import { DeterministicDriver, mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { pages } from './setup/scripts.ts';
import { choices, landing, marks } from './setup/soft-landing.ts';

const { toolCall, toolCalls, final, error } = ScenarioStep;

describe('soft landing on the last allowed step', () => {
  it('D03: sends step 5 of 5 without tools, keeps its text and stops with steps_limit', async () => {
    const { builder, driver } = landing([
      ...pages(4),
      final('Four pages read, here is what I have.'),
    ]);
    const state = await builder.withMaxSteps(5).build().run('go');
    expect(choices(driver)).toEqual(['auto', 'auto', 'auto', 'auto', 'none']);
    expect(marks(state)).toEqual([undefined, undefined, undefined, undefined, 'StepsLimit']);
    expect(state).toMatchObject({
      status: 'stopped',
      stopReason: 'steps_limit',
      output: 'Four pages read, here is what I have.',
      outputText: 'Four pages read, here is what I have.',
    });
    expect(state.lastContinuationOutcome?.decisive).toMatchObject({
      criterion: 'StepsLimit',
      context: { used: 5, limit: 5 },
      reason: '5 of 5 steps used, and this last step was kept for an answer without tools',
    });
  });

  it('does not happen unless it is enabled: the run ends on its fifth tool call', async () => {
    const driver = DeterministicDriver.create(pages(5));
    const state = await AgentBuilder.base()
      .withDriver(driver)
      .withTools(mockTool('search'))
      .withMaxSteps(5)
      .build()
      .run('go');
    expect(choices(driver)).toEqual(['auto', 'auto', 'auto', 'auto', 'auto']);
    expect(state).toMatchObject({ stopReason: 'steps_limit', output: null });
  });

  it('does not happen if the run completes earlier', async () => {
    const { builder, driver } = landing([...pages(3), final('done')]);
    const state = await builder.withMaxSteps(5).build().run('go');
    expect(state.stopReason).toBe('completed');
    expect(marks(state)).toEqual([undefined, undefined, undefined, undefined]);
    expect(choices(driver)).toEqual(['auto', 'auto', 'auto', 'auto']);
  });

  it('AgentStepStarted lists no tools for it', async () => {
    const { builder } = landing([...pages(1), final('done')]);
    const offered: (readonly string[])[] = [];
    const agent = builder.withMaxSteps(2).build();
    agent.on('AgentStepStarted', ({ availableTools }) => offered.push(availableTools));
    await agent.run('go');
    expect(offered).toEqual([['search'], []]);
  });

  it('also applies to a session limit', async () => {
    const { builder, driver } = landing([
      ...pages(1),
      final('first'),
      ...pages(1),
      final('second'),
    ]);
    const agent = builder.addContinuationCriteria(sessionStepsLimit(4)).build();
    const first = await agent.run('go');
    expect(first.stopReason).toBe('completed');
    const second = await agent.run(first.withUserMessage('more'));
    expect(second).toMatchObject({ stopReason: 'steps_limit', output: 'second' });
    expect(second.steps.at(-1)?.softLanding).toBe('SessionStepsLimit');
    expect(choices(driver)).toEqual(['auto', 'auto', 'auto', 'none']);
  });
});

describe('the first step of an execution is never a soft landing', () => {
  it('with a limit of 1 the only step has its tools', async () => {
    const { builder, driver, search } = landing(pages(1));
    const state = await builder.withMaxSteps(1).build().run('go');
    expect(choices(driver)).toEqual(['auto']);
    expect(search.calls.length).toBe(1);
    expect(marks(state)).toEqual([undefined]);
    expect(state).toMatchObject({ stopReason: 'steps_limit', output: null });
  });

  it('also when the token limit is smaller than the reserve', async () => {
    const { builder, driver } = landing([final('a'), final('b')]);
    const agent = builder.withMaxTokens(20).build();
    const first = await agent.run('go');
    await agent.run(first.withUserMessage('again'));
    expect(choices(driver)).toEqual(['auto', 'auto']);
  });

  it('also when it is retried', async () => {
    const { builder, driver } = landing([
      error({ type: 'rate_limit', message: '429' }),
      final('done'),
    ]);
    await builder.withMaxSteps(1).build().run('go');
    expect(choices(driver)).toEqual(['auto', 'auto']);
  });
});

describe('the soft landing reserve', () => {
  it.each<[string, number | undefined, number, string]>([
    ['default of 2,000', undefined, 8_000, 'the first step begun at 8,000 of 10,000'],
    ['custom', 500, 9_500, 'the first step begun at 9,500 of 10,000'],
  ])('tokens, %s: the step that starts within it has no tools', async (_which, tokens, begins) => {
    const half = begins / 2;
    const { builder, driver } = landing([
      toolCall('search', {}, '', { usage: { input: half - 1, output: 0 } }),
      toolCall('search', {}, '', { usage: { input: half, output: 0 } }),
      toolCall('search', {}, '', { usage: { input: 1, output: 0 } }),
      final('in time', { usage: { input: 10, output: 10 } }),
    ]);
    const state = await builder
      .withMaxTokens(10_000)
      .withSoftLanding(tokens === undefined ? {} : { tokens })
      .build()
      .run('go');
    expect(choices(driver)).toEqual(['auto', 'auto', 'auto', 'none']);
    expect(marks(state).at(-1)).toBe('TokenUsageLimit');
    expect(state).toMatchObject({
      stopReason: 'token_limit',
      status: 'stopped',
      output: 'in time',
    });
    expect(state.lastContinuationOutcome?.decisive?.context).toEqual({
      used: begins + 20,
      limit: 10_000,
    });
  });

  it.each<[string, (b: AgentBuilder) => AgentBuilder, string]>([
    ['wall clock', (b) => b.withTimeout({ seconds: 100 }), 'ExecutionTimeLimit'],
    [
      'working time',
      (b) => b.withCumulativeTimeout({ seconds: 100 }),
      'CumulativeExecutionTimeLimit',
    ],
  ])(
    'seconds, %s: the step that starts within 20 seconds of the end has no tools',
    async (_which, limited, name) => {
      const { builder, driver } = landing([...pages(4), final('in time')], 20_000);
      const state = await limited(builder).build().run('go');
      expect(choices(driver)).toEqual(['auto', 'auto', 'auto', 'auto', 'none']);
      expect(marks(state).at(-1)).toBe(name);
      expect(state).toMatchObject({ stopReason: 'time_limit', output: 'in time' });
      expect(state.lastContinuationOutcome?.decisive?.context).toEqual({ used: 80, limit: 100 });
    },
  );

  it('a custom number of seconds', async () => {
    const { builder, driver } = landing([...pages(2), final('in time')], 20_000);
    await builder.withTimeout({ seconds: 100 }).withSoftLanding({ seconds: 60 }).build().run('go');
    expect(choices(driver)).toEqual(['auto', 'auto', 'none']);
  });

  it('the limit forbids continuation after the landing, even if budget is left', async () => {
    const { builder } = landing([...pages(1, { usage: { input: 9_000, output: 0 } }), final('ok')]);
    const state = await builder.withMaxTokens(10_000).build().run('go');
    expect(state.lastContinuationOutcome?.evaluationFor('ToolCallPresenceCheck')?.decision).toBe(
      'stop',
    );
    expect(state.lastContinuationOutcome?.decisive).toMatchObject({
      criterion: 'TokenUsageLimit',
      context: { used: 9_015, limit: 10_000 },
    });
  });

  it.each([{ tokens: 0 }, { seconds: -1 }, { tokens: Number.NaN }])('rejects %j', (reserve) => {
    const { builder } = landing([]);
    expect(() => builder.withSoftLanding(reserve).build()).toThrowError(
      expect.objectContaining({ code: 'invalid_option' }),
    );
  });

  it('names the limit with the highest precedence if several land together', async () => {
    const { builder } = landing([...pages(1, { usage: { input: 9_000, output: 0 } }), final('ok')]);
    const state = await builder.withMaxSteps(2).withMaxTokens(10_000).build().run('go');
    expect(marks(state)).toEqual([undefined, 'TokenUsageLimit']);
    expect(state.stopReason).toBe('token_limit');
  });
});

describe('tool calls on a soft landing step', () => {
  it('are closed without running, and the text next to them is kept', async () => {
    const { builder, search } = landing([
      ...pages(1),
      toolCalls([{ name: 'search' }, { name: 'search' }], 'One more look.'),
    ]);
    const events: AgentEvent[] = [];
    const state = await builder
      .withMaxSteps(2)
      .build()
      .run('go', { wiretap: (e) => events.push(e) });
    expect(search.calls.length).toBe(1);
    expect(state).toMatchObject({
      status: 'stopped',
      stopReason: 'steps_limit',
      outputText: 'One more look.',
    });
    const last = state.steps.at(-1);
    expect(last).toMatchObject({ softLanding: 'StepsLimit', errors: [] });
    expect(last?.results.map((r) => r.kind)).toEqual(['blocked', 'blocked']);
    expect(last?.results[0]?.value).toBe(
      'Not run: this was the last step, kept for an answer without tools.',
    );
    expect(events.filter((e) => e.type === 'ToolCallStarted').length).toBe(1);
    expect(state.messages.pairingProblem()).toBeNull();
    expect(state.execution.consecutiveFailures).toBe(0);
  });
});

describe('soft landing with a criterion that always requests', () => {
  it('ends the run', async () => {
    const insists: ContinuationCriterion = { name: 'NeverHappy', evaluate: () => 'request' };
    const { builder, driver } = landing([final('a'), final('b'), final('c')]);
    const state = await builder.withMaxSteps(3).addContinuationCriteria(insists).build().run('go');
    expect(choices(driver)).toEqual(['auto', 'auto', 'none']);
    expect(state).toMatchObject({ stopReason: 'steps_limit', output: 'c' });
  });
});

describe('describe() and soft landing', () => {
  it('lists the reserve', () => {
    const { builder } = landing([]);
    expect(builder.build().describe().softLanding).toEqual({ tokens: 2_000, seconds: 20 });
    expect(builder.withSoftLanding({ tokens: 100 }).build().describe().softLanding).toEqual({
      tokens: 100,
      seconds: 20,
    });
    const bare = AgentBuilder.base().withDriver(DeterministicDriver.fromSteps()).build();
    expect(bare.describe().softLanding).toBeNull();
  });
});
