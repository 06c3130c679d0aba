import { setTimeout as wait } from 'node:timers/promises';
import { expect, it, vi } from 'vitest';
import { SessionRuntime, type ExecutionQueue, type SessionRuntimeOptions } from 'onward';
import { describeServers } from '../setup/bull-servers.ts';
import { idsOf } from '../setup/queue-work.ts';
import { queueAgent } from '../setup/queue-agent.ts';
import { runtimeOn, sqlitePlace, type Place } from '../setup/sessions.ts';

vi.setConfig({ testTimeout: 90_000, hookTimeout: 90_000 });

const owner = 'ann';

/** Creates a runtime like that of another process, and records the keys of the tool calls that it began. */
function workerOn(
  place: Place,
  queue: ExecutionQueue,
  options: Partial<SessionRuntimeOptions> & { readonly toolMs?: number } = {},
) {
  const worked: string[] = [];
  const { toolMs = 5, ...others } = options;
  const agent = queueAgent(toolMs, (key) => worked.push(key));
  return { runtime: runtimeOn(place.open(), agent, { queue, ...others }), worked };
}

async function sendAll(runtime: SessionRuntime, ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    await runtime.create({ owner, id });
    await runtime.send(id, 'go', { owner });
  }
}
const statuses = (runtime: SessionRuntime, ids: readonly string[]): Promise<string[]> =>
  Promise.all(ids.map(async (id) => (await runtime.get(id, { owner })).status));
const completed = (ids: readonly string[]): string[] => ids.map(() => 'completed');
const isOnce = (keys: readonly string[]): boolean => new Set(keys).size === keys.length;

describeServers('sessions over a queue', (server, newQueues) => {
  it('are worked on by all processes, without a sweep, each call once', async () => {
    const [open, place] = [newQueues(), sqlitePlace()];
    const workers = [1, 2, 3].map(() => workerOn(place, open({ concurrency: 3 }), { toolMs: 30 }));
    const ids = idsOf('s', 45);
    const { runtime } = workers[0]!;
    await sendAll(runtime, ids);
    await expect.poll(() => statuses(runtime, ids)).toEqual(completed(ids));
    const calls = workers.flatMap(({ worked }) => worked);
    expect([calls.length, isOnce(calls)]).toEqual([45, true]);
    for (const { worked } of workers) expect(worked.length).toBeGreaterThan(3);
  });

  it('accept every message at any time and from any process, without a sweep', async () => {
    const [open, place] = [newQueues(), sqlitePlace()];
    const workers = [1, 2].map(() => workerOn(place, open(), { toolMs: 1 }));
    const ids = idsOf('s', 4);
    await sendAll(workers[0]!.runtime, ids);
    const send = async (n: number): Promise<void> => {
      for (let times = 0; times < 20; times++) {
        const { runtime } = workers[(n + times) % 2]!;
        await runtime.send(ids[n]!, `message ${times}`, { owner, whenBusy: 'queue' });
        await wait(Math.random() * 20);
      }
    };
    await Promise.all(ids.map((_, n) => send(n)));
    const { runtime } = workers[1]!;
    await expect.poll(() => statuses(runtime, ids)).toEqual(completed(ids));
    const calls = workers.flatMap(({ worked }) => worked);
    expect([calls.length, isOnce(calls)]).toEqual([ids.length * 21, true]);
  });

  it('run once even if the queue delivers everything twice (D81)', async () => {
    const [one, other, place] = [newQueues(), newQueues(), sqlitePlace()];
    /** Combines two queues, each of which delivers every session. */
    const doubled = (): ExecutionQueue => {
      const queues = [one(), other()];
      return {
        start: (...work) => queues.forEach((queue) => queue.start(...work)),
        add: async (...session) =>
          void (await Promise.all(queues.map(async (queue) => queue.add(...session)))),
        isFull: false,
        waiting: 0,
        drain: async () => void (await Promise.all(queues.map((queue) => queue.drain()))),
      };
    };
    const workers = [1, 2].map(() => workerOn(place, doubled(), { toolMs: 10 }));
    const ids = idsOf('s', 10);
    await sendAll(workers[0]!.runtime, ids);
    // two writers on one session
    await Promise.all(
      ids.flatMap((id) =>
        workers.map(({ runtime }) => runtime.send(id, 'more', { owner, whenBusy: 'queue' })),
      ),
    );
    const { runtime } = workers[0]!;
    await expect.poll(() => statuses(runtime, ids)).toEqual(completed(ids));
    const calls = workers.flatMap(({ worked }) => worked);
    expect([calls.length, isOnce(calls)]).toEqual([30, true]);
    for (const id of ids)
      expect((await runtime.messages(id, { owner })).items.map(({ role }) => role)).toEqual(
        [1, 2, 3].flatMap(() => ['user', 'assistant', 'tool', 'assistant']),
      );
  });

  it('are stopped from another process', async () => {
    const [open, place] = [newQueues(), sqlitePlace()];
    const [busy, other] = [
      workerOn(place, open({ concurrency: 1 }), { toolMs: 60_000 }),
      workerOn(place, open({ concurrency: 1 }), { toolMs: 60_000 }),
    ];
    const ids = idsOf('s', 5);
    await sendAll(busy.runtime, ids);
    await expect.poll(() => busy.worked.length + other.worked.length).toBe(2);
    await Promise.all(ids.map((id) => other.runtime.stop(id, { owner, wait: true })));
    expect(await statuses(busy.runtime, ids)).toEqual(ids.map(() => 'stopped'));
    expect(busy.worked.length + other.worked.length).toBe(2);
  });

  it('are handed over to another process on close, without a sweep', async () => {
    const [open, place] = [newQueues(), sqlitePlace()];
    const leaving = workerOn(place, open({ concurrency: 2 }), { toolMs: 200 });
    const ids = idsOf('s', 6);
    await sendAll(leaving.runtime, ids);
    await expect.poll(() => leaving.worked.length).toBe(2);
    const staying = workerOn(place, open());
    await leaving.runtime.close();
    await expect.poll(() => statuses(staying.runtime, ids)).toEqual(completed(ids));
    const calls = [...leaving.worked, ...staying.worked];
    expect([calls.length, isOnce(calls)]).toEqual([6, true]);
  });

  it('are worked on when the server starts after all processes (D88)', async () => {
    await server().kill();
    const [open, place] = [newQueues(), sqlitePlace()];
    const workers = [1, 2].map(() => workerOn(place, open({ concurrency: 2 }), { toolMs: 20 }));
    for (const { runtime } of workers) runtime.start();
    const ids = idsOf('s', 12);
    await sendAll(workers[0]!.runtime, ids.slice(0, 6));
    await server().restart();
    await sendAll(workers[0]!.runtime, ids.slice(6));
    const { runtime } = workers[1]!;
    await expect.poll(() => statuses(runtime, ids)).toEqual(completed(ids));
    const calls = workers.flatMap(({ worked }) => worked);
    expect([calls.length, isOnce(calls)]).toEqual([12, true]);
  });

  it('are worked on even if the server loses its data, restarts and loses it again', async () => {
    const [open, place] = [newQueues(), sqlitePlace()];
    const workers = [1, 2].map(() => workerOn(place, open({ concurrency: 2 }), { toolMs: 50 }));
    for (const { runtime } of workers) runtime.start();
    const ids = idsOf('s', 40);
    const { runtime } = workers[0]!;
    await sendAll(runtime, ids.slice(0, 20));
    await server().clear();
    await sendAll(runtime, ids.slice(20, 30));
    await server().kill();
    await sendAll(runtime, ids.slice(30));
    await server().restart();
    await server().clear();
    await expect.poll(() => statuses(runtime, ids), { timeout: 60_000 }).toEqual(completed(ids));
    const calls = workers.flatMap(({ worked }) => worked);
    expect([calls.length, isOnce(calls)]).toEqual([40, true]);
  });
});
