import type { SessionRuntime } from 'onward';
import type { SessionStore } from 'onward/stores';
import { mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { stores } from '../setup/four-stores.ts';
import { ended, gated, held } from '../setup/session-moments.ts';
import {
  ann,
  builderWith,
  clientOn,
  followingDriver,
  pause,
  runtimeOn,
  until,
  waiting,
} from '../setup/sessions.ts';

const { final, toolCall } = ScenarioStep;
const lease = { leaseMs: 1_200, heartbeatMs: 100 };
let sessions = 0;
const freshId = (): string => `quarantine-${process.pid}-${sessions++}`;

/** Creates a model that calls the tool twice, then ends. */
const twoSteps = () => followingDriver([toolCall('work'), toolCall('work'), final('done')]);

/** Creates a slow tool that records which sessions run at the same time. */
function overlapping() {
  const running = new Set<string>();
  const seen: { readonly who: string; readonly with: readonly string[] }[] = [];
  const tool = mockTool(
    'work',
    async (_args: unknown, { executionId }: { executionId: string }) => {
      running.add(executionId);
      seen.push({ who: executionId, with: [...running] });
      await pause(30);
      running.delete(executionId);
      return 'ok';
    },
  );
  return { tool, seen };
}

async function asked(client: SessionRuntime, executionId: string): Promise<string> {
  const id = freshId();
  await client.create({ ...ann, id });
  await client.send(id, 'go', { ...ann, executionId });
  return id;
}

/** Simulates workers that died with the session. */
async function died(store: SessionStore, id: string, times: number): Promise<void> {
  for (let deaths = 0; deaths < times; deaths++) {
    await until(() => store.claim(id, { worker: 'gone', ttlMs: 20, alone: true }));
    await pause(40);
  }
}

describe.each(stores)('a session that has killed two workers (%s)', (_name, open) => {
  it('runs alone until a step is done, then beside others', async () => {
    const store = open();
    const { tool, seen } = overlapping();
    const client = clientOn(store, builderWith(twoSteps()).build());
    const poison = await asked(client, 'poison');
    await died(store, poison, 2);
    const healthy: string[] = [];
    for (const name of ['a', 'b', 'c']) healthy.push(await asked(client, name));
    const worker = runtimeOn(store, builderWith(twoSteps(), tool).build(), { lease });
    worker.start();
    for (const id of [poison, ...healthy])
      expect(await ended(worker, id)).toMatchObject({ status: 'completed', output: 'done' });
    const first = seen.findIndex(({ who }) => who === 'poison');
    const second = seen.findIndex(({ who }, i) => who === 'poison' && i > first);
    expect(seen[first]!.with).toEqual(['poison']);
    for (const { with: beside } of seen.slice(first + 1, second))
      expect(beside).not.toContain('poison');
    expect(await store.find(poison)).toMatchObject({ deaths: 0, isQuarantined: false });
    for (const id of healthy) expect(await store.find(id)).toMatchObject({ deaths: 0, tries: 0 });
  });

  it('waits for a running session, which keeps its lease, and gets its turn on a busy worker', async () => {
    const store = open();
    const slow = held();
    const { tool } = overlapping();
    const driver = followingDriver([toolCall('slow'), final('done')]);
    const client = clientOn(store, builderWith(twoSteps()).build());
    const worker = runtimeOn(store, builderWith(driver, slow.tool, tool).build(), { lease });
    const busy = await asked(worker, 'busy');
    await slow.began();
    const { token } = (await store.find(busy))!;
    const poison = await asked(client, 'poison');
    await died(store, poison, 2);
    worker.start();
    await pause(1_000);
    expect((await store.find(poison))!.isLeased).toBe(false);
    expect(await store.find(busy)).toMatchObject({ token, isLeased: true });
    slow.open();
    expect(await ended(worker, busy)).toMatchObject({ status: 'completed' });
    expect((await store.find(busy))!.token).toBe(token);
    expect(await ended(worker, poison)).toMatchObject({ status: 'completed' });
  });

  it('lets others run as soon as a step is done, even while it continues', async () => {
    const store = open();
    const { tool } = overlapping();
    const slow = held();
    const driver = followingDriver([toolCall('work'), toolCall('slow'), final('done')]);
    const client = clientOn(store, builderWith(driver).build());
    const poison = await asked(client, 'poison');
    await died(store, poison, 2);
    const worker = runtimeOn(store, builderWith(driver, tool, slow.tool).build(), { lease });
    worker.start();
    await slow.began();
    const { id } = await worker.create(ann);
    await worker.send(id, 'go', ann);
    // its second step ends only after the other session has reached the same tool
    await until(() => slow.tool.calls.length === 2);
    expect(await worker.get(poison, ann)).toMatchObject({ status: 'in_progress' });
    slow.open();
    for (const session of [poison, id])
      expect(await ended(worker, session)).toMatchObject({ status: 'completed', output: 'done' });
  });

  it('keeps the quarantine over a pause', async () => {
    const store = open();
    const client = clientOn(store, builderWith(twoSteps()).build());
    const poison = await asked(client, 'poison');
    await died(store, poison, 2);
    const worker = runtimeOn(store, builderWith(twoSteps(), gated('work')).build(), { lease });
    worker.start();
    await until(async () => (await worker.get(poison, ann)).status === 'paused');
    expect((await store.find(poison))!.isQuarantined).toBe(true);
    const [call] = (await worker.get(poison, ann)).pendingApprovals;
    await worker.approve(poison, call!.callId, waiting);
    // a step that began before the pause does not end the quarantine; the next one does
    await until(async () => (await worker.get(poison, ann)).status === 'paused');
    const [next] = (await worker.get(poison, ann)).pendingApprovals;
    const done = await worker.approve(poison, next!.callId, waiting);
    expect(done).toMatchObject({ status: 'completed', output: 'done' });
  });

  it('is parked after five tries in which its worker died, but not after deaths beside others', async () => {
    const store = open();
    const client = clientOn(store, builderWith(twoSteps()).build());
    const [poison, bystander] = [await asked(client, 'poison'), await asked(client, 'bystander')];
    await died(store, poison, 5);
    await died(store, bystander, 2);
    const failures: unknown[] = [];
    const { tool } = overlapping();
    const worker = runtimeOn(store, builderWith(twoSteps(), tool).build(), {
      lease,
      onError: (error) => failures.push(error),
    });
    worker.start();
    expect(await worker.wait(poison, ann)).toMatchObject({
      phase: 'parked',
      tries: 5,
      error: expect.stringContaining('ended 5 times in the middle of the work') as string,
    });
    expect(await ended(worker, bystander)).toMatchObject({ status: 'completed' });
    expect(failures).toMatchObject([{ code: 'parked' }]);
    const retried = await worker.retry(poison, waiting);
    expect(retried).toMatchObject({ status: 'completed', tries: 0 });
  });

  it('is parked before it began without an event in the log of the previous turn', async () => {
    const store = open();
    const agent = builderWith(followingDriver([final('one')], [final('two')])).build();
    const worker = runtimeOn(store, agent, { lease, onError: () => {} });
    const id = await asked(worker, 'first');
    expect(await ended(worker, id)).toMatchObject({ output: 'one' });
    const log = (executionId: string): Promise<unknown> =>
      store.events(id, executionId, { after: 0, limit: 100 });
    const before = await log('first');
    await clientOn(store, agent).send(id, 'more', { ...ann, executionId: 'second' });
    await died(store, id, 5);
    worker.start();
    expect(await worker.wait(id, ann)).toMatchObject({ phase: 'parked' });
    expect([await log('first'), await log('second')]).toEqual([before, []]);
    expect(await worker.retry(id, waiting)).toMatchObject({ output: 'two' });
  });

  it('is parked after ten deaths, even if it made progress between them', async () => {
    const store = open();
    const client = clientOn(store, builderWith(twoSteps()).build());
    const poison = await asked(client, 'poison');
    await died(store, poison, 2);
    for (let deaths = 2; deaths < 10; deaths++) {
      const row = (await store.claim(poison, { worker: 'gone', ttlMs: 30, alone: true }))!;
      const { id: sessionId, token, revision } = row;
      const call = { executionId: 'poison', callId: `c${deaths}`, tool: 'work' };
      const done = { ...call, state: 'committed', result: '{}' } as const;
      await store.commit({ sessionId, token, revision, calls: [done] });
      await pause(50);
    }
    const worker = runtimeOn(store, builderWith(twoSteps(), mockTool('work')).build(), {
      lease,
      onError: () => {},
    });
    worker.start();
    expect(await worker.wait(poison, ann)).toMatchObject({ phase: 'parked' });
    expect((await store.find(poison))!.deaths).toBe(10);
  });
});
