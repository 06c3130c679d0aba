import { SessionRuntime } from 'onward';
import { postgresStore } from 'onward/stores/postgres';
import { mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { hasPgBouncer, startPgBouncer } from '../setup/pgbouncer.ts';
import { postgresPooler } from '../setup/postgres-pooler.ts';
import { newSchema, open, server } from '../setup/postgres-stores.ts';
import { ann, builderWith, followingDriver } from '../setup/sessions.ts';

const { toolCall, final } = ScenarioStep;

/** Runs sessions of several processes through one address. */
async function workThrough(url: string): Promise<void> {
  const schema = newSchema();
  const work = mockTool('work', 'ok');
  const steps = [...Array.from({ length: 4 }, (_, n) => toolCall('work', { n })), final('done')];
  const runtimes = Array.from({ length: 4 }, () => {
    const store = postgresStore({ connectionString: url, schema, poolSize: 5 });
    const failures: unknown[] = [];
    const runtime = new SessionRuntime({
      store,
      agents: [builderWith(followingDriver(steps), work).build()],
      lease: { leaseMs: 3_000, heartbeatMs: 300, signalMs: 100 },
      onError: (error) => failures.push(error),
    });
    onTestFinished(async () => {
      await runtime.close();
      await store.close();
      expect(failures).toEqual([]);
    });
    return runtime;
  });
  const sent = Array.from({ length: 20 }, async (_, i) => {
    const runtime = runtimes[i % runtimes.length]!;
    const { id } = await runtime.create(ann);
    return runtime.send(id, 'go', { ...ann, wait: true });
  });
  const sessions = await Promise.all(sent);
  expect(sessions.map(({ status }) => status)).toEqual(sessions.map(() => 'completed'));
  expect(work.calls).toHaveLength(80);
  const { id } = sessions[0]!;
  await runtimes[0]!.fork(id, { ...ann, id: `${id}-fork` });
  await runtimes[0]!.prune({ olderThan: new Date(Date.now() + 60_000) });
  await runtimes[0]!.delete(id, ann);
}

describe('a pooler in transaction mode', () => {
  it('serves 20 sessions of 4 processes over 2 server connections', async () => {
    const pooler = await postgresPooler(server.url, 2);
    onTestFinished(() => pooler.close());
    await workThrough(pooler.url);
    expect(pooler.handovers).toBeGreaterThan(50);
  }, 30_000);

  it('does not support prepared statements, which are off by default', async () => {
    const pooler = await postgresPooler(server.url, 2);
    onTestFinished(() => pooler.close());
    const connectionString = pooler.url;
    const named = () =>
      postgresStore({ connectionString, schema: newSchema(), preparedStatements: true });
    const stores = Array.from({ length: 6 }, named);
    onTestFinished(async () => {
      await Promise.all(stores.map((store) => store.close()));
    });
    const reads = stores.flatMap((store) => [store.find('x'), store.find('y'), store.find('z')]);
    const settled = await Promise.allSettled(reads);
    expect(settled.some(({ status }) => status === 'rejected')).toBe(true);
    // without a pooler they work
    const direct = open({ preparedStatements: true });
    for (let i = 0; i < 5; i++) expect(await direct.find('x')).toBeNull();
  });
});

it.skipIf(!hasPgBouncer)(
  'PgBouncer in transaction mode serves 20 sessions of 4 processes',
  async () => {
    await workThrough(await startPgBouncer(server.url));
  },
  30_000,
);
