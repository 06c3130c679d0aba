import { DeterministicDriver, mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { args, builder, listen, own, types, answerIn, stepEnd } from './setup/events.ts';

describe('events of an approval', () => {
  it('are in order before the pause and after the answer', async () => {
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
    const argsHash = expect.stringMatching(/^[0-9a-f]{64}$/);
    const { id: executionId } = state.execution;
    const asked = { tool: 'pay', args: { eur: 5 }, argsHash };
    const pending = { callId: 'call_1', ...asked, executionId, path: [] };
    expect(events.slice(-3).map(own)).toEqual([
      {
        type: 'ToolApprovalRequested',
        index: 10,
        toolCallId: 'call_1',
        ...asked,
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
      ...stepEnd,
      ...answerIn(1),
    ]);
    expect(resumed.events[0]).toMatchObject({
      resumed: true,
      previousStatus: 'paused',
      executionId: state.execution.id,
    });
    expect(resumed.events[1]).toMatchObject({ tool: 'pay', toolCallId: 'call_1' });
  });

  it('request no approval twice after a partial answer', async () => {
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
});
