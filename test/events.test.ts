import {
  AgentBuilder,
  createRedactor,
  describeEvent,
  ErrorPolicy,
  logEvents,
  type Agent,
  type AgentEvent,
  type AgentEventType,
  type AgentState,
  type InferenceDriver,
} from 'onward';
import { DeterministicDriver, fakeClock, mockTool, ScenarioStep } from 'onward/testing';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

const at = '2026-01-16T12:00:00.000Z';
const usage = { input: 10, output: 5, total: 15, cachedInput: 0, reasoning: 0 };
const args = { article: 'lamp' };

const builder = (driver: InferenceDriver) =>
  AgentBuilder.base().withName('shop').withDriver(driver).withClock(fakeClock(at));

async function listen(
  agent: Agent,
  run: (tap: (event: AgentEvent) => void) => Promise<AgentState>,
) {
  const events: AgentEvent[] = [];
  const state = await run((event) => events.push(event));
  return { events, state, agent };
}

const types = (events: readonly AgentEvent[]): AgentEventType[] => events.map(({ type }) => type);

/** The fields an event has besides those that all have. */
const own = (event: AgentEvent): object => {
  const { agentId: _a, parentAgentId: _p, executionId: _e, at: _t, ...rest } = event;
  return rest;
};

const short = ({ stopReason, resolvedBy }: { stopReason: string | null; resolvedBy: string }) =>
  `${stopReason} by ${resolvedBy}`;

describe('the order and content of events', () => {
  it('a plain answer', async () => {
    const agent = builder(DeterministicDriver.fromResponses('Hello.')).build();
    const { events, state } = await listen(agent, (wiretap) => agent.run('Hi', { wiretap }));
    const [before, after] = events.flatMap((e) => (e.type === 'ContinuationEvaluated' ? [e] : []));
    expect(events.map(own)).toEqual([
      {
        type: 'AgentStarted',
        index: 0,
        agentName: 'shop',
        resumed: false,
        previousStatus: 'pending',
        previousStopReason: null,
        messageCount: 1,
        stepCount: 0,
      },
      {
        type: 'MessageAdded',
        index: 1,
        messageId: state.messages.at(0)!.id,
        role: 'user',
        content: 'Hi',
        stepNumber: 0,
      },
      { type: 'ContinuationEvaluated', index: 2, stepNumber: 0, outcome: before!.outcome },
      {
        type: 'AgentStepStarted',
        index: 3,
        stepNumber: 1,
        attempt: 1,
        messageCount: 1,
        availableTools: [],
      },
      {
        type: 'StreamChunk',
        index: 0,
        messageId: state.messages.at(1)!.id,
        stepNumber: 1,
        attempt: 1,
        content: 'Hello.',
      },
      {
        type: 'MessageAdded',
        index: 4,
        messageId: state.messages.at(1)!.id,
        role: 'assistant',
        content: 'Hello.',
        stepNumber: 1,
      },
      { type: 'TokenUsageReported', index: 5, usage, cost: null },
      {
        type: 'AgentStepCompleted',
        index: 6,
        stepNumber: 1,
        durationMs: 0,
        hasToolCalls: false,
        errorCount: 0,
        finishReason: 'stop',
        usage,
        outcome: state.lastContinuationOutcome,
      },
      { type: 'ContinuationEvaluated', index: 7, stepNumber: 1, outcome: after!.outcome },
      { type: 'AgentStateUpdated', index: 8, status: 'completed', stepCount: 1 },
      {
        type: 'AgentFinished',
        index: 9,
        status: 'completed',
        previousStatus: 'in_progress',
        stopReason: 'completed',
        stepCount: 1,
        usage,
        cost: null,
        outcome: state.lastContinuationOutcome,
        outputText: 'Hello.',
      },
    ]);
    expect(short(after!.outcome)).toBe('completed by ToolCallPresenceCheck');
    expect(before!.outcome).toMatchObject({ decision: 'request', shouldContinue: true });
    for (const event of events)
      expect(event).toMatchObject({
        agentId: state.agentId,
        parentAgentId: null,
        executionId: state.execution.id,
        at,
      });
  });

  it('a step with a tool call, and the one object that tells why it went on', async () => {
    const agent = builder(
      DeterministicDriver.fromSteps(
        ScenarioStep.toolCall('stock', args, 'I will look.'),
        ScenarioStep.final('7 lamps.'),
      ),
    )
      .withTools(mockTool('stock', { pieces: 7 }))
      .build();
    const { events, state } = await listen(agent, (wiretap) => agent.run('Lamps?', { wiretap }));
    expect(types(events)).toEqual([
      'AgentStarted',
      'MessageAdded',
      'ContinuationEvaluated',
      'AgentStepStarted',
      'StreamChunk',
      'ToolCallDelta',
      'ToolCallDelta',
      'MessageAdded',
      'ToolCallStarted',
      'ToolCallCompleted',
      'TokenUsageReported',
      'AgentStepCompleted',
      'ContinuationEvaluated',
      'AgentStateUpdated',
      'AgentStepStarted',
      'StreamChunk',
      'MessageAdded',
      'TokenUsageReported',
      'AgentStepCompleted',
      'ContinuationEvaluated',
      'AgentStateUpdated',
      'AgentFinished',
    ]);
    const call = { tool: 'stock', toolCallId: 'call_1' };
    expect(events.slice(7, 10).map(own)).toEqual([
      {
        type: 'MessageAdded',
        index: 6,
        messageId: state.messages.at(1)!.id,
        role: 'assistant',
        content: 'I will look.',
        stepNumber: 1,
      },
      { type: 'ToolCallStarted', index: 7, ...call, args },
      {
        type: 'ToolCallCompleted',
        index: 8,
        ...call,
        success: true,
        error: null,
        durationMs: 0,
        result: { pieces: 7 },
      },
    ]);
    const deltas = events.flatMap((e) => (e.type === 'ToolCallDelta' ? [e] : []));
    expect(JSON.parse(deltas.map((e) => e.argsDelta).join(''))).toEqual(args);
    expect(deltas).toMatchObject([call, call]);
    const [first] = state.steps;
    expect(events[11]).toMatchObject({ hasToolCalls: true, finishReason: 'tool_calls' });
    expect(events[12]).toMatchObject({ stepNumber: 1 });
    for (const event of [events[11], events[12]])
      expect((event as { outcome: unknown }).outcome).toBe(first!.outcome);
    expect(events[14]).toMatchObject({ stepNumber: 2, messageCount: 3, availableTools: ['stock'] });
    expect(events.filter((e) => e.type !== 'StreamChunk').map((e) => e.index)).toEqual(
      Array.from({ length: 20 }, (_, i) => i),
    );
  });

  it('several calls of one step start and end on their own; a failed one says so', async () => {
    const agent = builder(
      DeterministicDriver.fromSteps(
        ScenarioStep.toolCalls([{ name: 'stock', args }, { name: 'pay' }, { name: 'nope' }]),
        'Done.',
      ),
    )
      .withTools(mockTool('stock', 'ok'), mockTool('pay', new Error('no money')))
      .withErrorPolicy(ErrorPolicy.ignoreToolErrors())
      .build();
    const { events } = await listen(agent, (wiretap) => agent.run('go', { wiretap }));
    const ended = events.flatMap((e) => (e.type === 'ToolCallCompleted' ? [e] : []));
    const found = (tool: string) => ended.find((e) => e.tool === tool);
    expect(ended).toHaveLength(3);
    expect(found('stock')).toMatchObject({ success: true, error: null, result: 'ok' });
    expect(found('pay')).toMatchObject({
      success: false,
      error: 'no money',
      result: 'Error: no money',
    });
    expect(found('nope')).toMatchObject({
      success: false,
      error: 'There is no tool "nope". Available: stock, pay.',
    });
    const started = events.flatMap((e) => (e.type === 'ToolCallStarted' ? [e.tool] : []));
    expect(started.toSorted()).toEqual(['pay', 'stock']);
    expect(events.find((e) => e.type === 'AgentStepCompleted')).toMatchObject({ errorCount: 2 });
  });

  it('D55, D56: a failed model call with shown text, then the retry', async () => {
    const clock = fakeClock(at);
    const agent = builder(
      DeterministicDriver.fromSteps(
        ScenarioStep.error(
          { type: 'rate_limit', message: 'slow down', retryAfterMs: 2000 },
          {
            chunks: ['Let me', ' see'],
          },
        ),
        ScenarioStep.stream(['All ', 'good.']),
      ),
    )
      .withClock(clock)
      .withErrorPolicy(ErrorPolicy.retryAll())
      .build();
    const events: AgentEvent[] = [];
    const running = agent.run('go', { wiretap: (event) => events.push(event) });
    await clock.advance(2000);
    const state = await running;
    expect(state.output).toBe('All good.');
    expect(types(events)).toEqual([
      'AgentStarted',
      'MessageAdded',
      'ContinuationEvaluated',
      'AgentStepStarted',
      'StreamChunk',
      'StreamChunk',
      'StepFailed',
      'StreamDiscarded',
      'ContinuationEvaluated',
      'AgentStateUpdated',
      'AgentStepStarted',
      'StreamChunk',
      'StreamChunk',
      'MessageAdded',
      'TokenUsageReported',
      'AgentStepCompleted',
      'ContinuationEvaluated',
      'AgentStateUpdated',
      'AgentFinished',
    ]);
    expect(events.slice(6, 10).map(own)).toEqual([
      {
        type: 'StepFailed',
        index: 4,
        stepNumber: 1,
        attempt: 1,
        waitMs: 2000,
        error: {
          type: 'rate_limit',
          code: 'scripted',
          message: 'slow down',
          retryable: true,
          retryAfterMs: 2000,
          at,
        },
      },
      { type: 'StreamDiscarded', index: 5, stepNumber: 1, attempt: 1 },
      {
        type: 'ContinuationEvaluated',
        index: 6,
        stepNumber: 1,
        outcome: state.steps.at(0)!.outcome,
      },
      { type: 'AgentStateUpdated', index: 7, status: 'in_progress', stepCount: 1 },
    ]);
    const chunks = events.flatMap((e) => (e.type === 'StreamChunk' ? [e] : []));
    expect(
      chunks.map(({ stepNumber, attempt, index, content }) => [
        stepNumber,
        attempt,
        index,
        content,
      ]),
    ).toEqual([
      [1, 1, 0, 'Let me'],
      [1, 1, 1, ' see'],
      [2, 2, 0, 'All '],
      [2, 2, 1, 'good.'],
    ]);
    expect(new Set(chunks.map(({ messageId }) => messageId)).size).toBe(2);
  });

  it('a failed model call without shown text discards nothing; the last one fails the run', async () => {
    const agent = builder(DeterministicDriver.fromSteps(ScenarioStep.error('broken'))).build();
    const { events, state } = await listen(agent, (wiretap) => agent.run('go', { wiretap }));
    expect(types(events).slice(3)).toEqual([
      'AgentStepStarted',
      'StepFailed',
      'ContinuationEvaluated',
      'AgentStateUpdated',
      'AgentFailed',
    ]);
    expect(own(events.at(-1)!)).toEqual({
      type: 'AgentFailed',
      index: 7,
      status: 'failed',
      previousStatus: 'in_progress',
      stopReason: 'error',
      stepCount: 1,
      usage: { input: 0, output: 0, total: 0, cachedInput: 0, reasoning: 0 },
      cost: null,
      outcome: state.lastContinuationOutcome,
      outputText: '',
      error: { type: 'model', code: 'scripted', message: 'broken', retryable: true, at },
    });
  });

  it('a pause for approval, and what follows the answer', async () => {
    const agent = builder(
      DeterministicDriver.fromSteps(
        ScenarioStep.toolCalls([
          { name: 'pay', args: { eur: 5 } },
          { name: 'stock', args },
        ]),
        'Paid.',
      ),
    )
      .withTools(mockTool('pay', 'ok', { needsApproval: true }), mockTool('stock', 7))
      .build();
    const { events, state } = await listen(agent, (wiretap) => agent.run('pay', { wiretap }));
    const deltas = Array<string>(4).fill('ToolCallDelta');
    expect(types(events).slice(3)).toEqual([
      'AgentStepStarted',
      ...deltas,
      'ToolCallStarted',
      'ToolCallCompleted',
      'ToolApprovalRequested',
      'AgentStateUpdated',
      'AgentPaused',
    ]);
    const pending = { callId: 'call_1', tool: 'pay', args: { eur: 5 }, path: [] };
    expect(events.slice(-3).map(own)).toEqual([
      {
        type: 'ToolApprovalRequested',
        index: 10,
        tool: 'pay',
        toolCallId: 'call_1',
        args: { eur: 5 },
      },
      { type: 'AgentStateUpdated', index: 11, status: 'paused', stepCount: 0 },
      {
        type: 'AgentPaused',
        index: 12,
        kind: 'approval',
        reason: null,
        pendingApprovals: [pending],
        stepCount: 0,
      },
    ]);
    const resumed = await listen(agent, (wiretap) =>
      agent.resume(state, { approvals: { call_1: { approve: true } }, wiretap }),
    );
    expect(types(resumed.events)).toEqual([
      'AgentStarted',
      'ToolCallStarted',
      'ToolCallCompleted',
      'TokenUsageReported',
      'AgentStepCompleted',
      'ContinuationEvaluated',
      'AgentStateUpdated',
      'AgentStepStarted',
      'StreamChunk',
      'MessageAdded',
      'TokenUsageReported',
      'AgentStepCompleted',
      'ContinuationEvaluated',
      'AgentStateUpdated',
      'AgentFinished',
    ]);
    expect(resumed.events[0]).toMatchObject({
      resumed: true,
      previousStatus: 'paused',
      executionId: state.execution.id,
    });
    expect(resumed.events[1]).toMatchObject({ tool: 'pay', toolCallId: 'call_1' });
  });

  it('a partial answer asks for no approval twice', async () => {
    const pay = mockTool('pay', 'ok', { needsApproval: true });
    const agent = builder(
      DeterministicDriver.fromSteps(
        ScenarioStep.toolCalls([{ name: 'pay' }, { name: 'pay' }]),
        'x',
      ),
    )
      .withTools(pay)
      .build();
    const paused = await agent.run('pay');
    const { events } = await listen(agent, (wiretap) =>
      agent.resume(paused, { approvals: { call_2: { deny: 'too much' } }, wiretap }),
    );
    expect(types(events)).toEqual([
      'AgentStarted',
      'ToolCallCompleted',
      'AgentStateUpdated',
      'AgentPaused',
    ]);
    expect(events[1]).toMatchObject({ toolCallId: 'call_2', success: false, error: 'denied' });
    expect(events.at(-1)).toMatchObject({ pendingApprovals: [{ callId: 'call_1' }] });
  });

  it('D45: an abort in the middle of an answer keeps what was shown', async () => {
    const stop = new AbortController();
    const agent = builder(
      DeterministicDriver.create([
        { ...ScenarioStep.stream(['One ', 'two ']), extras: { hangs: true } },
      ]),
    ).build();
    const { events, state } = await listen(agent, (wiretap) =>
      agent.run('go', {
        signal: stop.signal,
        wiretap: (event) => {
          wiretap(event);
          if (event.type === 'StreamChunk' && event.index === 1) stop.abort('enough');
        },
      }),
    );
    expect(types(events).slice(3)).toEqual([
      'AgentStepStarted',
      'StreamChunk',
      'StreamChunk',
      'MessageAdded',
      'TokenUsageReported',
      'AgentStepCompleted',
      'ContinuationEvaluated',
      'AgentStateUpdated',
      'AgentFinished',
    ]);
    expect(events.find((e) => e.type === 'AgentStepCompleted')).toMatchObject({
      finishReason: null,
      hasToolCalls: false,
      errorCount: 0,
    });
    expect(events.at(-1)).toMatchObject({
      status: 'stopped',
      stopReason: 'user_requested',
      outputText: 'One two ',
    });
    const { id: messageId } = state.messages.at(1)!;
    expect(state.messages.at(1)).toMatchObject({ content: 'One two ' });
    expect(events[6]).toMatchObject({ messageId, role: 'assistant', content: 'One two ' });
  });

  it('an abort before the first step: no step, one verdict, one last word', async () => {
    const agent = builder(DeterministicDriver.fromResponses()).build();
    const { events } = await listen(agent, (wiretap) =>
      agent.run('go', { signal: AbortSignal.abort(), wiretap }),
    );
    expect(types(events)).toEqual([
      'AgentStarted',
      'MessageAdded',
      'ContinuationEvaluated',
      'AgentFinished',
    ]);
    expect(events[2]).toMatchObject({ stepNumber: 0, outcome: { stopReason: 'user_requested' } });
  });

  it('an abort during a tool seals its call before the step is told', async () => {
    const stop = new AbortController();
    const agent = builder(DeterministicDriver.fromSteps(ScenarioStep.toolCall('wait')))
      .withTools(
        mockTool('wait', () => {
          stop.abort();
          return new Promise(() => {});
        }),
      )
      .build();
    const { events } = await listen(agent, (wiretap) =>
      agent.run('go', { signal: stop.signal, wiretap }),
    );
    expect(types(events).slice(-7)).toEqual([
      'ToolCallStarted',
      'ToolCallCompleted',
      'TokenUsageReported',
      'AgentStepCompleted',
      'ContinuationEvaluated',
      'AgentStateUpdated',
      'AgentFinished',
    ]);
    expect(events.at(-6)).toMatchObject({ success: false, error: 'aborted' });
  });

  it('D01: a limit ends in exactly one verdict and one last word, and both say which', async () => {
    const driver = DeterministicDriver.fromSteps(...Array(4).fill(ScenarioStep.toolCall('stock')));
    const agent = builder(driver).withTools(mockTool('stock', 1)).withMaxSteps(4).build();
    const { events } = await listen(agent, (wiretap) => agent.run('go', { wiretap }));
    const stops = events.filter(
      (e) => e.type === 'ContinuationEvaluated' && !e.outcome.shouldContinue,
    );
    expect(stops).toHaveLength(1);
    expect(describeEvent(stops[0]!)).toMatch(
      /^Agent \[[0-9a-f]{8}\] step 4: STOP \(steps_limit\)$/,
    );
    expect(events.filter((e) => /Finished|Failed$|Paused/.test(e.type))).toMatchObject([
      {
        type: 'AgentFinished',
        status: 'stopped',
        stopReason: 'steps_limit',
        outcome: { resolvedBy: 'StepsLimit' },
      },
    ]);
    const lines = events.filter((e) => e.type === 'ContinuationEvaluated').map(describeEvent);
    expect(lines[1]).toMatch(/step 1: CONTINUE \(requested by ToolCallPresenceCheck\)$/);
  });

  it('a nested agent: between the start and the end of its call, with its own id', async () => {
    const inner = AgentBuilder.base()
      .withName('stockist')
      .withClock(fakeClock(at))
      .withDriver(DeterministicDriver.fromSteps(ScenarioStep.toolCall('stock', args), '7.'))
      .withTools(mockTool('stock', 7))
      .build();
    const outer = builder(
      DeterministicDriver.fromSteps(
        ScenarioStep.toolCall('ask', { input: 'lamps?' }),
        'We have 7.',
      ),
    )
      .withTools(inner.asTool({ name: 'ask', description: 'Asks the stockist.' }))
      .build();
    const heardInside: AgentEvent[] = [];
    inner.wiretap((event) => heardInside.push(event));
    const { events, state } = await listen(outer, (wiretap) => outer.run('go', { wiretap }));
    const isChild = ({ parentAgentId }: AgentEvent): boolean => parentAgentId !== null;
    const first = events.findIndex(isChild);
    const last = events.findLastIndex(isChild);
    expect(events.slice(first, last + 1).every(isChild)).toBe(true);
    expect(events[first - 1]).toMatchObject({ type: 'ToolCallStarted', tool: 'ask' });
    expect(events[last + 1]).toMatchObject({
      type: 'ToolCallCompleted',
      tool: 'ask',
      result: '7.',
    });
    expect(events.filter(isChild)).toEqual(heardInside);
    expect(types(heardInside)).toEqual([
      'AgentStarted',
      'ContinuationEvaluated',
      'AgentStepStarted',
      'ToolCallDelta',
      'ToolCallDelta',
      'ToolCallStarted',
      'ToolCallCompleted',
      'TokenUsageReported',
      'AgentStepCompleted',
      'ContinuationEvaluated',
      'AgentStateUpdated',
      'AgentStepStarted',
      'StreamChunk',
      'MessageAdded',
      'TokenUsageReported',
      'AgentStepCompleted',
      'ContinuationEvaluated',
      'AgentStateUpdated',
      'AgentFinished',
    ]);
    const childId = heardInside[0]!.agentId;
    expect(childId).not.toBe(state.agentId);
    for (const event of heardInside)
      expect(event).toMatchObject({
        agentId: childId,
        parentAgentId: state.agentId,
        executionId: state.execution.id,
      });
    const counted = events.filter(({ type }) => type !== 'StreamChunk').map(({ index }) => index);
    expect(counted).toEqual(counted.map((_, i) => i));
    expect(events.at(-1)).toMatchObject({ type: 'AgentFinished', agentId: state.agentId });
  });

  it('D13: run, stream, iterate and nextStep tell the same story', async () => {
    const script = () =>
      DeterministicDriver.fromSteps(ScenarioStep.toolCall('stock', args), ScenarioStep.final('7.'));
    const make = () => builder(script()).withTools(mockTool('stock', 7)).build();
    const told = async (work: (agent: Agent) => Promise<void>): Promise<AgentEventType[]> => {
      const agent = make();
      const heard: AgentEvent[] = [];
      agent.wiretap((event) => heard.push(event));
      await work(agent);
      return types(heard);
    };
    const byRun = await told(async (agent) => void (await agent.run('go')));
    const byStream = await told(async (agent) => {
      const stream = agent.stream('go');
      const read: AgentEvent[] = [];
      for await (const event of stream) read.push(event);
      expect((await stream.result).output).toBe('7.');
      expect(types(read)).toEqual(byRun);
    });
    const byIterate = await told(async (agent) => {
      for await (const state of agent.iterate('go')) expect(state.stepCount).toBeGreaterThan(0);
    });
    const byHand = await told(async (agent) => {
      let state = await agent.nextStep('go');
      while (agent.hasNextStep(state)) state = await agent.nextStep(state);
    });
    expect(byStream).toEqual(byRun);
    expect(byIterate).toEqual(byRun);
    expect(byHand).toEqual(byRun);
  });
});

describe('listening', () => {
  const script = () =>
    DeterministicDriver.fromSteps(ScenarioStep.toolCall('stock', args), ScenarioStep.final('7.'));

  it('`on`, `wiretap` and the wiretap of one run hear what they asked for, until they leave', async () => {
    const agent = builder(DeterministicDriver.fromResponses('one', 'two', 'three')).build();
    const heard: string[] = [];
    const leave = agent.on('AgentFinished', ({ stepCount }) => heard.push(`on ${stepCount}`));
    const untap = agent.wiretap(({ type }) => type === 'AgentFinished' && heard.push('tap'));
    await agent.run('a', { wiretap: ({ type }) => type === 'AgentFinished' && heard.push('run') });
    expect(heard).toEqual(['on 1', 'tap', 'run']);
    leave();
    await agent.run('b');
    expect(heard).toEqual(['on 1', 'tap', 'run', 'tap']);
    untap();
    await agent.run('c');
    expect(heard).toHaveLength(4);
  });

  it('the driver streams only while somebody listens to chunks or deltas', async () => {
    const streamed = async (type: AgentEventType | null): Promise<boolean[]> => {
      const driver = script();
      const agent = builder(driver).withTools(mockTool('stock', 7)).build();
      if (type) agent.on(type, () => {});
      await agent.run('go');
      return driver.requests.map((request) => request.streamed);
    };
    expect(await streamed(null)).toEqual([false, false]);
    expect(await streamed('AgentFinished')).toEqual([false, false]);
    expect(await streamed('ToolCallStarted')).toEqual([false, false]);
    expect(await streamed('StreamChunk')).toEqual([true, true]);
    expect(await streamed('ToolCallDelta')).toEqual([true, true]);
  });

  it('a driver that cannot stream still shows its text as one chunk', async () => {
    const { stream: _none, ...driver } = DeterministicDriver.fromResponses('Hello.');
    const agent = builder(driver).build();
    const chunks: string[] = [];
    agent.on('StreamChunk', ({ content }) => chunks.push(content));
    await agent.run('go');
    expect(chunks).toEqual(['Hello.']);
  });

  it('no event is made, redacted or dated while nobody listens', async () => {
    const base = createRedactor();
    const looked = vi.fn();
    const redactor = {
      ...base,
      value: <T>(value: T): T => {
        looked();
        return base.value(value);
      },
    };
    const clock = fakeClock(at);
    const now = vi.spyOn(clock, 'now');
    const measure = async (type: AgentEventType | null): Promise<[number, number]> => {
      const agent = builder(script())
        .withTools(mockTool('stock', 7))
        .withRedactor(redactor)
        .withClock(clock)
        .build();
      if (type) agent.on(type, () => {});
      looked.mockClear();
      now.mockClear();
      await agent.run('go');
      return [looked.mock.calls.length, now.mock.calls.length];
    };
    const [silentLooks, silentTimes] = await measure(null);
    expect(silentLooks).toBe(0);
    expect(await measure('AgentPaused')).toEqual([0, silentTimes]);
    expect(await measure('TokenUsageReported')).toEqual([0, silentTimes + 2]);
    expect(await measure('AgentFinished')).toEqual([1, silentTimes + 1]);
    expect(await measure('MessageAdded')).toEqual([2, silentTimes + 2]);
    expect(await measure('ToolCallStarted')).toEqual([1, silentTimes + 1]);
  });

  it('the same run, listened to or not, ends in the same state', async () => {
    const shape = (state: AgentState): unknown =>
      JSON.parse(
        JSON.stringify({ ...state.toJSON(), agentId: '', execution: null, executionStartedAt: '' })
          .replaceAll(/(?:msg|stp)_\w+/g, 'id')
          .replaceAll(state.execution.id, 'execution'),
      );
    const agent = () => builder(script()).withTools(mockTool('stock', 7)).build();
    const silent = await agent().run('go');
    const loud = await agent().run('go', { wiretap: () => {} });
    expect(shape(loud)).toEqual(shape(silent));
  });
});

describe('a listener that fails', () => {
  const reports = vi.spyOn(console, 'error');
  const unhandled = vi.fn();

  beforeEach(() => {
    reports.mockReset().mockImplementation(() => {});
    unhandled.mockReset();
    process.on('unhandledRejection', unhandled);
  });
  afterEach(() => {
    process.off('unhandledRejection', unhandled);
  });

  const failing: [string, () => unknown][] = [
    [
      'throws',
      () => {
        throw new Error('listener broke');
      },
    ],
    [
      'rejects',
      async () => {
        throw new Error('listener broke');
      },
    ],
  ];

  it.each(failing)('and %s on every event changes nothing and is reported', async (_how, fail) => {
    const make = () =>
      builder(DeterministicDriver.fromSteps(ScenarioStep.toolCall('stock', args), '7.'))
        .withTools(mockTool('stock', 7))
        .build();
    const agent = make();
    const heard: AgentEvent[] = [];
    agent.wiretap(fail);
    agent.on('AgentFinished', fail);
    agent.wiretap((event) => heard.push(event));
    const state = await agent.run('go', { wiretap: fail });
    const stream = make().stream('go', { wiretap: fail });
    for await (const event of stream) expect(event.executionId).not.toBe('');
    await new Promise((resolve) => setTimeout(resolve, 0));
    expect(state).toMatchObject({ status: 'completed', output: '7.' });
    expect(await stream.result).toMatchObject({ status: 'completed', output: '7.' });
    expect(types(heard).at(-1)).toBe('AgentFinished');
    expect(reports).toHaveBeenCalledTimes(heard.length * 3 + 1);
    expect(unhandled).not.toHaveBeenCalled();
  });
});

describe('logging a run', () => {
  it('gives a log the shape pino wants: levels, fields, one line for a person, no deltas', async () => {
    const lines: [string, object, string][] = [];
    const to =
      (level: string) =>
      (fields: object, message: string): void => {
        lines.push([level, fields, message]);
      };
    const logger = { debug: to('debug'), info: to('info'), warn: to('warn'), error: to('error') };
    const agent = builder(
      DeterministicDriver.fromSteps(
        ScenarioStep.toolCall('stock', args),
        ScenarioStep.toolCall('stock', args),
        ScenarioStep.stream(['7', '.']),
      ),
    )
      .withTools(mockTool('stock', [new Error('offline'), 7]))
      .withErrorPolicy(ErrorPolicy.retryToolErrors())
      .build();
    agent.wiretap(logEvents(logger));
    await agent.run('go');
    const id = /^Agent \[[0-9a-f]{8}\] /;
    expect(lines.map(([level, , message]) => `${level} ${message.replace(id, '')}`)).toEqual([
      'info started (shop, 1 message)',
      'debug user message, 2 characters',
      'info step 0: CONTINUE (requested by ToolCallPresenceCheck)',
      'debug step 1: started',
      'debug stock call_1: started',
      'warn stock call_1: failed (offline) in 0 ms',
      'debug used 15 tokens',
      'debug step 1: completed in 0 ms (tool_calls)',
      'info step 1: CONTINUE (requested by ToolCallPresenceCheck)',
      'debug is in_progress after 1 step',
      'debug step 2: started',
      'debug stock call_2: started',
      'debug stock call_2: ok in 0 ms',
      'debug used 15 tokens',
      'debug step 2: completed in 0 ms (tool_calls)',
      'info step 2: CONTINUE (requested by ToolCallPresenceCheck)',
      'debug is in_progress after 2 steps',
      'debug step 3: started',
      'debug step 3: assistant message, 2 characters',
      'debug used 15 tokens',
      'debug step 3: completed in 0 ms (stop)',
      'info step 3: STOP (completed)',
      'debug is completed after 3 steps',
      'info finished: completed (completed) after 3 steps',
    ]);
    for (const [, fields] of lines) expect(() => JSON.stringify(fields)).not.toThrow();
    expect(lines.at(-1)![1]).toMatchObject({
      type: 'AgentFinished',
      outcome: { shouldContinue: false, stopReason: 'completed' },
    });
  });
});
