import { Message } from 'onward';
import { newUiState, reduceEnvelope, reduceRefill, toUiMessages, type UiMessage } from 'onward/ui';
import type { Envelope, Refill } from 'onward/broadcasting';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Wire } from './wire.ts';

const reduced = (envelopes: readonly Envelope[]) => envelopes.reduce(reduceEnvelope, newUiState());
const answers = (messages: readonly UiMessage[]) =>
  messages
    .filter(({ role }) => role === 'assistant')
    .map(({ id, content, metadata }) => ({ id, content, reasoning: metadata.reasoning }));

/** Creates a run with reasoning, a tool call, more reasoning and an answer. */
function thinking(): Wire {
  const wire = new Wire().begin();
  wire.step(1);
  wire.reasoning('m1', 'I should ', 0);
  wire.reasoning('m1', 'look.', 9);
  wire.send('agent.message', {
    message_id: 'm1',
    role: 'assistant',
    content: '',
    step: 1,
    reasoning: 'I should look.',
  });
  wire.toolStarted('c1');
  wire.toolDone('c1');
  wire.stepDone(1);
  wire.step(2);
  wire.reasoning('m2', 'Seven.', 0, { step: 2 });
  wire.chunk('m2', 'We have 7.', 2);
  wire.send('agent.message', {
    message_id: 'm2',
    role: 'assistant',
    content: 'We have 7.',
    step: 2,
    reasoning: 'Seven.',
  });
  wire.stepDone(2);
  wire.status('completed');
  return wire;
}

const finished = [
  { id: 'm1', content: '', reasoning: 'I should look.' },
  { id: 'm2', content: 'We have 7.', reasoning: 'Seven.' },
];

describe('reasoning', () => {
  it('grows with its message until the finished message replaces it', () => {
    const { all } = thinking();
    const seen = all.map((_envelope, i) => answers(reduced(all.slice(0, i + 1)).messages).at(-1));
    expect(seen.slice(3, 6)).toEqual([
      { id: 'm1', content: '', reasoning: 'I should ' },
      { id: 'm1', content: '', reasoning: 'I should look.' },
      { id: 'm1', content: '', reasoning: 'I should look.' },
    ]);
    expect(seen.slice(10, 12)).toEqual([
      { id: 'm2', content: '', reasoning: 'Seven.' },
      { id: 'm2', content: 'We have 7.', reasoning: 'Seven.' },
    ]);
    const { messages, ignored } = reduced(all);
    expect(answers(messages)).toEqual(finished);
    expect(messages.find(({ id }) => id === 'm1')?.metadata.tool_calls).toHaveLength(1);
    expect(ignored).toBe(0);
  });

  it('ends the same, whichever chunks are duplicated, late or lost', () => {
    const { all } = thinking();
    const isPiece = ({ type }: Envelope): boolean => type === 'agent.reasoning.chunk';
    const log = all.filter((envelope) => !isPiece(envelope));
    const pieces = all.filter(isPiece);
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(log.length), fc.nat(pieces.length - 1))), (late) => {
        const arrived = log.flatMap((envelope, i) => [
          ...late.filter(([at]) => at === i).flatMap(([, piece]) => pieces[piece] ?? []),
          envelope,
        ]);
        const after = late.filter(([at]) => at === log.length).flatMap(([, p]) => pieces[p] ?? []);
        const state = reduced([...arrived, ...after]);
        expect(answers(state.messages)).toEqual(finished);
        expect(state.messages.some(({ metadata }) => metadata.streaming)).toBe(false);
      }),
    );
  });

  it('hides text after a gap until a refill has all of it', () => {
    const wire = new Wire().begin();
    wire.step(1);
    wire.reasoning('m1', 'the end.', 10);
    const state = reduced(wire.all);
    expect(answers(state.messages)).toEqual([]);
    expect(state).toMatchObject({ gap: null, textGap: 'm1' });
    wire.reasoning('m1', 'I see now, the end.', 0);
    const unfinished = wire.all.slice(-1) as Refill['unfinished'];
    const refill = { session_id: 's1', execution_id: 'x1', envelopes: [], seq: 3, more: false };
    const filled = reduceRefill(state, { ...refill, ...(unfinished && { unfinished }) });
    expect(answers(filled.messages)).toEqual([
      { id: 'm1', content: '', reasoning: 'I see now, the end.' },
    ]);
    expect(filled.textGap).toBeNull();
  });

  it('of a discarded attempt is removed', () => {
    const wire = new Wire().begin();
    wire.step(1);
    wire.reasoning('m1', 'Wrong.', 0);
    wire.discarded(1);
    expect(answers(reduced(wire.all).messages)).toEqual([]);
    wire.reasoning('m1', ' Still wrong.', 6);
    expect(answers(reduced(wire.all).messages)).toEqual([]);
    wire.reasoning('m1', 'Right.', 0, { restart: 1 });
    expect(answers(reduced(wire.all).messages)).toEqual([
      { id: 'm1', content: '', reasoning: 'Right.' },
    ]);
  });

  it('of nested agents is hidden, and invalid content is ignored', () => {
    const wire = new Wire().begin();
    wire.step(1);
    const nested = { agent_id: 'child', parent_agent_id: 'root' };
    const payload = { message_id: 'n', step: 1, attempt: 1, content: 'Hm', offset: 0 };
    wire.send('agent.reasoning.chunk', payload, nested);
    wire.send('agent.reasoning.chunk', { ...payload, content: { text: 'Hm' } as never });
    const state = reduced(wire.all);
    expect(answers(state.messages)).toEqual([]);
    expect(state.ignored).toBe(1);
  });
});

describe('toUiMessages', () => {
  const history = [
    Message.user('Lamps?'),
    Message.assistant('Seven.', { id: 'm1', metadata: { reasoning: 'x'.repeat(40_000) } }),
    Message.assistant('', { id: 'm2', metadata: { reasoning: 'Nothing to say.' } }),
  ].map((message) => message.toJSON());

  it('includes truncated reasoning on request', () => {
    const rows = answers(toUiMessages(history, { includeReasoning: true }));
    expect(rows.map(({ id }) => id)).toEqual(['m1', 'm2']);
    expect(rows[0]?.reasoning).toHaveLength(32_768);
    expect(answers(toUiMessages(history))).toEqual([
      { id: 'm1', content: 'Seven.', reasoning: undefined },
    ]);
  });
});
