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

describe('D65: a slow transport', () => {
  const stuck = () => transport(() => new Promise(() => {}));

  it('drops all chunks and deltas first, because a text with a gap is useless', async () => {
    const { queue, lost } = queueOn(stuck().broadcaster, { queueSize: 5 });
    push(queue, numbered(1));
    await vi.advanceTimersByTimeAsync(0);
    push(queue, numbered(2), chunk(0), chunk(1), numbered(3), chunk(2));
    expect(lost()).toEqual([]);
    push(queue, numbered(4));
    expect(lost()).toEqual([null, null, null]);
    expect(queue.stats).toMatchObject({ queued: 4, dropped: 3 });
  });

  it('then drops the oldest, a status last', async () => {
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

  it('drops the ends of runs after all others, oldest first', async () => {
    const { queue, lost } = queueOn(stuck().broadcaster, { queueSize: 3 });
    push(queue, numbered(1));
    await vi.advanceTimersByTimeAsync(0);
    push(queue, status(2, 'completed'), status(3), numbered(4));
    push(queue, status(5), status(6), status(7, 'completed'), status(8, 'completed'));
    expect(lost()).toEqual([4, 3, 5, 6]);
    push(queue, status(9));
    expect(lost()).toEqual([4, 3, 5, 6, 2]);
  });

  it('never drops a logged envelope for a chunk', async () => {
    const { queue, lost } = queueOn(stuck().broadcaster, { queueSize: 2 });
    push(queue, numbered(1));
    await vi.advanceTimersByTimeAsync(0);
    push(queue, numbered(2), status(3, 'completed'), chunk(0), chunk(1));
    expect(lost()).toEqual([null, null]);
    expect(queue.stats).toMatchObject({ queued: 3, dropped: 2 });
  });

  it('readers detect dropped envelopes by `prev`', async () => {
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

  it('never keeps more than its size and the call in flight', async () => {
    const { queue } = queueOn(stuck().broadcaster, { queueSize: 50 });
    for (let i = 1; i <= 5_000; i++) push(queue, i % 3 === 0 ? chunk(i) : numbered(i));
    await vi.advanceTimersByTimeAsync(0);
    for (let i = 1; i <= 5_000; i++) push(queue, i % 3 === 0 ? chunk(i) : numbered(i));
    const { queued, dropped, sent } = queue.stats;
    expect(queued).toBeLessThanOrEqual(100);
    expect(queued + dropped + sent).toBe(10_000);
  });

  it('counts correctly if a call takes a part of the buffer', async () => {
    const { broadcaster } = transport(() => new Promise(() => {}), { batchSize: 2 });
    const { queue, lost } = queueOn(broadcaster, { queueSize: 3 });
    push(queue, chunk(0), chunk(1), numbered(1));
    await vi.advanceTimersByTimeAsync(0);
    push(queue, numbered(2), numbered(3), numbered(4));
    expect(lost()).toEqual([1]);
    expect(queue.stats.queued).toBe(5);
  });
});
