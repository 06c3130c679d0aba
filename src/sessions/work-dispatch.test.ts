import { describe, expect, it, vi } from 'vitest';
import type { SessionBus } from './bus/session-bus.ts';
import type { ExecutionQueue, LocalWork } from './execution-queue.ts';
import { inProcessQueue } from './in-process-queue.ts';
import type { SessionRow } from './session-rows.ts';
import { WorkDispatch } from './work-dispatch.ts';

const ids = Array.from({ length: 250 }, (_, n) => `s${n}`);

/** Creates a dispatch that counts how many rows it reads, and how many at the same time. */
function setUp(queue: ExecutionQueue) {
  const reads = { all: 0, now: 0, most: 0 };
  const find = async (id: string): Promise<SessionRow> => {
    reads.all += 1;
    reads.most = Math.max(reads.most, ++reads.now);
    await Promise.resolve();
    reads.now -= 1;
    const [owner = ''] = id.includes(':') ? id.split(':') : ['o'];
    return { id, owner, agent: 'a' } as SessionRow;
  };
  const dispatch = new WorkDispatch({ queue, works: true, hasAgent: () => true, find });
  return { dispatch, reads };
}

/** Creates a queue that processes share, with a number of free places in this one. */
function sharedQueue(free: number) {
  const taken: string[] = [];
  const local: LocalWork = {
    get free() {
      return free - taken.length;
    },
    tryAdd: (id) => taken.push(id) > 0,
  };
  return { taken, queue: { ...inProcessQueue(), local } };
}

describe('WorkDispatch.addFound', () => {
  it('takes all sessions that a dead process has left, a few rows at a time', async () => {
    const { taken, queue } = sharedQueue(1_000);
    const { dispatch, reads } = setUp(queue);
    await dispatch.addFound(ids);
    expect(taken.toSorted()).toEqual(ids.toSorted());
    expect(reads).toMatchObject({ all: 250, most: 20 });
  });

  it.each([
    [0, 0],
    [30, 40],
  ])('with %i free places takes that many and reads %i rows', async (free, read) => {
    const { taken, queue } = sharedQueue(free);
    const { dispatch, reads } = setUp(queue);
    await dispatch.addFound(ids);
    expect(taken).toHaveLength(free);
    expect(reads.all).toBe(read);
  });

  it('begins at a random session, because other processes have found the same ones', async () => {
    const firsts = new Set<string | undefined>();
    for (let n = 0; n < 20; n++) {
      const { taken, queue } = sharedQueue(1);
      await setUp(queue).dispatch.addFound(ids);
      firsts.add(taken[0]);
    }
    expect(firsts.size).toBeGreaterThan(1);
  });
});

describe('WorkDispatch.addLost', () => {
  it('lets lost sessions wait beside a shared queue, some more with each sweep, each once', async () => {
    const { taken, queue } = sharedQueue(30);
    const { dispatch, reads } = setUp({
      ...queue,
      local: { free: 30, tryAdd: queue.local.tryAdd, has: (id) => taken.includes(id) },
    });
    await dispatch.addLost(ids);
    expect(taken).toHaveLength(130);
    await dispatch.addLost(ids);
    expect(taken.toSorted()).toEqual(ids.toSorted());
    const { all } = reads;
    await dispatch.addLost(ids);
    expect([taken.length, reads.all]).toEqual([250, all]);
  });

  it('adds sessions of other owners where one owner has filled its share of the queue', async () => {
    const queue = inProcessQueue({ concurrency: 1, maxWaiting: 10 });
    queue.start(() => new Promise(() => {}));
    const { dispatch } = setUp(queue);
    await dispatch.addFound(ids.slice(0, 11));
    expect([queue.waiting, queue.isFull]).toEqual([9, false]);
    await dispatch.addFound(['s11', 'b:1', 'b:2']);
    expect([queue.waiting, queue.has?.('b:1')]).toEqual([10, true]);
    expect(dispatch.refusal('b')).toMatchObject({ code: 'queue_full' });
  });

  it('starts sessions of a dead worker before those that wait already, however full the queue is', async () => {
    const queue = inProcessQueue({ concurrency: 1, maxWaiting: 3 });
    const began: string[] = [];
    let end = (): void => {};
    queue.start(async (id) => {
      began.push(id);
      await new Promise<void>((resolve) => (end = resolve));
    });
    const { dispatch } = setUp(queue);
    await dispatch.addFound(['running', 'a', 'b', 'c']);
    // one of them waits already, as if it were not lost
    await dispatch.addLost(['c', 'lost']);
    await dispatch.addLost(['c', 'lost']);
    for (let n = 0; n < 5; n++) {
      end();
      await new Promise((resolve) => setTimeout(resolve, 0));
    }
    expect(began).toEqual(['running', 'c', 'lost', 'a', 'b']);
  });
});

describe('WorkDispatch.wake', () => {
  it.each([
    [false, 0],
    [true, 1],
  ])(
    'with a shared queue whose server is down (%s) sends %i messages over the bus',
    async (isDown, sent) => {
      const { dispatch } = setUp({ ...sharedQueue(0).queue, isDown });
      const wake = vi.fn();
      dispatch.bus = { wake } as unknown as SessionBus; // all that it calls
      await dispatch.wake({ id: 's', owner: 'o', agent: 'a' }, false);
      expect(wake).toHaveBeenCalledTimes(sent);
    },
  );
});
