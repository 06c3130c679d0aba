import { describe, expect, it } from 'vitest';
import { checkedLimits, localQueue } from '../../sessions/in-process-queue.ts';
import { SharedTurns, type SessionJob, type TakenJob } from './shared-turns.ts';

const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));

interface Taken {
  readonly promoted: string[];
  job(data: Partial<SessionJob> & { readonly sessionId: string }, takes?: number): TakenJob;
}
function taken(): Taken {
  const promoted: string[] = [];
  return {
    promoted,
    job: (data, takes = 1) => ({
      data: { owner: '', agent: '', ...data },
      takes,
      promote: () => void promoted.push(data.sessionId),
    }),
  };
}

/** Creates turns whose work ends when the test calls `end`. */
function harness(limits: Parameters<typeof checkedLimits>[1] = {}, agents?: readonly string[]) {
  const turns = new SharedTurns(localQueue(checkedLimits('test', limits), 1_000));
  const began: string[] = [];
  const open = new Map<string, () => void>();
  turns.start((id) => {
    began.push(id);
    return new Promise((resolve) => open.set(id, resolve));
  }, agents);
  const end = async (id: string): Promise<void> => {
    open.get(id)?.();
    await turn();
  };
  return { turns, began, end, ...taken() };
}

describe('the turns of one process in a shared queue', () => {
  it('finish a job when the work on its session has ended', async () => {
    const { turns, began, end, job } = harness();
    const done = turns.work(job({ sessionId: 'a' }));
    expect(began).toEqual(['a']);
    await end('a');
    expect(await done).toBe('done');
  });

  it('finish a job of a running session after its next turn', async () => {
    const { turns, began, end, job } = harness();
    expect(turns.tryAdd('a', {})).toBe(true);
    let isOver = false;
    const done = turns.work(job({ sessionId: 'a' })).then(() => (isOver = true));
    await end('a');
    expect([began, isOver]).toEqual([['a', 'a'], false]);
    await end('a');
    await done;
    expect(began).toEqual(['a', 'a']);
  });

  it('let lost sessions wait in this process, and start them before jobs and other sessions', async () => {
    const { turns, began, end, job, promoted } = harness({ concurrency: 1 });
    void turns.work(job({ sessionId: 'a' }));
    expect(turns.tryAdd('other', {})).toBe(false);
    expect(turns.tryAdd('lost', { isLost: true })).toBe(true);
    expect([turns.has('lost'), turns.has('a'), turns.has('other')]).toEqual([true, true, false]);
    expect(await turns.work(job({ sessionId: 'b' }))).toMatchObject({ afterMs: 5_000 });
    await end('a');
    expect([began, promoted]).toEqual([['a', 'lost'], []]);
    await end('lost');
    expect(promoted).toEqual(['b']);
  });

  it('delay jobs that a limit holds back, and promote one that can start when a turn ends', async () => {
    const { turns, end, job, promoted } = harness({ concurrency: 2, maxPerOwner: 1 });
    const working = ['a', 'b'].map((owner) => turns.work(job({ sessionId: `${owner}1`, owner })));
    const delays = [];
    for (const owner of ['c', 'b', 'a'])
      delays.push(await turns.work(job({ sessionId: `${owner}2`, owner })));
    expect(delays).toEqual([5_000, 5_100, 5_200].map((afterMs) => ({ afterMs })));
    await end('b1');
    await expect.poll(() => promoted).toEqual(['c2']);
    void turns.work(job({ sessionId: 'c2', owner: 'c' }));
    await end('a1');
    await expect.poll(() => promoted).toEqual(['c2', 'b2']);
    void turns.work(job({ sessionId: 'b2', owner: 'b' }));
    await end('c2');
    await expect.poll(() => promoted).toEqual(['c2', 'b2', 'a2']);
    expect(await Promise.all(working)).toEqual(['done', 'done']);
  });

  it('leave jobs of unknown agents to other processes with growing delays, then drop them', async () => {
    const { turns, began, job } = harness({}, ['here']);
    const outcomes = [];
    for (let takes = 1; takes <= 15; takes++)
      outcomes.push(await turns.work(job({ sessionId: 'a', agent: 'there' }, takes)));
    expect(outcomes.slice(0, 4)).toEqual(['return', { afterMs: 200 }, 'return', { afterMs: 400 }]);
    expect(outcomes.slice(-2)).toEqual([{ afterMs: 12_800 }, 'done']);
    void turns.work(job({ sessionId: 'b', agent: 'here' }));
    // stopping a session needs no agent
    void turns.work(job({ sessionId: 'c', agent: 'there', isUrgent: true }));
    expect(began).toEqual(['b', 'c']);
  });

  it('return jobs to the queue while draining', async () => {
    const { turns, began, end, job } = harness({ concurrency: 1 });
    const first = turns.work(job({ sessionId: 'a' }));
    const again = turns.work(job({ sessionId: 'a' }));
    const drained = turns.drain();
    expect(await turns.work(job({ sessionId: 'b' }))).toBe('return');
    expect([turns.free, turns.tryAdd('b', {})]).toEqual([0, false]);
    await end('a');
    await drained;
    expect([await first, await again]).toEqual(['return', 'return']);
    expect(began).toEqual(['a']);
  });
});
