import { describe, expect, it } from 'vitest';
import { inProcessQueue, type InProcessQueueOptions } from './execution-queue.ts';

const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));

/** A queue whose work ends when it is told to. */
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

describe('the queue in this process', () => {
  it('runs so many at a time, in the order they came', async () => {
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

  it('lets those pass that are to be stopped, also where it is full', async () => {
    const { queue, began, end } = harness({ concurrency: 1, maxWaiting: 1 });
    for (const id of ['a', 'b']) void queue.add(id);
    expect(queue.isFull).toBe(true);
    for (const id of ['b', 'c', 'a']) void queue.add(id, { isUrgent: true });
    expect(began).toEqual(['a', 'b', 'c']);
    expect(queue.waiting).toBe(0);
    await end('a');
    expect(began).toEqual(['a', 'b', 'c', 'a']);
  });

  it('never runs a session twice at the same time, and runs it again when it was asked to meanwhile', async () => {
    const { queue, began, end } = harness({ concurrency: 5 });
    for (const id of ['a', 'a', 'a', 'b']) void queue.add(id);
    expect(began).toEqual(['a', 'b']);
    expect(queue.waiting).toBe(1);
    await end('a');
    expect(began).toEqual(['a', 'b', 'a']);
    await end('a');
    expect(began).toEqual(['a', 'b', 'a']);
  });

  it('an entry that waits for its own end blocks no other', async () => {
    const { queue, began, end } = harness({ concurrency: 2 });
    for (const id of ['a', 'b', 'a', 'c']) void queue.add(id);
    await end('b');
    expect(began).toEqual(['a', 'b', 'c']);
  });

  it('continues after work that fails', async () => {
    const { queue, began, end } = harness({ concurrency: 1 });
    void queue.add('a');
    void queue.add('b');
    await end('a', new Error('boom'));
    expect(began).toEqual(['a', 'b']);
  });

  it('is full when so many wait; what waits already may be added again', async () => {
    const { queue, end } = harness({ concurrency: 1, maxWaiting: 2 });
    for (const id of ['a', 'b', 'c']) void queue.add(id);
    expect(queue.isFull).toBe(true);
    expect(() => queue.add('b')).not.toThrow();
    expect(() => queue.add('d')).toThrow(expect.objectContaining({ code: 'queue_full' }));
    await end('a');
    expect(queue.isFull).toBe(false);
    expect(() => queue.add('d')).not.toThrow();
  });

  it('keeps what it is told before it is started', async () => {
    const queue = inProcessQueue();
    void queue.add('a');
    const began: string[] = [];
    queue.start(async (id) => void began.push(id));
    expect(began).toEqual(['a']);
  });

  it('drain takes up nothing more, and waits for what runs', async () => {
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
  ])('refuses %j', (options) => {
    expect(() => inProcessQueue(options)).toThrow(
      expect.objectContaining({ code: 'invalid_option' }),
    );
  });
});
