import { afterEach, beforeEach, vi } from 'vitest';
import {
  BroadcastError,
  type Broadcast,
  type Broadcaster,
} from '../../src/broadcasting/broadcaster.ts';
import type { Drop } from '../../src/broadcasting/delivery-reports.ts';
import { EnvelopeQueue, type QueueOptions } from '../../src/broadcasting/envelope-queue.ts';
import type { Envelope } from '../../src/broadcasting/envelope.ts';

export const numbered = (seq: number, content = 'x'): Envelope => ({
  type: 'agent.message',
  session_id: 's',
  execution_id: 'e',
  agent_id: 'a',
  seq,
  prev: seq - 1,
  timestamp: '2026-01-16T12:00:00.000Z',
  payload: { message_id: `m${seq}`, role: 'assistant', content, step: 1 },
});
export const chunk = (index: number): Envelope => ({
  ...numbered(0),
  type: 'agent.stream.chunk',
  seq: null,
  prev: null,
  payload: {
    message_id: 'm',
    step: 1,
    attempt: 1,
    chunk_index: index,
    content: 'c',
    is_complete: false,
  },
});
export const seqs = (envelopes: readonly Envelope[]): (number | null)[] =>
  envelopes.map(({ seq }) => seq);
export const status = (
  seq: number,
  state: 'processing' | 'completed' = 'processing',
): Envelope => ({
  ...numbered(seq),
  type: 'agent.status',
  payload: { status: state, previous_status: 'idle', step_count: 0 },
});
export const refused = (message = 'no'): BroadcastError =>
  new BroadcastError(message, { retryable: false });

type Answer = (envelopes: readonly Envelope[], signal: AbortSignal) => Promise<void> | void;

export interface FakeTransport {
  readonly broadcaster: Broadcaster;
  /** The sequence numbers of the envelopes in each call. */
  readonly calls: readonly (readonly (number | null)[])[];
  readonly arrived: readonly Envelope[];
}

/** A transport that records its calls and answers with `answer`. */
export function transport(
  answer: Answer = () => {},
  limits: Partial<Broadcaster> = {},
): FakeTransport {
  const calls: (number | null)[][] = [];
  const arrived: Envelope[] = [];
  const take = (
    envelopes: readonly Envelope[],
    signal: AbortSignal = new AbortController().signal,
  ): Promise<void> | void => {
    calls.push(seqs(envelopes));
    const answered = answer(envelopes, signal);
    if (!answered) return void arrived.push(...envelopes);
    return answered.then(() => void arrived.push(...envelopes));
  };
  const broadcaster: Broadcaster = {
    name: 'fake',
    ...limits,
    broadcast: (_channel, envelope, signal) => take([envelope], signal),
    broadcastBatch: (batch: readonly Broadcast[], signal) =>
      take(
        batch.map(({ envelope }) => envelope),
        signal,
      ),
  };
  return { broadcaster, calls, arrived };
}

export interface FakeQueue {
  readonly queue: EnvelopeQueue;
  readonly drops: readonly Drop[];
  readonly errors: readonly unknown[];
  lost(): (number | null)[];
}

export function queueOn(broadcaster: Broadcaster, options: Partial<QueueOptions> = {}): FakeQueue {
  const drops: Drop[] = [];
  const errors: unknown[] = [];
  const queue = new EnvelopeQueue({
    broadcaster,
    channel: 'agent.s',
    queueSize: 1_000,
    onDrop: (drop) => drops.push(drop),
    onError: (error) => errors.push(error),
    ...options,
  });
  return { queue, drops, errors, lost: () => seqs(drops.flatMap(({ envelopes }) => envelopes)) };
}

export const push = (queue: EnvelopeQueue, ...envelopes: readonly Envelope[]): void => {
  for (const envelope of envelopes) queue.push(envelope);
};
export const upTo = (count: number): Envelope[] =>
  Array.from({ length: count }, (_e, i) => numbered(i + 1));

/** Uses fake timers in each test of a file. */
export function useFakeTime(): void {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
    vi.restoreAllMocks();
  });
}
