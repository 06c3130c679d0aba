import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { QueueServer, type QueueLink } from './queue-server.ts';

const job = (sessionId: string) => ({ sessionId, owner: 'o', agent: 'a' });
const never = (): Promise<never> => new Promise(() => {});

/** Creates a server whose state the test controls. */
function harness() {
  const state = { isUp: true, count: 0, isSilent: false };
  const attempts: boolean[] = [];
  const added: string[] = [];
  const closed: boolean[] = [];
  const reported: unknown[] = [];
  let fail: (error: unknown) => void = () => {};
  const answer = async <T>(value: T): Promise<T> => {
    if (state.isSilent) return never();
    if (!state.isUp) throw new Error('gone');
    return value;
  };
  const link = (isWorker: boolean): QueueLink => ({
    isWorker,
    add: async ({ sessionId }, priority) => {
      await answer(null);
      added.push(`${sessionId} ${priority}`);
    },
    count: () => answer(state.count),
    stopTaking: () => void added.push('stop'),
    close: async (isOrderly) => void closed.push(isOrderly),
  });
  const server = new QueueServer({
    async connect(isWorker, failed) {
      attempts.push(isWorker);
      fail = failed;
      if (state.isSilent) throw new Error('no answer');
      await answer(null);
      return link(isWorker);
    },
    report: (error) => reported.push(error),
  });
  onTestFinished(async () => {
    const closing = server.close();
    await pass(10_000);
    await closing;
  });
  const failNow = (): void => fail(new Error('strange'));
  return { server, state, attempts, added, closed, reported, failNow };
}
const pass = async (ms: number): Promise<void> => void (await vi.advanceTimersByTimeAsync(ms));

describe('the connection to a shared queue', () => {
  beforeEach(() => {
    vi.useFakeTimers();
    // runs after all other cleanups
    onTestFinished(() => void vi.useRealTimers());
  });

  it('is opened on first use, and only once', async () => {
    const { server, attempts, added } = harness();
    expect(attempts).toEqual([]);
    server.open(false);
    server.open(false);
    expect(await server.add(job('a'), 3)).toBe(true);
    expect([attempts, added]).toEqual([[false], ['a 3']]);
  });

  it('is replaced when the process starts to work', async () => {
    const { server, attempts, closed } = harness();
    server.open(false);
    await pass(10);
    server.open(true);
    await pass(500);
    expect([attempts, closed]).toEqual([[false, true], [false]]);
  });

  it('is retried until the server answers, with one report', async () => {
    const { server, state, attempts, reported, added } = harness();
    state.isUp = false;
    server.open(true);
    expect(await server.add(job('a'), 1)).toBe(false);
    server.addLater(job('a'), 1);
    expect([server.waiting, server.isDown]).toEqual([0, true]);
    await pass(30_000);
    expect(attempts.length).toBeGreaterThan(10);
    expect(reported).toEqual([new Error('gone')]);
    state.isUp = true;
    await pass(3_000);
    expect(added).toEqual(['a 1']);
    await pass(1_000);
    expect([await server.add(job('b'), 1), server.waiting, reported.length]).toEqual([true, 1, 1]);
  });

  it('is closed when the server goes silent, with one report per outage', async () => {
    const { server, state, closed, reported } = harness();
    server.open(true);
    await pass(10);
    for (const outage of [1, 2]) {
      state.isSilent = true;
      const adding = server.add(job('a'), 1);
      await pass(1_000);
      expect(await adding).toBe(false);
      await pass(5_000);
      expect([closed, reported.length]).toEqual([Array(outage).fill(false), outage]);
      state.isSilent = false;
      await pass(60_000);
      expect(await server.add(job('b'), 1)).toBe(true);
    }
  });

  it('stays after an error if the server answers', async () => {
    const { server, attempts, reported, failNow } = harness();
    server.open(true);
    await pass(2_000);
    for (let n = 0; n < 20; n++) {
      failNow();
      await pass(100);
    }
    expect([attempts.length, reported.length]).toEqual([1, 1]);
    await pass(20_000);
    failNow();
    expect(reported).toHaveLength(2);
  });

  it('counts the waiting jobs', async () => {
    const { server, state } = harness();
    state.count = 7;
    server.open(false);
    await pass(10);
    expect(server.waiting).toBe(7);
    await server.add(job('a'), 1);
    expect(server.waiting).toBe(8);
    state.count = 0;
    await pass(1_000);
    expect(server.waiting).toBe(0);
  });

  it('polls less often when there is nothing to do', async () => {
    const { server, state } = harness();
    let asked = 0;
    Object.defineProperty(state, 'count', { get: () => (asked++, 0) });
    server.open(true);
    await pass(60_000);
    expect(asked).toBeLessThanOrEqual(14);
  });

  it('is closed in an orderly way and never opened again', async () => {
    const { server, attempts, closed, added } = harness();
    server.open(true);
    await pass(10);
    server.stopTaking();
    await server.close();
    server.open(true);
    await pass(10_000);
    expect([attempts.length, closed, added]).toEqual([1, [true], ['stop']]);
    expect(await server.add(job('a'), 1)).toBe(false);
  });

  it('closes even if the server never answers', async () => {
    const server = new QueueServer({ connect: never, report: () => {} });
    server.open(true);
    const closing = server.close();
    await pass(10_000);
    await closing;
  });
});
