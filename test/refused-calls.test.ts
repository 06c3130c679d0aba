import { AgentBuilder, defineTool, type AgentEvent, type AgentState } from 'onward';
import type { InferredToolCall } from 'onward/drivers';
import { AgentEventEnvelopeAdapter, BroadcastConfig, type Envelope } from 'onward/broadcasting';
import { toUseChatMessages } from 'onward/broadcasting/use-chat';
import { newUiState, reduceEnvelope, toUiMessages, type UiToolCall } from 'onward/ui';
import { describe, expect, it } from 'vitest';
import { UiMessageEncoder } from '../src/broadcasting/use-chat/use-chat-encoder.ts';

const pay = defineTool({
  name: 'pay',
  description: 'Pays',
  parameters: {
    type: 'object',
    properties: { amount: { type: 'number' }, password: { type: 'string' } },
    required: ['amount'],
  },
  needsApproval: ({ amount }) => amount > 100,
  execute: () => 'paid',
});

/** Tool calls that are refused, by reason. */
const refusals: Readonly<Record<string, InferredToolCall>> = {
  'invalid arguments': { id: 'c', name: 'pay', args: { amount: 'ten' } },
  'an unknown tool': { id: 'c', name: 'steal', args: { amount: 10 } },
  'a hook that blocks': { id: 'c', name: 'pay', args: { amount: 13 } },
  'an approver who denies': { id: 'c', name: 'pay', args: { amount: 500 } },
  'arguments that are not JSON': { id: 'c', name: 'pay', argsRaw: '{"amount": ten' },
};
const argsOf = ({ args, argsRaw }: InferredToolCall): unknown => argsRaw ?? args;

async function refused(call: InferredToolCall) {
  const events: AgentEvent[] = [];
  const envelopes: Envelope[] = [];
  const adapter = new AgentEventEnvelopeAdapter({
    sessionId: 's',
    executionId: 'e',
    broadcaster: {
      name: 'list',
      broadcast: (_channel, envelope) => void envelopes.push(envelope),
      broadcastBatch: (all) => void envelopes.push(...all.map(({ envelope }) => envelope)),
    },
    config: BroadcastConfig.debug(),
  });
  const tap = adapter.wiretap();
  const options = {
    executionId: 'e',
    wiretap: (event: AgentEvent) => {
      events.push(event);
      tap(event);
    },
  };
  let calls = 0;
  const agent = AgentBuilder.base()
    .withModel({
      name: 'x',
      infer: async () => ({
        content: calls === 0 ? '' : 'Sorry.',
        toolCalls: calls++ === 0 ? [call] : [],
        finishReason: calls === 1 ? 'tool_calls' : 'stop',
        usage: null,
      }),
    })
    .withTools(pay)
    .withHooks({
      name: 'luck',
      aroundToolCall: async (input, next) =>
        input.args['amount'] === 13 ? { blocked: 'unlucky' } : next(input),
    })
    .build();
  let state: AgentState = await agent.run('Pay', options);
  if (state.status === 'paused')
    state = await agent.resume(state, { ...options, approvals: { c: { deny: 'too much' } } });
  await adapter.flush();
  return { state, events, envelopes };
}

const callIn = (rows: ReturnType<typeof toUiMessages>): UiToolCall | undefined =>
  rows.flatMap(({ metadata }) => metadata.tool_calls ?? []).find(({ id }) => id === 'c');

describe('refused calls keep their arguments', () => {
  it.each(Object.entries(refusals))('%s: in live UI state', async (_why, call) => {
    const { envelopes } = await refused(call);
    const screen = envelopes.reduce(reduceEnvelope, newUiState());
    expect(callIn(screen.messages)).toMatchObject({ name: call.name, args: argsOf(call) });
    expect(callIn(screen.messages)?.args_summary).toContain('amount');
  });

  it.each(Object.entries(refusals))('%s: in UI state, with summaries only', async (_why, call) => {
    const { envelopes } = await refused(call);
    const short = envelopes.map((envelope) => {
      const payload = { ...envelope.payload } as Record<string, unknown>;
      delete payload['args'];
      return { ...envelope, payload } as unknown as Envelope;
    });
    const screen = short.reduce(reduceEnvelope, newUiState());
    expect(callIn(screen.messages)?.args_summary).toContain('amount');
  });

  it.each(Object.entries(refusals))('%s: in the stored conversation', async (_why, call) => {
    const { state } = await refused(call);
    const { messages, steps } = state.toJSON();
    expect(callIn(toUiMessages(messages, { steps }))).toMatchObject({ args: argsOf(call) });
    const part = toUseChatMessages(messages, { steps })
      .flatMap(({ parts }) => parts as readonly Record<string, unknown>[])
      .find(({ toolCallId }) => toolCallId === 'c');
    expect(part?.['rawInput'] ?? part?.['input']).toEqual(argsOf(call));
  });

  it.each(Object.entries(refusals))('%s: in useChat', async (_why, call) => {
    const { events } = await refused(call);
    const encoder = new UiMessageEncoder();
    const inputs = events
      .flatMap((event) => encoder.push(event))
      .flatMap((chunk) => ('input' in chunk ? [chunk.input] : []));
    expect(inputs).toEqual([argsOf(call)]);
  });

  it('with secrets redacted', async () => {
    const { events, envelopes } = await refused({
      id: 'c',
      name: 'pay',
      args: { amount: 'ten', password: 'hunter2-and-more' },
    });
    const reported = JSON.stringify([events, envelopes]);
    expect(reported).toContain('"amount":"ten"');
    expect(reported).not.toContain('hunter2');
  });
});
