import { AgentState, SlimAgentStateSerializer, type JsonObject } from 'onward';
import { ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import type { ApprovalAnswer } from '../src/agent/approval-answer.ts';
import { agentWith, approve, deny, gated, kinds } from './setup/approvals.ts';
import { ask, asTool, builder } from './setup/nested-agents.ts';
import { refusal } from './setup/sessions.ts';
import { stored, takesAnotherTurn } from './setup/states.ts';

const { toolCall, toolCalls, final } = ScenarioStep;
const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT/);

/** An agent that is paused on `pay { amount: 5 }`. */
async function waiting(args: JsonObject = { amount: 5 }) {
  const pay = gated();
  const agent = agentWith([toolCall('pay', args), final('done')], pay);
  const paused = await agent.run('go');
  const [pending] = paused.pendingApprovals;
  const { executionId, argsHash } = pending!;
  return { pay, agent, paused, executionId: executionId!, argsHash: argsHash! };
}

/** Replaces the recorded arguments, so that they differ from those the approver saw. */
function withRecorded(state: AgentState, args: object): AgentState {
  const json = JSON.parse(JSON.stringify(state));
  json.unfinishedStep.toolCalls[0].args = args;
  return AgentState.from(json);
}

describe('D91: an answer is bound to execution, call and arguments', () => {
  it('a pending approval has the execution id and an arguments hash that ignores key order', async () => {
    const one = await waiting({ amount: 5, to: { a: 1, b: [2] } });
    const two = await waiting({ to: { b: [2], a: 1 }, amount: 5 });
    const three = await waiting({ to: { b: ['2'], a: 1 }, amount: 5 });
    expect(one.argsHash).toMatch(/^[0-9a-f]{64}$/);
    expect(two.argsHash).toBe(one.argsHash);
    expect(three.argsHash).not.toBe(one.argsHash);
    expect(one.executionId).toBe(one.paused.execution.id);
  });

  it.each<[string, (bound: { executionId: string; argsHash: string }) => object]>([
    ['nothing', () => ({})],
    ['the execution', ({ executionId }) => ({ executionId })],
    ['the arguments', ({ argsHash }) => ({ argsHash })],
    ['both', (bound) => bound],
    ['both as undefined', () => ({ executionId: undefined, argsHash: undefined })],
  ])('accepts an answer that names %s', async (_names, bindingOf) => {
    const { pay, agent, paused, ...bound } = await waiting();
    const answer = { ...approve, ...bindingOf(bound) };
    const state = await agent.resume(stored(paused), { approvals: { call_1: answer } });
    expect(state.output).toBe('done');
    expect(pay.calls).toEqual([{ amount: 5 }]);
  });

  it.each<[string, ApprovalAnswer, RegExp]>([
    ['another execution', { ...approve, executionId: 'e-0' }, /"e-0", and this is execution/],
    ['an empty execution', { ...approve, executionId: '' }, /is for execution ""/],
    ['other arguments', { ...approve, argsHash: 'f'.repeat(64) }, /hash "ffff.*those of the call/],
    ['other arguments in a denial', { ...deny, argsHash: '' }, /was given for arguments/],
    ['other arguments in an edit', { approve: true, args: { amount: 1 }, argsHash: 'x' }, /"x"/],
  ])(
    'rejects an answer that names %s, and the call still waits',
    async (_case, answer, message) => {
      const { pay, agent, paused } = await waiting();
      const error = await refusal(() => agent.resume(paused, { approvals: { call_1: answer } }));
      expect(error.code).toBe('stale_approval');
      expect(error.message).toMatch(message);
      expect(error.message).toMatch(/Nothing was run\. Read the pending approvals again/);
      expect(error.details).toMatchObject({ callId: 'call_1' });
      expect(pay.calls).toEqual([]);
      expect((await agent.resume(paused, { approvals: { call_1: approve } })).output).toBe('done');
    },
  );

  it('rejects the hash of the edited arguments in place of the hash of the call', async () => {
    const { agent, paused } = await waiting();
    const edited = (await waiting({ amount: 1 })).argsHash;
    const answer = { approve: true, args: { amount: 1 }, argsHash: edited } as const;
    // this reads as an edit that was already applied, and no such edit is recorded
    const error = await refusal(() => agent.resume(paused, { approvals: { call_1: answer } }));
    expect(error.code).toBe('stale_approval');
  });

  it.each([5, ['5'], { id: 'x' }])('rejects %j as executionId or argsHash', async (name) => {
    const { agent, paused } = await waiting();
    for (const field of ['executionId', 'argsHash']) {
      const approvals = { call_1: { ...approve, [field]: name } as never };
      const error = await refusal(() => agent.resume(paused, { approvals }));
      expect(error.code).toBe('invalid_approval');
    }
  });

  it.each<[string, ApprovalAnswer]>([
    ['approval', approve],
    ['denial', deny],
  ])('rejects an answer to a call whose recorded arguments changed: %s', async (_case, answer) => {
    const { pay, agent, paused } = await waiting();
    const changed = withRecorded(paused, { amount: 5_000 });
    const error = await refusal(() => agent.resume(changed, { approvals: { call_1: answer } }));
    expect(error.code).toBe('stale_approval');
    expect(error.message).toContain('recorded arguments differ from those that were shown');
    expect(pay.calls).toEqual([]);
  });

  it('rejects an answer bound to an earlier execution', async () => {
    const pay = gated();
    const again = { name: 'pay', id: 'c1' };
    const agent = agentWith(
      [
        toolCalls([{ ...again, args: { amount: 1 } }]),
        toolCalls([{ ...again, args: { amount: 999 } }]),
        final('done'),
      ],
      pay,
    );
    const first = await agent.run('go');
    const [{ executionId, argsHash } = {}] = first.pendingApprovals;
    const second = await agent.run(agent.stop(first).withUserMessage('again'));
    expect(second.pendingApprovals[0]).toMatchObject({ callId: 'c1', args: { amount: 999 } });
    for (const binding of [{ executionId, argsHash }, { executionId }, { argsHash }]) {
      const approvals = { c1: { ...approve, ...binding } };
      const error = await refusal(() => agent.resume(second, { approvals }));
      expect(error.code).toBe('stale_approval');
    }
    expect(pay.calls).toEqual([]);
  });

  it('rejects an answer bound to another execution when no call waits', async () => {
    const { agent, paused, ...bound } = await waiting();
    const stopped = agent.stop(paused);
    const late = { call_1: { ...approve, ...bound } };
    const own = await refusal(() => agent.resume(stopped, { approvals: late }));
    expect(own.code).toBe('not_resumable');
    const other = { call_1: { ...approve, executionId: 'e-0' } };
    const error = await refusal(() => agent.resume(stopped, { approvals: other }));
    expect(error.code).toBe('stale_approval');
  });

  it('fills in missing binding fields of 0.1.0 documents', async () => {
    const { pay, agent, paused, ...bound } = await waiting();
    const json = JSON.parse(JSON.stringify(paused));
    delete json.pause.pendingApprovals[0].argsHash;
    delete json.pause.pendingApprovals[0].executionId;
    const old = AgentState.from(json);
    expect(old.pendingApprovals[0]).toMatchObject(bound);
    await agent.resume(old, { approvals: { call_1: { ...approve, ...bound } } });
    expect(pay.calls).toEqual([{ amount: 5 }]);
  });

  it('binds calls of nested agents', async () => {
    const pay = gated();
    const child = builder('child', [toolCall('pay', { amount: 5 }), final('child')], pay).build();
    const root = builder('root', [toolCall('child', ask), final('done')], asTool(child, 'child'));
    const agent = root.build();
    const paused = await agent.run('go');
    const { callId, executionId, argsHash } = paused.pendingApprovals[0]!;
    expect(executionId).toBe(paused.execution.id);
    for (const wrong of [{ executionId: 'e-0' }, { argsHash: 'f'.repeat(64) }]) {
      const approvals = { [callId]: { ...approve, ...wrong } };
      expect((await refusal(() => agent.resume(paused, { approvals }))).code).toBe(
        'stale_approval',
      );
    }
    const json = JSON.parse(JSON.stringify(paused));
    const [inner] = Object.values<{ unfinishedStep: { toolCalls: { args: object }[] } }>(
      json.unfinishedStep.children,
    );
    inner!.unfinishedStep.toolCalls[0]!.args = { amount: 5_000 };
    const plain = { [callId]: approve };
    const error = await refusal(() => agent.resume(json, { approvals: plain }));
    expect(error.code).toBe('stale_approval');
    expect(pay.calls).toEqual([]);
    const state = await agent.resume(stored(paused), {
      approvals: { [callId]: { ...approve, executionId, argsHash } },
    });
    expect(state.output).toBe('done');
    expect(pay.calls).toEqual([{ amount: 5 }]);
  });
});

describe('the approval record', () => {
  it.each<[string, ApprovalAnswer, JsonObject]>([
    ['approved', approve, { amount: 5 }],
    ['edited', { approve: true, args: { amount: 1 } }, { amount: 1 }],
    ['denied', deny, { amount: 5 }],
  ])('is stored with the result: %s', async (decision, answer, args) => {
    const { agent, paused } = await waiting();
    const { argsHash } = await waiting(args);
    const given = { approvals: { call_1: answer } };
    const state = await agent.resume(paused, { ...given, by: 'ann@shop' });
    const approval = { decision, by: 'ann@shop', at: time, argsHash };
    expect(stored(state).steps.at(0)?.results[0]?.approval).toEqual(approval);
    const slim = new SlimAgentStateSerializer({ includeAllSteps: true });
    const revived = slim.deserialize(JSON.parse(JSON.stringify(slim.serialize(state))));
    expect(revived.steps.at(0)?.results[0]?.approval).toEqual(approval);
    const unnamed = await agent.resume(paused, given).catch(() => null);
    if (unnamed) expect(unnamed.steps.at(0)?.results[0]?.approval?.by).toBeNull();
    await takesAnotherTurn(state);
  });

  it('ignores who and when in the answer itself', async () => {
    const { agent, paused } = await waiting();
    const forged = { ...approve, by: 'the boss', at: '1999-01-01T00:00:00.000Z' } as never;
    const state = await agent.resume(paused, { approvals: { call_1: forged }, by: 'ann' });
    expect(state.steps.at(0)?.results[0]?.approval).toMatchObject({ by: 'ann', at: time });
    expect(state.steps.at(0)?.results[0]?.approval?.at).not.toContain('1999');
  });

  it('is missing if no answer was given', async () => {
    const { agent, paused } = await waiting();
    const state = agent.stop(paused);
    expect(kinds(state)).toEqual(['aborted']);
    expect(state.steps.at(0)?.results[0]).not.toHaveProperty('approval');
  });
});

it('D91: a later call of the same run with the same id and arguments needs a new approval', async () => {
  const pay = gated();
  const call = () => toolCalls([{ id: 'c1', name: 'pay', args: { amount: 5 } }]);
  const agent = agentWith([call(), call(), final('done')], pay);
  const paused = await agent.run('go');
  const again = await agent.resume(paused, { approvals: { c1: approve } });
  expect(again.status).toBe('paused');
  expect(pay.calls).toHaveLength(1);
  expect(again.pendingApprovals).toMatchObject([{ tool: 'pay', args: { amount: 5 } }]);
});
