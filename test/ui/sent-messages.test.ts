import { describe, expect, it } from 'vitest';
import type { Envelope } from 'onward/broadcasting';
import {
  acceptUserMessage,
  newUiState,
  reconcile,
  reduceEnvelope,
  withoutUserMessage,
  withUserMessage,
  type UiState,
} from 'onward/ui';
import { Wire } from './wire.ts';

const reduceAll = (envelopes: readonly Envelope[], state: UiState): UiState =>
  envelopes.reduce(reduceEnvelope, state);
const show = ({ messages }: UiState): string[] =>
  messages.map(
    ({ role, content, metadata }) => `${role}: ${content}${metadata.pending ? ' (sent)' : ''}`,
  );

describe('sent user messages', () => {
  it('show immediately until the message of the server replaces them', () => {
    const sent = withUserMessage(newUiState(), 'Lamps?', 'local');
    expect(show(sent)).toEqual(['user: Lamps? (sent)']);
    const wire = new Wire();
    const begun = reduceEnvelope(sent, wire.status('processing'));
    expect(show(begun)).toEqual(['user: Lamps? (sent)', 'status: Thinking…']);
    const known = reduceEnvelope(begun, wire.message('u1', 'user', ' Lamps?\n'));
    expect(known.messages.map(({ id }) => id)).toEqual(['u1', 'x1:status']);
    expect(reduceAll(wire.all, known)).toBe(known);
  });

  it('with the same text are each confirmed by one message', () => {
    let state = withUserMessage(withUserMessage(newUiState(), 'go'), 'go');
    expect(show(state)).toEqual(['user: go (sent)', 'user: go (sent)']);
    expect(new Set(state.messages.map(({ id }) => id)).size).toBe(2);
    const first = new Wire('x1').begin('go');
    first.status('completed', { stop_reason: 'completed' });
    state = reduceAll([...first.all, ...first.all], state);
    expect(show(state)).toEqual(['user: go', 'user: go (sent)']);
    state = reduceAll(new Wire('x2', first.time).begin('go').all, state);
    expect(show(state)).toEqual(['user: go', 'user: go', 'status: Thinking…']);
  });

  it('are not confirmed by an earlier message', () => {
    const row = {
      id: 'x1-user',
      role: 'user',
      content: 'go',
      timestamp: 't',
      metadata: {},
    } as const;
    const state = withUserMessage(newUiState([row]), 'go');
    expect(show(reduceAll(new Wire('x1').begin('go').all, state))).toEqual([
      'user: go',
      'status: Thinking…',
      'user: go (sent)',
    ]);
  });

  it('are not confirmed by another text', () => {
    const state = withUserMessage(newUiState(), 'Lamps?');
    expect(show(reduceAll(new Wire().begin('Chairs?').all, state))).toEqual([
      'user: Chairs?',
      'status: Thinking…',
      'user: Lamps? (sent)',
    ]);
  });

  it('that are queued during a run stay below its answer', () => {
    const first = new Wire('x1').begin('One');
    first.chunk('m1', 'Answer');
    let state = withUserMessage(reduceAll(first.all, newUiState()), 'Two');
    expect(show(state)).toEqual(['user: One', 'assistant: Answer', 'user: Two (sent)']);
    first.message('m1', 'assistant', 'Answer.', 1);
    first.status('completed', { stop_reason: 'completed' });
    state = reduceAll(first.all, state);
    expect(show(state)).toEqual(['user: One', 'assistant: Answer.', 'user: Two (sent)']);
    state = reduceAll(new Wire('x2', first.time).begin('Two').all, state);
    expect(show(state)).toEqual([
      'user: One',
      'assistant: Answer.',
      'user: Two',
      'status: Thinking…',
    ]);
  });

  it('are matched by execution if the server redacts the text', () => {
    const wire = new Wire().begin('My key is [hidden]');
    const sent = withUserMessage(newUiState(), 'My key is sk-1', 'local');
    const accepted = acceptUserMessage(sent, 'local', 'x1');
    expect(show(reduceAll(wire.all, accepted))).toEqual([
      'user: My key is [hidden]',
      'status: Thinking…',
    ]);
    // the response may arrive after the message
    const known = reduceAll(wire.all, sent);
    expect(show(known)).toContain('user: My key is sk-1 (sent)');
    expect(show(acceptUserMessage(known, 'local', 'x1'))).toEqual([
      'user: My key is [hidden]',
      'status: Thinking…',
    ]);
    expect(acceptUserMessage(known, 'unknown', 'x1')).toBe(known);
    wire.status('completed', { stop_reason: 'completed' });
    const later = reduceAll([...wire.all, ...new Wire('x2', wire.time).begin('More').all], known);
    expect(show(acceptUserMessage(later, 'local', 'x1'))).not.toContain(
      'user: My key is sk-1 (sent)',
    );
  });

  it('of another execution are not confirmed by the same text', () => {
    let state = withUserMessage(withUserMessage(newUiState(), 'go', 'a'), 'go', 'b');
    state = acceptUserMessage(state, 'a', 'x2');
    state = reduceAll(new Wire('x1').begin('go').all, state);
    expect(state.messages.map(({ id }) => id)).toEqual(['x1-user', 'x1:status', 'a']);
  });

  it('that are long are matched by their summary', () => {
    const text = 'A long story. '.repeat(1000);
    const state = withUserMessage(newUiState(), text);
    const wire = new Wire();
    wire.message('u1', 'user', { summary: `${text.slice(0, 200)}…`, ref: 'r' });
    expect(reduceAll(wire.all, state).messages.map(({ id }) => id)).toEqual(['u1']);
  });

  it('can be removed', () => {
    const state = withUserMessage(newUiState(), 'Lamps?', 'local');
    expect(withoutUserMessage(state, 'local').messages).toEqual([]);
    expect(withoutUserMessage(state, 'other')).toBe(state);
  });

  it('are confirmed by the conversation of the server', () => {
    const state = withUserMessage(newUiState(), 'Lamps?', 'local');
    const row = {
      id: 'u1',
      role: 'user',
      content: 'Lamps?',
      timestamp: 't',
      metadata: {},
    } as const;
    const known = reconcile(state, [row]);
    expect(known.messages).toEqual([row]);
    expect(reconcile(known, [row])).toBe(known);
  });
});
