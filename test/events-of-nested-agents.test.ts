import { AgentBuilder, type AgentEvent } from 'onward';
import { DeterministicDriver, fakeClock, mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { args, at, builder, listen, types } from './setup/events.ts';

describe('the order and content of events', () => {
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
});
