import { describe, expect, it } from 'vitest';
import type { Envelope } from '../envelope.ts';
import { SseSession } from './sse-session.ts';

const host = {
  bufferBytes: 1,
  left: () => {},
  behind: () => {},
  slow: () => {},
  failed: () => {},
};
const numbered = (execution_id: string, seq: number): Envelope => ({
  type: 'agent.stream.discarded',
  session_id: 's1',
  execution_id,
  agent_id: 'a1',
  seq,
  prev: seq - 1,
  timestamp: '2026-01-16T12:00:00.000Z',
  payload: { step: 1, attempt: 1 },
});
const chunk = (execution_id: string): Envelope => ({
  ...numbered(execution_id, 1),
  type: 'agent.stream.chunk',
  seq: null,
  prev: null,
  payload: {
    message_id: 'm1',
    step: 1,
    attempt: 1,
    chunk_index: 0,
    content: 'Hello',
    is_complete: false,
  },
});
const place = ({ executionId, seq }: SseSession): string => `${seq}@${executionId}`;
const newSession = (): SseSession => new SseSession('agent.s1', host, { used: 0, mostEach: 1_000 });
const read = (execution_id: string, seq: number) => ({
  session_id: 's1',
  execution_id,
  envelopes: [],
  seq,
  more: false,
});

describe('how far a session has come', () => {
  it('is what was heard or read last, whichever is further', () => {
    const session = newSession();
    session.publish(numbered('e1', 1), true);
    session.advance(read('e1', 7));
    expect(place(session)).toBe('7@e1');
    session.publish(numbered('e1', 3), true);
    session.advance(read('e1', 5));
    expect(place(session)).toBe('7@e1');
    session.publish(numbered('e2', 1), true);
    expect(place(session)).toBe('1@e2');
    expect(session.isNext('e1', 'e2')).toBe(true);
  });

  it('does not go back when news of the execution before come late', () => {
    const session = newSession();
    session.publish(numbered('e1', 1), true);
    session.publish(numbered('e2', 1), true);
    session.publish(chunk('e2'), true);
    session.advance(read('e1', 9));
    session.publish(numbered('e1', 2), false);
    session.publish(chunk('e1'), true);
    expect(place(session)).toBe('1@e2');
    expect(session.isLocal).toBe(true);
    expect(session.unfinished.frames('e2')).toHaveLength(1);
  });

  it('an execution that only the log told of may not be the next', () => {
    const session = newSession();
    session.advance(read('e1', 4));
    expect(session.isNext(null, 'e1')).toBe(true);
    session.advance(read('e2', 1));
    expect(session.isNext('e1', 'e2')).toBe(false);
  });
});
