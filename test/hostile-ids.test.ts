import { runInNewContext } from 'node:vm';
import { AgentState, SlimAgentStateSerializer, type AgentEvent } from 'onward';
import { mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { agentWith, approve, gated } from './setup/approvals.ts';
import { hostileIds, nestedTwice, shownId, usableId } from './setup/hostile-ids.ts';
import { stored, takesAnotherTurn } from './setup/states.ts';

const { toolCalls, final } = ScenarioStep;
const slim = (state: AgentState): AgentState => {
  const serializer = new SlimAgentStateSerializer({ includeToolArgs: true });
  return serializer.deserialize(JSON.stringify(serializer.serialize(state)));
};
const named = hostileIds.map((id) => ({ id, title: shownId(id) }));

describe.each(named)('D90: a tool call whose id is $title', ({ id }) => {
  const script = () => [
    toolCalls([
      { name: 'pay', id: 'plain', args: { n: 'harmless' } },
      { name: 'pay', id, args: { n: 'odd' } },
    ]),
    final('done'),
  ];

  it.each([
    ['in memory', (state: AgentState) => state],
    ['full JSON', stored],
    ['slim', slim],
  ])('needs its own approval (%s)', async (_how, pass) => {
    const pay = gated();
    const agent = agentWith(script(), pay);
    const paused = pass(await agent.run('go'));
    const [plain, odd] = paused.pendingApprovals;
    expect(plain?.callId).toBe('plain');
    expect(odd!.callId).toMatch(usableId);
    const call = paused.currentStep!.toolCalls[1]!;
    expect(call.providerId ?? call.id).toBe(id === '' ? call.id : id);

    const still = pass(await agent.resume(paused, { approvals: { plain: approve } }));
    expect(pay.calls).toEqual([{ n: 'harmless' }]);
    expect(still.pendingApprovals.map(({ callId }) => callId)).toEqual([odd!.callId]);

    const state = await agent.resume(still, { approvals: { [odd!.callId]: approve } });
    expect(pay.calls).toEqual([{ n: 'harmless' }, { n: 'odd' }]);
    expect(state).toMatchObject({ status: 'completed', output: 'done' });
    await takesAnotherTurn(state);
  });

  it('can be denied and stopped', async () => {
    const pay = gated();
    const agent = agentWith(script(), pay);
    const paused = await agent.run('go');
    const { callId } = paused.pendingApprovals[1]!;
    const still = await agent.resume(paused, { approvals: { [callId]: { deny: 'no' } } });
    expect(still.pendingApprovals.map((pending) => pending.callId)).toEqual(['plain']);
    const state = agent.stop(stored(still));
    expect(state.steps.at(-1)?.results.map(({ kind }) => kind)).toEqual(['aborted', 'denied']);
    expect(pay.calls).toEqual([]);
    await takesAnotherTurn(state);
  });

  it('keeps nested agents, two levels deep, over a pause', async () => {
    const pay = gated();
    const root = nestedTwice(id, pay, { n: 1 });
    const paused = slim(stored(await root.run('go')));
    const [pending] = paused.pendingApprovals;
    expect(pending).toMatchObject({ tool: 'pay', args: { n: 1 } });
    for (const each of [pending!.callId, ...pending!.path]) expect(each).toMatch(usableId);
    const state = await root.resume(paused, { approvals: { [pending!.callId]: approve } });
    expect(state).toMatchObject({ status: 'completed', output: 'root done' });
    expect(pay.calls).toEqual([{ n: 1 }]);
  });

  it('has one id in records, events and messages', async () => {
    const received: AgentEvent[] = [];
    const agent = agentWith(script(), mockTool('pay'));
    const state = await agent.run('go', { wiretap: (event) => received.push(event) });
    const ids = state.steps.at(0)!.toolCalls.map((call) => call.id);
    expect(new Set(ids).size).toBe(2);
    const reported = (type: AgentEvent['type']) =>
      received.flatMap((e) => (e.type === type && 'toolCallId' in e ? [e.toolCallId] : []));
    expect(new Set(reported('ToolCallDelta'))).toEqual(new Set(ids));
    expect(reported('ToolCallStarted')).toEqual(ids);
    expect(reported('ToolCallCompleted')).toEqual(ids);
    expect(state.messages.withRole('tool').map(({ toolCallId }) => toolCallId)).toEqual(ids);
  });
});

describe('D90: stored documents with unusual call ids', () => {
  const old = async (id: string): Promise<AgentState> => {
    const agent = agentWith([toolCalls([{ name: 'pay', id: 'ODDID' }])], gated());
    const text = JSON.stringify(await agent.run('go'));
    return AgentState.from(
      JSON.parse(text.replaceAll('ODDID', JSON.stringify(id).slice(1, -1))) as never,
    );
  };

  it.each(named)('$title: loads, accepts an answer and ends', async ({ id }) => {
    const pay = gated();
    const agent = agentWith([final('done')], pay);
    const paused = await old(id);
    expect(paused.pendingApprovals.map(({ callId }) => callId)).toEqual([id]);
    const state = await agent.resume(paused, { approvals: Object.fromEntries([[id, approve]]) });
    expect(state).toMatchObject({ status: 'completed', output: 'done' });
    expect(pay.calls).toHaveLength(1);
    expect(agent.stop(paused)).toMatchObject({ status: 'stopped' });
  });
});

describe('the approvals option', () => {
  it.each([
    ['an object with an answer as its prototype', { __proto__: approve }],
    ['an array', []],
    ['a class instance', new Date()],
    ['a Map', new Map([['plain', approve]])],
  ])('rejects %s', async (_case, approvals) => {
    const pay = gated();
    const agent = agentWith([toolCalls([{ name: 'pay', id: '__proto__' }])], pay);
    const paused = await agent.run('go');
    await expect(agent.resume(paused, { approvals: approvals as never })).rejects.toMatchObject({
      code: 'invalid_approval',
    });
    expect(pay.calls).toEqual([]);
  });

  it('accepts an object from another realm', async () => {
    const pay = gated();
    const agent = agentWith([toolCalls([{ name: 'pay', id: 'plain' }]), final('done')], pay);
    const paused = await agent.run('go');
    const approvals: unknown = runInNewContext('({ plain: { approve: true } })');
    const state = await agent.resume(paused, { approvals: approvals as never });
    expect(state.status).toBe('completed');
    expect(pay.calls).toHaveLength(1);
  });

  it('accepts an object without a prototype', async () => {
    const pay = gated();
    const agent = agentWith([toolCalls([{ name: 'pay', id: 'a' }]), final('done')], pay);
    const approvals = Object.assign(Object.create(null) as object, { a: approve });
    const state = await agent.resume(await agent.run('go'), { approvals });
    expect(state.output).toBe('done');
  });
});
