import { SessionRuntime, type SessionRuntimeOptions } from 'onward';
import { postgresStore } from 'onward/stores/postgres';
import { mockTool, ScenarioStep } from 'onward/testing';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { startPostgres, type TestPostgres } from '../setup/postgres.ts';
import { ann, builderWith, clientOn, followingDriver, pause } from '../setup/sessions.ts';

const { toolCall, final } = ScenarioStep;
let server: TestPostgres;
beforeAll(async () => {
  server = await startPostgres();
  if (!server.kill)
    console.log('ONWARD_TEST_POSTGRES names a server: skipping the test that kills it.');
}, 60_000);
afterAll(() => server.stop(), 60_000);

const storeIn = (schema: string) => {
  const store = postgresStore({ connectionString: server.url, schema });
  onTestFinished(() => store.close());
  return store;
};

/** Kills and restarts the server. Returns false if the test did not start it. */
async function crash(): Promise<boolean> {
  if (!server.kill) return false;
  await server.kill();
  await server.restart();
  return true;
}

describe('a server that is killed', () => {
  it('loses nothing that was accepted, by default', async () => {
    const agent = builderWith(followingDriver([final('done')])).build();
    for (let round = 0; round < 3; round++) {
      const runtime = clientOn(storeIn('killed'), agent);
      const accepted: string[] = [];
      let isOver = false;
      const send = async (lane: number): Promise<void> => {
        for (let i = 0; !isOver; i++) {
          const id = `r${round}-${lane}-${i}`;
          try {
            await runtime.create({ ...ann, id });
            await runtime.send(id, 'hello', { ...ann, executionId: `of-${id}` });
          } catch {
            return; // not accepted
          }
          accepted.push(id);
        }
      };
      const lanes = [0, 1, 2, 3].map(send);
      await expect.poll(() => accepted.length, { timeout: 8_000 }).toBeGreaterThan(20);
      const isCrashed = await crash();
      isOver = true;
      await Promise.all(lanes);
      if (!isCrashed) return;
      const store = storeIn('killed');
      const found = await Promise.all(accepted.map((id) => store.find(id)));
      expect(found.map((row) => row?.phase)).toEqual(accepted.map(() => 'open'));
    }
  }, 40_000);

  it('delays the work on its sessions, and no tool runs twice', async () => {
    const ran = new Map<string, number>();
    const work = mockTool(
      'work',
      async (_args: unknown, { idempotencyKey }: { idempotencyKey: string }) => {
        ran.set(idempotencyKey, (ran.get(idempotencyKey) ?? 0) + 1);
        await pause(30);
        return 'ok';
      },
    );
    const steps = [...Array.from({ length: 10 }, (_, n) => toolCall('work', { n })), final('done')];
    const options: Pick<SessionRuntimeOptions, 'lease' | 'onError'> = {
      lease: { leaseMs: 1_500, heartbeatMs: 300, signalMs: 100 },
      onError: () => {},
    };
    const runtimes = [0, 1].map(() => {
      const agents = [builderWith(followingDriver(steps), work).build()];
      const runtime = new SessionRuntime({ store: storeIn('working'), agents, ...options });
      onTestFinished(() => runtime.close());
      runtime.start();
      return runtime;
    });
    const [runtime] = runtimes as readonly SessionRuntime[] as [SessionRuntime, SessionRuntime];
    const ids = ['a', 'b', 'c', 'd'];
    for (const id of ids) await runtime.create({ ...ann, id });
    await Promise.all(ids.map((id) => runtime.send(id, 'go', ann)));
    await expect.poll(() => ran.size).toBeGreaterThan(4);
    await crash();
    const isOver = async (id: string): Promise<boolean> => {
      const session = await runtime.get(id, ann).catch(() => null);
      return session !== null && session.status !== 'in_progress';
    };
    await expect
      .poll(async () => (await Promise.all(ids.map(isOver))).every(Boolean), { timeout: 25_000 })
      .toBe(true);
    expect([...ran.values()].filter((times) => times > 1)).toEqual([]);
  }, 40_000);
});
