import { SessionRuntime, type Agent } from 'onward';
import { postgresStore } from 'onward/stores/postgres';
import { mockTool, ScenarioStep } from 'onward/testing';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { postgresProxy, type PostgresProxy } from '../setup/postgres-proxy.ts';
import { address, open, schema, server } from '../setup/postgres-stores.ts';
import { ann, builderWith, followingDriver, gate, pause, until } from '../setup/sessions.ts';
import { ended, payingAgent, unknownEffects } from '../setup/session-moments.ts';

const { toolCall, final } = ScenarioStep;
const lease = { leaseMs: 1_500, heartbeatMs: 400, signalMs: 150 };
const isStart = /p_calls/;
const isClaim = /nextval/;

let proxy: PostgresProxy;
beforeEach(async () => {
  await open().find('x');
  proxy = await postgresProxy(address());
});
afterEach(() => proxy.close());

let sessions = 0;
const newId = (): string => `faulty-${process.pid}-${++sessions}`;

/** Creates a worker like that of another process, behind the proxy or not. */
function worker(agent: Agent, isBehindProxy: boolean, statementTimeoutMs = 500) {
  const connectionString = isBehindProxy ? proxy.url : address();
  const store = postgresStore({ connectionString, schema, statementTimeoutMs });
  const failures: unknown[] = [];
  const onError = (error: unknown): unknown => failures.push(error);
  const runtime = new SessionRuntime({ store, agents: [agent], lease, onError });
  onTestFinished(async () => {
    await runtime.close({ graceMs: 0 });
    await store.close();
  });
  return { runtime, store, failures };
}

const steps = (count: number): ScenarioStep[] => [
  ...Array.from({ length: count }, (_, n) => toolCall('work', { n })),
  final('done'),
];

describe('a worker whose connections fail', () => {
  it('starts no tool if the receipt of its start comes late and no renewal succeeds', async () => {
    const paid: string[] = [];
    // the receipt comes after the lease has expired, but within the statement timeout
    const a = worker(payingAgent('A', paid), true, 9_000);
    const b = worker(payingAgent('B', paid), false);
    const id = newId();
    await a.runtime.create({ ...ann, id });
    let isStarted = false;
    const met = (): void => {
      isStarted = true;
      proxy.arm({ effect: 'cut', on: /skip locked|s\.worker = \$1/, times: 1_000 });
    };
    proxy.arm({ effect: 'delay', delayMs: 4_000, on: isStart, met });
    await a.runtime.send(id, 'buy', ann);
    await until(() => isStarted);
    await pause(lease.leaseMs);
    b.runtime.start();
    expect(await ended(b.runtime, id)).toMatchObject({ status: 'completed', output: 'done' });
    expect(paid).toEqual(['B']);
    await until(() => a.failures.length > 0);
    await a.runtime.close({ graceMs: 0 });
    expect(paid).toEqual(['B']);
  }, 20_000);

  it.each(['lose', 'swallow'] as const)(
    'works on a session even if the answer to its claim is lost (%s) while it has other work',
    async (effect) => {
      const open = gate();
      const work = mockTool('work', ({ n }: { n: number }) => (n === 0 ? open.passed : 'ok'));
      const driver = followingDriver(steps(1));
      const { runtime } = worker(builderWith(driver, work).build(), true);
      const [busy, lost] = [newId(), newId()];
      await runtime.create({ ...ann, id: busy });
      await runtime.send(busy, 'go', ann);
      await until(() => work.calls.length > 0);
      await runtime.create({ ...ann, id: lost });
      proxy.arm({ effect, on: isClaim });
      await runtime.send(lost, 'go', ann);
      await until(() => work.calls.length > 1);
      open.open();
      expect(await ended(runtime, lost)).toMatchObject({ output: 'done' });
    },
  );

  it('continues on another connection when one goes silent during a commit', async () => {
    const work = mockTool('work', 'ok', { idempotent: true });
    const { runtime, failures } = worker(
      builderWith(followingDriver(steps(6)), work).build(),
      true,
    );
    const id = newId();
    await runtime.create({ ...ann, id });
    for (const effect of ['silence', 'swallow', 'lose', 'cut'] as const)
      proxy.arm({ effect, on: isStart });
    expect(await runtime.send(id, 'go', { ...ann, wait: true })).toMatchObject({
      status: 'completed',
      stepCount: 7,
    });
    expect(work.calls).toHaveLength(6);
    expect(failures).toEqual([]);
  });

  it('stops and closes even if all its connections went silent', async () => {
    const work = mockTool('work', () => pause(50));
    const { runtime, store } = worker(builderWith(followingDriver(steps(50)), work).build(), true);
    const ids = [newId(), newId(), newId()];
    for (const id of ids) await runtime.create({ ...ann, id });
    await Promise.all(ids.map((id) => runtime.send(id, 'go', ann)));
    await until(() => work.calls.length > 5);
    proxy.silenceAll();
    const stopped = await runtime.stop(ids[0]!, { ...ann, wait: true });
    expect(stopped).toMatchObject({ stopReason: 'user_requested' });
    proxy.silenceAll();
    await runtime.close({ graceMs: 1_000 });
    await store.close();
  });

  it('keeps its other sessions when the row of one is locked', async () => {
    const work = mockTool('work', async () => {
      await pause(300);
      return 'ok';
    });
    const agent = () =>
      builderWith(followingDriver(steps(8)), work)
        .withErrorPolicy(unknownEffects)
        .build();
    const a = worker(agent(), true);
    const b = worker(agent(), false);
    const ids = Array.from({ length: 6 }, newId);
    for (const id of ids) await a.runtime.create({ ...ann, id });
    await Promise.all(ids.map((id) => a.runtime.send(id, 'go', ann)));
    await until(() => work.calls.length >= ids.length);
    b.runtime.start();
    const client = new pg.Client({ connectionString: server.url });
    await client.connect();
    await client.query('begin');
    await client.query(`select from "${schema}".sessions where id = $1 for update`, [ids[0]]);
    const [locked, ...others] = ids as [string, ...string[]];
    const done = await Promise.all(others.map((id) => ended(a.runtime, id)));
    expect(done.map(({ output }) => output)).toEqual(others.map(() => 'done'));
    for (const id of others)
      for (const { results } of (await a.runtime.steps(id, ann)).items)
        for (const { kind } of results) expect(kind).toBe('ok');
    await client.end();
    expect(await ended(b.runtime, locked)).toMatchObject({ status: 'completed' });
  }, 25_000);
});
