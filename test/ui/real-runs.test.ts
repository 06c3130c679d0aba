import { describe, expect, it } from 'vitest';
import { AgentBuilder, ErrorPolicy, SessionRuntime, type Agent } from 'onward';
import {
  AgentEventEnvelopeAdapter,
  BroadcastConfig,
  broadcastSessions,
  channelOf,
  memoryBroadcaster,
  readRefill,
  type Envelope,
} from 'onward/broadcasting';
import { memoryStore } from 'onward/stores/memory';
import { DeterministicDriver, mockTool, ScenarioStep } from 'onward/testing';
import {
  newUiState,
  reconcile,
  reduceEnvelope,
  reduceRefill,
  stopText,
  toUiMessages,
  withUserMessage,
  type UiState,
} from 'onward/ui';

const reduceAll = (envelopes: readonly Envelope[], state: UiState = newUiState()): UiState =>
  envelopes.reduce(reduceEnvelope, state);
const show = ({ messages }: UiState): string[] =>
  messages.map(
    ({ role, content, metadata: { tool_calls: calls, tool_error: error } }) =>
      `${role}: ${content}${calls ? ` [${calls.map(({ name, args_summary: a }) => `${name} ${a}`).join(', ')}]` : ''}${error === undefined ? '' : ` (${error})`}`,
  );

/** Runs an agent and returns its envelopes. */
async function reported(agent: Agent, input: string, config?: BroadcastConfig) {
  const broadcaster = memoryBroadcaster();
  const adapter = new AgentEventEnvelopeAdapter({
    broadcaster,
    sessionId: 's1',
    executionId: 'x1',
    ...(config && { config }),
  });
  const state = await agent.run(input, { executionId: 'x1', wiretap: adapter.wiretap() });
  await adapter.close();
  return { state, envelopes: broadcaster.envelopes(channelOf('s1')) };
}

/** Returns the visible messages after each change. */
function film(envelopes: readonly Envelope[]): string[][] {
  const scenes: string[][] = [];
  let state = newUiState();
  for (const envelope of envelopes) {
    state = reduceEnvelope(state, envelope);
    const scene = show(state);
    if (JSON.stringify(scene) !== JSON.stringify(scenes.at(-1))) scenes.push(scene);
  }
  return scenes;
}

const shop = (...steps: ScenarioStep[]): Agent =>
  AgentBuilder.base()
    .withName('shop')
    .withModel(DeterministicDriver.fromSteps(...steps))
    .withTools(mockTool('stock', { pieces: 7 }))
    .withMaxSteps(3)
    .withErrorPolicy(ErrorPolicy.retryAll().withBackoff({ initialMs: 1, maxMs: 1 }))
    .build();

describe('the state of a real run', () => {
  it('D66: shows a call that is written, runs and completes, and then the text', async () => {
    const agent = shop(
      ScenarioStep.toolCall('stock', { article: 'lamp' }),
      ScenarioStep.stream(['We have ', '7 lamps.']),
    );
    const { envelopes } = await reported(agent, 'Lamps?');
    const user = 'user: Lamps?';
    const called = 'assistant:  [stock {"article":"lamp"}]';
    const found = 'tool: {"pieces":7}';
    expect(film(envelopes)).toEqual([
      ['status: Thinking…'],
      [user, 'status: Thinking…'],
      [user, 'assistant:  [stock {]', 'status: Thinking…'],
      [user, called, 'status: Thinking…'],
      [user, called, 'status: Running stock…'],
      [user, called, found, 'status: stock has answered.'],
      [user, called, found, 'status: Thinking…'],
      [user, called, found, 'assistant: We have '],
      [user, called, found, 'assistant: We have 7 lamps.'],
    ]);
    const state = reduceAll(envelopes);
    expect(state).toMatchObject({
      status: 'completed',
      stepCount: 2,
      gap: null,
      usage: { input: 20, output: 10, total: 30 },
    });
    expect(reduceAll(envelopes, state)).toBe(state);
  });

  it('removes discarded text and shows the retry once', async () => {
    const agent = shop(
      ScenarioStep.error({ type: 'rate_limit', message: 'slow down' }, { chunks: ['Let me'] }),
      ScenarioStep.stream(['All ', 'good.']),
    );
    const { envelopes } = await reported(agent, 'How are we doing?');
    const scenes = film(envelopes).map((scene) => scene.filter((line) => !line.startsWith('st')));
    expect(scenes).toContainEqual(['user: How are we doing?', 'assistant: Let me']);
    expect(scenes.at(-1)).toEqual(['user: How are we doing?', 'assistant: All good.']);
    expect(scenes.flat().filter((line) => line.includes('Let meAll'))).toEqual([]);
  });

  it.each([
    ['minimal', BroadcastConfig.minimal()],
    ['standard', BroadcastConfig.standard()],
    ['debug', BroadcastConfig.debug()],
    ['tools without steps', new BroadcastConfig({ includeSteps: false })],
  ])('D02: explains a limit and the option to raise (%s)', async (_name, config) => {
    const call = ScenarioStep.toolCall('stock', { article: 'lamp' });
    const { envelopes } = await reported(shop(call, call, call), 'Lamps?', config);
    const state = reduceAll(envelopes);
    expect(state).toMatchObject({ status: 'stopped', stepCount: 3, gap: null });
    const line = state.messages.at(-1);
    expect(line).toMatchObject({ role: 'status', metadata: { status_type: 'continuation' } });
    expect(line?.content).toContain('3 of 3 steps');
    expect(line?.content).toContain('withMaxSteps(...)');
    const alone = envelopes.filter(({ type }) => type === 'agent.status').slice(-1);
    expect(show(reduceAll(alone))).toEqual([`status: ${line?.content}`]);
    expect(state.stop && stopText(state.stop)).toEqual({
      title: 'Stopped because it used 3 of 3 steps before the model read a tool result.',
      reason: '',
      remedy: 'To continue, add 3 steps. Option: withMaxSteps(...).',
    });
    const calls = show(state).filter((shown) => shown.startsWith('assistant'));
    expect(calls).toHaveLength(_name === 'minimal' ? 0 : 3);
  });

  it('marks a failed tool, and keeps the error of a failed run', async () => {
    const model = DeterministicDriver.fromSteps(
      ScenarioStep.toolCall('stock', { article: 'lamp' }),
      ScenarioStep.error('the model is gone'),
    );
    const boom = mockTool('stock', () => {
      throw new Error('no connection');
    });
    const agent = AgentBuilder.base()
      .withModel(model)
      .withTools(boom)
      .withErrorPolicy(ErrorPolicy.ignoreToolErrors())
      .build();
    const { envelopes } = await reported(agent, 'Lamps?');
    const state = reduceAll(envelopes);
    expect(state.status).toBe('failed');
    expect(show(state)[2]).toContain('no connection');
    expect(state.messages[2]?.metadata.tool_error).toContain('no connection');
    expect(state.messages.at(-1)).toMatchObject({ metadata: { status_type: 'error' } });
    expect(state.messages.at(-1)?.content).toContain('the model is gone');
  });

  it('hides a nested agent at the end and counts its usage once', async () => {
    const stockist = AgentBuilder.base()
      .withName('stockist')
      .withModel(
        DeterministicDriver.fromSteps(
          ScenarioStep.toolCall('count'),
          ScenarioStep.stream(['7 ', 'lamps.']),
        ),
      )
      .withTools(mockTool('count', 7))
      .build();
    const agent = AgentBuilder.base()
      .withModel(
        DeterministicDriver.fromSteps(
          ScenarioStep.toolCall('ask', { input: 'How many?' }),
          ScenarioStep.final('We have 7.'),
        ),
      )
      .withTools(stockist.asTool({ name: 'ask', description: 'Knows.' }))
      .build();
    const { envelopes, state: ended } = await reported(agent, 'Lamps?');
    const scenes = film(envelopes);
    expect(scenes.flat()).toContain('status: 7 lamps.');
    const state = reduceAll(envelopes);
    expect(show(state)).toEqual([
      'user: Lamps?',
      'assistant:  [ask {"input":"How many?"}]',
      'tool: 7 lamps.',
      'assistant: We have 7.',
    ]);
    expect(state.usage.total).toBe(ended.usage.total);
  });
});

describe('the state of a real session', () => {
  const owner = 'ann';
  async function session() {
    const model = DeterministicDriver.fromSteps(
      ScenarioStep.toolCalls(
        [
          { name: 'stock', args: { article: 'lamp' } },
          { name: 'pay', args: { sum: 5 } },
        ],
        'Let me see.',
      ),
      ScenarioStep.stream(['Paid ', 'and ', 'sent.']),
      ScenarioStep.toolCall('stock', { article: 'chair' }),
      ScenarioStep.final('No chairs.'),
    );
    const agent = AgentBuilder.base()
      .withModel(model)
      .withTools(mockTool('stock', { pieces: 7 }), mockTool('pay', 'paid', { needsApproval: true }))
      .build();
    const runtime = new SessionRuntime({ store: memoryStore(), agents: [agent] });
    const broadcaster = memoryBroadcaster();
    const broadcasts = broadcastSessions(runtime, { broadcaster });
    const { id } = await runtime.create({ owner });
    const wire = async (): Promise<readonly Envelope[]> => {
      await broadcasts.flush();
      return broadcaster.envelopes(channelOf(id));
    };
    const canonical = async () => {
      const { items } = await runtime.messages(id, { owner });
      const { items: steps } = await runtime.steps(id, { owner });
      return toUiMessages(items, { steps });
    };
    return { runtime, id, wire, canonical };
  }

  it('pauses, continues, ends, and matches the stored conversation', async () => {
    const { runtime, id, wire, canonical } = await session();
    let state = withUserMessage(newUiState(), 'Buy a lamp');
    await runtime.send(id, 'Buy a lamp', { owner, wait: true });
    state = reduceAll(await wire(), state);
    expect(state).toMatchObject({ status: 'paused', approvals: [{ tool: 'pay' }], gap: null });
    expect(state.stop?.stop_message).toContain('pay');
    const [approval] = state.approvals;
    await runtime.approve(id, approval?.tool_call_id ?? '', { owner, wait: true });
    state = reduceAll(await wire(), state);
    expect(state).toMatchObject({ status: 'completed', approvals: [] });
    await runtime.send(id, 'And a chair?', { owner, wait: true });
    state = reduceAll(await wire(), state);
    expect(show(state)).toEqual([
      'user: Buy a lamp',
      'assistant: Let me see. [stock {"article":"lamp"}, pay {"sum":5}]',
      'tool: {"pieces":7}',
      'tool: paid',
      'assistant: Paid and sent.',
      'user: And a chair?',
      'assistant:  [stock {"article":"chair"}]',
      'tool: {"pieces":7}',
      'assistant: No chairs.',
    ]);
    const record = await canonical();
    const agreed = reconcile(state, record);
    expect(show(agreed)).toEqual(show(state));
    expect(agreed.messages.map((message) => message.id)).toEqual(record.map((row) => row.id));
    expect(reconcile(agreed, await canonical())).toBe(agreed);
    expect(reduceAll(await wire(), agreed)).toBe(agreed);
    await runtime.close();
  });

  it('D63: is the same for a page that loads the conversation and the log later', async () => {
    const { runtime, id, wire, canonical } = await session();
    await runtime.send(id, 'Buy a lamp', { owner, wait: true });
    const { pendingApprovals } = await runtime.get(id, { owner });
    const live = reduceAll(await wire());
    const page = newUiState(await canonical());
    const loaded = reduceRefill(page, await readRefill(runtime, id, { owner }));
    expect(show(loaded)).toEqual(show(live));
    expect(loaded).toMatchObject({
      status: live.status,
      approvals: live.approvals,
      stop: live.stop,
      usage: live.usage,
      place: live.place,
      gap: null,
    });
    await runtime.approve(id, pendingApprovals[0]?.callId ?? '', { owner, wait: true });
    const after = reduceAll(await wire(), loaded);
    expect(show(after)).toEqual(show(reduceAll(await wire())));
    expect(new Set(after.messages.map((message) => message.id)).size).toBe(after.messages.length);
    await runtime.close();
  });

  it('D64: is complete after a refill, whichever envelope is lost', async () => {
    const { runtime, id, wire } = await session();
    await runtime.send(id, 'Buy a lamp', { owner, wait: true });
    const { pendingApprovals } = await runtime.get(id, { owner });
    await runtime.approve(id, pendingApprovals[0]?.callId ?? '', { owner, wait: true });
    const all = await wire();
    const truth = reduceAll(all);
    for (const lost of all) {
      let state = reduceAll(all.filter((envelope) => envelope !== lost));
      const isSeen = lost.seq === null || lost === all.at(-1);
      expect(state.gap === null, `${lost.type} ${lost.seq}`).toBe(isSeen);
      const place = state.gap ?? state.place;
      if (place)
        state = reduceRefill(
          state,
          await readRefill(runtime, id, {
            owner,
            executionId: place.executionId,
            after: place.after,
          }),
        );
      expect({ ...state, reducer: null }).toEqual({ ...truth, reducer: null });
    }
    await runtime.close();
  });
});
