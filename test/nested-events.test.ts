import { AgentState, type AgentEvent } from 'onward';
import { mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { answerIn, stepEnd } from './setup/events.ts';
import { builder, rootOf } from './setup/nested-agents.ts';

const { toolCall, toolCalls, final } = ScenarioStep;

describe('events of nested agents', () => {
  it('share the execution, name the parent and lie between start and end of the tool call', async () => {
    const child = builder('helper', [toolCall('look'), final('helped')], mockTool('look')).build();
    const receivedInside: AgentEvent[] = [];
    child.wiretap((event) => receivedInside.push(event));
    const finished: string[] = [];
    child.on('AgentFinished', ({ type }) => finished.push(type));
    const events: AgentEvent[] = [];
    const { agentId: rootId } = await rootOf(child).run('go', {
      executionId: 'exec-1',
      wiretap: (event) => events.push(event),
    });
    expect(new Set(events.map(({ executionId }) => executionId))).toEqual(new Set(['exec-1']));
    const isInner = ({ parentAgentId }: AgentEvent): boolean => parentAgentId !== null;
    const first = events.findIndex(isInner);
    const last = events.findLastIndex(isInner);
    const inner = events.slice(first, last + 1);
    expect(inner).toEqual(receivedInside);
    const agentId = inner[0]!.agentId;
    expect(agentId).not.toBe(rootId);
    for (const event of inner) expect(event).toMatchObject({ agentId, parentAgentId: rootId });
    expect(events[first - 1]).toMatchObject({ type: 'ToolCallStarted', tool: 'help' });
    const ended = { type: 'ToolCallCompleted', tool: 'help', result: 'helped' };
    expect(events[last + 1]).toMatchObject(ended);
    expect(events.at(-1)).toMatchObject({ type: 'AgentFinished', agentId: rootId });
    expect(inner.map(({ type }) => type)).toEqual([
      'AgentStarted',
      'ContinuationEvaluated',
      'AgentStepStarted',
      'ToolCallDelta',
      'ToolCallDelta',
      'ToolCallStarted',
      'ToolCallCompleted',
      ...stepEnd,
      ...answerIn(1),
    ]);
    // all events share one numbering; chunks are numbered separately
    const indexes = events.flatMap((e) => (e.type === 'StreamChunk' ? [] : [e.index]));
    expect(indexes).toEqual(indexes.map((_, i) => i));
    expect(finished).toEqual(['AgentFinished']);
  });

  it('reach listeners of the root agent', async () => {
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

  it('tools of a nested agent get deps, metadata and their own idempotency key', async () => {
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
    // ids are unique in the execution, and the root already used call_1
    const keys = look.contexts.map((c) => c.idempotencyKey);
    expect(new Set([...keys, 'exec-1:call_1']).size).toBe(3);
    expect(JSON.stringify(state)).not.toContain('live');
  });

  it('a nested call keeps the id of the provider as providerId', async () => {
    const pay = mockTool('pay', 'paid', { needsApproval: true });
    const child = builder('helper', [toolCalls([{ name: 'pay', id: 'call_1' }])], pay).build();
    const paused = await rootOf(child).run('go');
    const inner = Object.values(paused.unfinishedStep!.children)[0]!;
    expect(inner.unfinishedStep!.toolCalls[0]).toMatchObject({ providerId: 'call_1', name: 'pay' });
    expect(inner.parentAgentId).toBe(paused.agentId);
    expect(inner.execution.id).toBe(paused.execution.id);
  });
});
