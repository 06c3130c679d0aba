import { newUiState, reduceEnvelope, type UiMessage } from 'onward/ui';
import { describe, expect, it } from 'vitest';
import type { Envelope } from '../../src/broadcasting/envelope.ts';
import { compactionRow } from '../../src/ui/compaction-row.ts';

const at = '2026-01-16T12:00:00.000Z';
const envelope = (seq: number, type: string, payload: object, more: object = {}): Envelope =>
  ({
    type,
    session_id: 's',
    execution_id: 'e',
    agent_id: 'a',
    seq,
    prev: seq - 1 || null,
    timestamp: at,
    payload,
    ...more,
  }) as unknown as Envelope; // the reducer checks it

const payload = {
  step: 1,
  kind: 'summary',
  reason: 'threshold',
  compaction_id: 'cmp_1',
  summary_ref: 'summary:cmp_1',
  messages: 182,
  tokens_before: 96_000,
  tokens_after: 1_200,
};
const said = envelope(1, 'agent.message', {
  message_id: 'm',
  role: 'user',
  content: 'Hi',
  step: 0,
});
const compacted = (more: object = {}, envelopes: object = {}): Envelope =>
  envelope(2, 'agent.context.compacted', { ...payload, ...more }, envelopes);
const rowsOf = (...envelopes: readonly Envelope[]): readonly UiMessage[] =>
  envelopes.reduce(reduceEnvelope, newUiState()).messages;

describe('a compaction in the UI state', () => {
  it('is a row that says what was left out, with the ref of its summary', () => {
    const [, row] = rowsOf(said, compacted());
    expect(row).toEqual({
      id: 'cmp_1',
      role: 'status',
      content: 'Earlier messages summarized: 182 messages, 96k → 1.2k tokens',
      timestamp: at,
      metadata: {
        status_type: 'info',
        content_ref: 'summary:cmp_1',
        compaction: { kind: 'summary', messages: 182, tokens_before: 96_000, tokens_after: 1_200 },
      },
    });
    const { summary_ref: _, ...cleared } = payload;
    const [, note] = rowsOf(
      said,
      envelope(2, 'agent.context.compacted', { ...cleared, kind: 'tool_results' }),
    );
    expect(note!.content).toBe('Earlier tool results left out: 96k → 1.2k tokens');
    expect(note!.metadata.content_ref).toBeUndefined();
  });

  it('is not doubled by the history, and stays when messages are replaced', () => {
    const known = compactionRow({
      id: 'cmp_1',
      timestamp: at,
      kind: 'summary',
      messages: 182,
      tokensBefore: 96_000,
      tokensAfter: 1_200,
    });
    const state = [said, compacted()].reduce(reduceEnvelope, newUiState([known]));
    expect(state.messages.filter(({ id }) => id === 'cmp_1')).toEqual([known]);
    const replaced = { ...state, messages: [...state.messages] };
    const next = reduceEnvelope(replaced, envelope(3, 'agent.step.started', { step: 1 }));
    expect(next.messages.filter(({ id }) => id === 'cmp_1')).toHaveLength(1);
  });

  it('of a nested agent is not shown, and what is no compaction is ignored', () => {
    const nested = compacted({}, { agent_id: 'b', parent_agent_id: 'a' });
    expect(rowsOf(said, nested).some(({ id }) => id === 'cmp_1')).toBe(false);
    for (const bad of [
      { kind: 'other' },
      { compaction_id: 7 },
      { tokens_after: -1 },
      { messages: '1' },
    ])
      expect(rowsOf(said, compacted(bad)).some(({ metadata }) => metadata.compaction)).toBe(false);
  });
});
