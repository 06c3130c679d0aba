import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { SessionRuntime } from 'onward';
import { bullQueue } from 'onward/queues/bullmq';
import type { SessionStore } from 'onward/stores';
import { postgresStore } from 'onward/stores/postgres';
import { describeServers } from '../setup/bull-servers.ts';
import { bundledProgram, startChild, type Child } from '../setup/child-program.ts';
import { queueAgent } from '../setup/queue-agent.ts';
import type { QueueChildJob } from '../setup/queue-child.ts';
import { runtimeOn, sqlitePlace } from '../setup/sessions.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 90_000 });

const owner = 'ann';
const lease = { leaseMs: 2_000, heartbeatMs: 500 };
let places = 0;

/** Creates a store. On PostgreSQL, sessions and queue share a database; with Redis, processes share a file. */
function placeFor(url: string): {
  readonly store: SessionStore;
  readonly where: QueueChildJob['store'];
} {
  if (!url.startsWith('postgres')) {
    const place = sqlitePlace();
    return { store: place.open(), where: join(place.folder, 'sessions.db') };
  }
  const where = { connectionString: url, schema: `killed_${places++}` };
  return { store: postgresStore(where), where };
}

const workedBy = ({ lines }: Child): string[] =>
  lines.filter((line) => line.startsWith('worked ')).map((line) => line.slice('worked '.length));

describeServers('worker processes over a queue', (server, _newQueues) => {
  it('share the work and lose none of it when half of them are killed', async () => {
    const { url: connection } = server();
    const prefix = `queue_killed_${places}`;
    const { store, where } = placeFor(connection);
    const file = await bundledProgram('test/setup/queue-child.ts');
    const job: QueueChildJob = { connection, prefix, store: where, toolMs: 100, lease };
    const children = [1, 2, 3, 4].map(() => startChild(file, [JSON.stringify(job)]));
    await Promise.all(children.map(({ said }) => said('ready')));
    const queue = bullQueue({ connection, prefix, concurrency: 1 });
    const sender: SessionRuntime = runtimeOn(
      store,
      queueAgent(100, () => {}),
      { queue, lease },
    );

    const ids: string[] = [];
    const send = async (): Promise<void> => {
      const id = `s${ids.length}`;
      ids.push(id);
      await sender.create({ owner, id });
      await sender.send(id, 'go', { owner });
    };
    const isAnyIdle = (): boolean => children.some((child) => workedBy(child).length === 0);
    while (isAnyIdle()) await send();
    for (let n = 0; n < 20; n++) await send();
    for (const { process } of children.slice(0, 2)) process.kill('SIGKILL');
    for (let n = 0; n < 20; n++) await send();
    const open = async (): Promise<string[]> => {
      const all = await Promise.all(ids.map((id) => sender.get(id, { owner })));
      return all.filter(({ status }) => status !== 'completed').map(({ id }) => id);
    };
    await expect.poll(open, { timeout: 60_000, interval: 200 }).toEqual([]);
    // a call is repeated only if the process that ran it died
    const [dead, alive] = [
      children.slice(0, 2).flatMap(workedBy),
      children.slice(2).flatMap(workedBy),
    ];
    expect(new Set(alive).size).toBe(alive.length);
    expect(new Set(dead).size).toBe(dead.length);
  });
});
