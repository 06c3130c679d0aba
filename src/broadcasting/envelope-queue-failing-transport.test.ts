import { describe, expect, it, vi } from 'vitest';
import {
  numbered,
  push,
  queueOn,
  refused,
  seqs,
  transport,
  upTo,
  useFakeTime,
} from '../../test/setup/envelope-queues.ts';
import { BroadcastError } from './broadcaster.ts';

useFakeTime();

describe('D65: a failing transport', () => {
  it('is retried in order after growing waits', async () => {
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

  it('waits as long as the transport asks, but no longer than a minute', async () => {
    let retryAfterMs = 5_000;
    const { broadcaster, calls } = transport(async () => {
      throw new BroadcastError('429', { retryable: true, retryAfterMs });
    });
    const { queue } = queueOn(broadcaster);
    push(queue, numbered(1));
    await vi.advanceTimersByTimeAsync(4_999);
    expect(calls).toHaveLength(1);
    retryAfterMs = 3_600_000;
    await vi.advanceTimersByTimeAsync(1);
    expect(calls).toHaveLength(2);
    await vi.advanceTimersByTimeAsync(59_999);
    expect(calls).toHaveLength(2);
    await vi.advanceTimersByTimeAsync(1);
    expect(calls).toHaveLength(3);
  });

  it('drops a call after the last attempt, reports it, and continues with the next', async () => {
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

  it('drops an envelope immediately if its error is not retryable', async () => {
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

  it('splits a batch after a 413 until only the envelope that does not fit is refused', async () => {
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

  it('retries a part of a batch before the other parts', async () => {
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

  it('times out a hanging call, aborts its signal, and ignores a late response', async () => {
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

  it('gives every call the full timeout', async () => {
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

  it('renews its signal regularly, so that listeners do not accumulate on it', async () => {
    const signals = new Set<AbortSignal>();
    const { broadcaster } = transport((_envelopes, signal) => void signals.add(signal));
    const { queue } = queueOn(broadcaster, {});
    for (let i = 1; i <= 120; i++) {
      push(queue, numbered(i));
      await queue.flush();
    }
    expect(signals.size).toBe(3);
  });

  it('survives listeners that throw', async () => {
    const reported = vi.spyOn(console, 'error').mockImplementation(() => {});
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
    expect(reported).toHaveBeenCalledTimes(2);
    expect(JSON.stringify(reported.mock.calls)).not.toContain('CANARY');
  });

  it('logs the first dropped envelope without secrets if there is no listener', async () => {
    const reported = vi.spyOn(console, 'error').mockImplementation(() => {});
    const { broadcaster } = transport(() => {
      throw refused('401 for key=sk-live-CANARY0123456789abcdef');
    });
    const { queue } = queueOn(broadcaster, { onDrop: undefined as never });
    push(queue, ...upTo(3));
    await queue.flush();
    expect(reported.mock.calls).toEqual([
      [
        'onward: fake dropped 1 of the envelopes for agent.s (refused). Readers see the gap and refill. 401 for key=[redacted]',
      ],
    ]);
    expect(queue.stats.dropped).toBe(3);
  });
});
