import {
  AgentBuilder,
  AgentState,
  ErrorPolicy,
  type Agent,
  type AgentEvent,
  type Hook,
  type Tool,
} from 'onward';
import { DeterministicDriver, fakeClock, mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { refusal } from './setup/sessions.ts';
import { stored, takesAnotherTurn } from './setup/states.ts';

const { toolCall, toolCalls, final } = ScenarioStep;
const approve = { approve: true } as const;
const ask = { input: 'please' };

const builder = (name: string, steps: readonly ScenarioStep[], ...tools: readonly Tool[]) =>
  AgentBuilder.base()
    .withName(name)
    .withDriver(DeterministicDriver.fromSteps(...steps))
    .withTools(...tools);

const asTool = (agent: Agent, name = 'help'): Tool =>
  agent.asTool({ name, description: 'Helps with a task.' });

/** A root that calls `child` once and then answers. */
const rootOf = (child: Agent): Agent =>
  builder('root', [toolCall('help', ask), final('done')], asTool(child))
    .withErrorPolicy(ErrorPolicy.ignoreToolErrors())
    .build();

const firstResult = (state: AgentState) => state.steps.at(0)!.results[0]!;

describe('an agent as a tool', () => {
  it('gets the task as its first message, and its output is the result', async () => {
    const driver = DeterministicDriver.fromResponses('The answer is 42.');
    const child = AgentBuilder.base().withName('helper').withDriver(driver).build();
    const state = await rootOf(child).run('go');
    expect(driver.requests[0]?.messages.at(0)?.text).toBe('please');
    expect(firstResult(state)).toMatchObject({ kind: 'ok', value: 'The answer is 42.' });
    expect(state).toMatchObject({ status: 'completed', output: 'done' });
    await takesAnotherTurn(state);
  });

  it('tells the model to hand over the task in full, and refuses anything else', async () => {
    const driver = DeterministicDriver.fromSteps(toolCall('help', { task: 'x' }), final('done'));
    const child = builder('helper', []).build();
    const root = AgentBuilder.base()
      .withDriver(driver)
      .withTools(asTool(child))
      .withErrorPolicy(ErrorPolicy.ignoreToolErrors())
      .build();
    const state = await root.run('go');
    expect(driver.requests[0]?.tools[0]).toMatchObject({
      name: 'help',
      description: 'Helps with a task.',
      parameters: { required: ['input'], properties: { input: { type: 'string' } } },
    });
    expect(firstResult(state).error).toMatchObject({ type: 'validation', code: 'bad_arguments' });
  });

  it('with a response format returns the validated value', async () => {
    const child = builder('helper', [final('{"score":7}')])
      .withResponseFormat(z.object({ score: z.number() }))
      .build();
    const state = await rootOf(child).run('go');
    expect(firstResult(state).value).toEqual({ score: 7 });
    expect(state.messages.withRole('tool')[0]?.text).toBe('{"score":7}');
  });

  it('that was stopped returns its text with the reason, and is no error', async () => {
    const child = builder('helper', [toolCall('look', {}, 'So far: two lamps.')], mockTool('look'))
      .withMaxSteps(1)
      .build();
    const state = await rootOf(child).run('go');
    expect(firstResult(state)).toMatchObject({
      kind: 'ok',
      value: { stopped: 'steps_limit', text: 'So far: two lamps.' },
    });
    expect(state.steps.at(0)!.errors).toEqual([]);
    expect(state.output).toBe('done');
    await takesAnotherTurn(state);
  });

  it('that was stopped by its own tool returns so, and the parent goes on', async () => {
    const brake = mockTool('brake', (_args: unknown, c: { requestStop(r: string): void }) => {
      c.requestStop('enough');
      return 'ok';
    });
    const child = builder('helper', [toolCall('brake', {}, 'Stopping.')], brake).build();
    const state = await rootOf(child).run('go');
    expect(firstResult(state).value).toEqual({ stopped: 'guard', text: 'Stopping.' });
    expect(state).toMatchObject({ status: 'completed', output: 'done' });
  });

  it('that failed is a tool error that the policy of the parent judges', async () => {
    const child = builder('helper', [ScenarioStep.error('model is gone')]).build();
    const state = await rootOf(child).run('go');
    const { kind, error } = firstResult(state);
    expect(kind).toBe('error');
    expect(error).toMatchObject({ type: 'tool', code: 'tool_failed', toolName: 'help' });
    expect(error?.message).toMatch(/^The agent behind "help" failed: .*model is gone/);
    expect(state.output).toBe('done');
    const strict = builder(
      'root',
      [toolCall('help', ask)],
      asTool(builder('helper', [ScenarioStep.error('model is gone')]).build()),
    ).build();
    expect(await strict.run('go')).toMatchObject({ status: 'failed', stopReason: 'error' });
    await takesAnotherTurn(state);
  });

  it('runs beside other calls of the step, results in call order', async () => {
    const one = builder('one', [toolCall('look'), final('first')], mockTool('look')).build();
    const two = builder('two', [final('second')]).build();
    const root = builder(
      'root',
      [
        toolCalls([{ name: 'one', args: ask }, { name: 'plain' }, { name: 'two', args: ask }]),
        final('done'),
      ],
      asTool(one, 'one'),
      asTool(two, 'two'),
      mockTool('plain', 'third'),
    ).build();
    const state = await root.run('go');
    expect(state.steps.at(0)!.results.map(({ value }) => value)).toEqual([
      'first',
      'third',
      'second',
    ]);
    expect(state.usage.total).toBe(15 * 5);
    await takesAnotherTurn(state);
  });

  it('an oversize answer is cut like any result', async () => {
    const child = builder('helper', [final('x'.repeat(100))]).build();
    const root = builder(
      'root',
      [toolCall('help', ask), final('done')],
      child.asTool({ name: 'help', description: 'Helps.', maxResultChars: 10 }),
    ).build();
    const state = await root.run('go');
    expect(firstResult(state).value).toBe('xxxxxxxxxx… [cut: 10 of 100 characters shown]');
  });
});

describe('accounts', () => {
  it('usage and cost of the child count for the parent, once', async () => {
    const child = builder(
      'helper',
      [
        toolCall('look', {}, '', { usage: { input: 100, output: 10 }, cost: 0.5 }),
        final('helped', { usage: { input: 200, output: 20 }, cost: 0.25 }),
      ],
      mockTool('look'),
    ).build();
    const root = builder(
      'root',
      [
        toolCall('help', ask, '', { usage: { input: 1, output: 1 }, cost: 1 }),
        final('done', { usage: { input: 2, output: 2 }, cost: 2 }),
      ],
      asTool(child),
    ).build();
    const state = await root.run('go');
    expect(state.steps.at(0)!.usage).toMatchObject({ input: 301, output: 31, total: 332 });
    expect(state.steps.at(0)!.cost).toBe(1.75);
    expect(state.usage.total).toBe(336);
    expect(state.cost).toBe(3.75);
    expect(state.info.usage.total).toBe(336);
    expect(state.execution.stepCount).toBe(2);
  });

  it('a limit of the parent sees what the child used', async () => {
    const child = builder('helper', [final('helped', { usage: { total: 1000 } })]).build();
    const root = builder('root', [toolCall('help', ask)], asTool(child))
      .withMaxTokens(500)
      .build();
    const state = await root.run('go');
    expect(state).toMatchObject({ status: 'stopped', stopReason: 'token_limit' });
    expect(state.usage.total).toBe(1015);
    await takesAnotherTurn(state);
  });

  it('usage of a child that failed counts as well', async () => {
    const child = builder(
      'helper',
      [toolCall('look'), ScenarioStep.error('gone', { usage: { total: 7 } })],
      mockTool('look'),
    ).build();
    const state = await rootOf(child).run('go');
    expect(state.usage.total).toBe(15 + 15 + 7 + 15);
  });

  it('time counts once, through the step of the parent', async () => {
    const clock = fakeClock();
    const slow = (ms: number, step: ScenarioStep): ScenarioStep => ({
      ...step,
      extras: { delayMs: ms },
    });
    const timed = (name: string, steps: readonly ScenarioStep[], ...tools: readonly Tool[]) =>
      AgentBuilder.base()
        .withName(name)
        .withDriver(DeterministicDriver.create(steps, { clock }))
        .withTools(...tools)
        .withClock(clock);
    const child = timed(
      'helper',
      [slow(2000, toolCall('look')), slow(3000, final('helped'))],
      mockTool('look'),
    );
    const root = timed(
      'root',
      [slow(1000, toolCall('help', ask)), slow(500, final('done'))],
      asTool(child.build()),
    ).build();
    const running = root.run('go');
    await clock.advance(6500);
    const state = await running;
    expect(state.output).toBe('done');
    expect(state.steps.at(0)!.durationMs).toBe(6000);
    expect(firstResult(state).durationMs).toBe(5000);
    expect(state.execution.cumulativeSeconds).toBe(6.5);
  });

  it.each<[string, (b: AgentBuilder) => AgentBuilder]>([
    ['withTimeout', (b) => b.withTimeout({ seconds: 1 })],
    ['withCumulativeTimeout', (b) => b.withCumulativeTimeout({ seconds: 1 })],
    ['the timeout of tools', (b) => b],
  ])('the child has no timeout of its own: %s does not bind it', async (_case, limit) => {
    const clock = fakeClock();
    const delayed = (step: ScenarioStep): ScenarioStep => ({
      ...step,
      extras: { delayMs: 90_000 },
    });
    const child = limit(
      AgentBuilder.base()
        .withName('helper')
        .withDriver(
          DeterministicDriver.create([delayed(toolCall('look')), delayed(final('helped'))], {
            clock,
          }),
        )
        .withTools(mockTool('look'))
        .withClock(clock),
    ).build();
    const root = builder('root', [toolCall('help', ask), final('done')], asTool(child))
      .withClock(clock)
      .build();
    const running = root.run('go');
    await clock.advance(180_000);
    const state = await running;
    expect(firstResult(state)).toMatchObject({ kind: 'ok', value: 'helped' });
    expect(state.output).toBe('done');
  });

  it('the deadline of the root binds it', async () => {
    const clock = fakeClock();
    const child = builder('helper', [final('', { hangs: true })])
      .withClock(clock)
      .build();
    const root = builder('root', [toolCall('help', ask)], asTool(child))
      .withTimeout({ seconds: 10 })
      .withClock(clock)
      .build();
    const running = root.run('go');
    await clock.advance(10_000);
    const state = await running;
    expect(state).toMatchObject({ status: 'stopped', stopReason: 'time_limit' });
    expect(firstResult(state)).toMatchObject({ kind: 'timeout' });
    expect(clock.pendingTimers).toBe(0);
    await takesAnotherTurn(state);
  });
});

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

describe('bounds and misuse', () => {
  it('depth is bounded: the innermost is told to answer by itself', async () => {
    const started: string[] = [];
    let agent = builder('level 10', [final('bottom')]).build();
    for (let level = 9; level >= 0; level--)
      agent = builder(
        `level ${level}`,
        [toolCall('help', ask), final(`answer ${level}`)],
        asTool(agent),
      )
        .withErrorPolicy(ErrorPolicy.ignoreToolErrors())
        .build();
    const errors: string[] = [];
    const state = await agent.run('go', {
      wiretap: (e) => {
        if (e.type === 'AgentStarted') started.push(e.agentName);
        if (e.type === 'ToolCallCompleted' && e.error) errors.push(e.error);
      },
    });
    expect(started).toEqual(Array.from({ length: 8 }, (_, level) => `level ${level}`));
    expect(errors).toEqual(['Agents are nested deeper than 8. Let this one answer by itself.']);
    expect(state.output).toBe('answer 0');
    await takesAnotherTurn(state);
  });

  it('misuse inside the child rejects the run of the root', async () => {
    const child = builder('helper', [toolCall('look')], mockTool('look'))
      .withErrorPolicy(ErrorPolicy.retryAll())
      .build();
    const error = await refusal(() => rootOf(child).run('go'));
    expect(error.code).toBe('script_exhausted');
  });

  it.each<[string, object, RegExp]>([
    ['no name', { description: 'Helps.' }, /its name is undefined/],
    ['no description', { name: 'help' }, /help has no description/],
  ])('asTool without %s is refused', async (_case, options, message) => {
    const error = await refusal(() =>
      builder('helper', [])
        .build()
        .asTool(options as never),
    );
    expect(error.code).toBe('invalid_tool');
    expect(error.message).toMatch(message);
  });
});

describe('abort', () => {
  const around: Hook = { name: 'around', aroundToolCall: (input, next) => next(input) };

  it.each<[string, readonly Hook[]]>([
    ['without hooks', []],
    ['inside a hook', [around]],
  ])('while the child works, %s: sealed, and what it had used is counted', async (_case, hooks) => {
    const controller = new AbortController();
    const child = builder(
      'helper',
      [toolCall('look', {}, '', { usage: { total: 100 } }), final('', { hangs: true })],
      mockTool('look', () => {
        setTimeout(() => controller.abort('enough'), 5);
        return 'seen';
      }),
    ).build();
    const root = builder('root', [toolCall('help', ask)], asTool(child))
      .withHooks(...hooks)
      .build();
    const state = await root.run('go', { signal: controller.signal });
    expect(state).toMatchObject({ status: 'stopped', stopReason: 'user_requested' });
    expect(firstResult(state)).toMatchObject({ kind: 'aborted', value: 'Not finished: enough.' });
    expect(state.usage.total).toBe(115);
    await takesAnotherTurn(state);
  });
});

/** Three agents deep; the innermost has a tool that needs approval. */
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

  it('D31: depth 3 surfaces with a path, and resume goes back down it', async () => {
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
    // asked for once, by the agent that waits
    const asked = events.filter((e) => e.type === 'ToolApprovalRequested');
    expect(asked).toHaveLength(1);
    expect(asked[0]?.parentAgentId).not.toBeNull();
    const state = await agent.resume(paused, { approvals: { [pending!.callId]: approve } });
    expect(pay.calls).toEqual([{ amount: 5 }]);
    expect(state).toMatchObject({ status: 'completed', output: 'root done' });
    expect(firstResult(state).value).toBe('middle done');
    // three agents, two calls each
    expect(state.usage.total).toBe(15 * 6);
    await takesAnotherTurn(state);
  });

  it('D30: survives a JSON round trip into fresh agents, and nothing restarts', async () => {
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

  it('a denial reaches the agent that asked', async () => {
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

  it('edited arguments are checked down there, before anything runs', async () => {
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

  it('several children wait at once, and are answered one by one', async () => {
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

  it('a child that itself needs approval, and then asks for one', async () => {
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
      'gone',
      () => mockTool('other'),
      'not_resumable',
      /Agent "helper" waits inside call call_1 of "help".*agent "root" has no such agent.*other/,
    ],
    [
      'a plain tool now',
      () => mockTool('help'),
      'not_resumable',
      /Agent "helper" waits inside call call_1/,
    ],
  ])(
    'D30: an agent that is %s is refused, and nothing is dropped',
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
      // the agent as it was still takes it up
      const restored = builder('helper', [final('helped')], pay).build();
      const root = builder('root', [final('done')], asTool(restored)).build();
      const state = await root.resume(stored(paused), { approvals: { [callId]: approve } });
      expect(state.output).toBe('done');
      expect(pay.calls).toHaveLength(1);
    },
  );

  it('stop(state) seals the call that the child waits in', async () => {
    const agent = deep(payTool());
    const state = agent.stop(stored(await agent.run('go')));
    expect(state).toMatchObject({ status: 'stopped', stopReason: 'user_requested' });
    expect(firstResult(state)).toMatchObject({ kind: 'aborted' });
    await takesAnotherTurn(state);
  });

  it('requestPause in a child pauses the root, and resume goes on in the child', async () => {
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

  it('a hook around the call does not come between the pause and the parent', async () => {
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
