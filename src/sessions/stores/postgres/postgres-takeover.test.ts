import { setTimeout as wait } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { open, query, schema } from '../../../../test/setup/postgres-stores.ts';
import { at, command, fresh } from '../../../testing/store-contract/store-harness.ts';

/** As the sweep of a runtime asks: what is to be stopped, then what its agents have lost. */
it('finds the session of a dead worker with the first sweep after the end of its lease', async () => {
  const [dead, survivor] = [open(), open()];
  const [id, agent] = [fresh('s'), fresh('agent')];
  const counts = { messageCount: 0, stepCount: 0, createdAt: at(0) };
  const row = { owner: 'o', agent, status: 'pending', executionId: null, head: '{}' } as const;
  const sweep = async (): Promise<readonly string[]> => {
    await survivor.urgent({ agents: [], limit: 9 });
    return survivor.urgent({ agents: [agent], limit: 9 });
  };
  const isOver = async (): Promise<boolean> => {
    const [found] = await query<{ over: boolean }>(
      `select leased_until < clock_timestamp() as over from ${schema}.sessions where id = $1`,
      [id],
    );
    return found?.over === true;
  };
  await dead.create({ ...row, ...counts, id });
  await dead.accept(id, command(), { phases: ['idle'] });
  await sweep();
  await dead.claim(id, { worker: 'dead', ttlMs: 1_500 });
  let found = await sweep();
  while (found.length === 0 && !(await isOver())) {
    await wait(50);
    found = await sweep();
  }
  expect(found.length > 0 ? found : await sweep()).toEqual([id]);
});
