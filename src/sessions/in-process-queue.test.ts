import { describe, expect, it } from 'vitest';
import {
  checkedLimits,
  inProcessQueue,
  localQueue,
  type InProcessQueueOptions,
} from './in-process-queue.ts';

const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));

/** Creates a queue whose work ends when the test calls `end`. */
function harness(options: InProcessQueueOptions = {}) {
  const queue = inProcessQueue(options);
  const began: string[] = [];
  const open = new Map<string, (error?: Error) => void>();
  queue.start(
    (id) =>
      new Promise((resolve, reject) => {
        began.push(id);
        open.set(id, (error) => (error ? reject(error) : resolve()));
      }),
  );
  const end = async (id: string, error?: Error): Promise<void> => {
    open.get(id)?.(error);
    await turn();
  };
  return { queue, began, end };
}

describe('inProcessQueue', () => {
  it('runs up to `concurrency` sessions at a time, in the order they were added', async () => {
    const { queue, began, end } = harness({ concurrency: 2 });
    for (const id of ['a', 'b', 'c', 'd']) void queue.add(id);
    expect(began).toEqual(['a', 'b']);
    expect(queue.waiting).toBe(2);
    await end('b');
    expect(began).toEqual(['a', 'b', 'c']);
    await end('a');
    expect(began).toEqual(['a', 'b', 'c', 'd']);
    expect(queue.waiting).toBe(0);
  });

  it('starts urgent sessions ahead of others, even when the queue is full', async () => {
    const { queue, began, end } = harness({ concurrency: 1, maxWaiting: 1 });
    for (const id of ['a', 'b']) void queue.add(id);
    expect(queue.isFull).toBe(true);
    for (const id of ['b', 'c', 'a']) void queue.add(id, { isUrgent: true });
    expect(began).toEqual(['a', 'b', 'c']);
    expect(queue.waiting).toBe(0);
    await end('a');
    expect(began).toEqual(['a', 'b', 'c', 'a']);
  });

  it('never runs a session twice at the same time, and runs it again if it was added in between', async () => {
    const { queue, began, end } = harness({ concurrency: 5 });
    for (const id of ['a', 'a', 'a', 'b']) void queue.add(id);
    expect(began).toEqual(['a', 'b']);
    expect(queue.waiting).toBe(1);
    await end('a');
    expect(began).toEqual(['a', 'b', 'a']);
    await end('a');
    expect(began).toEqual(['a', 'b', 'a']);
  });

  it('does not block other sessions behind one that waits for its own run to end', async () => {
    const { queue, began, end } = harness({ concurrency: 2 });
    for (const id of ['a', 'b', 'a', 'c']) void queue.add(id);
    await end('b');
    expect(began).toEqual(['a', 'b', 'c']);
  });

  it('continues after work fails', async () => {
    const { queue, began, end } = harness({ concurrency: 1 });
    void queue.add('a');
    void queue.add('b');
    await end('a', new Error('boom'));
    expect(began).toEqual(['a', 'b']);
  });

  it('is full at `maxWaiting`, and still accepts a session that already waits', async () => {
    const { queue, end } = harness({ concurrency: 1, maxWaiting: 2 });
    for (const id of ['a', 'b', 'c']) void queue.add(id);
    expect(queue.isFull).toBe(true);
    expect(() => queue.add('b')).not.toThrow();
    expect(() => queue.add('d')).toThrow(expect.objectContaining({ code: 'queue_full' }));
    await end('a');
    expect(queue.isFull).toBe(false);
    expect(() => queue.add('d')).not.toThrow();
  });

  it('lets one owner fill nine tenths of it, and leaves the rest to others', () => {
    const { queue } = harness({ concurrency: 1, maxWaiting: 100 });
    const addAll = (owner: string): number => {
      let added = 0;
      try {
        for (; added < 1_000; added++) void queue.add(`${owner}${added}`, { owner });
      } catch (error) {
        expect(error).toMatchObject({ code: 'queue_full' });
      }
      expect(queue.isFullFor?.(owner)).toBe(true);
      return added;
    };
    expect(addAll('a')).toBe(1 + 90); // one runs
    expect([queue.isFull, queue.isFullFor?.('b')]).toEqual([false, false]);
    expect([addAll('b'), addAll('c'), addAll('d')]).toEqual([9, 1, 0]);
    expect([queue.isFull, queue.waiting]).toEqual([true, 100]);
    // a session of a dead worker is never refused
    expect(() => queue.add('lost', { owner: 'a', isLost: true })).not.toThrow();
  });

  it('keeps sessions that are added before it starts', async () => {
    const queue = inProcessQueue();
    void queue.add('a');
    const began: string[] = [];
    queue.start(async (id) => void began.push(id));
    expect(began).toEqual(['a']);
  });

  it('starts urgent sessions first when it starts', () => {
    const queue = inProcessQueue({ concurrency: 1 });
    void queue.add('a');
    void queue.add('b');
    void queue.add('b', { isUrgent: true });
    const began: string[] = [];
    queue.start((id) => {
      began.push(id);
      return new Promise(() => {});
    });
    expect(began).toEqual(['b', 'a']);
  });

  it('lets owners take turns within the limits of owners and agents', async () => {
    const { queue, began, end } = harness({ concurrency: 3, maxPerOwner: 2, agents: { slow: 1 } });
    for (const id of ['a1', 'a2', 'a3']) void queue.add(id, { owner: 'a', agent: 'quick' });
    for (const id of ['b1', 'b2']) void queue.add(id, { owner: 'b', agent: 'slow' });
    expect(began).toEqual(['a1', 'a2', 'b1']);
    await end('b1');
    expect(began).toEqual(['a1', 'a2', 'b1', 'b2']);
    await end('a1');
    expect(began).toEqual(['a1', 'a2', 'b1', 'b2', 'a3']);
  });

  it('runs a session again that is added by its own work', async () => {
    const queue = inProcessQueue();
    const began: string[] = [];
    queue.start(async (id) => {
      if (began.push(id) === 1) await queue.add(id);
    });
    await queue.add('a');
    await turn();
    expect(began).toEqual(['a', 'a']);
  });

  it('reports its free capacity to a queue that processes share', async () => {
    const queue = localQueue(checkedLimits('test', { concurrency: 2, maxPerOwner: 1 }), 10);
    expect([queue.free, queue.tryAdd('a', { owner: 'x' })]).toEqual([0, false]);
    let endAll = (): void => {};
    const open = new Promise<void>((resolve) => (endAll = resolve));
    queue.start(() => open);
    expect([queue.free, queue.tryAdd('a', { owner: 'x' })]).toEqual([2, true]);
    expect([queue.isRunning('a'), queue.free]).toEqual([true, 1]);
    expect([queue.canBegin({ owner: 'x' }), queue.canBegin({ owner: 'y' })]).toEqual([false, true]);
    expect([queue.tryAdd('b', { owner: 'x' }), queue.isRunning('b')]).toEqual([false, false]);
    // it runs, so its next turn comes afterward
    expect([queue.tryAdd('a', { owner: 'x' }), queue.waiting]).toEqual([true, 1]);
    const drained = queue.drain();
    expect([queue.free, queue.canBegin({ owner: 'y' })]).toEqual([0, false]);
    endAll();
    await drained;
  });

  it('starts nothing more after drain, and waits for running sessions', async () => {
    const { queue, began, end } = harness({ concurrency: 1 });
    void queue.add('a');
    void queue.add('b');
    let isDrained = false;
    const draining = queue.drain().then(() => (isDrained = true));
    await turn();
    expect(isDrained).toBe(false);
    void queue.add('c');
    await end('a');
    await draining;
    expect(began).toEqual(['a']);
    await queue.drain();
  });

  it.each<InProcessQueueOptions>([
    { concurrency: 0 },
    { maxWaiting: -1 },
    { concurrency: Number.NaN },
    { maxPerOwner: 0 },
    { agents: { slow: 1.5 } },
  ])('refuses %j', (options) => {
    expect(() => inProcessQueue(options)).toThrow(
      expect.objectContaining({ code: 'invalid_option' }),
    );
  });
});
