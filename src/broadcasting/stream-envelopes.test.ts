import { describe, expect, it } from 'vitest';
import type { AgentEvent } from '../events/agent-event.ts';
import { BroadcastConfig } from './broadcast-config.ts';
import type { Envelope, EnvelopeOf } from './envelope.ts';
import { StreamEnvelopes } from './stream-envelopes.ts';

const base = { agentId: 'a', parentAgentId: null, executionId: 'e', index: 0, at: 'now' };
const text = { messageId: 'm1', stepNumber: 1, attempt: 1 };

function streaming(frameBytes = 10_000) {
  const sent: Envelope[] = [];
  const push = (envelope: Envelope): void => void sent.push(envelope);
  const stream = new StreamEnvelopes(
    { sessionId: 's', executionId: 'e' },
    BroadcastConfig.standard({ frameBytes }),
  );
  let index = 0;
  let offset = 0;
  const chunk = (
    content: string,
    more: { readonly offset?: number; readonly [field: string]: unknown } = {},
  ): void => {
    const place = { index: index++, offset };
    stream.chunk(
      { ...base, ...text, ...place, type: 'StreamChunk', content, ...more } as never,
      push,
    );
    offset = (more.offset ?? offset) + content.length;
  };
  const report = (type: AgentEvent['type'], more: object = {}): void =>
    stream.closing({ ...base, type, ...more } as never, push);
  const chunks = (): unknown[] =>
    (sent as EnvelopeOf<'agent.stream.chunk'>[]).map(({ agent_id, payload: p }) =>
      [agent_id, p.chunk_index, p.content, p.is_complete].join(' '),
    );
  return { stream, sent, push, chunk, report, chunks, restart: () => (index = offset = 0) };
}

describe('chunks', () => {
  it('completes a text before its message is sent', () => {
    const { chunk, report, chunks } = streaming();
    chunk('Hel');
    chunk('lo');
    report('MessageAdded', { messageId: 'm1', role: 'assistant' });
    report('AgentStepCompleted');
    expect(chunks()).toEqual(['a 0 Hel false', 'a 1 lo false', 'a 2  true']);
  });

  it('completes a text without a message with its step', () => {
    const { chunk, report, chunks } = streaming();
    chunk('{"name":');
    report('MessageAdded', { messageId: 'another' });
    report('AgentStepCompleted');
    report('AgentStepCompleted');
    expect(chunks()).toEqual(['a 0 {"name": false', 'a 1  true']);
  });

  it('does not complete a discarded text, and restarts it in the next attempt', () => {
    const { chunk, report, chunks, restart } = streaming();
    chunk('half');
    report('StepFailed');
    report('StreamDiscarded');
    restart();
    chunk('whole', { attempt: 2, messageId: 'm2', stepNumber: 2 });
    report('MessageAdded', { messageId: 'm2' });
    expect(chunks()).toEqual(['a 0 half false', 'a 0 whole false', 'a 1  true']);
  });

  it('keeps the texts of concurrent agents separate', () => {
    const { chunk, report, chunks } = streaming();
    chunk('one', { index: 0 });
    chunk('two', { index: 0, agentId: 'b', messageId: 'm2' });
    report('MessageAdded', { messageId: 'm2', agentId: 'b' });
    chunk('more', { index: 1 });
    report('MessageAdded', { messageId: 'm1' });
    expect(chunks()).toEqual([
      'a 0 one false',
      'b 0 two false',
      'b 1  true',
      'a 1 more false',
      'a 2  true',
    ]);
  });

  it('splits a chunk that is too large and shifts the index of later ones', () => {
    const { chunk, report, sent } = streaming(2_000);
    const whole = 'äöü😀 '.repeat(300);
    chunk('first ');
    chunk(whole);
    chunk(' last');
    report('MessageAdded', { messageId: 'm1' });
    const payloads = (sent as EnvelopeOf<'agent.stream.chunk'>[]).map(({ payload }) => payload);
    expect(payloads.length).toBeGreaterThan(5);
    expect(payloads.map(({ chunk_index }) => chunk_index)).toEqual(payloads.map((_p, i) => i));
    expect(payloads.map(({ content }) => content).join('')).toBe(`first ${whole} last`);
    const all = payloads.map(({ content }) => content).join('');
    for (const { content, offset = -1 } of payloads)
      expect(all.slice(offset, offset + content.length)).toBe(content);
    for (const envelope of sent) expect(JSON.stringify(envelope).length).toBeLessThan(2_000);
  });

  it('continues the index if a hook restarts a text, also after a split', () => {
    const { chunk, report, sent } = streaming(2_000);
    chunk('x'.repeat(3_000));
    report('StreamDiscarded');
    chunk('aga', { offset: 0, restart: 1 });
    chunk('in', { restart: 1 });
    report('MessageAdded', { messageId: 'm1' });
    const indexes = (sent as EnvelopeOf<'agent.stream.chunk'>[]).map((e) => e.payload.chunk_index);
    expect(indexes).toEqual(indexes.map((_i, place) => place));
    expect(sent.slice(-3)).toMatchObject([
      { payload: { content: 'aga', offset: 0, restart: 1 } },
      { payload: { content: 'in', offset: 3, restart: 1 } },
      { payload: { content: '', offset: 5, restart: 1, is_complete: true } },
    ]);
  });

  it('completes nothing if nothing was shown', () => {
    const { chunk, report, chunks } = streaming();
    report('MessageAdded', { messageId: 'm1' });
    chunk('gone');
    report('StreamDiscarded');
    report('AgentStepCompleted');
    expect(chunks()).toEqual(['a 0 gone false']);
  });
});

it('splits deltas without loss', () => {
  const { stream, sent, push } = streaming(2_000);
  const argsDelta = '{"text":"quote \\" and more"}'.repeat(200);
  stream.delta(
    { ...base, type: 'ToolCallDelta', toolCallId: 'c', tool: 't', argsDelta, offset: 4 },
    push,
  );
  const parts = (sent as EnvelopeOf<'agent.tool.delta'>[]).map((e) => e.payload.args_delta);
  expect(parts.length).toBeGreaterThan(3);
  expect(parts.join('')).toBe(argsDelta);
  let at = 4;
  for (const { payload } of sent as EnvelopeOf<'agent.tool.delta'>[]) {
    expect(payload.offset).toBe(at);
    at += payload.args_delta.length;
  }
  expect(sent[0]).toMatchObject({ seq: null, prev: null, payload: { tool_call_id: 'c' } });
});

describe('reasoning', () => {
  const delta = (more: object) =>
    ({ ...base, ...text, type: 'ReasoningDelta', content: 'Hm', offset: 0, ...more }) as never;
  const sentBy = (config: BroadcastConfig, ...events: readonly object[]): Envelope[] => {
    const sent: Envelope[] = [];
    const stream = new StreamEnvelopes({ sessionId: 's', executionId: 'e' }, config);
    for (const event of events) stream.send(delta(event), (envelope) => sent.push(envelope));
    return sent;
  };

  it('is sent if the config includes it, and never for nested agents', () => {
    const payload = { message_id: 'm1', step: 1, attempt: 1, content: 'Hm', offset: 0 };
    const [first, second, ...more] = sentBy(
      BroadcastConfig.debug(),
      {},
      { parentAgentId: 'b' },
      { restart: 1 },
    );
    expect(first).toMatchObject({ type: 'agent.reasoning.chunk', seq: null, prev: null });
    expect(first?.payload).toEqual(payload);
    expect(second?.payload).toEqual({ ...payload, restart: 1 });
    expect(more).toEqual([]);
    expect(sentBy(BroadcastConfig.standard(), {})).toEqual([]);
  });

  it('a long chunk is split, and each part has its offset', () => {
    const content = 'word '.repeat(1_000);
    const pieces = sentBy(BroadcastConfig.debug({ frameBytes: 2_000 }), { content, offset: 7 }).map(
      ({ payload }) => payload as EnvelopeOf<'agent.reasoning.chunk'>['payload'],
    );
    expect(pieces.length).toBeGreaterThan(1);
    expect(pieces.map((piece) => piece.content).join('')).toBe(content);
    let offset = 7;
    for (const piece of pieces) {
      expect(piece.offset).toBe(offset);
      offset += piece.content.length;
    }
  });
});
