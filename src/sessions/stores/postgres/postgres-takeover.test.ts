import { setTimeout as wait } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { open, query, schema } from '../../../../test/setup/postgres-stores.ts';
import { at, command, fresh } from '../../../testing/store-contract/store-harness.ts';

type Sweep = () => Promise<readonly string[]>;

/** Returns how a new process sweeps: what is to be stopped, then what its agents have lost. */
const sweepOf = (agent: string): Sweep => {
  const store = open();
  return async () => {
    await store.urgent({ agents: [], limit: 9 });
    return store.urgent({ agents: [agent], limit: 9 });
  };
};

async function acceptedSession(
  agent: string,
): Promise<{ id: string; die(ttlMs: number): Promise<void> }> {
  const dead = open();
  const id = fresh('s');
  const counts = { messageCount: 0, stepCount: 0, createdAt: at(0) };
  const row = { owner: 'o', agent, status: 'pending', executionId: null, head: '{}' } as const;
  await dead.create({ ...row, ...counts, id });
  await dead.accept(id, command(), { phases: ['idle'] });
  return { id, die: async (ttlMs) => void (await dead.claim(id, { worker: 'dead', ttlMs })) };
}

it('finds the session of a dead worker with the first sweep after the end of its lease', async () => {
  const agent = fresh('agent');
  const { id, die } = await acceptedSession(agent);
  const sweep = sweepOf(agent);
  const isOver = async (): Promise<boolean> => {
    const [found] = await query<{ over: boolean }>(
      `select leased_until < clock_timestamp() as over from ${schema}.sessions where id = $1`,
      [id],
    );
    return found?.over === true;
  };
  await sweep();
  await die(1_500);
  let found = await sweep();
  while (found.length === 0 && !(await isOver())) {
    await wait(50);
    found = await sweep();
  }
  expect(found.length > 0 ? found : await sweep()).toEqual([id]);
});

it('finds the session of a dead worker one lease after its own first sweep in a process that started later', async () => {
  const agent = fresh('agent');
  const { id, die } = await acceptedSession(agent);
  await die(1_500);
  const sweep = sweepOf(agent);
  const began = performance.now();
  expect(await sweep()).toEqual([]);
  const firstSweepMs = performance.now() - began;
  let found: readonly string[] = [];
  while (found.length === 0) {
    await wait(50);
    found = await sweep();
  }
  expect(found).toEqual([id]);
  // by the clock of the server alone, it would be twice the lease
  expect(performance.now() - began).toBeLessThan(2 * 1_500 + firstSweepMs);
});
