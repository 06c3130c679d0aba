import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SessionRuntime } from 'onward';
import { postgresStore } from 'onward/stores/postgres';
import { mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { postgresPooler } from '../setup/postgres-pooler.ts';
import { newSchema, open, server } from '../setup/postgres-stores.ts';
import { ann, builderWith, followingDriver } from '../setup/sessions.ts';
import { removeFolder } from '../setup/folders.ts';

const { toolCall, final } = ScenarioStep;

/** Sessions of several processes, all through one address. */
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

describe('a pool that hands connections over after each transaction', () => {
  it('20 sessions of 4 processes are worked on over 2 connections of the server', async () => {
    const pooler = await postgresPooler(server.url, 2);
    onTestFinished(() => pooler.close());
    await workThrough(pooler.url);
    expect(pooler.handovers).toBeGreaterThan(50);
  }, 30_000);

  it('prepared statements are not for it: they are an option', async () => {
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
    // without such a pool they work
    const direct = open({ preparedStatements: true });
    for (let i = 0; i < 5; i++) expect(await direct.find('x')).toBeNull();
  });
});

const pgBouncer = 'pgbouncer';
const hasPgBouncer = spawnSync(pgBouncer, ['--version']).status === 0;
if (!hasPgBouncer) console.log('pgbouncer is not installed: skipping the test through it.');

it.skipIf(!hasPgBouncer)(
  'the same through PgBouncer in transaction mode',
  async () => {
    await workThrough(await startPgBouncer());
  },
  30_000,
);

async function startPgBouncer(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'onward-pgbouncer-'));
  chmodSync(folder, 0o755);
  const { hostname, port, username, pathname } = new URL(server.url);
  const listener = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => {
    listener.once('listening', resolve);
  });
  const own = (listener.address() as AddressInfo).port;
  listener.close();
  const users = join(folder, 'users.txt');
  writeFileSync(users, `"${username}" ""\n`);
  const config = join(folder, 'pgbouncer.ini');
  writeFileSync(
    config,
    `[databases]
    * = host=${hostname} port=${port}
    [pgbouncer]
    listen_addr = 127.0.0.1
    listen_port = ${own}
    unix_socket_dir =
    auth_type = trust
    auth_file = ${users}
    pool_mode = transaction
    default_pool_size = 2
    `.replaceAll(/^ +/gm, ''),
  );
  const isRoot = process.getuid?.() === 0;
  const child = spawn(pgBouncer, ['-q', config], isRoot ? { uid: 65_534, gid: 65_534 } : {});
  onTestFinished(() => {
    child.kill('SIGKILL');
    removeFolder(folder);
  });
  const url = `postgres://${username}@127.0.0.1:${own}${pathname}`;
  const probe = open({ connectionString: url });
  await expect.poll(() => probe.find('x').catch(() => 'down'), { timeout: 10_000 }).toBeNull();
  return url;
}
