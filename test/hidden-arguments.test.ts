import { createRedactor, SlimAgentStateSerializer, type AgentEvent } from 'onward';
import {
  BroadcastConfig,
  readRef,
  type TruncatedValue,
  type Envelope,
  type EnvelopeOf,
} from 'onward/broadcasting';
import { toUseChatMessages, uiMessageStream } from 'onward/broadcasting/use-chat';
import { agentServer } from 'onward/server';
import { DeterministicDriver, mockTool, ScenarioStep } from 'onward/testing';
import { newUiState, reduceEnvelope } from 'onward/ui';
import { describe, expect, it } from 'vitest';
import { envelopeOf } from '../src/broadcasting/envelope-of.ts';
import { all, readBy } from './broadcasting/use-chat-setup.ts';
import { ann, builderWith, memoryPlace, runtimeOn, waiting } from './setup/sessions.ts';

const KEY = 'sk-live-abcdefghijklmnop1234';
const args = {
  user: 'bob',
  password: 'real-password',
  command: `ls # ${KEY}\nrm -rf / --no-preserve-root`,
  nested: { list: [{ token: 'abc' }] },
};
const hidden = ['/password', '/command', '/nested/list/0/token'];
const { toolCall, final } = ScenarioStep;

const pay = () => mockTool('pay', 'ok', { needsApproval: true });
const builder = () =>
  builderWith(DeterministicDriver.fromSteps(toolCall('pay', args), final('Done.')), pay());

/** A session with a tool call that needs approval. */
async function paused(agent = builder().build()) {
  const runtime = runtimeOn(memoryPlace().open(), agent);
  const { id } = await runtime.create({ ...ann, id: 's1' });
  await runtime.send(id, 'go', waiting);
  return { runtime, id, session: await runtime.get(id, ann) };
}

async function eventsOf(agent = builder().build()): Promise<readonly AgentEvent[]> {
  const events: AgentEvent[] = [];
  await agent.run('go', { wiretap: (event) => void events.push(event) });
  return events;
}
const ofType = <T extends AgentEvent['type']>(events: readonly AgentEvent[], type: T) =>
  events.filter((event): event is Extract<AgentEvent, { type: T }> => event.type === type);

describe('hidden arguments of a call that needs approval are marked', () => {
  it('in a session, in the session list and over HTTP', async () => {
    const { runtime, id, session } = await paused();
    expect(session.pendingApprovals).toMatchObject([{ tool: 'pay', hidden }]);
    expect((await runtime.list(ann)).sessions[0]?.pendingApprovals).toMatchObject([{ hidden }]);
    const server = agentServer({ runtime, owner: () => 'ann' });
    const response = await server(new Request(`http://localhost/api/sessions/${id}`));
    const text = await response.text();
    expect(JSON.parse(text)).toMatchObject({ pendingApprovals: [{ tool: 'pay', hidden }] });
    expect(text).not.toContain('real-password');
  });

  it('in events, and only if something is hidden', async () => {
    const events = await eventsOf();
    expect(ofType(events, 'ToolApprovalRequested')).toMatchObject([{ tool: 'pay', hidden }]);
    expect(ofType(events, 'AgentPaused')[0]?.pendingApprovals).toMatchObject([{ hidden }]);
    const plain = builderWith(DeterministicDriver.fromSteps(toolCall('pay', { a: 1 })), pay());
    const [requested] = ofType(await eventsOf(plain.build()), 'ToolApprovalRequested');
    expect(requested).not.toHaveProperty('hidden');
  });

  it('in envelopes and UI state, also if the arguments exceed the frame size', async () => {
    const { runtime, id } = await paused(
      builderWith(
        DeterministicDriver.fromSteps(toolCall('pay', { ...args, text: 'x'.repeat(20_000) })),
        pay(),
      ).build(),
    );
    const { executionId } = await runtime.get(id, ann);
    const log = await runtime.events(id, { ...ann, executionId: executionId ?? '' });
    const config = BroadcastConfig.standard({ frameBytes: 4_000 });
    const envelopes = log.events
      .map(({ event, seq }) => envelopeOf(config)(event, id, seq, seq - 1))
      .filter((envelope): envelope is Envelope => envelope !== null);
    const request = envelopes.find(({ type }) => type === 'agent.approval.requested');
    expect(request?.payload).toMatchObject({ hidden, args: { ref: expect.any(String) } });
    const state = envelopes.reduce(reduceEnvelope, newUiState());
    expect(state.approvals).toMatchObject([{ tool: 'pay', hidden }]);
    // the full value can be read, still without the hidden parts
    const cut = (request as EnvelopeOf<'agent.approval.requested'>).payload.args as TruncatedValue;
    const whole = await readRef(runtime, id, cut.ref, ann);
    expect(whole).toMatchObject({ user: 'bob', password: '[redacted]' });
  });

  it('the summary in an envelope escapes invisible characters, also in keys', async () => {
    const odd = { 'a\u202e': 'b\u0007\u200b' };
    const call = builderWith(DeterministicDriver.fromSteps(toolCall('pay', odd)), pay());
    const [requested] = ofType(await eventsOf(call.build()), 'ToolApprovalRequested');
    const envelope = requested && envelopeOf(BroadcastConfig.standard())(requested, 's1', 1, 0);
    expect(envelope?.payload).toMatchObject({
      args_summary: String.raw`{"a\u202e":"b\u0007\u200b"}`,
    });
  });

  it('with an empty path if the frame has no space for the paths', async () => {
    const many = Object.fromEntries(
      Array.from({ length: 30 }, (_, i) => [`${'n'.repeat(150)}${i}`, { token: 'x' }]),
    );
    const [requested] = ofType(
      await eventsOf(
        builderWith(DeterministicDriver.fromSteps(toolCall('pay', many)), pay()).build(),
      ),
      'ToolApprovalRequested',
    );
    expect(requested?.hidden).toHaveLength(30);
    const config = BroadcastConfig.standard({ frameBytes: 2_000 });
    const envelope = requested && envelopeOf(config)(requested, 's1', 1, 0);
    expect(envelope?.payload).toMatchObject({ hidden: [''] });
  });

  it('in useChat parts, streamed and stored', async () => {
    const chunks = await all(uiMessageStream(builder().build().stream('go'), { messageId: 'm1' }));
    const { message } = await readBy(chunks);
    const mark = { onward: { hidden } };
    expect(message.parts.find((part) => part.type === 'tool-pay')).toMatchObject({
      state: 'approval-requested',
      callProviderMetadata: mark,
    });
    const { runtime, id, session } = await paused();
    const { items } = await runtime.messages(id, ann);
    const stored = toUseChatMessages(items, { pendingApprovals: session.pendingApprovals });
    expect(stored.at(-1)?.parts.at(-1)).toMatchObject({
      state: 'approval-requested',
      callProviderMetadata: mark,
    });
  });

  it('in a slim state', async () => {
    const state = await builder().build().run('go');
    const slim = new SlimAgentStateSerializer().serialize(state);
    expect(slim.pending_approvals).toMatchObject([{ tool: 'pay', hidden }]);
  });

  it('for a nested agent in every event of the root', async () => {
    const inner = builderWith(
      DeterministicDriver.fromSteps(toolCall('pay', { ssn: '078-05-1120', user: 'bob' })),
      pay(),
    )
      .withName('inner')
      .withRedactor(createRedactor({ keys: ['ssn'] }))
      .build();
    const outer = () =>
      builderWith(
        DeterministicDriver.fromSteps(toolCall('helper', { input: 'pay' })),
        inner.asTool({ name: 'helper', description: 'Helps.' }),
      ).build();
    const events = await eventsOf(outer());
    for (const { pendingApprovals } of ofType(events, 'AgentPaused'))
      expect(pendingApprovals).toMatchObject([{ hidden: ['/ssn'], args: { ssn: '[redacted]' } }]);
    expect(JSON.stringify(events)).not.toContain('078-05-1120');
  });

  it('for a nested agent in a session', async () => {
    const inner = builderWith(
      DeterministicDriver.fromSteps(toolCall('pay', { ssn: '078-05-1120' })),
      pay(),
    )
      .withName('inner')
      .withRedactor(createRedactor({ keys: ['ssn'] }))
      .build();
    const { session } = await paused(
      builderWith(
        DeterministicDriver.fromSteps(toolCall('helper', { input: 'pay' })),
        inner.asTool({ name: 'helper', description: 'Helps.' }),
      ).build(),
    );
    expect(session.pendingApprovals).toMatchObject([
      { tool: 'pay', hidden: ['/ssn'], args: { ssn: '[redacted]' } },
    ]);
  });
});
