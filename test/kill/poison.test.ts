import { fork, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SessionRuntime } from 'onward';
import type { SessionStore } from 'onward/stores';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { startPostgres, type TestPostgres } from '../setup/postgres.ts';
import { openStore, removeStore, type StorePlace } from './open-store.ts';
import { OWNER, poisonRuntime, type Poison, type PoisonJob } from './poison-agent.ts';
import { sleep } from './random.ts';
import { bundleProgram } from '../setup/bundle-program.ts';
import { removeFolder } from '../setup/folders.ts';

const HEALTHY = 20;
const owner = { owner: OWNER };

let worker: Awaited<ReturnType<typeof bundleProgram>>;
beforeAll(async () => {
  worker = await bundleProgram('test/kill/poison-worker.ts');
}, 60_000);
afterAll(() => worker.remove());

/** Keeps this many worker processes running and replaces each one that dies. */
function keepAlive(count: number, job: PoisonJob): { readonly deaths: () => number } {
  const live = new Set<ChildProcess>();
  let deaths = 0;
  let isOver = false;
  const start = (): void => {
    const child = fork(worker.file, [JSON.stringify(job)], { execArgv: [], stdio: 'ignore' });
    live.add(child);
    child.once('exit', () => {
      live.delete(child);
      deaths += 1;
      if (!isOver) start();
    });
  };
  for (let i = 0; i < count; i++) start();
  onTestFinished(() => {
    isOver = true;
    for (const child of live) child.kill('SIGKILL');
  });
  return { deaths: () => deaths };
}

/** Creates a poisonous session among healthy ones before any worker runs. */
async function asked(
  store: SessionStore,
  poison: Poison,
  log: string,
): Promise<{ readonly client: SessionRuntime; readonly healthy: readonly string[] }> {
  const queue = {
    start: () => {},
    add: () => {},
    isFull: false,
    waiting: 0,
    drain: async () => {},
  };
  const client = poisonRuntime(store, { log, queue });
  const healthy = Array.from({ length: HEALTHY }, (_n, i) => `healthy-${i}`);
  for (const [i, id] of [...healthy, 'poison'].entries()) {
    await client.create({ ...owner, id });
    await client.send(id, id === 'poison' ? poison : `hello ${i}`, owner);
  }
  return { client, healthy };
}

async function outlives(place: StorePlace, poison: Poison, folder: string): Promise<void> {
  const log = join(folder, 'log');
  writeFileSync(log, '');
  const store = openStore(place);
  onTestFinished(() => store.close());
  const { client, healthy } = await asked(store, poison, log);
  const { deaths } = keepAlive(2, { place, log });
  const all = (): Promise<readonly { phase: string; status: string }[]> =>
    Promise.all(healthy.map((id) => client.get(id, owner)));
  for (;;) {
    const sessions = await all();
    expect(sessions.filter(({ phase }) => phase === 'parked')).toEqual([]);
    const isParked = (await client.get('poison', owner)).phase === 'parked';
    if (isParked && sessions.every(({ status }) => status === 'completed')) break;
    await sleep(50);
  }
  const killed = readFileSync(log, 'utf8').trim().split('\n').length;
  expect(deaths()).toBe(killed);
  // two next to other sessions, the rest alone
  expect(killed).toBeLessThanOrEqual(poison === 'after a step' ? 12 : 6);
  expect(await client.get('poison', owner)).toMatchObject({
    status: 'failed',
    error: expect.stringContaining('in the middle of the work') as string,
  });
  // it stays parked
  await sleep(1_500);
  expect(deaths()).toBe(killed);
  const { phase } = await client.stop('poison', { ...owner, wait: true });
  expect(phase).toBe('idle');
  expect(deaths()).toBe(killed);
  // the next turn works
  expect(await client.send('poison', 'hello', { ...owner, wait: true })).toMatchObject({
    status: 'completed',
    tries: 0,
    error: null,
  });
}

const kinds: readonly Poison[] = ['in the model', 'in a tool', 'after a step'];

describe.each(kinds)('D16: a session that kills every process that works on it, %s', (poison) => {
  it('is parked, and twenty other sessions complete (SQLite)', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'onward-poison-'));
    onTestFinished(() => removeFolder(folder));
    await outlives({ kind: 'sqlite', path: join(folder, 'sessions.db') }, poison, folder);
  }, 120_000);
});

describe('D16: a session that kills every process that works on it, on PostgreSQL', () => {
  let server: TestPostgres;
  beforeAll(async () => {
    server = await startPostgres();
  }, 60_000);
  afterAll(() => server.stop());

  it('is parked, and twenty other sessions complete', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'onward-poison-'));
    const schema = `poison_${process.pid}_${Date.now() % 100_000}`;
    const place = { kind: 'postgres', url: server.url, schema } as const;
    onTestFinished(async () => {
      removeFolder(folder);
      await removeStore(place);
    });
    await outlives(place, 'in a tool', folder);
  }, 120_000);
});
