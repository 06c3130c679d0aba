import { AgentBuilder, ErrorPolicy, type AgentEvent, type AgentState } from 'onward';
import { DeterministicDriver, mockTool, ScenarioStep, type ScriptedCall } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { agentWith, approve, deny, gated, kinds, orders } from './setup/approvals.ts';
import { stored, takesAnotherTurn } from './setup/states.ts';

const { toolCall, toolCalls, final } = ScenarioStep;

describe('a call that needs approval', () => {
  it('pauses the run before the tool runs, with the call open and no outcome', async () => {
    const pay = gated();
    const events: AgentEvent[] = [];
    const agent = agentWith([toolCall('pay', { amount: 5 }, 'I will pay.')], pay);
    const state = await agent.run('go', { wiretap: (e) => events.push(e) });
    expect(pay.calls).toEqual([]);
    expect(state.status).toBe('paused');
    expect(state.stopReason).toBeNull();
    expect(state.pause).toEqual({
      kind: 'approval',
      at: expect.any(String),
      pendingApprovals: [
        {
          callId: 'call_1',
          tool: 'pay',
          args: { amount: 5 },
          argsHash: expect.stringMatching(/^[0-9a-f]{64}$/),
          executionId: state.execution.id,
          path: [],
        },
      ],
    });
    expect(state.pendingApprovals).toBe(state.pause?.pendingApprovals);
    expect(state.currentStep).toMatchObject({ number: 1, outcome: null, results: [] });
    expect(state.steps.length).toBe(0);
    expect(state.usage.total).toBe(15);
    const types = events.map(({ type }) => type);
    expect(types.slice(-3)).toEqual(['ToolApprovalRequested', 'AgentStateUpdated', 'AgentPaused']);
    expect(types).not.toContain('ToolCallStarted');
    expect(types.filter((type) => type === 'ContinuationEvaluated')).toHaveLength(1);
  });

  it('runs when approved, and the model sees the result', async () => {
    const pay = gated();
    const agent = agentWith([toolCall('pay', { amount: 5 }), final('done')], pay);
    const paused = await agent.run('go');
    const state = await agent.resume(paused, { approvals: { call_1: approve } });
    expect(pay.calls).toEqual([{ amount: 5 }]);
    expect(state).toMatchObject({ status: 'completed', output: 'done', pause: null });
    expect(kinds(state)).toEqual(['ok']);
    expect(state.execution.id).toBe(paused.execution.id);
    expect(state.usage.total).toBe(30);
    await takesAnotherTurn(state);
  });

  it('does not run when denied, and the model sees the reason', async () => {
    const pay = gated();
    const agent = agentWith([toolCall('pay'), final('I did not pay.')], pay);
    const state = await agent.resume(await agent.run('go'), { approvals: { call_1: deny } });
    expect(pay.calls).toEqual([]);
    expect(state.steps.at(0)!.results[0]).toMatchObject({
      kind: 'denied',
      value: 'Denied by a person: too expensive',
    });
    expect(state.steps.at(0)!.errors).toEqual([]);
    expect(state).toMatchObject({ status: 'completed', output: 'I did not pay.' });
    expect(state.messages.withRole('tool')[0]?.text).toBe('Denied by a person: too expensive');
    await takesAnotherTurn(state);
  });

  it('is handled by the error policy if it fails after approval', async () => {
    const agent = agentWith([toolCall('pay')], gated('pay', new Error('card declined')));
    const state = await agent.resume(await agent.run('go'), { approvals: { call_1: approve } });
    expect(state).toMatchObject({ status: 'failed', stopReason: 'error' });
    expect(state.steps.at(0)!.errors).toMatchObject([{ type: 'tool', message: 'card declined' }]);
    await takesAnotherTurn(state);
  });

  it('rejects invalid arguments at once, without asking for approval', async () => {
    const pay = mockTool('pay', 'paid', {
      needsApproval: true,
      parameters: z.object({ amount: z.number() }),
    });
    const agent = AgentBuilder.base()
      .withDriver(
        DeterministicDriver.fromSteps(toolCall('pay', { amount: 'five' }), final('sorry')),
      )
      .withTools(pay)
      .withErrorPolicy(ErrorPolicy.ignoreToolErrors())
      .build();
    const state = await agent.run('go');
    expect(state).toMatchObject({ status: 'completed', output: 'sorry' });
    expect(state.steps.at(0)!.errors).toMatchObject([{ code: 'bad_arguments' }]);
  });
});

describe('needsApproval as a function', () => {
  it('receives validated arguments and decides per call', async () => {
    const asked: unknown[] = [];
    const pay = mockTool('pay', 'paid', {
      parameters: z.object({ amount: z.number().default(1) }),
      needsApproval: (args) => {
        asked.push(args);
        return (args as { amount: number }).amount > 100;
      },
    });
    const calls = [{ name: 'pay' }, { name: 'pay', args: { amount: 500 } }];
    const agent = agentWith([toolCalls(calls), final('done')], pay);
    const paused = await agent.run('go');
    expect(asked).toEqual([{ amount: 1 }, { amount: 500 }]);
    expect(pay.calls).toEqual([{ amount: 1 }]);
    expect(paused.pendingApprovals.map(({ callId }) => callId)).toEqual(['call_2']);
  });

  it.each(['same process', 'restarted'])('D29: is called once per tool call (%s)', async (how) => {
    let asked = 0;
    const pay = mockTool('pay', 'paid', {
      needsApproval: async () => {
        asked += 1;
        if (asked > 2) throw new Error('asked again');
        return true;
      },
    });
    const agent = agentWith([toolCalls([{ name: 'pay' }, { name: 'pay' }]), final('done')], pay);
    const back = (state: AgentState) => (how === 'restarted' ? stored(state) : state);
    const paused = await agent.run('go');
    const idle = await agent.resume(back(paused));
    expect(idle.pendingApprovals).toEqual(paused.pendingApprovals);
    const half = await agent.resume(back(idle), { approvals: { call_2: approve } });
    const state = await agent.resume(back(half), { approvals: { call_1: approve } });
    expect(asked).toBe(2);
    expect(pay.calls).toHaveLength(2);
    expect(state.output).toBe('done');
  });

  it('prevents the tool from running if it throws', async () => {
    const pay = mockTool('pay', 'paid', {
      needsApproval: () => {
        throw new Error('rule broke');
      },
    });
    const state = await agentWith([toolCall('pay')], pay).run('go');
    expect(pay.calls).toEqual([]);
    expect(state.steps.at(0)!.errors).toMatchObject([{ type: 'tool', message: 'rule broke' }]);
    await takesAnotherTurn(state);
  });
});

describe('D23: three approvals in one step', () => {
  it.each(orders)('answered one by one in the order %i %i %i', async (...order) => {
    const free = mockTool('free', ['first', 'second']);
    const pay = gated('pay', (args: { n: number }) => `paid ${args.n}`);
    const calls: ScriptedCall[] = [
      { name: 'pay', args: { n: 1 }, id: 'p1' },
      { name: 'free', id: 'f1' },
      { name: 'pay', args: { n: 2 }, id: 'p2' },
      { name: 'pay', args: { n: 3 }, id: 'p3' },
      { name: 'free', id: 'f2' },
    ];
    const script = [toolCalls(calls), final('done')];
    let state = await agentWith(script, free, pay).run('go');
    expect(state.pendingApprovals.map(({ callId }) => callId)).toEqual(['p1', 'p2', 'p3']);
    expect(free.calls).toHaveLength(2);
    const answered: number[] = [];
    for (const n of order) {
      // each answer is handled by a new agent object
      const agent = agentWith([final('done')], free, pay);
      state = await agent.resume(stored(state), { approvals: { [`p${n}`]: approve } });
      answered.push(n);
      expect(pay.calls).toEqual(answered.map((done) => ({ n: done })));
      const open = [1, 2, 3].filter((left) => !answered.includes(left));
      expect(state.pendingApprovals.map(({ callId }) => callId)).toEqual(open.map((o) => `p${o}`));
      expect(state.status).toBe(open.length > 0 ? 'paused' : 'completed');
    }
    expect(free.calls).toHaveLength(2);
    expect(state.output).toBe('done');
    expect(state.messages.withRole('tool').map((m) => [m.toolCallId, m.text])).toEqual([
      ['p1', 'paid 1'],
      ['f1', 'first'],
      ['p2', 'paid 2'],
      ['p3', 'paid 3'],
      ['f2', 'second'],
    ]);
    expect(state.messages.withRole('assistant')).toHaveLength(2);
    expect(state.execution).toMatchObject({ stepCount: 2, answeredSteps: 2 });
    await takesAnotherTurn(state);
  });

  it('partial answers run the answered calls and pause again', async () => {
    const pay = gated();
    const events: AgentEvent[] = [];
    const calls = [{ name: 'pay' }, { name: 'pay' }, { name: 'pay' }];
    const agent = agentWith([toolCalls(calls), final('done')], pay);
    const wiretap = (e: AgentEvent) => void events.push(e);
    const paused = await agent.run('go', { wiretap });
    const half = await agent.resume(paused, {
      approvals: { call_1: approve, call_3: deny },
      wiretap,
    });
    expect(half.status).toBe('paused');
    expect(half.pendingApprovals.map(({ callId }) => callId)).toEqual(['call_2']);
    expect(half.currentStep?.results.map(({ callId, kind }) => [callId, kind])).toEqual([
      ['call_1', 'ok'],
      ['call_3', 'denied'],
    ]);
    expect(half.messages.withRole('tool')).toEqual([]);
    // each approval was requested once
    const asked = events.flatMap((e) => (e.type === 'ToolApprovalRequested' ? [e.toolCallId] : []));
    expect(asked).toEqual(['call_1', 'call_2', 'call_3']);
    const state = await agent.resume(half, { approvals: { call_2: approve } });
    expect(kinds(state)).toEqual(['ok', 'ok', 'denied']);
    expect(pay.calls).toHaveLength(2);
    await takesAnotherTurn(state);
  });
});

describe('D25: many pauses', () => {
  it('a run pauses five times and continues from JSON each time', async () => {
    const pay = gated();
    let state = await agentWith([toolCalls([{ name: 'pay', id: 'p0' }])], pay).run('go');
    for (let n = 1; n <= 5; n++) {
      expect(state.status).toBe('paused');
      const script = n < 5 ? toolCalls([{ name: 'pay', id: `p${n}` }]) : final('done');
      const agent = agentWith([script], pay);
      state = await agent.resume(stored(state), { approvals: { [`p${n - 1}`]: approve } });
    }
    expect(state).toMatchObject({ status: 'completed', output: 'done', stepCount: 6 });
    expect(pay.calls).toHaveLength(5);
    expect(state.usage.total).toBe(90);
    await takesAnotherTurn(state);
  });
});
