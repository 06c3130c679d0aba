import { join } from 'node:path';
import { defineTool } from 'onward';
import type { SessionStore } from 'onward/stores';
import { sqliteStore } from 'onward/stores/sqlite';
import { describe, expect, it, onTestFinished } from 'vitest';
import { fresh, makeHarness } from '../../src/testing/store-contract/store-harness.ts';
import { bundledProgram, startChild } from '../setup/child-program.ts';
import { followingDriver, gate, until } from '../setup/sessions.ts';
import { agentOn, cli, lookInto, start, worldOf, type FakeWorld } from './cli.ts';

const HOSTILE = '\u001b[2J\u001b]0;pwned\u0007\u202e';

/** The file of a world, opened as another process would. */
async function storeOf(world: FakeWorld): Promise<SessionStore> {
  expect((await cli(world, 'sessions', 'list')).code).toBe(0);
  const store = sqliteStore({ path: join(world.cwd, '.onward', 'sessions.db') });
  onTestFinished(() => store.close());
  return store;
}

const widest = (text: string): number =>
  Math.max(...text.split('\n').map((line) => Array.from(line).length));

const report = (patch: object) =>
  JSON.stringify({
    host: 'machine-with-a-long-name.internal',
    pid: 4_194_304,
    agents: ['support', 'billing', 'research'],
    startedAt: new Date(Date.now() - 59 * 60_000).toISOString(),
    everyMs: 10_000,
    active: 1,
    isDraining: false,
    ...patch,
  });

describe('onward workers', () => {
  it('says what to do where none runs', async () => {
    const { code, stdout, stderr } = await cli(worldOf(), 'workers');
    expect([code, stdout, stderr]).toEqual([0, '', 'No worker runs. Start one with: onward dev\n']);
    expect((await cli(worldOf(), 'workers', '--json')).stdout).toBe('');
  });

  it('lists a worker with its leases and its process, in 80 columns', async () => {
    const world = worldOf();
    const store = await storeOf(world);
    const harness = makeHarness(store, 60);
    const { worker } = await harness.held();
    const dead = await harness.held({ ttlMs: 1, worker: fresh('wrk') });
    await harness.lapse();
    await store.reportWorker({ worker, body: report({}) });
    await store.reportWorker({ worker: 'draining', body: report({ isDraining: true }) });
    const { stdout, stderr } = await cli(world, 'workers');
    expect(stdout).toMatch(/^WORKER +STATUS +LEASES +LOST +UP +SEEN +AGENTS +PROCESS\n/);
    expect(stdout).toMatch(/busy +1 +0 +59 min +0 s +support, bi… +machine…:4194304\n/);
    expect(stdout).toMatch(/draining +0 +0 +59 min/);
    expect(stdout).toMatch(/lost +0 +1 +\? +\? +\? +\?\n/);
    expect(stderr).toBe('Other workers take over 1 session of lost workers.\n');
    expect(widest(stdout)).toBeLessThanOrEqual(80);
    const { lines } = await cli(world, 'workers', '--json');
    expect(lines.find((line) => line['worker_id'] === dead.worker)).toEqual({
      type: 'worker',
      worker_id: dead.worker,
      status: 'lost',
      host: null,
      pid: null,
      agents: null,
      started_at: null,
      active: null,
      leases: 0,
      expired: 1,
      seen_ms_ago: null,
    });
  });

  it('escapes what a report could do to a terminal, and reads no further than it can', async () => {
    const world = worldOf();
    const store = await storeOf(world);
    const hostile = report({ host: HOSTILE, agents: [HOSTILE], pid: HOSTILE, startedAt: HOSTILE });
    await store.reportWorker({ worker: HOSTILE, body: hostile });
    for (const body of ['', '7', '[]', '{"agents":7}', 'null'])
      await store.reportWorker({ worker: `w${body}`, body });
    for (const argv of [['workers'], ['workers', '--json'], ['queue'], ['queue', '--json']]) {
      const { code, stdout, stderr } = await cli({ ...world, isTTY: true }, ...argv);
      expect(code).toBe(0);
      // oxlint-disable-next-line no-control-regex -- these are what must not be there
      expect(stdout + stderr).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/);
    }
  });

  it('shows a new list every 2 seconds with --watch, until Ctrl-C', async () => {
    const world = { ...worldOf(), isTTY: true, env: { TERM: 'xterm', NO_COLOR: '1' } };
    const store = await storeOf(world);
    await store.reportWorker({ worker: 'first', body: report({}) });
    const { outcome, done } = start(['workers', '--watch'], world);
    await until(() => outcome.stdout.includes('first'));
    await store.reportWorker({ worker: 'second', body: report({}) });
    await until(() => outcome.stdout.includes('second'));
    expect(outcome.stdout.split('\u001b[H\u001b[J').length).toBeGreaterThanOrEqual(3);
    outcome.signal('SIGINT');
    expect((await done).code).toBe(0);
  });
});

describe('onward queue', () => {
  it('says what to do where there is nothing', async () => {
    const { code, stdout, stderr } = await cli(worldOf(), 'queue');
    expect([code, stdout]).toEqual([0, '']);
    expect(stderr).toBe('No session waits, runs or is parked. Start one with: onward run "…"\n');
  });

  it('counts by agent, agrees with the store, and fits in 80 columns', async () => {
    const world = worldOf();
    const store = await storeOf(world);
    const harness = makeHarness(store, 60);
    const agent = 'an-agent-with-a-name-that-is-long';
    for (let n = 0; n < 12; n++) await harness.open({ agent });
    await harness.dying(1);
    const { id, token } = await harness.held();
    const at = '2026-01-01T00:00:00.000Z';
    await store.release(id, token, { kind: 'park', error: 'e', tries: 5, at });
    const { stdout, stderr } = await cli(world, 'queue');
    expect(stdout).toMatch(/^AGENT +WAITING +OLDEST +ACTIVE +RECOVERED +LOST +PARKED +WORKERS\n/);
    expect(stdout).toMatch(/an-agent-with-a-nam… +12 +\d+ d +0 +0 +0 +0 +0\n/);
    expect(stdout).toMatch(/support +0 +- +1 +1 +0 +1 +0\n/);
    expect(stdout).toMatch(/all +12 +\d+ d +1 +1 +0 +1 +1\n/);
    expect(widest(stdout)).toBeLessThanOrEqual(80);
    expect(stderr).toContain(`No worker has reported agent ${agent}, which has 12 sessions to do.`);
    expect(stderr).toContain('See what is parked with: onward parked\n');
    const { last } = await cli(world, 'queue', '--json');
    expect(last).toMatchObject({ type: 'queue', waiting: 12, active: 1, recovered: 1, parked: 1 });
    expect(last['agents']).toMatchObject([
      { agent, waiting: 12, active: 0, parked: 0 },
      { agent: 'support', waiting: 0, oldest_waiting_ms: null, active: 1, parked: 1 },
    ]);
  });

  it('prints one line of JSON at a time with --watch', async () => {
    const world = worldOf();
    const { outcome, done } = start(['queue', '--watch', '--json'], world);
    await until(() => outcome.stdout.split('\n').length > 2);
    outcome.signal('SIGTERM');
    expect((await done).code).toBe(0);
    expect(outcome.lines).toMatchObject([{ type: 'queue' }, { type: 'queue' }]);
  });
});

it('onward parked escapes what an owner or an error could do to a terminal, in 80 columns', async () => {
  const world = worldOf();
  const store = await storeOf(world);
  const harness = makeHarness(store, 60);
  const names = { owner: `${HOSTILE}${'o'.repeat(100)}`, agent: `${HOSTILE}${'a'.repeat(100)}` };
  const { id, token } = await harness.held({}, { ...names, id: 'i'.repeat(128) });
  const error = `${HOSTILE}${'e'.repeat(200)}`;
  const at = new Date(Date.now() - 29 * 86_400_000).toISOString();
  await store.release(id, token, { kind: 'park', error, tries: 5, at });
  for (const argv of [['parked'], ['parked', '--json'], ['queue']]) {
    const { code, stdout, stderr } = await cli({ ...world, isTTY: true }, ...argv);
    expect(code).toBe(0);
    // oxlint-disable-next-line no-control-regex -- these are what must not be there
    expect(stdout + stderr).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/);
    if (argv.length === 1) expect(widest(stdout)).toBeLessThanOrEqual(80);
  }
});

it('a killed worker is lost after its lease, and its session active again once it is recovered', async () => {
  const world = worldOf();
  await storeOf(world);
  const file = await bundledProgram('test/setup/operated-child.ts');
  const child = startChild(file, [join(world.cwd, '.onward', 'sessions.db')]);
  await child.said('tool began');
  const { pid } = child.process;
  const seen = async () => {
    const { lines } = await cli(world, 'workers', '--json');
    return lines.find((line) => line['pid'] === pid);
  };
  const before = await until(seen);
  expect(before).toMatchObject({ status: 'busy', leases: 1, expired: 0, agents: ['support'] });
  expect((await cli(world, 'queue', '--json')).last).toMatchObject({ active: 1, workers: 1 });

  child.process.kill('SIGKILL');
  await child.gone;
  const lost = await until(async () => {
    const worker = await seen();
    return worker?.['status'] === 'lost' ? worker : null;
  });
  expect(lost).toMatchObject({ leases: 0, expired: 1 });
  const queue = await cli(world, 'queue');
  expect(queue.stdout).toMatch(/support +0 +- +0 +0 +1 +0 +0\n/);
  expect(queue.stderr).toContain(
    'No worker has reported agent support, which has 1 session to do.',
  );
  expect((await cli(world, 'workers')).stderr).toContain('No worker is left.');

  const entered = gate();
  const hangs = defineTool({
    name: 'hangs',
    description: 'Never ends.',
    idempotent: true,
    execute() {
      entered.open();
      return new Promise(() => {});
    },
  });
  const agent = agentOn(followingDriver(), (builder) => builder.withTools(hangs));
  lookInto(world.cwd, agent).start();
  await entered.passed;
  const after = await cli(world, 'queue', '--json');
  expect(after.last).toMatchObject({ active: 1, recovered: 1, expired: 0 });
  // it stays on the list as lost once its report is too old
  const gone = await until(async () => {
    const worker = await seen();
    return worker?.['status'] === 'lost' ? worker : null;
  });
  expect(gone).toMatchObject({ leases: 0, expired: 0 });
  expect((await cli(world, 'queue', '--json')).last).toMatchObject({ active: 1, workers: 1 });
}, 60_000);
