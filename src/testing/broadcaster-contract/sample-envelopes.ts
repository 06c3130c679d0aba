import type { Broadcaster } from '../../broadcasting/broadcaster.ts';
import { channelOf, type Envelope } from '../../broadcasting/envelope.ts';
import { uuid } from '../../ids.ts';
import { holds } from '../store-contract/expect.ts';

export const oddText: string =
  'Grüße, 你好, 👩‍👩‍👧‍👦 \u202Ertl e\u0301 "quotes" \\ \n\r\t\u2028\u0001 </script> data: x\n\nid: 7';

export interface TestSession {
  readonly channel: string;
  readonly envelopes: readonly Envelope[];
}

/** Creates a session with numbered messages. They are frozen: a broadcaster must not change its input. */
export function session(count: number, channel: string = channelOf(`con-${uuid()}`)): TestSession {
  const envelopes = Array.from({ length: count }, (_e, i) => envelope(channel, i + 1, `text ${i}`));
  return { channel, envelopes };
}

export function sessionWith(
  content: string,
  channel: string = channelOf(`con-${uuid()}`),
): { readonly channel: string; readonly envelope: Envelope } {
  return { channel, envelope: envelope(channel, 1, content) };
}

const envelope = (channel: string, seq: number, content: string): Envelope =>
  Object.freeze({
    type: 'agent.message',
    session_id: channel.slice(channelOf('').length),
    execution_id: 'exe-1',
    agent_id: 'agt-1',
    seq,
    prev: seq - 1,
    timestamp: '2026-01-16T12:00:00.000Z',
    payload: Object.freeze({
      message_id: `msg_${seq}`,
      role: 'assistant' as const,
      content,
      step: seq,
    }),
  });

export const chunkLike = ({
  session_id,
  execution_id,
  agent_id,
  timestamp,
}: Envelope): Envelope => ({
  type: 'agent.stream.chunk',
  session_id,
  execution_id,
  agent_id,
  seq: null,
  prev: null,
  timestamp,
  payload: {
    message_id: 'msg_1',
    step: 1,
    attempt: 1,
    chunk_index: 0,
    content: 'a piece',
    is_complete: false,
  },
});

/** Returns the largest message that the broadcaster's own count allows. */
export function largest(
  broadcaster: Broadcaster,
  frameBytes: number,
): { readonly channel: string; readonly envelope: Envelope } {
  const channel = channelOf(`con-${uuid()}`);
  const cost = (content: string): number => {
    const broadcast = { channel, envelope: envelope(channel, 1, content) };
    return (
      broadcaster.frameCost?.(broadcast) ??
      new TextEncoder().encode(JSON.stringify(broadcast.envelope)).length
    );
  };
  const [empty, ten] = [cost(''), cost('x'.repeat(10))];
  holds(empty > 0 && ten > empty, 'a longer text costs more');
  const space = Math.floor((frameBytes - empty) / ((ten - empty) / 10));
  holds(space > 0, `there is space for a text: an empty one costs ${empty} of ${frameBytes}`);
  return sessionWith('x'.repeat(space), channel);
}
