import { Message } from 'onward';
import { newUiState, reduceEnvelope, toUiMessages, type UiMessage } from 'onward/ui';
import type { Envelope } from 'onward/broadcasting';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Wire } from './wire.ts';

const reduced = (envelopes: readonly Envelope[]) => envelopes.reduce(reduceEnvelope, newUiState());
const answers = (messages: readonly UiMessage[]) =>
  messages
    .filter(({ role }) => role === 'assistant')
    .map(({ id, content, metadata }) => ({ id, content, reasoning: metadata.reasoning }));

/** A run that thinks, calls a tool, thinks again and answers. */
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

describe('reasoning on screen', () => {
  it('grows with its message, before and beside its text, which takes its place when it is finished', () => {
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

  it('ends the same whatever is doubled, late or lost of its pieces', () => {
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

  it('shows nothing behind a hole before the message is finished, and asks for no refill', () => {
    const wire = new Wire().begin();
    wire.step(1);
    wire.reasoning('m1', 'the end.', 40);
    expect(answers(reduced(wire.all).messages)).toEqual([]);
    expect(reduced(wire.all)).toMatchObject({ gap: null, textGap: null });
  });

  it('of an attempt that does not count is taken back', () => {
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

  it('of nested agents is not shown, and what is no text is not used', () => {
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

  it('has reasoning where it is asked for, truncated', () => {
    const rows = answers(toUiMessages(history, { includeReasoning: true }));
    expect(rows.map(({ id }) => id)).toEqual(['m1', 'm2']);
    expect(rows[0]?.reasoning).toHaveLength(32_768);
    expect(answers(toUiMessages(history))).toEqual([
      { id: 'm1', content: 'Seven.', reasoning: undefined },
    ]);
  });
});
