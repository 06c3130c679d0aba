import { describe, expect, it, vi } from 'vitest';
import {
  chunk,
  numbered,
  push,
  queueOn,
  seqs,
  status,
  transport,
  useFakeTime,
} from '../../test/setup/envelope-queues.ts';

useFakeTime();

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

  it('a last word leaves after all others, the oldest of them first', async () => {
    const { queue, lost } = queueOn(stuck().broadcaster, { queueSize: 3 });
    push(queue, numbered(1));
    await vi.advanceTimersByTimeAsync(0);
    push(queue, status(2, 'completed'), status(3), numbered(4));
    push(queue, status(5), status(6), status(7, 'completed'), status(8, 'completed'));
    expect(lost()).toEqual([4, 3, 5, 6]);
    push(queue, status(9));
    expect(lost()).toEqual([4, 3, 5, 6, 2]);
  });

  it('nothing that is in the log leaves for a chunk', async () => {
    const { queue, lost } = queueOn(stuck().broadcaster, { queueSize: 2 });
    push(queue, numbered(1));
    await vi.advanceTimersByTimeAsync(0);
    push(queue, numbered(2), status(3, 'completed'), chunk(0), chunk(1));
    expect(lost()).toEqual([null, null]);
    expect(queue.stats).toMatchObject({ queued: 3, dropped: 2 });
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
