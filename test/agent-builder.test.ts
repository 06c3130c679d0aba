import {
  AgentBuilder,
  AgentError,
  AgentState,
  createAgent,
  ErrorPolicy,
  noProgressLimit,
  pairingProblem,
  toolCalledCheck,
  type Agent,
  type AgentEvent,
  type Capability,
  type Hook,
} from 'onward';
import { DeterministicDriver, fakeClock, mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';

const driver = () => DeterministicDriver.fromResponses('hello');
const base = () => AgentBuilder.base().withDriver(driver());
const criteriaOf = (builder: AgentBuilder): readonly string[] =>
  builder.build().describe().criteria;

/** The error that `work` throws or rejects with, which has to be one of ours. */
async function refusal(work: () => unknown): Promise<AgentError> {
  try {
    await work();
  } catch (error) {
    if (AgentError.is(error)) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

describe('the builder', () => {
  it('is immutable: branching leaves the base alone', () => {
    const common = base().withName('support').withMaxSteps(3).withTools(mockTool('search'));
    const before = common.build().describe();
    const branch = common
      .withName('sales')
      .withMaxSteps(9)
      .withMaxTokens(1000)
      .withMaxCost(2)
      .withTools(mockTool('quote'))
      .withTimeout({ seconds: 5 })
      .withHooks({ name: 'audit' })
      .withErrorPolicy(ErrorPolicy.retryAll())
      .addContinuationCriteria(noProgressLimit(3))
      .withCapability({ name: 'mail', tools: [mockTool('mail')], systemPrompt: 'Be brief.' })
      .withSoftLanding();
    expect(common.build().describe()).toEqual(before);
    expect(branch.build().describe()).toMatchObject({
      name: 'sales',
      tools: [{ name: 'search' }, { name: 'quote' }, { name: 'mail' }],
      hooks: ['audit'],
      softLanding: { tokens: 2000, seconds: 20 },
    });
  });

  it('every step gives a new builder', () => {
    const start = base();
    const schema = z.object({ ok: z.boolean() });
    const steps: readonly ((b: AgentBuilder) => AgentBuilder)[] = [
      (b) => b.withName('a'),
      (b) => b.withDriver(driver()),
      (b) => b.withModel(driver()),
      (b) => b.withSystemPrompt('Hi'),
      (b) => b.withTools(mockTool('a')),
      (b) => b.withToolChoice('none'),
      (b) => b.withMaxSteps(1),
      (b) => b.withMaxTokens(1),
      (b) => b.withMaxCost(1),
      (b) => b.withTimeout({ seconds: 1 }),
      (b) => b.withCumulativeTimeout({ seconds: 1 }),
      (b) => b.withErrorPolicy(ErrorPolicy.retryAll()),
      (b) => b.withFinishReasons('length'),
      (b) => b.withSoftLanding(),
      (b) => b.withBudgetNote(),
      (b) => b.addContinuationCriteria(noProgressLimit(2)),
      (b) => b.withHooks({ name: 'h' }),
      (b) => b.withCapability({ name: 'c' }),
      (b) => b.withResponseFormat(schema),
      (b) => b.withClock(fakeClock()),
      (b) => b.withRedactor({ text: (t) => t, value: (v) => v, isSecretKey: () => false }),
    ];
    for (const step of steps) {
      const next = step(start);
      expect(next).toBeInstanceOf(AgentBuilder);
      expect(next).not.toBe(start);
      expect(next.build().name).toBeTypeOf('string');
    }
  });

  it('base has its limits and checks in the documented order', () => {
    expect(criteriaOf(base())).toEqual([
      'StepsLimit',
      'ExecutionTimeLimit',
      'FinishReasonCheck',
      'ErrorPolicyCriterion',
      'StopRequestCheck',
      'ToolCallPresenceCheck',
    ]);
    expect(base().build().describe().limits).toEqual({ StepsLimit: 20, ExecutionTimeLimit: 300 });
    const full = base()
      .withMaxTokens(9)
      .withMaxCost(2)
      .withCumulativeTimeout({ seconds: 60 })
      .addContinuationCriteria(toolCalledCheck('search'), noProgressLimit(3))
      .withCapability({ name: 'c', criteria: [{ name: 'Own', evaluate: () => 'allow' }] });
    expect(criteriaOf(full)).toEqual([
      'StepsLimit',
      'TokenUsageLimit',
      'CostLimit',
      'CumulativeExecutionTimeLimit',
      'FinishReasonCheck',
      'ErrorPolicyCriterion',
      'StopRequestCheck',
      'ToolCallPresenceCheck',
      'ToolCalledCheck',
      'NoProgressLimit',
      'Own',
    ]);
    expect(full.build().describe().limits).toEqual({
      StepsLimit: 20,
      TokenUsageLimit: 9,
      CostLimit: 2,
      CumulativeExecutionTimeLimit: 60,
      NoProgressLimit: 3,
    });
  });

  it('new has no limits, but can be stopped and judges errors', () => {
    const bare = AgentBuilder.new().withDriver(driver());
    expect(criteriaOf(bare)).toEqual([
      'ErrorPolicyCriterion',
      'StopRequestCheck',
      'ToolCallPresenceCheck',
    ]);
    expect(criteriaOf(bare.withMaxSteps(2).withTimeout({ seconds: 1 }))).toEqual([
      'StepsLimit',
      'ExecutionTimeLimit',
      'ErrorPolicyCriterion',
      'StopRequestCheck',
      'ToolCallPresenceCheck',
    ]);
  });

  it('the last word about time counts', () => {
    const both = base().withTimeout({ seconds: 5 }).withCumulativeTimeout({ seconds: 6 });
    expect(both.build().describe().limits).toEqual({
      StepsLimit: 20,
      CumulativeExecutionTimeLimit: 6,
    });
    expect(both.withTimeout({ seconds: 7 }).build().describe().limits).toEqual({
      StepsLimit: 20,
      ExecutionTimeLimit: 7,
    });
  });

  it('describe() tells what there is, as plain data', () => {
    const agent = base()
      .withName('support')
      .withSystemPrompt('Help.')
      .withTools(
        mockTool('refund', 'ok', { needsApproval: true, timeoutMs: 500 }),
        mockTool('look', 'ok', { idempotent: true }),
        base().withName('helper').build().asTool({ name: 'ask', description: 'Asks.' }),
      )
      .withErrorPolicy(ErrorPolicy.retryToolErrors(2))
      .withHooks({ name: 'audit' })
      .build();
    const described = agent.describe();
    expect(described).toMatchObject({
      name: 'support',
      driver: 'deterministic',
      systemPrompt: 'Help.',
      hooks: ['audit'],
      softLanding: null,
      errorPolicy: { maxRetries: 2, on: { tool: 'retry', model: 'stop' } },
    });
    expect(described.tools).toEqual([
      {
        name: 'refund',
        description: 'Mock of refund.',
        needsApproval: true,
        idempotent: false,
        timeoutMs: 500,
      },
      {
        name: 'look',
        description: 'Mock of look.',
        needsApproval: false,
        idempotent: true,
        timeoutMs: 60_000,
      },
      {
        name: 'ask',
        description: 'Asks.',
        needsApproval: false,
        idempotent: false,
        timeoutMs: null,
      },
    ]);
    expect(JSON.parse(JSON.stringify(described))).toEqual(described);
  });

  it('createAgent takes the same options', () => {
    expect(createAgent({ driver: driver() }).describe()).toEqual(base().build().describe());
    expect(
      createAgent({
        driver: driver(),
        maxSteps: null,
        timeout: null,
        finishReasons: null,
      }).describe(),
    ).toEqual(AgentBuilder.new().withDriver(driver()).build().describe());
  });

  it('hands the request to the driver as configured', async () => {
    const scripted = driver();
    const schema = z.object({ city: z.string() });
    await AgentBuilder.base()
      .withModel(scripted)
      .withSystemPrompt('Help.')
      .withTools(mockTool('search', 'ok', { parameters: schema }))
      .withToolChoice({ tool: 'search' })
      .withCapability({ name: 'tone', systemPrompt: 'Be brief.' })
      .build()
      .run('hi');
    expect(scripted.requests[0]).toMatchObject({
      system: 'Help.\n\nBe brief.',
      toolChoice: { tool: 'search' },
      responseFormat: null,
      tools: [
        {
          name: 'search',
          description: 'Mock of search.',
          parameters: { type: 'object', properties: { city: { type: 'string' } } },
        },
      ],
    });
  });
});

describe('capabilities', () => {
  it('bring tools, hooks, criteria and prompt, behind those of the agent', async () => {
    const order: string[] = [];
    const hook = (name: string): Hook => ({
      name,
      aroundToolCall: async (input, next) => {
        order.push(name);
        return next(input);
      },
    });
    const mail: Capability = {
      name: 'mail',
      tools: [mockTool('mail', 'sent')],
      hooks: [hook('mail')],
      criteria: [toolCalledCheck('mail')],
      systemPrompt: 'You can send mail.',
    };
    const scripted = DeterministicDriver.fromSteps(ScenarioStep.toolCall('mail'));
    const agent = AgentBuilder.base()
      .withDriver(scripted)
      .withCapability(mail)
      .withHooks(hook('own'))
      .build();
    const state = await agent.run('send it');
    expect(order).toEqual(['own', 'mail']);
    expect(scripted.requests[0]?.system).toBe('You can send mail.');
    expect(state).toMatchObject({ status: 'completed', stopReason: 'completed' });
    expect(state.lastContinuationOutcome?.resolvedBy).toBe('ToolCalledCheck');
    expect(agent.describe().hooks).toEqual(['own', 'mail']);
  });
});

describe('misconfiguration is refused: what was seen, what was expected', () => {
  const odd = (value: unknown): never => value as never;

  it.each<[string, string, (b: AgentBuilder) => unknown, string]>([
    ['no driver', 'driver_missing', () => AgentBuilder.base().build(), 'Call .withModel(...)'],
    ['no driver in createAgent', 'driver_missing', () => createAgent(odd({})), 'got undefined'],
    [
      'a driver that is none',
      'driver_missing',
      (b) => b.withDriver(odd({ name: 'x' })).build(),
      'It got an object with name',
    ],
    [
      'a negative step limit',
      'invalid_option',
      (b) => b.withMaxSteps(-1),
      'withMaxSteps got -1, expected a finite number above 0',
    ],
    ['a zero step limit', 'invalid_option', (b) => b.withMaxSteps(0), 'withMaxSteps got 0'],
    [
      'a step limit as text',
      'invalid_option',
      (b) => b.withMaxSteps(odd('5')),
      'withMaxSteps got "5"',
    ],
    [
      'a token limit of NaN',
      'invalid_option',
      (b) => b.withMaxTokens(Number.NaN),
      'withMaxTokens got NaN',
    ],
    [
      'an endless cost limit',
      'invalid_option',
      (b) => b.withMaxCost(Number.POSITIVE_INFINITY),
      'withMaxCost got Infinity',
    ],
    [
      'a bare number of seconds',
      'invalid_option',
      (b) => b.withTimeout(odd(300)),
      'withTimeout got 300, expected { seconds: <number> }',
    ],
    [
      'a negative timeout',
      'invalid_option',
      (b) => b.withTimeout({ seconds: -5 }),
      'withTimeout seconds got -5, expected a finite number above 0',
    ],
    [
      'a cumulative timeout of zero',
      'invalid_option',
      (b) => b.withCumulativeTimeout({ seconds: 0 }),
      'withCumulativeTimeout seconds got 0',
    ],
    [
      'limits through createAgent',
      'invalid_option',
      () => createAgent({ driver: driver(), maxSteps: -1 }),
      'got -1, expected a finite number above 0',
    ],
    [
      'a negative reserve',
      'invalid_option',
      (b) => b.withSoftLanding({ tokens: -1 }).build(),
      'withSoftLanding tokens got -1',
    ],
    [
      'two tools of one name',
      'duplicate_tool',
      (b) => b.withTools(mockTool('a'), mockTool('a')).build(),
      'Two tools are named "a". The model calls tools by name: rename one of them.',
    ],
    [
      'a tool twice through a capability',
      'duplicate_tool',
      (b) =>
        b
          .withTools(mockTool('a'))
          .withCapability({ name: 'c', tools: [mockTool('a')] })
          .build(),
      'Two tools are named "a"',
    ],
    [
      'a tool that is none',
      'invalid_tool',
      (b) => b.withTools(odd({ name: 'a', execute: () => 1 })).build(),
      'withTools got an object with name, execute, expected what defineTool()',
    ],
    ['a missing tool', 'invalid_tool', (b) => b.withTools(odd(undefined)).build(), 'got undefined'],
    [
      'a choice of a tool that is not there',
      'invalid_option',
      (b) => b.withTools(mockTool('a')).withToolChoice({ tool: 'b' }).build(),
      "withToolChoice got \"b\", expected 'auto', 'none', 'required' or { tool } with one of: a",
    ],
    [
      'a choice that is none',
      'invalid_option',
      (b) => b.withToolChoice(odd('sometimes')).build(),
      'withToolChoice got "sometimes"',
    ],
    ['an empty name', 'invalid_option', (b) => b.withName('').build(), 'withName got ""'],
    [
      'a hook without a name',
      'invalid_option',
      (b) => b.withHooks(odd({})).build(),
      'withHooks got an empty object, expected hooks with a name',
    ],
    [
      'a capability that is none',
      'invalid_option',
      (b) => b.withCapability(odd(null)).build(),
      'withCapability got null, expected capabilities with a name',
    ],
    [
      'a criterion that is none',
      'invalid_option',
      (b) => b.addContinuationCriteria(odd({ name: 'x' })).build(),
      'got an object with name, expected criteria of { name, evaluate }',
    ],
    [
      'a response format that is none',
      'invalid_option',
      (b) => b.withResponseFormat(odd('json')).build(),
      'withResponseFormat got "json", expected a Standard Schema',
    ],
  ])('%s', async (_case, code, build, message) => {
    const error = await refusal(() => build(base()));
    expect(error.code).toBe(code);
    expect(error.message).toContain(message);
  });
});

describe('misuse of a state is refused before anything runs', () => {
  const paused = async (agent: Agent): Promise<AgentState> => {
    const state = await agent.run('go');
    expect(state.status).toBe('paused');
    return state;
  };
  const approving = () =>
    AgentBuilder.base()
      .withName('support')
      .withDriver(DeterministicDriver.fromSteps(ScenarioStep.toolCall('refund')))
      .withTools(mockTool('refund', 'ok', { needsApproval: true }))
      .build();

  it('a foreign state names both agents', async () => {
    const state = await base().withName('support').build().run('hi');
    const sales = base().withName('sales').build();
    const next = state.withUserMessage('more');
    const ways: readonly (() => unknown)[] = [
      () => sales.run(next),
      () => sales.resume(next),
      () => sales.stop(next),
      () => sales.nextStep(next),
      () => sales.iterate(next).next(),
      () => sales.stream(next).result,
    ];
    for (const way of ways) {
      const error = await refusal(way);
      expect(error.code).toBe('foreign_state');
      expect(error.message).toContain('agent "support"');
      expect(error.message).toContain('agent "sales"');
      expect(error.message).toContain('state.withAgentName(...)');
      expect(error.details).toEqual({ stateAgent: 'support', agent: 'sales' });
    }
  });

  it('a state that was handed over on purpose goes on', async () => {
    const state = await base().withName('support').build().run('hi');
    const moved = state.withAgentName('sales').withUserMessage('more');
    const next = await base().withName('sales').build().run(moved);
    expect(next).toMatchObject({ output: 'hello', agentName: 'sales' });
    expect(pairingProblem(next.messages)).toBeNull();
  });

  it('run on a paused state names resume', async () => {
    const agent = approving();
    const state = await paused(agent);
    for (const way of [() => agent.run(state), () => agent.nextStep(state)]) {
      const error = await refusal(way);
      expect(error.code).toBe('execution_open');
      expect(error.message).toContain('is paused');
      expect(error.message).toContain('resume(state, { approvals })');
      expect(error.message).toContain('stop(state)');
    }
  });

  it('run on a state in progress names resume', async () => {
    const agent = AgentBuilder.base()
      .withDriver(
        DeterministicDriver.fromSteps(ScenarioStep.toolCall('search'), ScenarioStep.final('done')),
      )
      .withTools(mockTool('search'))
      .build();
    const state = await agent.nextStep('go');
    expect(state.status).toBe('in_progress');
    const error = await refusal(() => agent.run(state));
    expect(error.code).toBe('execution_open');
    expect(error.message).toContain('is in_progress');
    expect(error.message).toContain('resume(state)');
    expect((await agent.resume(state)).output).toBe('done');
  });

  it.each<[string, () => Promise<AgentState> | AgentState, string]>([
    ['no messages', () => AgentState.empty(), 'pending with no messages'],
    [
      'an ended run',
      () => base().build().run('hi'),
      'completed with a last message of role assist',
    ],
    [
      'a last word that is not the user’s',
      async () =>
        (await base().build().run('hi')).withMessages({ role: 'assistant', content: 'and more' }),
      'pending with a last message of role assistant',
    ],
  ])('run without a new message: %s', async (_case, make, seen) => {
    const error = await refusal(async () =>
      base()
        .build()
        .run(await make()),
    );
    expect(error.code).toBe('no_new_message');
    expect(error.message).toContain(seen);
    expect(error.message).toContain('state.withUserMessage(...)');
  });

  it('a user message while calls are open would break the conversation', async () => {
    const state = await paused(approving());
    const error = await refusal(() => state.withUserMessage('hurry up'));
    expect(error.code).toBe('execution_open');
    expect(error.message).toContain('resume(state, { approvals })');
    expect(state.messages.last()!.toolCalls).toHaveLength(1);
  });

  it('resume with another execution id, and with a grant that is none', async () => {
    const agent = approving();
    const state = await paused(agent);
    expect(await refusal(() => agent.resume(state, { executionId: 'other' }))).toMatchObject({
      code: 'invalid_option',
      message: expect.stringContaining(state.execution.id),
    });
    for (const grant of [{ steps: -5 }, {}, { wishes: 3 }, { steps: '5' }])
      expect(await refusal(() => agent.resume(state, { grant: odd(grant) }))).toMatchObject({
        code: 'invalid_option',
        message: expect.stringContaining('amounts above 0 for steps, tokens, cost'),
      });
  });

  it('resume of an ended run without a grant, and of one that never began', async () => {
    const agent = base().build();
    const done = await agent.run('hi');
    expect(await refusal(() => agent.resume(done))).toMatchObject({ code: 'not_resumable' });
    expect(await refusal(() => agent.resume(AgentState.empty()))).toMatchObject({
      code: 'not_resumable',
      message: expect.stringContaining('nothing was run yet'),
    });
  });

  it('a script that ran out rejects: a test cannot pass on an invented answer', async () => {
    const agent = AgentBuilder.base()
      .withDriver(DeterministicDriver.fromSteps(ScenarioStep.toolCall('search')))
      .withTools(mockTool('search'))
      .withErrorPolicy(ErrorPolicy.retryAll())
      .build();
    expect(await refusal(() => agent.run('go'))).toMatchObject({ code: 'script_exhausted' });
  });

  const odd = (value: unknown): never => value as never;
});

describe('driving by hand equals run', () => {
  const script = () => [
    ScenarioStep.toolCall('search', { q: 1 }, 'Looking.', { cost: 0.5 }),
    ScenarioStep.toolCalls([
      { name: 'search', args: { q: 2 } },
      { name: 'bad', args: {} },
    ]),
    ScenarioStep.error({ type: 'timeout', message: 'gateway' }),
    ScenarioStep.stream(['All ', 'done.']),
  ];

  const make = () => {
    const clock = fakeClock();
    const agent = AgentBuilder.base()
      .withName('support')
      .withDriver(DeterministicDriver.fromSteps(...script()))
      .withTools(mockTool('search', 'found'), mockTool('bad', new Error('broken')))
      .withErrorPolicy(ErrorPolicy.retryToolErrors(3).withBackoff({ initialMs: 0, maxMs: 0 }))
      .withClock(clock)
      .build();
    return agent;
  };

  /** What happened, without the random ids and the position in the run. */
  const trace = (events: readonly AgentEvent[]) =>
    events.map(({ index: _index, ...event }) => ({ ...event, agentId: '', messageId: '' }));

  const record = (state: AgentState) => {
    const steps = [...state.steps].map((step) => ({ ...step, id: '', messageIds: [] }));
    const messages = state.messages.toJSON().map((message) => ({ ...message, id: '' }));
    const { status, usage, cost, output, execution, info, lastContinuationOutcome } = state;
    return {
      steps,
      messages,
      status,
      usage,
      cost,
      output,
      execution,
      info,
      lastContinuationOutcome,
    };
  };

  it('nextStep and hasNextStep give the same steps, messages, accounts and events', async () => {
    const options = (events: AgentEvent[]) => ({
      executionId: 'exec-1',
      wiretap: (event: AgentEvent) => void events.push(event),
    });
    const ran: AgentEvent[] = [];
    const whole = await make().run('go', options(ran));

    const driven: AgentEvent[] = [];
    const agent = make();
    const start = AgentState.empty({ now: fakeClock().now() }).withUserMessage('go', {
      createdAt: whole.messages.at(0)!.createdAt,
    });
    let state: AgentState = start;
    const counts: number[] = [];
    expect(agent.hasNextStep(AgentState.empty())).toBe(false);
    while (agent.hasNextStep(state)) {
      state = await agent.nextStep(state, options(driven));
      counts.push(state.stepCount);
    }
    expect(counts).toEqual([1, 2, 3, 4]);
    expect(record(state)).toEqual(record(whole));
    expect(trace(driven)).toEqual(trace(ran));
    expect(state.output).toBe('All done.');
    expect(pairingProblem(state.messages)).toBeNull();
  });

  it('iterate and stream give the same steps as well', async () => {
    const whole = await make().run('go', { executionId: 'exec-1', wiretap: () => {} });
    const states: AgentState[] = [];
    for await (const state of make().iterate('go', { executionId: 'exec-1', wiretap: () => {} }))
      states.push(state);
    expect(states.map(({ stepCount }) => stepCount)).toEqual([1, 2, 3, 4]);
    const plain = (state: AgentState) => record(state).steps;
    expect(plain(states.at(-1)!)).toEqual(plain(whole));
    const stream = make().stream('go', { executionId: 'exec-1' });
    const types: string[] = [];
    for await (const event of stream) types.push(event.type);
    expect(plain(await stream.result)).toEqual(plain(whole));
    expect(types[0]).toBe('AgentStarted');
    expect(types.at(-1)).toBe('AgentFinished');
  });

  it('hasNextStep reads the stored verdict, from JSON too', async () => {
    const agent = make();
    const state = await agent.nextStep('go');
    expect(agent.hasNextStep(JSON.parse(JSON.stringify(state)) as never)).toBe(true);
    const done = await agent.resume(state);
    expect(agent.hasNextStep(done)).toBe(false);
    expect(agent.hasNextStep(done.withUserMessage('more'))).toBe(true);
  });
});
