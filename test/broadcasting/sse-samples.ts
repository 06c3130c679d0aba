import { channelOf, type Envelope } from 'onward/broadcasting';
import type { SseClient } from '../setup/sse.ts';

export const channel: string = channelOf('s1');

type Loose = Partial<Record<keyof Envelope, unknown>> & { readonly agent_id?: string };

/** Creates an envelope of session s1. */
export const envelope = (seq: number | null, more: Loose = {}): Envelope =>
  ({
    type: 'agent.step.started',
    session_id: 's1',
    execution_id: 'e1',
    agent_id: 'a1',
    seq,
    prev: seq === null ? null : seq - 1,
    timestamp: '2026-01-16T12:00:00.000Z',
    payload: { step: 1, message_count: 1, available_tools: [] },
    ...more,
  }) as Envelope;

/** Creates a chunk of an unfinished text. */
export const chunk = (index: number, content: string, more: Loose = {}): Envelope =>
  envelope(null, {
    type: 'agent.stream.chunk',
    payload: {
      message_id: 'm1',
      step: 1,
      attempt: 1,
      chunk_index: index,
      content,
      is_complete: false,
    },
    ...more,
  });

/** Returns the chunks that a client received. */
export const contents = (client: SseClient): string[] =>
  client.envelopes.flatMap((one) => (one.type === 'agent.stream.chunk' ? one.payload.content : []));
