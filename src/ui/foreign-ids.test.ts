import { describe, expect, it } from 'vitest';
import { hostileIds, shownId } from '../../test/setup/hostile-ids.ts';
import type { Envelope } from '../broadcasting/envelope.ts';
import { newUiState, reduceEnvelope } from './index.ts';

const named = hostileIds.map((id) => ({ id, title: shownId(id) }));
const at = '2026-01-01T00:00:00.000Z';

describe.each(named)('D90: an id that is $title', ({ id }) => {
  const envelope = (type: string, payload: object, seq: number, executionId = id): Envelope =>
    ({
      type,
      session_id: id,
      execution_id: executionId,
      agent_id: id,
      timestamp: at,
      seq,
      prev: seq - 1,
      payload,
    }) as unknown as Envelope; // a few fields are enough here

  it('works for an execution and an agent', () => {
    const chunk = { message_id: 'm', step: 1, attempt: 1, chunk_index: 0, content: 'Hel' };
    let state = newUiState();
    for (const next of [
      envelope('agent.status', { status: 'processing' }, 1),
      envelope('agent.stream.chunk', chunk, 0),
      envelope('agent.stream.chunk', { ...chunk, chunk_index: 1, content: 'lo' }, 0),
    ])
      state = reduceEnvelope(state, next);
    expect(state.executionId).toBe(id);
    expect(state.messages.map(({ content }) => content).join('')).toContain('Hello');
    const other = reduceEnvelope(state, envelope('agent.status', { status: 'processing' }, 1, 'b'));
    expect(other.executionId).toBe('b');
    const back = reduceEnvelope(other, envelope('agent.status', { status: 'processing' }, 2));
    expect(back.sessionId).toBe(id);
  });
});
