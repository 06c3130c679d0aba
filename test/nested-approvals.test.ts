import { AgentBuilder, type AgentEvent, type Tool } from 'onward';
import { DeterministicDriver, mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { approve } from './setup/approvals.ts';
import { ask, asTool, builder, firstResult, rootOf } from './setup/nested-agents.ts';
import { refusal } from './setup/sessions.ts';
import { stored, takesAnotherTurn } from './setup/states.ts';

const { toolCall, toolCalls, final } = ScenarioStep;

/** A root with agents nested three deep. The innermost one has a tool that needs approval. */
function deep(pay: Tool, resumed = false) {
  const inner = builder(
    'inner',
    resumed ? [final('inner done')] : [toolCall('pay', { amount: 5 }), final('inner done')],
    pay,
  ).build();
  const middle = builder(
    'middle',
    resumed ? [final('middle done')] : [toolCall('inner', ask), final('middle done')],
    asTool(inner, 'inner'),
  ).build();
  return builder(
    'root',
    resumed ? [final('root done')] : [toolCall('middle', ask), final('root done')],
    asTool(middle, 'middle'),
  ).build();
}

describe('approvals inside nested agents', () => {
  const payTool = () =>
    mockTool('pay', 'paid', {
      needsApproval: true,
      parameters: z.object({ amount: z.number().max(100) }),
    });

  it('D31: a pending approval three levels deep has its path, and resume() follows it', async () => {
    const pay = payTool();
    const events: AgentEvent[] = [];
    const agent = deep(pay);
    const paused = await agent.run('go', { wiretap: (e) => events.push(e) });
    expect(paused.status).toBe('paused');
    expect(paused.pause?.kind).toBe('approval');
    const [pending, ...rest] = paused.pendingApprovals;
    expect(rest).toEqual([]);
    expect(pending).toMatchObject({ tool: 'pay', args: { amount: 5 } });
    const middle = Object.values(paused.unfinishedStep!.children)[0]!;
    expect(pending!.path).toEqual([
      paused.unfinishedStep!.toolCalls[0]!.id,
      middle.unfinishedStep!.toolCalls[0]!.id,
    ]);
    // requested once, by the innermost agent
    const asked = events.filter((e) => e.type === 'ToolApprovalRequested');
    expect(asked).toHaveLength(1);
    expect(asked[0]?.parentAgentId).not.toBeNull();
    const state = await agent.resume(paused, { approvals: { [pending!.callId]: approve } });
    expect(pay.calls).toEqual([{ amount: 5 }]);
    expect(state).toMatchObject({ status: 'completed', output: 'root done' });
    expect(firstResult(state).value).toBe('middle done');
    // three agents with two model calls each
    expect(state.usage.total).toBe(15 * 6);
    await takesAnotherTurn(state);
  });

  it('D30: survive a JSON round trip into new agents, and nothing restarts', async () => {
    const pay = payTool();
    const paused = await deep(pay).run('go');
    const resumed = deep(pay, true);
    const again = await resumed.resume(stored(paused));
    expect(again.pendingApprovals).toEqual(paused.pendingApprovals);
    expect(again.usage).toEqual(paused.usage);
    const [pending] = again.pendingApprovals;
    const events: AgentEvent[] = [];
    const state = await resumed.resume(stored(again), {
      approvals: { [pending!.callId]: approve },
      wiretap: (e) => events.push(e),
    });
    expect(pay.calls).toHaveLength(1);
    expect(state).toMatchObject({ status: 'completed', output: 'root done' });
    expect(state.usage.total).toBe(15 * 6);
    expect(events.filter((e) => e.type === 'ToolApprovalRequested')).toEqual([]);
    const ids = new Set(events.flatMap((e) => (e.type === 'AgentStarted' ? [e.agentId] : [])));
    expect(ids.size).toBe(3);
    await takesAnotherTurn(state);
  });

  it('a denial reaches the agent that made the call', async () => {
    const pay = payTool();
    const paused = await deep(pay).run('go');
    const driver = DeterministicDriver.fromResponses('I was not allowed to pay.');
    const inner = AgentBuilder.base().withName('inner').withDriver(driver).withTools(pay).build();
    const middle = builder('middle', [final('middle done')], asTool(inner, 'inner')).build();
    const root = builder('root', [final('root done')], asTool(middle, 'middle')).build();
    const [pending] = paused.pendingApprovals;
    const state = await root.resume(stored(paused), {
      approvals: { [pending!.callId]: { deny: 'no' } },
    });
    expect(pay.calls).toEqual([]);
    expect(driver.requests[0]?.messages.last()?.text).toBe('Denied by a person: no');
    expect(state.output).toBe('root done');
  });

  it('edited arguments are validated in the nested agent before anything runs', async () => {
    const pay = payTool();
    const agent = deep(pay);
    const paused = await agent.run('go');
    const { callId } = paused.pendingApprovals[0]!;
    const error = await refusal(() =>
      agent.resume(paused, { approvals: { [callId]: { approve: true, args: { amount: 5000 } } } }),
    );
    expect(error.code).toBe('invalid_approval');
    expect(pay.calls).toEqual([]);
    const state = await agent.resume(paused, {
      approvals: { [callId]: { approve: true, args: { amount: 7 } } },
    });
    expect(pay.calls).toEqual([{ amount: 7 }]);
    expect(state.output).toBe('root done');
  });

  it('several nested agents wait at once and are answered one by one', async () => {
    const pay = payTool();
    const child = (name: string, script: readonly ScenarioStep[]) =>
      asTool(builder(name, script, pay).build(), name);
    const make = (fresh: boolean) => {
      const script = (n: number) =>
        fresh ? [toolCall('pay', { amount: n }), final(`done ${n}`)] : [final(`done ${n}`)];
      return builder(
        'root',
        fresh
          ? [toolCalls([{ name: 'a', args: ask }, { name: 'free' }, { name: 'b', args: ask }])]
          : [final('root done')],
        child('a', script(1)),
        child('b', script(2)),
        free,
      ).build();
    };
    const free = mockTool('free', 'ok');
    let state = await make(true).run('go');
    expect(state.pendingApprovals.map(({ args }) => args)).toEqual([{ amount: 1 }, { amount: 2 }]);
    const [first, second] = state.pendingApprovals;
    state = await make(false).resume(stored(state), { approvals: { [second!.callId]: approve } });
    expect(state.pendingApprovals).toEqual([first]);
    expect(state.currentStep?.results.map(({ value }) => value)).toEqual(['ok', 'done 2']);
    state = await make(false).resume(stored(state), { approvals: { [first!.callId]: approve } });
    expect(state.steps.at(0)!.results.map(({ value }) => value)).toEqual([
      'done 1',
      'ok',
      'done 2',
    ]);
    expect(pay.calls).toEqual([{ amount: 2 }, { amount: 1 }]);
    expect(free.calls).toHaveLength(1);
    expect(state.output).toBe('root done');
    await takesAnotherTurn(state);
  });

  it('a nested agent needs approval for itself, then for its own call', async () => {
    const pay = payTool();
    const child = builder('helper', [toolCall('pay', { amount: 1 }), final('helped')], pay).build();
    const root = builder(
      'root',
      [toolCall('help', ask), final('done')],
      child.asTool({ name: 'help', description: 'Helps.', needsApproval: true }),
    ).build();
    const first = await root.run('go');
    expect(first.pendingApprovals).toMatchObject([{ callId: 'call_1', tool: 'help', path: [] }]);
    const second = await root.resume(stored(first), { approvals: { call_1: approve } });
    expect(second.pendingApprovals).toMatchObject([{ tool: 'pay', path: ['call_1'] }]);
    const error = await refusal(() => root.resume(second, { approvals: { call_1: approve } }));
    expect(error.code).toBe('unknown_approval');
    const { callId } = second.pendingApprovals[0]!;
    const state = await root.resume(stored(second), { approvals: { [callId]: approve } });
    expect(pay.calls).toHaveLength(1);
    expect(state.output).toBe('done');
  });

  it.each<[string, (pay: Tool) => Tool, string, RegExp]>([
    [
      'renamed',
      (pay) => asTool(builder('assistant', [final('x')], pay).build()),
      'foreign_state',
      /belongs to agent "helper", and this is agent "assistant"/,
    ],
    [
      'removed',
      () => mockTool('other'),
      'not_resumable',
      /Agent "helper" waits inside call call_1 of "help".*agent "root" has no such agent.*other/,
    ],
    [
      'replaced by a plain tool',
      () => mockTool('help'),
      'not_resumable',
      /Agent "helper" waits inside call call_1/,
    ],
  ])(
    'D30: rejects resume() after the nested agent was %s, and loses nothing',
    async (_case, make, code, message) => {
      const pay = payTool();
      const child = builder('helper', [toolCall('pay', { amount: 1 })], pay).build();
      const paused = await rootOf(child).run('go');
      const { callId } = paused.pendingApprovals[0]!;
      const changed = builder('root', [final('done')], make(pay)).build();
      const error = await refusal(() =>
        changed.resume(stored(paused), { approvals: { [callId]: approve } }),
      );
      expect(error.code).toBe(code);
      expect(error.message).toMatch(message);
      expect(pay.calls).toEqual([]);
      // the original agent can still continue the run
      const restored = builder('helper', [final('helped')], pay).build();
      const root = builder('root', [final('done')], asTool(restored)).build();
      const state = await root.resume(stored(paused), { approvals: { [callId]: approve } });
      expect(state.output).toBe('done');
      expect(pay.calls).toHaveLength(1);
    },
  );

  it('stop(state) closes the call of the waiting nested agent', async () => {
    const agent = deep(payTool());
    const state = agent.stop(stored(await agent.run('go')));
    expect(state).toMatchObject({ status: 'stopped', stopReason: 'user_requested' });
    expect(firstResult(state)).toMatchObject({ kind: 'aborted' });
    await takesAnotherTurn(state);
  });

  it('requestPause in a nested agent pauses the root, and resume() continues the nested agent', async () => {
    const wait = mockTool('wait', (_args: unknown, c: { requestPause(r: string): void }) => {
      c.requestPause('later');
      return 'queued';
    });
    const make = (script: readonly ScenarioStep[], root: readonly ScenarioStep[]) =>
      builder('root', root, asTool(builder('helper', script, wait).build())).build();
    const paused = await make([toolCall('wait')], [toolCall('help', ask)]).run('go');
    expect(paused.status).toBe('paused');
    expect(paused.pause).toMatchObject({ kind: 'requested', pendingApprovals: [] });
    const state = await make([final('helped')], [final('done')]).resume(stored(paused));
    expect(wait.calls).toHaveLength(1);
    expect(firstResult(state).value).toBe('helped');
    expect(state.output).toBe('done');
    await takesAnotherTurn(state);
  });

  it('a tool call hook does not hide the pause from the parent', async () => {
    const pay = payTool();
    const child = builder('helper', [toolCall('pay', { amount: 1 }), final('helped')], pay).build();
    const root = builder('root', [toolCall('help', ask), final('done')], asTool(child))
      .withHooks({
        name: 'wrap',
        aroundToolCall: async (input, next) => ({ wrapped: await next(input) }),
      })
      .build();
    const paused = await root.run('go');
    expect(paused.status).toBe('paused');
    const { callId } = paused.pendingApprovals[0]!;
    const state = await root.resume(paused, { approvals: { [callId]: approve } });
    expect(firstResult(state).value).toEqual({ wrapped: 'helped' });
    expect(state.output).toBe('done');
  });
});
