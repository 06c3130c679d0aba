import { describeEvent, ErrorPolicy, type Agent, type AgentEvent } from 'onward';
import { DeterministicDriver, mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import type { AgentEventType } from '../src/events/agent-event.ts';
import { args, at, builder, listen, own, types, answerIn, stepEnd } from './setup/events.ts';

const usage = { input: 10, output: 5, total: 15, cachedInput: 0, reasoning: 0 };

const short = ({ stopReason, resolvedBy }: { stopReason: string | null; resolvedBy: string }) =>
  `${stopReason} by ${resolvedBy}`;

describe('events of a run', () => {
  it('of a plain answer', async () => {
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
        offset: 0,
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
        modelCall: { firstTokenMs: 0 },
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

  it('of a step with a tool call, with one outcome object', async () => {
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
      ...stepEnd,
      ...answerIn(1),
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

  it('of parallel tool calls start and end independently and report failures', async () => {
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

  it('D01: a limit emits one stopping outcome and one final event with the same reason', async () => {
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

  it('D13: run, stream, iterate and nextStep emit the same events', async () => {
    const script = () =>
      DeterministicDriver.fromSteps(ScenarioStep.toolCall('stock', args), ScenarioStep.final('7.'));
    const make = () => builder(script()).withTools(mockTool('stock', 7)).build();
    const reported = async (work: (agent: Agent) => Promise<void>): Promise<AgentEventType[]> => {
      const agent = make();
      const received: AgentEvent[] = [];
      agent.wiretap((event) => received.push(event));
      await work(agent);
      return types(received);
    };
    const byRun = await reported(async (agent) => void (await agent.run('go')));
    const byStream = await reported(async (agent) => {
      const stream = agent.stream('go');
      const read: AgentEvent[] = [];
      for await (const event of stream) read.push(event);
      expect((await stream.state).output).toBe('7.');
      expect(types(read)).toEqual(byRun);
    });
    const byIterate = await reported(async (agent) => {
      for await (const state of agent.iterate('go')) expect(state.stepCount).toBeGreaterThan(0);
    });
    const byHand = await reported(async (agent) => {
      let state = await agent.nextStep('go');
      while (agent.hasNextStep(state)) state = await agent.nextStep(state);
    });
    expect(byStream).toEqual(byRun);
    expect(byIterate).toEqual(byRun);
    expect(byHand).toEqual(byRun);
  });
});
