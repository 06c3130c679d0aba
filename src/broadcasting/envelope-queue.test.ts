import { describe, expect, it, vi } from 'vitest';
import {
  chunk,
  numbered,
  push,
  queueOn,
  seqs,
  transport,
  upTo,
  useFakeTime,
} from '../../test/setup/envelope-queues.ts';
import type { Broadcaster } from './broadcaster.ts';
import { jsonBytes } from './envelope-buffer.ts';

useFakeTime();

describe('sending', () => {
  it('push returns before anything is sent, and envelopes of one tick are sent together', async () => {
    const { broadcaster, calls } = transport();
    const { queue } = queueOn(broadcaster);
    push(queue, ...upTo(3));
    expect([calls, queue.stats.queued]).toEqual([[], 3]);
    await queue.flush();
    expect(calls).toEqual([[1, 2, 3]]);
    expect(queue.stats).toEqual({ queued: 0, sent: 3, dropped: 0, retried: 0, failed: 0 });
  });

  it('makes one call at a time and sends the next batch after it', async () => {
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
    ['frameCost', { frameBytes: 10, frameCost: () => 4 }, [[1, 2], [3, 4], [5]]],
    ['an envelope that is too large, on its own', { frameBytes: 1 }, [[1], [2], [3], [4], [5]]],
    ['a batchSize of 1', { batchSize: 1 }, [[1], [2], [3], [4], [5]]],
    [
      'an envelope that cannot be measured, on its own',
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

describe('flush and close', () => {
  it('flush resolves after its timeout with whether everything is sent', async () => {
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

  it('flush waits for a backoff', async () => {
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

  it('close flushes, aborts the call in flight, drops the rest and accepts nothing more', async () => {
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

  it('close ends a backoff', async () => {
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

  it('an idle queue and a backoff do not keep a process alive', async () => {
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
