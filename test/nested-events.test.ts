import { AgentState, type AgentEvent } from 'onward';
import { mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { builder, rootOf } from './setup/nested-agents.ts';

const { toolCall, toolCalls, final } = ScenarioStep;

describe('identity and events', () => {
  it('same execution, own agent id, the id of its parent, and one line of events', async () => {
    const child = builder('helper', [toolCall('look'), final('helped')], mockTool('look')).build();
    const heard: string[] = [];
    child.on('AgentFinished', ({ type }) => heard.push(type));
    const events: AgentEvent[] = [];
    const state = await rootOf(child).run('go', {
      executionId: 'exec-1',
      wiretap: (e) => events.push(e),
    });
    expect(new Set(events.map((e) => e.executionId))).toEqual(new Set(['exec-1']));
    const inner = events.filter((e) => e.parentAgentId !== null);
    const [innerId] = new Set(inner.map((e) => e.agentId));
    expect(new Set(inner.map((e) => e.agentId)).size).toBe(1);
    expect(innerId).not.toBe(state.agentId);
    expect(new Set(inner.map((e) => e.parentAgentId))).toEqual(new Set([state.agentId]));
    expect(inner.map((e) => e.type)).toEqual([
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
    // one numbering for all; chunks count by themselves
    const indexes = events.flatMap((e) => (e.type === 'StreamChunk' ? [] : [e.index]));
    expect(indexes).toEqual(indexes.map((_, i) => i));
    expect(heard).toEqual(['AgentFinished']);
    const started = events.findIndex((e) => e.type === 'ToolCallStarted' && e.tool === 'help');
    const completed = events.findIndex((e) => e.type === 'ToolCallCompleted' && e.tool === 'help');
    expect(events.indexOf(inner[0]!)).toBeGreaterThan(started);
    expect(events.indexOf(inner.at(-1)!)).toBeLessThan(completed);
  });

  it('listeners on the root agent hear the child too', async () => {
    const child = builder('helper', [final('helped')]).build();
    const root = rootOf(child);
    const names: string[] = [];
    root.on('AgentStarted', ({ agentName }) => names.push(agentName));
    const tapped: string[] = [];
    const leave = root.wiretap((e) => {
      if (e.type === 'AgentFinished') tapped.push(e.parentAgentId === null ? 'root' : 'child');
    });
    await root.run('go');
    leave();
    expect(names).toEqual(['root', 'helper']);
    expect(tapped).toEqual(['child', 'root']);
  });

  it('tools of the child get deps, metadata, and a key of their own in the same execution', async () => {
    const look = mockTool('look', 'seen');
    const child = builder(
      'helper',
      [
        toolCalls([
          { name: 'look', id: 'call_1' },
          { name: 'look', id: 'x' },
        ]),
        final('helped'),
      ],
      look,
    ).build();
    const db = { live: true };
    const start = AgentState.empty().withMetadata({ tenant: 'acme' }).withUserMessage('go');
    const state = await rootOf(child).run(start, { executionId: 'exec-1', deps: { db } });
    expect(look.contexts.map((c) => [c.executionId, c.deps['db'], c.metadata])).toEqual([
      ['exec-1', db, { tenant: 'acme' }],
      ['exec-1', db, { tenant: 'acme' }],
    ]);
    expect(look.contexts.map((c) => c.state.parentAgentId)).toEqual([state.agentId, state.agentId]);
    // the root's own call is call_1: ids are unique in the whole execution
    const keys = look.contexts.map((c) => c.idempotencyKey);
    expect(new Set([...keys, 'exec-1:call_1']).size).toBe(3);
    expect(JSON.stringify(state)).not.toContain('live');
  });

  it('ids of the provider are kept beside ours', async () => {
    const pay = mockTool('pay', 'paid', { needsApproval: true });
    const child = builder('helper', [toolCalls([{ name: 'pay', id: 'call_1' }])], pay).build();
    const paused = await rootOf(child).run('go');
    const inner = Object.values(paused.unfinishedStep!.children)[0]!;
    expect(inner.unfinishedStep!.toolCalls[0]).toMatchObject({ providerId: 'call_1', name: 'pay' });
    expect(inner.parentAgentId).toBe(paused.agentId);
    expect(inner.execution.id).toBe(paused.execution.id);
  });
});
