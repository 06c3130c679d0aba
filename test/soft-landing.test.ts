import {
  AgentBuilder,
  pairingProblem,
  sessionStepsLimit,
  type AgentEvent,
  type ContinuationCriterion,
} from 'onward';
import { DeterministicDriver, mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { pages } from './setup/scripts.ts';
import { choices, landing, marks } from './setup/soft-landing.ts';

const { toolCall, toolCalls, final, error } = ScenarioStep;

describe('the last allowed step', () => {
  it('D03: limit 5: step 5 is sent without tools, its text is kept, and the reason is still steps_limit', async () => {
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

  it('without soft landing the same script ends on its fifth tool call', async () => {
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

  it('an answer before that is completed, and no step is a landing', async () => {
    const { builder, driver } = landing([...pages(3), final('done')]);
    const state = await builder.withMaxSteps(5).build().run('go');
    expect(state.stopReason).toBe('completed');
    expect(marks(state)).toEqual([undefined, undefined, undefined, undefined]);
    expect(choices(driver)).toEqual(['auto', 'auto', 'auto', 'auto']);
  });

  it('the listeners see that no tool is offered on it', async () => {
    const { builder } = landing([...pages(1), final('done')]);
    const offered: (readonly string[])[] = [];
    const agent = builder.withMaxSteps(2).build();
    agent.on('AgentStepStarted', ({ availableTools }) => offered.push(availableTools));
    await agent.run('go');
    expect(offered).toEqual([['search'], []]);
  });

  it('a limit of the whole session lands too', async () => {
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

describe('the first step of an execution never is one', () => {
  it('limit 1: the only step has its tools', async () => {
    const { builder, driver, search } = landing(pages(1));
    const state = await builder.withMaxSteps(1).build().run('go');
    expect(choices(driver)).toEqual(['auto']);
    expect(search.calls.length).toBe(1);
    expect(marks(state)).toEqual([undefined]);
    expect(state).toMatchObject({ stopReason: 'steps_limit', output: null });
  });

  it('not even when the session’s tokens are all but gone', async () => {
    const { builder, driver } = landing([final('a'), final('b')]);
    const agent = builder.withMaxTokens(20).build();
    const first = await agent.run('go');
    await agent.run(first.withUserMessage('again'));
    expect(choices(driver)).toEqual(['auto', 'auto']);
  });

  it('nor when it is tried again', async () => {
    const { builder, driver } = landing([
      error({ type: 'rate_limit', message: '429' }),
      final('done'),
    ]);
    await builder.withMaxSteps(1).build().run('go');
    expect(choices(driver)).toEqual(['auto', 'auto']);
  });
});

describe('the reserve', () => {
  it.each<[string, number | undefined, number, string]>([
    ['default 2,000', undefined, 8_000, 'the first step begun at 8,000 of 10,000'],
    ['of one’s own', 500, 9_500, 'the first step begun at 9,500 of 10,000'],
  ])('tokens, %s', async (_which, tokens, begins) => {
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
  ])('seconds, %s: the first step begun within 20 of the end', async (_which, limited, name) => {
    const { builder, driver } = landing([...pages(4), final('in time')], 20_000);
    const state = await limited(builder).build().run('go');
    expect(choices(driver)).toEqual(['auto', 'auto', 'auto', 'auto', 'none']);
    expect(marks(state).at(-1)).toBe(name);
    expect(state).toMatchObject({ stopReason: 'time_limit', output: 'in time' });
    expect(state.lastContinuationOutcome?.decisive?.context).toEqual({ used: 80, limit: 100 });
  });

  it('seconds of one’s own', async () => {
    const { builder, driver } = landing([...pages(2), final('in time')], 20_000);
    await builder.withTimeout({ seconds: 100 }).withSoftLanding({ seconds: 60 }).build().run('go');
    expect(choices(driver)).toEqual(['auto', 'auto', 'none']);
  });

  it('once answered the limit forbids, spent or not, work pending or not', async () => {
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

  it.each([{ tokens: 0 }, { seconds: -1 }, { tokens: Number.NaN }])('%j is refused', (reserve) => {
    const { builder } = landing([]);
    expect(() => builder.withSoftLanding(reserve).build()).toThrowError(
      expect.objectContaining({ code: 'invalid_option' }),
    );
  });

  it('of several limits that land together the strongest reason is named', async () => {
    const { builder } = landing([...pages(1, { usage: { input: 9_000, output: 0 } }), final('ok')]);
    const state = await builder.withMaxSteps(2).withMaxTokens(10_000).build().run('go');
    expect(marks(state)).toEqual([undefined, 'TokenUsageLimit']);
    expect(state.stopReason).toBe('token_limit');
  });
});

describe('calls returned anyway', () => {
  it('are sealed and not run; text beside them is kept', async () => {
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
    expect(pairingProblem(state.messages)).toBeNull();
    expect(state.execution.consecutiveFailures).toBe(0);
  });
});

describe('with a criterion that never has enough', () => {
  it('the landing ends it', async () => {
    const insists: ContinuationCriterion = { name: 'NeverHappy', evaluate: () => 'request' };
    const { builder, driver } = landing([final('a'), final('b'), final('c')]);
    const state = await builder.withMaxSteps(3).addContinuationCriteria(insists).build().run('go');
    expect(choices(driver)).toEqual(['auto', 'auto', 'none']);
    expect(state).toMatchObject({ stopReason: 'steps_limit', output: 'c' });
  });
});

describe('in describe()', () => {
  it('the reserve is visible', () => {
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
