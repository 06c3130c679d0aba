import * as fc from 'fast-check';
import {
  AgentBuilder,
  AgentState,
  AgentStatus,
  ErrorPolicy,
  noProgressLimit,
  pairingProblem,
  responseContentCheck,
  statusFacts,
  StopReason,
  toolCalledCheck,
  type Agent,
  type AgentEvent,
  type ContinuationCriterion,
  type Tool,
} from 'onward';
import {
  DeterministicDriver,
  fakeClock,
  mockTool,
  ScenarioStep,
  type ScenarioExtras,
} from 'onward/testing';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { statusOf } from '../src/agent/agent-status.ts';

const { toolCall, toolCalls, final, error } = ScenarioStep;

const pages = (n: number, extras: ScenarioExtras = {}): ScenarioStep[] =>
  Array.from({ length: n }, (_, page) => toolCall('search', { page }, '', extras));

const base = (script: readonly ScenarioStep[], tools: readonly Tool[] = [mockTool('search')]) => {
  const driver = DeterministicDriver.create(script);
  const builder = AgentBuilder.base()
    .withDriver(driver)
    .withTools(...tools)
    .withClock(fakeClock());
  return { driver, builder };
};

const terminal = new Set(['AgentFinished', 'AgentFailed', 'AgentPaused']);

describe('why it stopped', () => {
  it('D01: endless tools end in one outcome with the numbers, told once', async () => {
    const { builder } = base(pages(4));
    const events: AgentEvent[] = [];
    const state = await builder
      .withMaxSteps(4)
      .build()
      .run('go', { wiretap: (e) => events.push(e) });
    const outcome = state.lastContinuationOutcome;
    expect(outcome).toMatchObject({ stopReason: 'steps_limit', resolvedBy: 'StepsLimit' });
    expect(outcome?.evaluationFor('StepsLimit')?.context).toEqual({ used: 4, limit: 4 });
    expect(events.filter((e) => terminal.has(e.type))).toMatchObject([
      { type: 'AgentFinished', status: 'stopped', stopReason: 'steps_limit', stepCount: 4 },
    ]);
  });

  it('the same object feeds the state, the step and every event', async () => {
    const { builder } = base([...pages(1), final('done')]);
    const events: AgentEvent[] = [];
    const state = await builder.build().run('go', { wiretap: (e) => events.push(e) });
    const outcome = state.lastContinuationOutcome;
    expect(state.steps.at(-1)?.outcome).toBe(outcome);
    const told = events.filter((e) => 'outcome' in e).map((e) => [e.type, e.outcome]);
    expect(told.slice(-3)).toEqual([
      ['AgentStepCompleted', outcome],
      ['ContinuationEvaluated', outcome],
      ['AgentFinished', outcome],
    ]);
    for (const [, seen] of told.slice(-3)) expect(seen).toBe(outcome);
  });

  it('the criteria are asked once before the first step and once after each', async () => {
    const { builder } = base([...pages(2), final('done')]);
    const seen: [number, string][] = [];
    const agent = builder.build();
    agent.on('ContinuationEvaluated', ({ stepNumber, outcome }) =>
      seen.push([stepNumber, outcome.resolvedBy]),
    );
    await agent.run('go');
    expect(seen).toEqual([
      [0, 'ToolCallPresenceCheck'],
      [1, 'ToolCallPresenceCheck'],
      [2, 'ToolCallPresenceCheck'],
      [3, 'ToolCallPresenceCheck'],
    ]);
  });

  it('every criterion speaks on every step, in the order of describe()', async () => {
    const { builder } = base([...pages(3), final('done')]);
    const agent = builder.withMaxTokens(9_999).withMaxCost(1).build();
    const { criteria } = agent.describe();
    expect(criteria).toEqual([
      'StepsLimit',
      'TokenUsageLimit',
      'CostLimit',
      'ExecutionTimeLimit',
      'FinishReasonCheck',
      'ErrorPolicyCriterion',
      'StopRequestCheck',
      'ToolCallPresenceCheck',
    ]);
    const state = await agent.run('go');
    for (const { outcome } of state.steps)
      expect(outcome?.evaluations.map((e) => e.criterion)).toEqual(criteria);
  });

  it('D02: the remedy names the limit, the option to raise and the grant', async () => {
    const { builder } = base(pages(5));
    const state = await builder.withMaxSteps(5).build().run('go');
    expect(state.lastContinuationOutcome?.decisive).toMatchObject({
      reason: '5 of 5 steps used while work is still pending',
      remedy: {
        text: 'grant more steps with resume(state, { grant: { steps: 5 } }), or raise the limit with withMaxSteps(...).',
        option: 'withMaxSteps(...)',
        grant: { steps: 5 },
      },
    });
  });

  it('D12: the limits are visible before anything runs', () => {
    const { builder } = base([]);
    const limits = (b: AgentBuilder) => b.build().describe().limits;
    expect(limits(builder)).toEqual({ StepsLimit: 20, ExecutionTimeLimit: 300 });
    expect(
      limits(
        builder
          .withMaxSteps(7)
          .withMaxTokens(1_000)
          .withMaxCost(0.5)
          .withCumulativeTimeout({ seconds: 60 })
          .addContinuationCriteria(noProgressLimit(3)),
      ),
    ).toEqual({
      StepsLimit: 7,
      TokenUsageLimit: 1_000,
      CostLimit: 0.5,
      CumulativeExecutionTimeLimit: 60,
      NoProgressLimit: 3,
    });
    const bare = AgentBuilder.new().withDriver(DeterministicDriver.fromSteps()).build().describe();
    expect(bare.limits).toEqual({});
    expect(bare.criteria).toEqual([
      'ErrorPolicyCriterion',
      'StopRequestCheck',
      'ToolCallPresenceCheck',
    ]);
  });
});

describe('limits are values: nothing is thrown and nothing is lost', () => {
  const slow = (clock: ReturnType<typeof fakeClock>) =>
    mockTool('search', () => {
      clock.jump(40_000);
      return 'found';
    });

  it.each<[string, StopReason, string, (b: AgentBuilder) => AgentBuilder]>([
    ['D05: steps', 'steps_limit', 'StepsLimit', (b) => b.withMaxSteps(3)],
    ['D06: tokens', 'token_limit', 'TokenUsageLimit', (b) => b.withMaxTokens(300)],
    ['D06: cost', 'guard', 'CostLimit', (b) => b.withMaxCost(0.3)],
    ['D06: wall clock', 'time_limit', 'ExecutionTimeLimit', (b) => b.withTimeout({ seconds: 120 })],
    [
      'D06: working time',
      'time_limit',
      'CumulativeExecutionTimeLimit',
      (b) => b.withCumulativeTimeout({ seconds: 120 }),
    ],
  ])('%s', async (_limit, stopReason, resolvedBy, limited) => {
    const clock = fakeClock();
    const script = Array.from({ length: 3 }, (_, page) =>
      toolCall('search', { page }, `Page ${page}.`, {
        usage: { input: 80, output: 20 },
        cost: 0.1,
      }),
    );
    const { builder } = base(script, [slow(clock)]);
    const state = await limited(builder.withClock(clock)).build().run('go');
    expect(state).toMatchObject({ status: 'stopped', stopReason });
    expect(state.lastContinuationOutcome?.resolvedBy).toBe(resolvedBy);
    expect(state.steps.length).toBe(3);
    expect(state.usage).toMatchObject({ input: 240, output: 60, total: 300 });
    expect(state.cost).toBeCloseTo(0.3);
    expect(state.messages.toJSON().map((m) => [m.role, m.content])).toEqual([
      ['user', 'go'],
      ['assistant', 'Page 0.'],
      ['tool', 'found'],
      ['assistant', 'Page 1.'],
      ['tool', 'found'],
      ['assistant', 'Page 2.'],
      ['tool', 'found'],
    ]);
    expect(state.outputText).toBe('Page 2.');
    expect(pairingProblem(state.messages)).toBeNull();
  });

  it('D04: a limit on a tool step with a declared output gives what there is, never a throw', async () => {
    const { builder } = base([toolCall('search', {}, '{"city": "Ghent", "partners": [1, 2')]);
    const schema = z.object({ city: z.string(), partners: z.array(z.number()) });
    const state = await builder.withMaxSteps(1).withResponseFormat(schema).build().run('go');
    expect(state).toMatchObject({
      status: 'stopped',
      stopReason: 'steps_limit',
      output: null,
      partialOutput: { city: 'Ghent', partners: [1, 2] },
    });
  });

  it('D04: and null where nothing was said', async () => {
    const { builder } = base(pages(1));
    const state = await builder.withMaxSteps(1).withResponseFormat(z.object({})).build().run('go');
    expect(state).toMatchObject({ stopReason: 'steps_limit', output: null, partialOutput: null });
  });

  it('a cost limit without a price lets the run go on, and says so on every step', async () => {
    const { builder } = base([...pages(2), final('done')]);
    const state = await builder.withMaxCost(0.01).build().run('go');
    expect(state.status).toBe('completed');
    for (const { outcome } of state.steps)
      expect(outcome?.evaluationFor('CostLimit')).toMatchObject({
        decision: 'allow',
        reason: 'the price is unknown, so the limit of 0.01 cost units cannot bind',
        context: { used: null, limit: 0.01 },
      });
  });
});

describe('a limit bites only while work is pending', () => {
  it('D08: an answer exactly at step N of N is completed', async () => {
    const { builder } = base([...pages(3), final('done')]);
    const state = await builder.withMaxSteps(4).build().run('go');
    expect(state).toMatchObject({ status: 'completed', stopReason: 'completed', output: 'done' });
    expect(state.lastContinuationOutcome?.evaluationFor('StepsLimit')).toMatchObject({
      decision: 'allow',
      context: { used: 4, limit: 4 },
    });
  });

  it.each<[string, (b: AgentBuilder) => AgentBuilder]>([
    ['tokens', (b) => b.withMaxTokens(10)],
    ['cost', (b) => b.withMaxCost(0.01)],
  ])('D08: so is an answer that overspends its %s', async (_kind, limited) => {
    const { builder } = base([final('done', { usage: { input: 400, output: 100 }, cost: 5 })]);
    expect(await limited(builder).build().run('go')).toMatchObject({ stopReason: 'completed' });
  });

  it('D09: for every limit N the reason flips exactly at N + 1 needed steps', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 9 }),
        fc.integer({ min: 1, max: 12 }),
        async (limit, needed) => {
          const { builder, driver } = base([...pages(needed - 1), final('done')]);
          const state = await builder.withMaxSteps(limit).build().run('go');
          expect(state.stopReason).toBe(needed <= limit ? 'completed' : 'steps_limit');
          expect(state.execution.answeredSteps).toBe(Math.min(needed, limit));
          expect(driver.requests.length).toBe(Math.min(needed, limit));
        },
      ),
      { numRuns: 60 },
    );
  });

  it('failed model calls use up no step', async () => {
    const failure = error({ type: 'rate_limit', message: '429' });
    const { builder } = base([failure, failure, ...pages(1), failure, final('done')]);
    const state = await builder
      .withMaxSteps(2)
      .withErrorPolicy(ErrorPolicy.retryToolErrors(2).withBackoff({ initialMs: 0 }))
      .build()
      .run('go');
    expect(state).toMatchObject({ stopReason: 'completed', stepCount: 5 });
    expect(state.execution.answeredSteps).toBe(2);
  });
});

describe('calls are work', () => {
  it.each(['stop', 'other', 'unknown', 'end_turn', 'tool_calls'])(
    'D07: finish reason %s beside a tool call: the tool runs and the run goes on',
    async (finishReason) => {
      const search = mockTool('search', 'found');
      const { builder } = base(
        [toolCall('search', { q: 'acme' }, '', { finishReason }), final('done')],
        [search],
      );
      const state = await builder.build().run('go');
      expect(search.calls).toEqual([{ q: 'acme' }]);
      expect(state).toMatchObject({ stopReason: 'completed', output: 'done' });
      const [step] = [...state.steps];
      expect(step).toMatchObject({ type: 'tool_calls', finishReason: 'tool_calls' });
      expect(step?.notes).toEqual(
        finishReason === 'tool_calls' ? [] : [`finishReasonCorrected:${finishReason}`],
      );
    },
  );

  it('D14: identical calls end in guard, in whatever order their arguments come', async () => {
    const search = mockTool('search', { hits: [] });
    const { builder } = base(
      [
        toolCall('search', { query: 'acme', page: 1 }),
        toolCall('search', { page: 1, query: 'acme' }),
        toolCall('search', { query: 'acme', page: 1 }),
      ],
      [search],
    );
    const state = await builder.addContinuationCriteria(noProgressLimit(3)).build().run('go');
    expect(state).toMatchObject({ status: 'stopped', stopReason: 'guard' });
    expect(state.lastContinuationOutcome?.decisive).toMatchObject({
      criterion: 'NoProgressLimit',
      context: { used: 3, limit: 3, toolName: 'search' },
    });
    expect(search.calls.length).toBe(3);
  });

  it('D14: a result that changes is progress', async () => {
    const search = mockTool('search', ['queued', 'running', 'done']);
    const { builder } = base(
      [toolCall('search'), toolCall('search'), toolCall('search'), final('done')],
      [search],
    );
    const state = await builder.addContinuationCriteria(noProgressLimit(2)).build().run('go');
    expect(state.stopReason).toBe('completed');
  });
});

describe('criteria of one’s own', () => {
  const insists: ContinuationCriterion = {
    name: 'NeverHappy',
    evaluate: () => ({ decision: 'request', reason: 'check the numbers once more' }),
  };

  it('one that always requests is still bounded by StepsLimit', async () => {
    const { builder, driver } = base([final('a'), final('b'), final('c')]);
    const state = await builder.withMaxSteps(3).addContinuationCriteria(insists).build().run('go');
    expect(driver.requests.length).toBe(3);
    expect(state).toMatchObject({ status: 'stopped', stopReason: 'steps_limit', output: 'c' });
    expect(state.lastContinuationOutcome?.evaluationFor('NeverHappy')?.decision).toBe('request');
  });

  it('after an answer without calls its reason is said to the model, as a synthetic user message', async () => {
    const { builder } = base([final('a'), final('b')]);
    const state = await builder.withMaxSteps(2).addContinuationCriteria(insists).build().run('go');
    expect(state.messages.toJSON().map((m) => [m.role, m.content, m.metadata])).toEqual([
      ['user', 'go', {}],
      ['assistant', 'a', {}],
      ['user', 'check the numbers once more', { synthetic: true }],
      ['assistant', 'b', {}],
    ]);
  });

  it('after tool calls nothing is put in: the results are what the model goes on with', async () => {
    const { builder } = base([...pages(1), final('b')]);
    const state = await builder.withMaxSteps(2).addContinuationCriteria(insists).build().run('go');
    expect(state.messages.toJSON().map((m) => m.role)).toEqual([
      'user',
      'assistant',
      'tool',
      'assistant',
    ]);
  });

  it('D15: keep going until a certain tool was called, then be completed', async () => {
    const createLead = mockTool('create_lead', [new Error('name missing'), { id: 7 }]);
    const { builder } = base(
      [
        final('Shall I create it?'),
        toolCall('create_lead', {}),
        toolCall('create_lead', { name: 'Acme' }, 'Creating the lead.'),
      ],
      [createLead],
    );
    const state = await builder
      .withErrorPolicy(ErrorPolicy.retryToolErrors(3))
      .addContinuationCriteria(toolCalledCheck('create_lead'))
      .build()
      .run('Create a lead for Acme.');
    expect(state).toMatchObject({
      status: 'completed',
      stopReason: 'completed',
      outputText: 'Creating the lead.',
    });
    expect(state.lastContinuationOutcome?.resolvedBy).toBe('ToolCalledCheck');
    expect(state.messages.at(2)).toMatchObject({
      role: 'user',
      content: 'the tool create_lead has not been called successfully yet',
      metadata: { synthetic: true },
    });
    expect(createLead.calls.length).toBe(2);
  });

  it('D15: the next execution starts from nothing', async () => {
    const { builder } = base(
      [toolCall('create_lead'), final('later'), toolCall('create_lead')],
      [mockTool('create_lead')],
    );
    const agent = builder.addContinuationCriteria(toolCalledCheck('create_lead')).build();
    const first = await agent.run('one');
    const second = await agent.run(first.withUserMessage('two'));
    expect(second.stepCount).toBe(2);
    expect(second.stopReason).toBe('completed');
  });

  it('ResponseContentCheck asks for more until the text is good', async () => {
    const { builder } = base([final('TODO: sources'), final('With sources.')]);
    const state = await builder
      .addContinuationCriteria(responseContentCheck((text) => text.includes('TODO')))
      .build()
      .run('go');
    expect(state).toMatchObject({ stopReason: 'completed', output: 'With sources.' });
    expect(state.messages.at(2)).toMatchObject({
      content: 'the response asks for more work',
      metadata: { synthetic: true },
    });
  });

  it.each<[string, () => never]>([
    [
      'throws',
      () => {
        throw new Error('no connection');
      },
    ],
    ['returns a promise', (async () => 'allow') as never],
    ['returns nonsense', (() => 42) as never],
  ])('one that %s ends the run as failed, and everything is kept', async (_how, evaluate) => {
    let asked = 0;
    const { builder } = base(pages(1));
    const state = await builder
      .addContinuationCriteria(
        { name: 'Fragile', evaluate: (s) => (s.stepCount === 0 ? 'allow' : evaluate()) },
        {
          name: 'After',
          evaluate: () => {
            asked += 1;
            return 'allow';
          },
        },
      )
      .build()
      .run('go');
    expect(state).toMatchObject({ status: 'failed', stopReason: 'error', stepCount: 1 });
    expect(state.lastContinuationOutcome).toMatchObject({ resolvedBy: 'Fragile' });
    expect(state.lastContinuationOutcome?.evaluationFor('After')?.decision).toBe('allow');
    expect(asked).toBe(2);
    expect(pairingProblem(state.messages)).toBeNull();
  });

  it('one that forbids without a reason of its own is a guard', async () => {
    const { builder } = base(pages(1));
    const state = await builder
      .addContinuationCriteria({
        name: 'OfficeHours',
        evaluate: (s) => (s.stepCount > 0 ? 'forbid' : 'allow'),
      })
      .build()
      .run('go');
    expect(state).toMatchObject({ status: 'stopped', stopReason: 'guard' });
    expect(state.lastContinuationOutcome?.decisive?.reason).toBe(
      'OfficeHours forbade continuation',
    );
  });

  it('one that forbids before the first step: nothing is sent, and the run says why', async () => {
    const { builder, driver } = base([]);
    const state = await builder
      .addContinuationCriteria({
        name: 'Closed',
        evaluate: () => ({ decision: 'forbid', reason: 'the shop is closed', stopReason: 'guard' }),
      })
      .build()
      .run('go');
    expect(driver.requests.length).toBe(0);
    expect(state).toMatchObject({ status: 'stopped', stopReason: 'guard', stepCount: 0 });
  });
});

describe('one status source', () => {
  const reasons = Object.values(StopReason);

  it.each<[StopReason, AgentStatus, string, string]>([
    ['completed', 'completed', 'completed', 'AgentFinished'],
    ['steps_limit', 'stopped', 'stopped', 'AgentFinished'],
    ['token_limit', 'stopped', 'stopped', 'AgentFinished'],
    ['time_limit', 'stopped', 'stopped', 'AgentFinished'],
    ['finish_reason', 'stopped', 'stopped', 'AgentFinished'],
    ['guard', 'stopped', 'stopped', 'AgentFinished'],
    ['user_requested', 'stopped', 'cancelled', 'AgentFinished'],
    ['error', 'failed', 'failed', 'AgentFailed'],
    ['retry_limit', 'failed', 'failed', 'AgentFailed'],
  ])('%s leads to status %s, broadcast %s, event %s', (reason, status, broadcast, event) => {
    expect(statusOf(reason)).toBe(status);
    expect(statusFacts(status, reason)).toEqual({ broadcast, event });
  });

  it('D11: the table above has every reason, and completed comes from completed alone', () => {
    expect(reasons.length).toBe(9);
    expect(reasons.filter((reason) => statusOf(reason) === 'completed')).toEqual(['completed']);
  });

  it.each<[AgentStatus, string, string | null]>([
    ['pending', 'idle', null],
    ['in_progress', 'processing', 'AgentStarted'],
    ['paused', 'paused', 'AgentPaused'],
  ])('D10: an open %s is %s, whatever was the reason before', (status, broadcast, event) => {
    for (const reason of [null, ...reasons])
      expect(statusFacts(status, reason)).toEqual({ broadcast, event });
  });

  it('D11: every status has its facts', () => {
    for (const status of Object.values(AgentStatus))
      expect(statusFacts(status, null).broadcast).toEqual(expect.any(String));
  });

  it('D10: a paused run stays paused in the result, the event and the stored document', async () => {
    const { builder } = base(
      [toolCall('search')],
      [mockTool('search', 'ok', { needsApproval: true })],
    );
    const events: AgentEvent[] = [];
    const state = await builder.build().run('go', { wiretap: (e) => events.push(e) });
    expect(state).toMatchObject({ status: 'paused', stopReason: null, output: null });
    expect(events.at(-1)).toMatchObject({ type: 'AgentPaused', kind: 'approval' });
    expect(AgentState.from(JSON.parse(JSON.stringify(state))).status).toBe('paused');
  });
});

describe('D13: one loop', () => {
  const script = [
    toolCall('search', { page: 1 }, 'Looking.'),
    error({ type: 'rate_limit', message: '429', retryAfterMs: 0 }),
    toolCalls([
      { name: 'search', args: { page: 2 } },
      { name: 'broken', args: {} },
    ]),
    final('Half an answer.'),
    ScenarioStep.stream(['The whole ', 'answer.']),
  ];

  const fresh = (): { agent: Agent; events: AgentEvent[] } => {
    const { builder } = base(script, [
      mockTool('search', 'ok'),
      mockTool('broken', new Error('x')),
    ]);
    const agent = builder
      .withErrorPolicy(ErrorPolicy.retryToolErrors(2).withBackoff({ initialMs: 0 }))
      .withMaxSteps(6)
      .addContinuationCriteria(responseContentCheck((text) => text.startsWith('Half')))
      .build();
    const events: AgentEvent[] = [];
    agent.wiretap((event) => events.push(event));
    return { agent, events };
  };

  const volatile = new Set(
    'id agentId executionId messageId messageIds startedAt updatedAt createdAt at index'.split(' '),
  );
  const plain = (value: unknown): unknown =>
    JSON.parse(
      JSON.stringify(value, (key, inner: unknown) => (volatile.has(key) ? undefined : inner)),
    );
  const trace = (state: AgentState) =>
    plain({ steps: state.steps, messages: state.messages, usage: state.usage });

  const stored = (state: AgentState): AgentState =>
    AgentState.from(JSON.parse(JSON.stringify(state)));

  const byRun = async () => {
    const { agent, events } = fresh();
    return { state: await agent.run('go'), events };
  };

  const ways: readonly [string, () => Promise<{ state: AgentState; events: AgentEvent[] }>][] = [
    [
      'iterate',
      async () => {
        const { agent, events } = fresh();
        let state: AgentState | undefined;
        for await (const next of agent.iterate('go')) state = next;
        return { state: state!, events };
      },
    ],
    [
      'stream',
      async () => {
        const { agent } = fresh();
        const events: AgentEvent[] = [];
        const stream = agent.stream('go');
        for await (const event of stream) events.push(event);
        return { state: await stream.result, events };
      },
    ],
    [
      'nextStep',
      async () => {
        const { agent, events } = fresh();
        let state = await agent.nextStep('go');
        while (agent.hasNextStep(state)) state = await agent.nextStep(state);
        return { state, events };
      },
    ],
    [
      'nextStep, stored and loaded between the steps',
      async () => {
        const { agent, events } = fresh();
        let state = await agent.nextStep('go');
        while (agent.hasNextStep(state)) state = stored(await agent.nextStep(stored(state)));
        return { state, events };
      },
    ],
  ];

  it.each(ways)('%s leaves the same steps, messages, usage and events as run', async (_way, go) => {
    const expected = await byRun();
    const { state, events } = await go();
    expect(trace(state)).toEqual(trace(expected.state));
    expect(events.map(plain)).toEqual(expected.events.map(plain));
    expect(state.stopReason).toBe('completed');
    expect(state.output).toBe('The whole answer.');
  });

  it.each([1, 2, 3, 4])('resume after step %d ends in the same trace', async (after) => {
    const expected = await byRun();
    const { agent, events } = fresh();
    let state = await agent.nextStep('go');
    for (let i = 1; i < after; i++) state = await agent.nextStep(state);
    state = await agent.resume(stored(state));
    expect(trace(state)).toEqual(trace(expected.state));
    const verdicts = (list: readonly AgentEvent[]) =>
      list.filter((e) => e.type === 'ContinuationEvaluated').map(plain);
    expect(verdicts(events)).toEqual(verdicts(expected.events));
  });

  it('a limit holds on every one of these ways', async () => {
    const limited = () => base(pages(9)).builder.withMaxSteps(3).build();
    const ends: (AgentState | undefined)[] = [await limited().run('go')];
    const iterated = limited();
    for await (const state of iterated.iterate('go')) ends[1] = state;
    ends[2] = await limited().stream('go').result;
    const stepped = limited();
    let state = await stepped.nextStep('go');
    while (stepped.hasNextStep(state)) state = await stepped.nextStep(state);
    ends[3] = state;
    const resumed = limited();
    ends[4] = await resumed.resume(stored(await resumed.nextStep('go')));
    for (const end of ends)
      expect(end).toMatchObject({ stopReason: 'steps_limit', stepCount: 3, status: 'stopped' });
  });
});
