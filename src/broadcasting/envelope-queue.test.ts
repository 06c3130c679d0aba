import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { BroadcastError, type Broadcast, type Broadcaster } from './broadcaster.ts';
import { jsonBytes } from './waiting-line.ts';
import type { Envelope } from './envelope.ts';
import { EnvelopeQueue, type Drop, type QueueOptions } from './envelope-queue.ts';

const numbered = (seq: number, content = 'x'): Envelope => ({
  type: 'agent.message',
  session_id: 's',
  execution_id: 'e',
  agent_id: 'a',
  seq,
  prev: seq - 1,
  timestamp: '2026-01-16T12:00:00.000Z',
  payload: { message_id: `m${seq}`, role: 'assistant', content, step: 1 },
});
const status = (seq: number): Envelope => ({
  ...numbered(seq),
  type: 'agent.status',
  payload: { status: 'processing', previous_status: 'idle', step_count: 0 },
});
const chunk = (index: number): Envelope => ({
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
const seqs = (envelopes: readonly Envelope[]): (number | null)[] => envelopes.map(({ seq }) => seq);
const refused = (message = 'no'): BroadcastError =>
  new BroadcastError(message, { retryable: false });

type Answer = (envelopes: readonly Envelope[], signal: AbortSignal) => Promise<void> | void;

/** A transport that notes its calls and does what it is told. */
function transport(answer: Answer = () => {}, limits: Partial<Broadcaster> = {}) {
  const calls: (number | null)[][] = [];
  const arrived: Envelope[] = [];
  const take = (envelopes: readonly Envelope[], signal?: AbortSignal): Promise<void> | void => {
    calls.push(seqs(envelopes));
    const answered = answer(envelopes, signal!);
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

function queueOn(broadcaster: Broadcaster, options: Partial<QueueOptions> = {}) {
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

const push = (queue: EnvelopeQueue, ...envelopes: readonly Envelope[]): void => {
  for (const envelope of envelopes) queue.push(envelope);
};
const upTo = (count: number): Envelope[] =>
  Array.from({ length: count }, (_e, i) => numbered(i + 1));

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

describe('sending', () => {
  it('push returns before anything is sent, and what came together goes out together', async () => {
    const { broadcaster, calls } = transport();
    const { queue } = queueOn(broadcaster);
    push(queue, ...upTo(3));
    expect([calls, queue.stats.queued]).toEqual([[], 3]);
    await queue.flush();
    expect(calls).toEqual([[1, 2, 3]]);
    expect(queue.stats).toEqual({ queued: 0, sent: 3, dropped: 0, retried: 0, failed: 0 });
  });

  it('makes one call at a time; what gathers meanwhile is the next batch', async () => {
    const ends: (() => void)[] = [];
    const { broadcaster, calls } = transport(() => new Promise((resolve) => ends.push(resolve)));
    const { queue } = queueOn(broadcaster);
    push(queue, numbered(1));
    await vi.advanceTimersByTimeAsync(0);
    push(queue, numbered(2), numbered(3));
    await vi.advanceTimersByTimeAsync(100);
    expect(calls).toEqual([[1]]);
    ends.shift()!();
    await vi.advanceTimersByTimeAsync(0);
    expect(calls).toEqual([[1], [2, 3]]);
    expect(queue.stats).toMatchObject({ queued: 2, sent: 1 });
  });

  it.each<[string, Partial<Broadcaster>, number[][]]>([
    ['batchSize', { batchSize: 2 }, [[1, 2], [3, 4], [5]]],
    [
      'frameBytes of JSON',
      { frameBytes: jsonBytes(numbered(1)) * 3 + 1 },
      [
        [1, 2, 3],
        [4, 5],
      ],
    ],
    ['its own count', { frameBytes: 10, frameCost: () => 4 }, [[1, 2], [3, 4], [5]]],
    ['what is too large goes alone', { frameBytes: 1 }, [[1], [2], [3], [4], [5]]],
    ['a batchSize of 1', { batchSize: 1 }, [[1], [2], [3], [4], [5]]],
    [
      'what cannot be counted goes alone',
      {
        frameBytes: 1_000,
        frameCost: () => {
          throw new Error('no');
        },
      },
      [[1], [2], [3], [4], [5]],
    ],
  ])('batches respect %s', async (_what, limits, expected) => {
    const { broadcaster, calls } = transport(undefined, limits);
    const { queue } = queueOn(broadcaster);
    push(queue, ...upTo(5));
    await queue.flush();
    expect(calls).toEqual(expected);
  });
});

describe('D65: a transport that fails', () => {
  it('is tried again after a growing wait, and order is kept', async () => {
    let fails = 3;
    const { broadcaster, calls, arrived } = transport(() => {
      if (fails-- > 0) throw new Error('down');
    });
    const { queue, errors } = queueOn(broadcaster);
    vi.spyOn(Math, 'random').mockReturnValue(0);
    push(queue, numbered(1));
    await vi.advanceTimersByTimeAsync(0);
    push(queue, numbered(2));
    const at: number[] = [];
    for (let ms = 0; ms < 2_000; ms += 10) {
      const before = calls.length;
      await vi.advanceTimersByTimeAsync(10);
      if (calls.length > before) at.push(ms + 10);
    }
    expect(at).toEqual([250, 750, 1_750]);
    expect(seqs(arrived)).toEqual([1, 2]);
    expect(errors).toHaveLength(3);
    expect(queue.stats).toEqual({ queued: 0, sent: 2, dropped: 0, retried: 3, failed: 3 });
  });

  it('waits as long as the transport wishes, but no longer than a minute', async () => {
    let wish = 5_000;
    const { broadcaster, calls } = transport(async () => {
      throw new BroadcastError('429', { retryable: true, retryAfterMs: wish });
    });
    const { queue } = queueOn(broadcaster);
    push(queue, numbered(1));
    await vi.advanceTimersByTimeAsync(4_999);
    expect(calls).toHaveLength(1);
    wish = 3_600_000;
    await vi.advanceTimersByTimeAsync(1);
    expect(calls).toHaveLength(2);
    await vi.advanceTimersByTimeAsync(59_999);
    expect(calls).toHaveLength(2);
    await vi.advanceTimersByTimeAsync(1);
    expect(calls).toHaveLength(3);
  });

  it('gives a call up after the last try, says so, and goes on with the next', async () => {
    const { broadcaster, arrived } = transport((envelopes) => {
      if (envelopes[0]!.seq === 1) throw new Error('down');
    });
    const { queue, drops } = queueOn(broadcaster, { maxTries: 3 });
    push(queue, numbered(1));
    await vi.advanceTimersByTimeAsync(0);
    push(queue, numbered(2));
    await vi.advanceTimersByTimeAsync(10_000);
    expect(seqs(arrived)).toEqual([2]);
    expect(drops).toMatchObject([{ reason: 'gave_up', envelopes: [{ seq: 1 }] }]);
    expect(queue.stats).toEqual({ queued: 0, sent: 1, dropped: 1, retried: 2, failed: 3 });
  });

  it('what is refused for good is dropped at once', async () => {
    const { broadcaster, calls } = transport(() => {
      throw refused();
    });
    const { queue, drops } = queueOn(broadcaster);
    push(queue, numbered(1));
    await queue.flush();
    expect(calls).toEqual([[1]]);
    expect(drops).toMatchObject([{ reason: 'refused', error: { message: 'no' } }]);
    expect(queue.stats).toMatchObject({ dropped: 1, retried: 0, failed: 1 });
  });

  it('413 on a batch: it is split until the one that does not fit is alone', async () => {
    const { broadcaster, calls, arrived } = transport((envelopes) => {
      if (seqs(envelopes).includes(3)) throw refused('413');
    });
    const { queue, lost } = queueOn(broadcaster);
    push(queue, ...upTo(5));
    await vi.advanceTimersByTimeAsync(0);
    push(queue, numbered(6));
    await queue.flush();
    expect(calls).toEqual([[1, 2, 3, 4, 5], [1, 2, 3], [1, 2], [3], [4, 5], [6]]);
    expect(seqs(arrived)).toEqual([1, 2, 4, 5, 6]);
    expect(lost()).toEqual([3]);
  });

  it('a part that has to be tried again stays before the others', async () => {
    let fails = 1;
    const { broadcaster, arrived } = transport((envelopes) => {
      if (envelopes.length > 2) throw refused('413');
      if (envelopes[0]!.seq === 1 && fails-- > 0) throw new Error('500');
    });
    const { queue } = queueOn(broadcaster);
    push(queue, ...upTo(4));
    await vi.advanceTimersByTimeAsync(1_000);
    expect(seqs(arrived)).toEqual([1, 2, 3, 4]);
  });

  it('a hang ends after its time, the call is told, and a late answer changes nothing', async () => {
    const hung: { end: () => void; signal: AbortSignal }[] = [];
    let hangs = true;
    const { broadcaster, calls } = transport((_envelopes, signal) => {
      if (hangs) return new Promise<void>((end) => hung.push({ end, signal }));
    });
    const { queue, errors } = queueOn(broadcaster, { callTimeoutMs: 1_000 });
    push(queue, numbered(1));
    await vi.advanceTimersByTimeAsync(999);
    expect(hung[0]!.signal.aborted).toBe(false);
    await vi.advanceTimersByTimeAsync(2);
    expect(hung[0]!.signal.aborted).toBe(true);
    expect(errors).toMatchObject([
      { message: 'fake did not answer within 1000 ms.', retryable: true },
    ]);
    await vi.advanceTimersByTimeAsync(300);
    expect(calls).toEqual([[1], [1]]);
    hung[0]!.end();
    await vi.advanceTimersByTimeAsync(0);
    expect(queue.stats).toMatchObject({ queued: 1, sent: 0 });
    hangs = false;
    hung[1]!.end();
    await vi.advanceTimersByTimeAsync(0);
    expect(queue.stats).toEqual({ queued: 0, sent: 1, dropped: 0, retried: 1, failed: 1 });
  });

  it('a call that follows others has its whole time, too', async () => {
    let hangs = false;
    const signals: AbortSignal[] = [];
    const { broadcaster } = transport(async (_envelopes, signal) => {
      signals.push(signal);
      if (hangs) await new Promise(() => {});
    });
    const { queue } = queueOn(broadcaster, { callTimeoutMs: 1_000 });
    push(queue, numbered(1));
    await vi.advanceTimersByTimeAsync(600);
    hangs = true;
    push(queue, numbered(2));
    await vi.advanceTimersByTimeAsync(900);
    expect(signals[1]!.aborted).toBe(false);
    await vi.advanceTimersByTimeAsync(101);
    expect(signals[1]!.aborted).toBe(true);
  });

  it('a signal is renewed now and then, so that nothing gathers on it', async () => {
    const signals = new Set<AbortSignal>();
    const { broadcaster } = transport((_envelopes, signal) => void signals.add(signal));
    const { queue } = queueOn(broadcaster, {});
    for (let i = 1; i <= 120; i++) {
      push(queue, numbered(i));
      await queue.flush();
    }
    expect(signals.size).toBe(3);
  });

  it('listeners that throw break nothing', async () => {
    const told = vi.spyOn(console, 'error').mockImplementation(() => {});
    const { broadcaster, arrived } = transport((envelopes) => {
      if (envelopes[0]!.seq === 1) throw refused();
    });
    const boom = (): void => {
      throw new Error('listener with sk-live-CANARY0123456789abcdef');
    };
    const { queue } = queueOn(broadcaster, { onDrop: boom, onError: boom });
    push(queue, numbered(1));
    await queue.flush();
    push(queue, numbered(2));
    await queue.flush();
    expect(seqs(arrived)).toEqual([2]);
    expect(told).toHaveBeenCalledTimes(2);
    expect(JSON.stringify(told.mock.calls)).not.toContain('CANARY');
  });

  it('without a listener the first loss is told, without secrets', async () => {
    const told = vi.spyOn(console, 'error').mockImplementation(() => {});
    const { broadcaster } = transport(() => {
      throw refused('401 for key=sk-live-CANARY0123456789abcdef');
    });
    const { queue } = queueOn(broadcaster, { onDrop: undefined as never });
    push(queue, ...upTo(3));
    await queue.flush();
    expect(told.mock.calls).toEqual([
      [
        'onward: fake lost 1 of the envelopes for agent.s (refused). Readers see the gap and refill. 401 for key=[redacted]',
      ],
    ]);
    expect(queue.stats.dropped).toBe(3);
  });
});

describe('D65: a transport that is slow', () => {
  const stuck = () => transport(() => new Promise(() => {}));

  it('chunks and deltas leave first, all of them, for a text with a hole is of no use', async () => {
    const { queue, lost } = queueOn(stuck().broadcaster, { queueSize: 5 });
    push(queue, numbered(1));
    await vi.advanceTimersByTimeAsync(0);
    push(queue, numbered(2), chunk(0), chunk(1), numbered(3), chunk(2));
    expect(lost()).toEqual([]);
    push(queue, numbered(4));
    expect(lost()).toEqual([null, null, null]);
    expect(queue.stats).toMatchObject({ queued: 4, dropped: 3 });
  });

  it('then the oldest leave, a status last', async () => {
    const { queue, lost, drops } = queueOn(stuck().broadcaster, { queueSize: 3 });
    push(queue, numbered(1));
    await vi.advanceTimersByTimeAsync(0);
    push(queue, status(2), numbered(3), numbered(4), numbered(5), status(6));
    expect(lost()).toEqual([3, 4]);
    push(queue, status(7), status(8));
    expect(lost()).toEqual([3, 4, 5, 2]);
    expect(drops.every(({ reason }) => reason === 'overflow')).toBe(true);
    expect(queue.stats).toMatchObject({ queued: 4, dropped: 4 });
  });

  it('what was lost shows to readers by `prev`', async () => {
    const ends: (() => void)[] = [];
    const { broadcaster, arrived } = transport(() => new Promise((resolve) => ends.push(resolve)));
    const { queue } = queueOn(broadcaster, { queueSize: 2 });
    push(queue, numbered(1));
    await vi.advanceTimersByTimeAsync(0);
    push(queue, numbered(2), numbered(3), numbered(4));
    while (ends.length > 0) {
      ends.shift()!();
      await vi.advanceTimersByTimeAsync(0);
    }
    const gaps = arrived.filter(({ prev }, i) => prev !== (arrived[i - 1]?.seq ?? 0));
    expect(seqs(arrived)).toEqual([1, 3, 4]);
    expect(seqs(gaps)).toEqual([3]);
  });

  it('never holds more than its size and what is on its way', async () => {
    const { queue } = queueOn(stuck().broadcaster, { queueSize: 50 });
    for (let i = 1; i <= 5_000; i++) push(queue, i % 3 === 0 ? chunk(i) : numbered(i));
    await vi.advanceTimersByTimeAsync(0);
    for (let i = 1; i <= 5_000; i++) push(queue, i % 3 === 0 ? chunk(i) : numbered(i));
    const { queued, dropped, sent } = queue.stats;
    expect(queued).toBeLessThanOrEqual(100);
    expect(queued + dropped + sent).toBe(10_000);
  });

  it('knows what waits also where a call takes a part of it', async () => {
    const { broadcaster } = transport(() => new Promise(() => {}), { batchSize: 2 });
    const { queue, lost } = queueOn(broadcaster, { queueSize: 3 });
    push(queue, chunk(0), chunk(1), numbered(1));
    await vi.advanceTimersByTimeAsync(0);
    push(queue, numbered(2), numbered(3), numbered(4));
    expect(lost()).toEqual([1]);
    expect(queue.stats.queued).toBe(5);
  });
});

describe('flush and close', () => {
  it('flush says whether everything is out when its time is over', async () => {
    const { broadcaster } = transport(() => new Promise((resolve) => setTimeout(resolve, 500)));
    const { queue } = queueOn(broadcaster);
    await expect(queue.flush()).resolves.toBe(true);
    push(queue, numbered(1));
    const early = queue.flush(100);
    const late = queue.flush(1_000);
    await vi.advanceTimersByTimeAsync(100);
    await expect(early).resolves.toBe(false);
    await vi.advanceTimersByTimeAsync(400);
    await expect(late).resolves.toBe(true);
  });

  it('flush waits over a backoff', async () => {
    let fails = 1;
    const { broadcaster, arrived } = transport(() => {
      if (fails-- > 0) throw new Error('down');
    });
    const { queue } = queueOn(broadcaster);
    push(queue, numbered(1));
    const flushed = queue.flush();
    await vi.advanceTimersByTimeAsync(300);
    await expect(flushed).resolves.toBe(true);
    expect(seqs(arrived)).toEqual([1]);
  });

  it('close flushes, ends the call on its way, drops what is left and takes nothing more', async () => {
    const signals: AbortSignal[] = [];
    const { broadcaster } = transport((_envelopes, signal) => {
      signals.push(signal);
      return new Promise(() => {});
    });
    const { queue, drops } = queueOn(broadcaster);
    push(queue, numbered(1));
    await vi.advanceTimersByTimeAsync(0);
    push(queue, numbered(2), chunk(0));
    const closed = queue.close(100);
    await vi.advanceTimersByTimeAsync(100);
    await expect(closed).resolves.toBe(false);
    expect(signals[0]!.aborted).toBe(true);
    push(queue, numbered(3));
    expect(drops.map(({ reason, envelopes }) => [reason, ...seqs(envelopes)])).toEqual([
      ['closed', 1, 2, null],
      ['closed', 3],
    ]);
    expect(queue.stats).toMatchObject({ queued: 0, sent: 0, dropped: 4 });
    expect(vi.getTimerCount()).toBe(0);
    await expect(queue.close()).resolves.toBe(true);
  });

  it('close ends a backoff, too', async () => {
    const { broadcaster, calls } = transport(() => {
      throw new Error('down');
    });
    const { queue, drops } = queueOn(broadcaster);
    push(queue, ...upTo(2));
    const closed = queue.close(10);
    await vi.advanceTimersByTimeAsync(10);
    await closed;
    expect(vi.getTimerCount()).toBe(0);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(calls).toHaveLength(1);
    expect(drops).toMatchObject([{ reason: 'closed' }]);
  });

  it('an idle queue and a backoff keep no process alive', async () => {
    vi.useRealTimers();
    const timers = vi.spyOn(globalThis, 'setTimeout');
    const { broadcaster } = transport(async () => {
      throw new Error('down');
    });
    const { queue } = queueOn(broadcaster);
    push(queue, numbered(1));
    await new Promise((resolve) => setImmediate(resolve));
    const made = timers.mock.results.map(({ value }) => value as NodeJS.Timeout);
    expect(made).toHaveLength(2);
    expect(made.map((timer) => timer.hasRef())).toEqual([false, false]);
    await queue.close(0);
  });
});
