import {
  AgentBuilder,
  AgentState,
  createAgent,
  SlimAgentStateSerializer,
  SlimSerializationConfig,
} from 'onward';
import type { InferenceDriver, InferenceChunk } from 'onward/drivers';
import { DeterministicDriver, mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { approve } from './setup/approvals.ts';
import { asTool, listening, member, Meter, type Spoken } from './setup/families.ts';
import { refusal } from './setup/sessions.ts';
import { stored } from './setup/states.ts';

const look = mockTool('look', 'seen');
const works = (tokens: number) => (): Spoken => ({ call: 'look', text: 'So far.', tokens });
const alwaysAsks = (): Spoken => ({ call: 'help', tokens: 10 });

describe('family totals over pauses and grants', () => {
  const payThenWork = (answers: number): Spoken =>
    answers === 0 ? { call: 'pay', tokens: 500 } : { call: 'look', text: 'So far.', tokens: 500 };
  const make = (meter: Meter, maxTokens = 3000) => {
    const pay = mockTool('pay', 'paid', { needsApproval: true });
    const child = member('helper', meter, payThenWork, look, pay).build();
    const middle = member('middle', meter, alwaysAsks, asTool(child, 'help')).build();
    const speak = (n: number): Spoken =>
      n === 0 ? { call: 'ask', times: 3, tokens: 10 } : { text: 'done', tokens: 10 };
    return member('root', meter, speak, asTool(middle, 'ask')).withMaxTokens(maxTokens).build();
  };

  it.each<[string, (state: AgentState) => AgentState]>([
    ['in memory', (state) => state],
    ['through JSON', stored],
    [
      'through the slim serializer',
      (state) => {
        const slim = new SlimAgentStateSerializer(SlimSerializationConfig.full());
        return slim.deserialize(JSON.parse(JSON.stringify(slim.serialize(state))));
      },
    ],
  ])('waiting agents are counted once, %s', async (_case, kept) => {
    const meter = new Meter();
    let state = await make(meter).run('go');
    expect(state.pendingApprovals).toHaveLength(3);
    expect(state.usage.total).toBe(10 + 3 * (10 + 500));
    for (let left = 3; left > 0; left--) {
      expect(state.status).toBe('paused');
      const [first] = state.pendingApprovals;
      state = await make(meter).resume(kept(state), { approvals: { [first!.callId]: approve } });
      expect(state.usage.total).toBe(meter.spent);
    }
    // the first agent used up the rest, so the others made no call
    expect(meter.spent).toBe(10 + 3 * (10 + 500) + 3 * 500);
    expect(state).toMatchObject({ status: 'stopped', stopReason: 'token_limit' });
    expect(state.execution.family).toEqual([
      { agent: 'middle', steps: 3, tokens: 30, cost: null },
      { agent: 'helper', steps: 6, tokens: 3000, cost: null },
    ]);
    expect(state.lastContinuationOutcome?.decisive).toMatchObject({
      criterion: 'TokenUsageLimit',
      reason:
        '3040 of 3000 tokens used while work is still pending, 3000 of them by helper and 30 by middle',
      context: {
        used: 3040,
        limit: 3000,
        spenders: [
          { agent: 'helper', amount: 3000 },
          { agent: 'middle', amount: 30 },
        ],
      },
      remedy: { grant: { tokens: 3040 } },
    });
  });

  it('a grant to the root extends the budget of all agents', async () => {
    const meter = new Meter();
    const child = member('helper', meter, works(100), look).build();
    const make = () =>
      member('root', meter, alwaysAsks, asTool(child, 'help')).withMaxTokens(300).build();
    const stopped = await make().run('go');
    expect(stopped.usage.total).toBe(310);
    const state = await make().resume(stored(stopped), { grant: { tokens: 500 } });
    // one more root call, then the helper up to 800 tokens in total
    expect(state.usage.total).toBe(310 + 10 + 500);
    expect(state.stopReason).toBe('token_limit');
    expect(state.execution.family).toEqual([
      { agent: 'helper', steps: 8, tokens: 800, cost: null },
    ]);
  });

  it('a grant with an approval extends the budget of the approved call', async () => {
    const meter = new Meter();
    const paused = await make(meter, 1600).run('go');
    const [first] = paused.pendingApprovals;
    const state = await make(meter, 1600).resume(stored(paused), {
      approvals: { [first!.callId]: approve },
      grant: { tokens: 1000 },
    });
    expect(state.status).toBe('paused');
    expect(meter.spent).toBe(1540 + 3 * 500);
  });

  it('a new turn starts with nothing used', async () => {
    const meter = new Meter();
    const child = member('helper', meter, works(100), look).build();
    const root = member('root', meter, alwaysAsks, asTool(child, 'help'))
      .withMaxTokens(300)
      .build();
    const first = await root.run('go');
    const second = await root.run(first.withUserMessage('again'));
    expect(second.usage.total).toBe(310);
    expect(second.execution.family).toEqual([
      { agent: 'helper', steps: 3, tokens: 300, cost: null },
    ]);
    expect(second.info.usage.total).toBe(620);
  });

  it('stop() counts the usage that nested agents recorded before their process died', async () => {
    const meter = new Meter();
    const agent = make(meter);
    const paused = JSON.parse(JSON.stringify(await agent.run('go')));
    // simulates a store that holds only the totals of the nested agents
    for (const total of [paused.execution, paused.info, paused.unfinishedStep]) {
      total.usage = { input: 10, output: 0, total: 10, cachedInput: 0, reasoning: 0 };
      delete total.family;
    }
    const nothing = {
      usage: { input: 0, output: 0, total: 0, cachedInput: 0, reasoning: 0 },
      cost: 0,
    };
    const ids = Object.keys(paused.unfinishedStep.children);
    paused.unfinishedStep.childAccounts = Object.fromEntries(ids.map((id) => [id, nothing]));
    const inner = paused.unfinishedStep.children[ids[0]!];
    const [innerId] = Object.keys(inner.unfinishedStep.children);
    inner.execution.usage = { ...inner.execution.usage, input: 10, total: 10 };
    delete inner.execution.family;
    inner.unfinishedStep.childAccounts = { [innerId!]: nothing };

    const stopped = agent.stop(paused);
    expect(stopped.usage.total).toBe(meter.spent);
    expect(stopped.info.usage.total).toBe(meter.spent);
    expect(stopped.execution.family).toEqual([
      { agent: 'middle', steps: 0, tokens: 30, cost: null },
      { agent: 'helper', steps: 0, tokens: 1500, cost: null },
    ]);

    // a resumed run counts it too
    const callId = paused.pause.pendingApprovals[0].callId as string;
    const state = await agent.resume(paused, { approvals: { [callId]: approve } });
    expect(meter.spent).toBe(10 + 3 * (10 + 500) + 3 * 500);
    expect(state.status).toBe('paused');
  });

  it('names the three largest consumers and sums up the others', async () => {
    const meter = new Meter();
    const names = ['a', 'b', 'c', 'd', 'e'];
    const tools = names.map((name, i) =>
      asTool(member(name, meter, () => ({ text: name, tokens: 100 * (i + 1) })).build(), name),
    );
    const speak = (n: number): Spoken => ({ call: names[n] ?? 'a', tokens: 1 });
    const root = member('root', meter, speak, ...tools)
      .withMaxTokens(1500)
      .build();
    const state = await root.run('go');
    expect(state.lastContinuationOutcome?.decisive?.reason).toBe(
      '1505 of 1500 tokens used while work is still pending, 500 of them by e, 400 by d, 300 by c and 300 by others',
    );
  });

  it('rejects a state with an invalid family list', async () => {
    const state = AgentState.empty().with({});
    const json = JSON.parse(JSON.stringify(state));
    json.execution.family = [{ agent: 'a', steps: 'many', tokens: 1, cost: null }];
    const error = await refusal(() => AgentState.from(json));
    expect(error.message).toContain('execution.family[0].steps is "many"');
  });
});

describe('family step limit', () => {
  const child = () => member('helper', new Meter(), works(1), look).build();

  it.each<[string, (b: AgentBuilder) => AgentBuilder, number | undefined]>([
    ['none without nested agents', (b) => b.withTools(look), undefined],
    ['5 × 20 by default', (b) => b.withTools(asTool(child(), 'help')), 100],
    ['5 × maxSteps', (b) => b.withTools(asTool(child(), 'help')).withMaxSteps(3), 15],
    ['set explicitly', (b) => b.withMaxFamilySteps(7).withTools(asTool(child(), 'help')), 7],
    [
      'with a nested agent from a capability',
      (b) => b.withCapability({ name: 'c', tools: [asTool(child(), 'help')] }),
      100,
    ],
  ])('limit: %s', (_case, change, limit) => {
    const agent = change(
      AgentBuilder.base().withDriver(DeterministicDriver.fromResponses()),
    ).build();
    expect(agent.describe().limits['FamilyStepsLimit']).toBe(limit);
  });

  it('there is no family limit without a step limit, or when it is null', () => {
    const driver = DeterministicDriver.fromResponses();
    const tools = [asTool(child(), 'help')];
    const free = AgentBuilder.new()
      .withDriver(driver)
      .withTools(...tools)
      .build();
    expect(free.describe().criteria).not.toContain('FamilyStepsLimit');
    const agent = createAgent({ driver, tools, maxFamilySteps: null });
    expect(agent.describe().limits).toEqual({ StepsLimit: 20, ExecutionTimeLimit: 300 });
    expect(createAgent({ driver, tools, maxFamilySteps: 9 }).describe().limits).toMatchObject({
      FamilyStepsLimit: 9,
    });
  });

  it.each([0, -1, 2.5, Number.NaN, '7'])('rejects withMaxFamilySteps(%s)', async (value) => {
    const error = await refusal(() => AgentBuilder.base().withMaxFamilySteps(value as number));
    expect(error.code).toBe('invalid_option');
    expect(error.message).toContain('withMaxFamilySteps');
  });

  it('StepsLimit counts own steps, FamilyStepsLimit counts all, and one grant raises both', async () => {
    const meter = new Meter();
    const helper = member('helper', meter, works(1), look).withMaxSteps(3).build();
    const root = member('root', meter, alwaysAsks, asTool(helper, 'help'))
      .withMaxSteps(5)
      .withMaxFamilySteps(10)
      .build();
    const stopped = await root.run('go');
    expect(stopped).toMatchObject({ stopReason: 'steps_limit', stepCount: 3 });
    expect(meter.calls).toBe(10);
    const outcome = stopped.lastContinuationOutcome;
    expect(outcome?.evaluationFor('StepsLimit')?.reason).toBe('3 of 5 steps');
    expect(outcome?.decisive).toMatchObject({
      criterion: 'FamilyStepsLimit',
      reason: '10 of 10 steps of all agents used while work is still pending, 7 of them by helper',
      remedy: { grant: { steps: 10 }, option: 'withMaxFamilySteps(...)' },
    });
    const error = await refusal(() => root.resume(stopped));
    expect(error.code).toBe('not_resumable');
    const state = await root.resume(stored(stopped), { grant: { steps: 4 } });
    expect(meter.calls).toBe(14);
    expect(state).toMatchObject({ stopReason: 'steps_limit', stepCount: 4 });
  });

  it('parallel nested agents never exceed it', async () => {
    const meter = new Meter();
    const received = listening();
    const helper = member('helper', meter, () => ({ ...works(1)(), delayMs: 1 }), look).build();
    const speak = (): Spoken => ({ call: 'help', times: 8, tokens: 1 });
    const root = member('root', meter, speak, asTool(helper, 'help'))
      .withMaxFamilySteps(20)
      .build();
    const state = await root.run('go', { wiretap: received.wiretap });
    expect(meter.calls).toBe(20);
    expect(meter.mostInFlight).toBe(8);
    expect(state.stopReason).toBe('steps_limit');
    expect(received.ends).toHaveLength(8);
    for (const { decisive } of received.ends)
      expect(decisive).toMatchObject({
        criterion: 'FamilyStepsLimit',
        stopReason: 'steps_limit',
        context: { used: 20, limit: 20, scope: 'family', agent: 'root' },
      });
  });
});

describe('usage that is reported late', () => {
  const { toolCall, final } = ScenarioStep;
  const driverOf = (chunks: () => AsyncIterable<InferenceChunk>): InferenceDriver => ({
    name: 'late',
    infer: () => Promise.reject(new Error('not streamed')),
    stream: chunks,
  });

  it.each<[string, { readonly total: number } | null]>([
    ['with the last chunk', { total: 700 }],
    ['in a separate chunk', null],
  ])('%s of a stream counts toward the limit', async (_case, usage) => {
    let calls = 0;
    async function* chunks(): AsyncIterable<InferenceChunk> {
      calls += 1;
      yield { type: 'content', text: 'So' };
      if (usage === null) yield { type: 'usage', usage: { total: 700 } };
      const asked = { id: `late${calls}`, name: 'look', args: {} };
      const response = { content: 'So', toolCalls: [asked], finishReason: 'tool_calls', usage };
      yield { type: 'done', response };
    }
    const child = AgentBuilder.base()
      .withName('helper')
      .withDriver(driverOf(chunks))
      .withTools(look)
      .build();
    const root = AgentBuilder.base()
      .withName('root')
      .withDriver(DeterministicDriver.fromSteps(toolCall('help', { input: 'x' }), final('done')))
      .withTools(asTool(child, 'help'))
      .withMaxTokens(1000)
      .build();
    const state = await root.run('go', { wiretap: () => {} });
    expect(calls).toBe(2);
    expect(state.usage.total).toBe(15 + 1400);
    expect(state.stopReason).toBe('token_limit');
  });
});
