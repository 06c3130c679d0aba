import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { ExecutionQueue } from 'onward';
import type { SessionStore } from 'onward/stores';
import { memoryStore } from 'onward/stores/memory';
import { queueAgent } from '../setup/queue-agent.ts';
import { idsOf } from '../setup/queue-work.ts';
import { runtimeOn } from '../setup/sessions.ts';

/** Creates a shared queue that has lost all its jobs, in a process with capacity for this many sessions. */
function lostQueue(capacity: number) {
  const [added, taken]: [string[], string[]] = [[], []];
  const local = {
    get free() {
      return capacity - taken.length;
    },
    tryAdd: (id: string, { owner }: { readonly owner?: string }) => {
      if (owner !== 'held back') taken.push(id);
      return owner !== 'held back';
    },
  };
  const queue: ExecutionQueue = {
    start() {},
    add: (id, { isUrgent } = {}) => void added.push(isUrgent ? `${id} at once` : id),
    isFull: false,
    waiting: 0,
    local,
    drain: async () => {},
  };
  return { queue, added, taken };
}

async function accepted(store: SessionStore, id: string, owner: string): Promise<void> {
  const counts = { messageCount: 0, stepCount: 0, createdAt: '2026' };
  const row = { agent: 'worker', status: 'pending', executionId: null, head: '{}' } as const;
  await store.create({ ...row, ...counts, id, owner });
  const command = { kind: 'message', executionId: 'e', body: '{}', at: '2026' } as const;
  await store.accept(id, command, { phases: ['idle'] });
}

describe('the sweep beside a shared queue', () => {
  it('works on sessions that the queue has lost up to its capacity, and adds none again', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const store = memoryStore();
    for (const id of idsOf('s', 8)) await accepted(store, id, id);
    for (const id of idsOf('held', 3)) await accepted(store, id, 'held back');
    const { queue, added, taken } = lostQueue(5);
    const runtime = runtimeOn(
      store,
      queueAgent(0, () => {}),
      { queue },
    );
    expect([await runtime.recover(), added, taken]).toEqual([0, [], []]);
    vi.advanceTimersByTime(2_000);
    expect(await runtime.recover()).toBe(11);
    expect([added, taken.length, new Set(taken).size]).toEqual([[], 5, 5]);
    expect(taken.filter((id) => id.startsWith('held'))).toEqual([]);
  });

  it('starts immediately if a process died or a stop was requested', async () => {
    const store = memoryStore();
    for (const id of ['lost', 'stopped', 'waiting']) await accepted(store, id, 'ann');
    await store.claim('lost', { worker: 'gone', ttlMs: 1 });
    await store.request('stopped', { stop: 'enough' });
    const { queue, added, taken } = lostQueue(5);
    const runtime = runtimeOn(
      store,
      queueAgent(0, () => {}),
      { queue },
    );
    await expect.poll(() => runtime.recover()).toBe(2);
    expect([new Set(added), new Set(taken)]).toEqual([
      new Set(['stopped at once']),
      new Set(['lost']),
    ]);
  });
});
