import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it, vi } from 'vitest';
import {
  chunk,
  numbered,
  push,
  queueOn,
  refused,
  seqs,
  status,
  transport,
  upTo,
  useFakeTime,
} from '../../test/setup/envelope-queues.ts';
import { AgentError } from '../errors/agent-error.ts';
import { BroadcastError } from './broadcaster.ts';
import type { TransportChange } from './delivery-reports.ts';
import { EnvelopeQueue } from './envelope-queue.ts';

useFakeTime();

const unauthorized = (message = 'answered 401. Check the secret.'): BroadcastError =>
  new BroadcastError(message, { retryable: false, pauses: true });

/** A transport that refuses everything until it is fixed. */
function refusing(error: () => unknown = unauthorized) {
  const how = { isRight: false };
  const fake = transport(() => {
    if (!how.isRight) throw error();
  });
  const changes: TransportChange[] = [];
  const onTransport = (change: TransportChange): void => void changes.push(change);
  vi.spyOn(Math, 'random').mockReturnValue(0);
  return { ...fake, how, changes, onTransport };
}

const minutes = async (count: number): Promise<void> =>
  void (await vi.advanceTimersByTimeAsync(count * 60_000));

describe('a transport that refuses everything', () => {
  it('is paused after the first call without a split, and retried rarely', async () => {
    const { broadcaster, calls, onTransport } = refusing();
    const { queue, drops } = queueOn(broadcaster, { onTransport });
    push(queue, ...upTo(8), status(9, 'completed'));
    await minutes(0);
    expect(calls).toEqual([[1, 2, 3, 4, 5, 6, 7, 8, 9]]);
    expect(queue.stats).toMatchObject({ queued: 1, dropped: 8, failed: 1, retried: 0 });
    expect(drops).toMatchObject([{ reason: 'refused', error: { pauses: true } }]);
    const at: number[] = [];
    for (let minute = 1; minute <= 60; minute++) {
      const before = calls.length;
      await minutes(1);
      if (calls.length > before) at.push(minute);
    }
    // twice as long each time, at most ten minutes
    expect(at).toEqual([1, 3, 7, 15, 25, 35, 45, 55]);
    expect(calls.slice(1).every((call) => call.join() === '9')).toBe(true);
  });

  it('is paused for all sessions, retried by one of them, and reported once', async () => {
    const { broadcaster, calls, changes, onTransport } = refusing();
    const queues = Array.from({ length: 50 }, () => queueOn(broadcaster, { onTransport }).queue);
    for (const queue of queues) push(queue, numbered(1), status(2, 'completed'));
    await minutes(0);
    expect(calls).toHaveLength(1);
    await minutes(8);
    expect(calls).toHaveLength(4);
    expect(changes).toMatchObject([{ state: 'paused', transport: 'fake', retryMs: 60_000 }]);
    expect(queues.every(({ stats }) => stats.queued === 1 && stats.dropped === 1)).toBe(true);
  });

  it('calls in flight during the pause do not make the wait longer', async () => {
    const ends: ((error: unknown) => void)[] = [];
    const { broadcaster, calls } = transport(
      () => new Promise((_resolve, reject) => ends.push(reject)),
    );
    vi.spyOn(Math, 'random').mockReturnValue(0);
    const changes: TransportChange[] = [];
    const onTransport = (change: TransportChange): void => void changes.push(change);
    for (let i = 0; i < 20; i++) push(queueOn(broadcaster, { onTransport }).queue, status(1));
    await minutes(0);
    expect(calls).toHaveLength(20);
    for (const end of ends.splice(0)) end(unauthorized());
    await minutes(0);
    expect(changes).toHaveLength(1);
    await minutes(1);
    expect(calls).toHaveLength(21);
  });

  it('sends what waits when it works again, and reports it once', async () => {
    const { broadcaster, how, arrived, changes, onTransport } = refusing();
    const queues = Array.from({ length: 3 }, () => queueOn(broadcaster, { onTransport }).queue);
    for (const [i, queue] of queues.entries())
      push(queue, numbered(1), status(10 + i, 'completed'));
    await minutes(0);
    how.isRight = true;
    await minutes(1);
    expect(seqs(arrived)).toEqual([10, 11, 12]);
    expect(changes).toMatchObject([
      { state: 'paused', error: { message: expect.stringContaining('Check the secret') } },
      { state: 'resumed', pausedMs: 60_000 },
    ]);
    for (const queue of queues) push(queue, numbered(20));
    await minutes(0);
    expect(seqs(arrived)).toEqual([10, 11, 12, 20, 20, 20]);
    // the next pause is a new one
    how.isRight = false;
    push(queues[0]!, numbered(21));
    await minutes(0);
    expect(changes).toHaveLength(3);
    expect(changes[2]).toMatchObject({ state: 'paused', retryMs: 60_000 });
  });

  it('keeps the newest status of each session during a pause, and counts the rest as dropped', async () => {
    const { broadcaster, how, arrived, onTransport } = refusing();
    const { queue } = queueOn(broadcaster, { onTransport });
    push(queue, status(1), numbered(2), chunk(0));
    await minutes(0);
    for (let run = 1; run < 500; run++) {
      push(
        queue,
        status(run * 10),
        chunk(0),
        numbered(run * 10 + 1),
        status(run * 10 + 2, 'completed'),
      );
      await vi.advanceTimersByTimeAsync(1);
    }
    expect(queue.stats).toMatchObject({ queued: 1, dropped: 3 + 4 * 499 - 1 });
    how.isRight = true;
    await minutes(2);
    expect(seqs(arrived)).toEqual([4_992]);
  });

  it('another failure of the retry does not change the wait', async () => {
    let error: unknown = unauthorized();
    const { broadcaster, calls, changes, onTransport } = refusing(() => error);
    push(queueOn(broadcaster, { onTransport }).queue, status(1, 'completed'));
    await minutes(0);
    error = new BroadcastError('503', { retryable: true });
    await minutes(3.5);
    expect(calls).toHaveLength(4);
    expect(changes).toHaveLength(1);
  });

  it('close makes one attempt and waits for it', async () => {
    const { broadcaster, how, calls, arrived, onTransport } = refusing();
    const first = queueOn(broadcaster, { onTransport });
    const second = queueOn(broadcaster, { onTransport });
    for (const { queue } of [first, second]) push(queue, status(1, 'completed'));
    await minutes(0);
    // the last attempt was just now
    expect(await second.queue.flush()).toBe(false);
    expect(calls).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(6_000);
    const closing = [first.queue.close(), second.queue.close()];
    expect(await Promise.all(closing)).toEqual([false, false]);
    expect(calls).toHaveLength(2);
    expect(first.drops).toMatchObject([
      { reason: 'closed', envelopes: [{ seq: 1 }], error: { pauses: true } },
    ]);
    how.isRight = true;
    const third = queueOn(broadcaster, { onTransport });
    push(third.queue, status(3, 'completed'));
    await vi.advanceTimersByTimeAsync(6_000);
    expect(await third.queue.close()).toBe(true);
    expect(seqs(arrived)).toEqual([3]);
  });

  it('every flush that waits for an attempt gets its result, even late', async () => {
    const ends: ((error: unknown) => void)[] = [];
    const { broadcaster, calls } = transport(
      () => new Promise((_resolve, reject) => ends.push(reject)),
    );
    const queues = Array.from(
      { length: 3 },
      () => queueOn(broadcaster, { onTransport() {} }).queue,
    );
    for (const queue of queues) push(queue, status(1, 'completed'));
    await minutes(0);
    for (const end of ends.splice(0)) end(unauthorized());
    await vi.advanceTimersByTimeAsync(6_000);
    const flushed: boolean[] = [];
    for (const queue of queues) void queue.flush().then((isOut) => flushed.push(isOut));
    await minutes(0);
    expect([calls.length, flushed]).toEqual([4, []]);
    for (const end of ends.splice(0)) end(unauthorized());
    await minutes(0);
    expect(flushed).toEqual([false, false, false]);
  });

  it('keeps no reference to a closed queue', async () => {
    vi.useRealTimers();
    setFlagsFromString('--expose-gc');
    const { broadcaster } = refusing();
    push(queueOn(broadcaster, { onTransport() {} }).queue, status(1));
    const closed = await (async () => {
      const { queue } = queueOn(broadcaster, { onTransport() {} });
      push(queue, status(1, 'completed'));
      await new Promise(setImmediate);
      queue.abandon();
      return new WeakRef(queue);
    })();
    await new Promise(setImmediate);
    runInNewContext('gc')();
    expect(closed.deref()).toBeUndefined();
  });

  it('a missing package pauses it before the first envelope', async () => {
    const missing = new AgentError('package_missing', 'Run: npm install it');
    const { broadcaster, calls, changes, onTransport } = refusing(() => missing);
    const { queue } = queueOn(
      { ...broadcaster, ready: () => Promise.reject(missing) },
      { onTransport },
    );
    await minutes(0);
    expect(changes).toMatchObject([{ state: 'paused', error: missing }]);
    push(queue, numbered(1), status(2, 'completed'));
    await minutes(0.5);
    expect(calls).toEqual([]);
    expect(queue.stats).toMatchObject({ queued: 1, dropped: 1 });
  });

  it('is reported on the console once if there is no listener', async () => {
    const said = vi.spyOn(console, 'error').mockImplementation(() => {});
    const { broadcaster, how } = refusing();
    const queue = new EnvelopeQueue({ broadcaster, channel: 'agent.s', queueSize: 100 });
    push(queue, ...upTo(5), status(6, 'completed'));
    await minutes(5);
    how.isRight = true;
    await minutes(5);
    expect(said.mock.calls.flat()).toEqual([
      'onward: fake is paused. answered 401. Check the secret. Runs continue, and readers get what is in the log. The next attempt is in 60 s.',
      'onward: fake works again after 420 s. Readers refill what they missed.',
    ]);
  });

  it('400, 413 and 422 pause nothing', async () => {
    const { broadcaster, calls } = transport((envelopes) => {
      if (envelopes.length > 1) throw refused('413');
    });
    const { queue, lost } = queueOn(broadcaster);
    push(queue, numbered(1), numbered(2));
    await minutes(0);
    expect(calls).toEqual([[1, 2], [1], [2]]);
    expect(lost()).toEqual([]);
  });
});

describe('the last envelope of a run', () => {
  const down = () => {
    const how = { isDown: true };
    const fake = transport(() => {
      if (how.isDown) throw new BroadcastError('503', { retryable: true });
    });
    vi.spyOn(Math, 'random').mockReturnValue(0);
    return { ...fake, how };
  };

  it('is retried longer than the envelopes before it', async () => {
    const { broadcaster, how, arrived } = down();
    const { queue, lost } = queueOn(broadcaster);
    push(queue, numbered(1), numbered(2), status(3, 'completed'));
    await minutes(1);
    expect(lost()).toEqual([1, 2]);
    how.isDown = false;
    await minutes(1);
    expect(seqs(arrived)).toEqual([3]);
    expect(queue.stats).toMatchObject({ queued: 0, sent: 1, dropped: 2 });
  });

  it('is dropped if others follow it, and after its last attempt', async () => {
    const { broadcaster, how, arrived } = down();
    const { queue, lost } = queueOn(broadcaster);
    push(queue, status(1, 'completed'));
    await minutes(0.5);
    push(queue, status(2));
    await minutes(0.5);
    expect(lost()).toEqual([1]);
    how.isDown = false;
    await minutes(1);
    expect(seqs(arrived)).toEqual([2]);
    how.isDown = true;
    push(queue, status(3, 'completed'));
    await minutes(10);
    expect(lost()).toEqual([1, 3]);
    expect(queue.stats.queued).toBe(0);
  });

  it('other envelopes are dropped after their last attempt', async () => {
    const { broadcaster, calls } = down();
    const { queue, lost } = queueOn(broadcaster);
    push(queue, numbered(1));
    await minutes(10);
    push(queue, status(2));
    await minutes(10);
    expect(lost()).toEqual([1, 2]);
    expect(calls).toHaveLength(12);
  });

  it('a transport that is down is not called more often because of a long queue', async () => {
    const { broadcaster, calls } = down();
    const { queue } = queueOn({ ...broadcaster, batchSize: 10 });
    push(queue, ...upTo(500));
    await minutes(5);
    expect(calls.length).toBeLessThan(36);
  });
});
