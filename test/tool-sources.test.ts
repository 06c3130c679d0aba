import {
  AgentBuilder,
  AgentState,
  createAgent,
  defineCapability,
  defineTool,
  ErrorPolicy,
  SessionRuntime,
  type AgentEvent,
  type AnyTool,
} from 'onward';
import { memoryStore } from 'onward/stores/memory';
import { DeterministicDriver, mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import type { ToolList, ToolSourceContext } from '../src/tools/tool-source.ts';

const { toolCall, final } = ScenarioStep;
const quick = ErrorPolicy.retryAll().withBackoff({ initialMs: 1, maxMs: 1 });

const source = (load: (context: ToolSourceContext) => ToolList | Promise<ToolList>) => ({
  name: 'warehouse',
  tools: load,
});
const agentOf = (
  steps: readonly ScenarioStep[],
  load: (context: ToolSourceContext) => ToolList | Promise<ToolList>,
) => {
  const model = DeterministicDriver.fromSteps(...steps);
  const agent = createAgent({
    model,
    capabilities: [source(load)],
    errorPolicy: quick,
  });
  return { model, agent };
};
const pay = (description = 'Pays.', parameters: object = { type: 'object' }): AnyTool =>
  mockTool('pay', 'paid', { description, parameters: parameters as never, needsApproval: true });
const names = (events: readonly AgentEvent[]) =>
  events.flatMap((event) =>
    event.type === 'ToolsChanged'
      ? [[event.stepNumber, event.added, event.removed, event.changed, event.unavailable]]
      : [],
  );

describe('a tool source', () => {
  it('is asked before each step, and a changed list is offered from the next step on', async () => {
    const lists: ToolList[] = [
      { tools: [mockTool('scan', 'ok')] },
      { tools: [mockTool('scan', 'ok', { description: 'Scans all.' }), mockTool('count', 7)] },
      { tools: [] },
    ];
    let asked = 0;
    const events: AgentEvent[] = [];
    const { agent, model } = agentOf(
      [toolCall('scan', {}), toolCall('count', {}), toolCall('count', {}), final('done')],
      () => lists[Math.min(asked++, 2)]!,
    );
    const state = await agent.run('go', { wiretap: (event) => void events.push(event) });
    expect(model.requests.map(({ tools }) => tools.map(({ name }) => name))).toEqual([
      ['scan'],
      ['scan', 'count'],
      [],
      [],
    ]);
    expect(names(events)).toEqual([
      [2, ['count'], [], ['scan'], []],
      [3, [], ['scan', 'count'], [], []],
    ]);
    expect([...state.steps].map(({ notes }) => notes)).toEqual([
      [],
      ['toolsChanged'],
      ['toolsChanged'],
      [],
    ]);
    // the third call was not offered any more: it did not run
    expect(state.steps.at(2)?.results[0]?.error).toMatchObject({
      type: 'validation',
      code: 'unknown_tool',
    });
  });

  it('gets the owner, the dependencies and a signal; the same object costs no new request', async () => {
    const seen: unknown[] = [];
    const list: ToolList = { tools: [mockTool('scan', 'ok')] };
    const capability = defineCapability({
      name: 'w',
      tools: ({ owner, deps, signal }: ToolSourceContext<{ key: string }>) => {
        seen.push([owner, deps.key, signal.aborted]);
        return list;
      },
    });
    const model = DeterministicDriver.fromSteps(toolCall('scan', {}), final('done'));
    const agent = createAgent({ model, capabilities: [capability] });
    await agent.run('go', { owner: 'ann', deps: { key: 'k' } });
    expect(seen).toEqual([
      ['ann', 'k', false],
      ['ann', 'k', false],
    ]);
    expect(model.requests[0]?.tools).toBe(model.requests[1]?.tools);
    // @ts-expect-error the source needs deps
    agent.run('go').catch(() => {});
  });

  it('that lacks tools is noted on the step, and one that throws fails it with the policy of the agent', async () => {
    const events: AgentEvent[] = [];
    const partly = agentOf([final('done')], () => ({ tools: [], unavailable: 'no answer' }));
    const state = await partly.agent.run('go', { wiretap: (event) => void events.push(event) });
    expect(state.steps.at(0)?.notes).toEqual(['toolsMissing:warehouse']);
    expect(names(events)).toEqual([
      [1, [], [], [], [{ source: 'warehouse', reason: 'no answer' }]],
    ]);

    let tries = 0;
    const agent = createAgent({
      model: DeterministicDriver.fromSteps(final('done')),
      capabilities: [
        source(() => {
          if (tries++ === 0) throw new Error('the key sk-live-abcdefghijklmnop is refused');
          return { tools: [] };
        }),
      ],
      errorPolicy: quick,
    });
    const retried = await agent.run('go');
    expect(retried.status).toBe('completed');
    expect(retried.steps.at(0)?.errors[0]).toMatchObject({ code: 'tools_unavailable' });
    expect(JSON.stringify(retried)).not.toContain('abcdefghijklmnop');
  });

  it('does not delay an abort', async () => {
    const { agent } = agentOf([final('done')], () => new Promise(() => {}));
    const abort = new AbortController();
    const running = agent.run('go', { signal: abort.signal });
    abort.abort('enough');
    expect((await running).stopReason).toBe('user_requested');
  });

  it('never replaces a tool of the agent, and activeTools select among what it has', async () => {
    const own = mockTool('pay', 'mine');
    const model = DeterministicDriver.fromSteps(toolCall('pay', {}), final('done'));
    const agent = createAgent({
      model,
      tools: [own],
      capabilities: [source(() => ({ tools: [mockTool('pay', 'theirs'), mockTool('scan', 1)] }))],
    });
    await agent.run('go', { activeTools: ['pay', 'not there yet'] });
    expect(own.calls).toHaveLength(1);
    expect(model.requests[0]?.tools.map(({ name }) => name)).toEqual(['pay']);
  });

  it('refuses what is not a tool list and describes itself', async () => {
    const { agent } = agentOf([final('x')], () => [] as never);
    expect((await agent.run('go')).status).toBe('failed');
    const { agent: wrong } = agentOf([final('x')], () => ({ tools: [{ name: 'x' } as never] }));
    expect((await wrong.run('go')).steps.at(0)?.errors[0]?.message).toContain(
      'as a tool, expected',
    );

    expect(agent.describe().toolSources).toEqual(['warehouse']);
    expect(() =>
      createAgent({
        model: DeterministicDriver.fromResponses('x'),
        capabilities: [{ name: 'w', tools: 'all' as never }],
      }),
    ).toThrow('capabilities "w" tools got "all", expected a list');
  });
});

describe('approvals of sourced tools', () => {
  const schema = {
    type: 'object',
    properties: { amount: { type: 'number' } },
    required: ['amount'],
    additionalProperties: false,
  };
  const paused = async (tool: AnyTool) => {
    const { agent } = agentOf([toolCall('pay', { amount: 5 })], () => ({ tools: [tool] }));
    return AgentState.from(JSON.parse(JSON.stringify(await agent.run('go'))));
  };

  it('D75: resume in another process, and edits are checked without the source', async () => {
    const state = await paused(pay('Pays.', schema));
    expect(state.status).toBe('paused');
    let asked = 0;
    const { agent } = agentOf([final('done')], () => (asked++, { tools: [pay('Pays.', schema)] }));
    await expect(
      agent.resume(state, { approvals: { call_1: { approve: true, args: { amount: 'all' } } } }),
    ).rejects.toMatchObject({ code: 'invalid_approval' });
    expect(asked).toBe(0);
    const done = await agent.resume(state, {
      approvals: { call_1: { approve: true, args: { amount: 7 } } },
    });
    expect(done.steps.at(0)?.results[0]).toMatchObject({ kind: 'ok', value: 'paid' });
  });

  it('do not run a tool whose definition changed meanwhile', async () => {
    const state = await paused(pay('Pays.', schema));
    for (const changed of [pay('Pays everyone.', schema), pay('Pays.', { type: 'object' })]) {
      const { agent } = agentOf([final('done')], () => ({ tools: [changed] }));
      const done = await agent.resume(state, { approvals: { call_1: { approve: true } } });
      expect(done.steps.at(0)?.results[0]).toMatchObject({
        kind: 'blocked',
        value: expect.stringContaining('"pay" has changed'),
        approval: { decision: 'approved' },
      });
      expect((changed as ReturnType<typeof mockTool>).calls).toEqual([]);
    }
  });

  it('stay open while the source cannot be reached, and run when it is back', async () => {
    const state = await paused(pay('Pays.', schema));
    const { agent } = agentOf([final('done')], () => ({ tools: [], unavailable: 'down' }));
    const again = await agent.resume(state);
    expect([again.status, again.pendingApprovals.length]).toEqual(['paused', 1]);
    const approvals = { call_1: { approve: true } } as const;
    await expect(agent.resume(again, { approvals })).rejects.toMatchObject({
      code: 'tools_unavailable',
      message:
        'The answered call of "pay" cannot run now: the tools of "warehouse" are not available (down). The call stays open. Continue the run when they are.',
    });
    let tries = 0;
    const { agent: back } = agentOf([final('done')], () =>
      ++tries < 3 ? { tools: [], unavailable: 'down' } : { tools: [pay('Pays.', schema)] },
    );
    const done = await back.resume(again, { approvals });
    expect(done.steps.at(0)?.results[0]).toMatchObject({ kind: 'ok', value: 'paid' });
    const denied = await agent.resume(again, { approvals: { call_1: { deny: 'no' } } });
    expect(denied.steps.at(0)?.results[0]?.kind).toBe('denied');
  });

  it('of a tool that its source has no more get a typed result', async () => {
    const state = await paused(pay('Pays.', schema));
    const { agent } = agentOf([final('done')], () => ({ tools: [] }));
    const done = await agent.resume(state, { approvals: { call_1: { approve: true } } });
    expect(done.steps.at(0)?.results[0]?.error).toMatchObject({
      type: 'tool',
      code: 'tool_unavailable',
      message:
        'The tool "pay" cannot be reached, so the call was not run. Call it again when it is available.',
    });
  });
});

describe('a source in a session', () => {
  it('gets the owner of the session, and is closed with the last runtime that has the agent', async () => {
    const owners: (string | null)[] = [];
    let closed = 0;
    const agent = AgentBuilder.base()
      .withModel(DeterministicDriver.fromResponses('a', 'b'))
      .withCapability({
        name: 'w',
        tools: ({ owner }) => (owners.push(owner), { tools: [] }),
        close: async () => void closed++,
      })
      .build();
    const runtimes = [1, 2].map(
      () => new SessionRuntime({ store: memoryStore(), agents: [agent] }),
    );
    for (const [i, runtime] of runtimes.entries()) {
      const session = await runtime.create({ owner: `owner-${i}` });
      await session.send('hi', { wait: true });
    }
    expect(owners).toEqual(['owner-0', 'owner-1']);
    await runtimes[0]?.close();
    expect(closed).toBe(0);
    await runtimes[1]?.close();
    await runtimes[1]?.close();
    expect(closed).toBe(1);
    await agent.close();
    expect(closed).toBe(2);
  });

  it('closes with the agent also what nested agents hold', async () => {
    let closed = 0;
    const inner = AgentBuilder.base()
      .withModel(DeterministicDriver.fromResponses('a'))
      .withCapability({ name: 'w', close: async () => void closed++ })
      .build();
    const outer = createAgent({
      model: DeterministicDriver.fromResponses('a'),
      tools: [inner.asTool({ name: 'ask', description: 'Asks.' })],
    });
    await outer.close();
    expect(closed).toBe(1);
  });
});

describe('ctx.progress', () => {
  it('is an event of the run, without secrets, and a nested agent reports to its parent', async () => {
    const scan = defineTool({
      name: 'scan',
      description: 'Scans.',
      execute: (_args, { progress }) => progress({ message: 'with key sk-live-abcdefghijklmnop' }),
    });
    const inner = createAgent({
      model: DeterministicDriver.fromSteps(toolCall('scan', {}), final('done')),
      tools: [scan],
    });
    const outer = createAgent({
      model: DeterministicDriver.fromSteps(toolCall('ask', { input: 'x' }), final('done')),
      tools: [inner.asTool({ name: 'ask', description: 'Asks.' })],
    });
    const events: AgentEvent[] = [];
    await outer.run('go', { wiretap: (event) => void events.push(event) });
    const reports = events.filter(({ type }) => type === 'ToolProgress');
    expect(reports).toMatchObject([{ tool: 'scan', message: expect.stringContaining('with key') }]);
    expect(JSON.stringify(reports)).not.toContain('abcdefghijklmnop');
  });
});
