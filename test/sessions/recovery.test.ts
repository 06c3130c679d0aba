import { createAgent, type ExecutionQueue } from 'onward';
import type { SessionStore } from 'onward/stores';
import { ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { stores } from '../setup/four-stores.ts';
import { ended } from '../setup/session-moments.ts';
import { ann, builderWith, followingDriver, pause, runtimeOn, until } from '../setup/sessions.ts';

const { final } = ScenarioStep;
const FOREIGN = 3_000;
let runs = 0;
const at = (ms: number): string => new Date(Date.UTC(2026, 0, 1) + ms).toISOString();

/** Creates open sessions that are older than all others, as a client leaves them. */
async function openSessions(
  store: SessionStore,
  agent: string,
  count: number,
  owners = 3,
): Promise<readonly string[]> {
  const run = `${process.pid}-${runs++}`;
  const ids = Array.from({ length: count }, (_n, i) => `${agent}-${run}-${i}`);
  const client = runtimeOn(store, createAgent({ name: agent, driver: followingDriver() }), {
    queue: { start() {}, add() {}, isFull: false, waiting: 0, drain: async () => {} },
  });
  const [first = ''] = ids;
  const one = await client.create({ ...ann, id: first });
  const { head } = (await store.find(one.id))!;
  const body = JSON.stringify({ message: { role: 'user', content: 'go' } });
  const make = async (id: string, i: number): Promise<void> => {
    const row = { agent, status: 'pending', executionId: null, head } as const;
    const counts = { messageCount: 0, stepCount: 0, createdAt: at(i) };
    if (i > 0) await store.create({ ...row, ...counts, id, owner: `owner-${i % owners}` });
    const command = { kind: 'message', executionId: `e-${id}`, body, at: at(i) } as const;
    await store.accept(id, command, { phases: ['idle'] });
  };
  for (let i = 0; i < count; i += 50)
    await Promise.all(ids.slice(i, i + 50).map((id, k) => make(id, i + k)));
  return ids;
}

/** Creates a queue that records added sessions and starts none. */
function countingQueue(): ExecutionQueue & { readonly added: string[] } {
  const added: string[] = [];
  return {
    added,
    start() {},
    add: (id) => void added.push(id),
    isFull: false,
    waiting: 0,
    drain: async () => {},
  };
}

describe.each(stores)('recovery (%s)', (name, open) => {
  it('finds a session of its agent behind thousands of sessions of unknown agents', async () => {
    const store = open();
    const foreign = await openSessions(store, `retired-${name}`, FOREIGN);
    const [mine = ''] = await openSessions(store, 'support', 1);
    let looks = 0;
    let looksBefore = 0;
    const counting: SessionStore = {
      ...store,
      urgent: (query) => {
        looks += 1;
        return store.urgent(query);
      },
      claim: (id, lease) => {
        if (id === mine) looksBefore = looks;
        return store.claim(id, lease);
      },
    };
    const worker = runtimeOn(counting, builderWith(followingDriver([final('done')])).build());
    worker.start();
    expect(await ended(worker, mine)).toMatchObject({ status: 'completed', output: 'done' });
    // thousands of others would take many polls
    expect(looksBefore).toBeLessThanOrEqual(4);
    // a stop reaches any of them, and the others are unchanged
    const last = foreign.at(-1)!;
    await store.request(last, { stop: 'enough' });
    await until(async () => (await store.find(last))?.phase === 'idle');
    expect((await store.find(foreign[0]!))?.token).toBe(0);
  }, 60_000);

  it('does not add waiting or running sessions again, and every owner gets a turn', async () => {
    const store = open();
    const ids = await openSessions(store, `busy-${name}`, 30, 10);
    const queue = countingQueue();
    const agent = createAgent({ name: `busy-${name}`, driver: followingDriver() });
    const watcher = runtimeOn(store, agent, { queue });
    expect(await watcher.recover()).toBe(30);
    expect(queue.added.toSorted()).toEqual([...ids].toSorted());
    const ownerOf = async (id: string) => (await store.find(id))!.owner;
    const firstEleven = await Promise.all(queue.added.slice(0, 11).map(ownerOf));
    expect(new Set(firstEleven).size).toBe(11);

    // a driver that never answers: all of them run here
    let running = 0;
    const infer = (): Promise<never> => {
      running += 1;
      return new Promise<never>(() => {});
    };
    const hanging = { name: 'hangs', infer };
    const worker = runtimeOn(store, createAgent({ name: `busy-${name}`, driver: hanging }));
    worker.start();
    await until(async () => (await worker.recover()) === 0 && running === 30);
    let finds = 0;
    const find = store.find;
    Object.assign(store, {
      find: (id: string) => {
        finds += 1;
        return find(id);
      },
    });
    await pause(2_200);
    expect(finds).toBe(0);
  }, 60_000);
});

describe.each(stores)('a session that cannot be claimed (%s)', (_name, open) => {
  it('is not retried for a while', async () => {
    const store = open();
    const [id = ''] = await openSessions(store, `refused-${_name}`, 1);
    let claims = 0;
    const failing: SessionStore = {
      ...store,
      claim: (sessionId, request) => {
        if (sessionId !== id) return store.claim(sessionId, request);
        claims += 1;
        return Promise.reject(new Error('no connection'));
      },
    };
    const failures: unknown[] = [];
    const agent = createAgent({ name: `refused-${_name}`, driver: followingDriver([final('x')]) });
    const runtime = runtimeOn(failing, agent, { onError: (error) => failures.push(error) });
    await runtime.recover();
    await until(() => failures.length > 0);
    await pause(20);
    expect(await runtime.recover()).toBe(0);
    expect(claims).toBe(1);
  });
});
