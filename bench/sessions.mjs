/**
 * Durable steps: one JSON line per figure and, last, whether each bar is met. A step is one model call with one tool,
 * written down as start, result and step. Each store is measured in a process of its own, as a server would have it.
 * PostgreSQL waits for the disk, as in production; beside `power` stands the same commit written by hand. Never fails:
 * figures are not tests.
 */
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SessionRuntime } from 'onward';
import { memoryStore } from 'onward/stores/memory';
import { postgresStore } from 'onward/stores/postgres';
import { sqliteStore } from 'onward/stores/sqlite';
import { median, round } from './measure.mjs';
import { replaySteps } from './sessions-by-hand.mjs';
import { testSetup } from './test-setup.mjs';
import { addingAgent, onwardLoop } from './scenario.mjs';

const BARS = { 1: 2_000, 50: 5_000 };
const STEPS = 200;
const BY_HAND = 'postgres power, by hand';
const ROUNDS = 5;
const owner = 'bench';
const lines = [];
const folder = mkdtempSync(join(tmpdir(), 'onward-bench-'));
const [, , onlyStore, onlyConcurrency, url] = process.argv;
const { startPostgres } = await testSetup('postgres');
const postgres =
  onlyStore === undefined ? await startPostgres({ fsync: true }) : { url, stop: async () => {} };
let files = 0;
const stores = {
  memory: () => memoryStore(),
  'sqlite process (NORMAL)': () => sqliteStore({ path: newFile() }),
  'sqlite power (FULL)': () => sqliteStore({ path: newFile(), durability: 'power' }),
  'postgres process': () =>
    postgresStore({ connectionString: postgres.url, durability: 'process' }),
  'postgres power': () => postgresStore({ connectionString: postgres.url }),
  'postgres power, prepared': () =>
    postgresStore({ connectionString: postgres.url, preparedStatements: true }),
};

try {
  if (onlyStore === undefined) await measureAll();
  else if (onlyStore === BY_HAND) print(await byHand(Number(onlyConcurrency)));
  else print(await stepsPerSecond(onlyStore, stores[onlyStore], Number(onlyConcurrency)));
} finally {
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
}

async function measureAll() {
  const file = fileURLToPath(import.meta.url);
  for (const concurrency of [1, 50])
    for (const store of [...Object.keys(stores), BY_HAND]) {
      const parameters = [file, store, String(concurrency), postgres.url];
      print(JSON.parse(execFileSync(process.execPath, parameters, { encoding: 'utf8' })));
    }
  for (const steps of [10, 1_000, 5_000]) print(await loading(steps));
  print(await recovery());
  console.log(JSON.stringify({ case: 'bars', ...bars() }));
}

function newFile() {
  return join(folder, `${++files}.db`);
}

function print(line) {
  lines.push(line);
  console.log(JSON.stringify(line));
}

/** Rounds with the store and the same loop without one, turn by turn. */
async function stepsPerSecond(name, open, concurrency) {
  const store = open();
  const runtime = new SessionRuntime({ store, agents: [addingAgent(STEPS)] });
  const bare = onwardLoop(STEPS);
  const durable = [];
  const plain = [];
  let bytes = 0;
  const warm = concurrency === 1 ? 15 : 1;
  for (let i = 0; i < warm + ROUNDS; i++) {
    const ids = [];
    for (let k = 0; k < concurrency; k++) ids.push((await runtime.create({ owner })).id);
    const took = await timed(() => Promise.all(ids.map((id) => turn(runtime, id))));
    const alone = await timed(() => Promise.all(ids.map(() => bare())));
    if (i < warm) continue;
    durable.push((concurrency * STEPS * 1000) / took);
    plain.push((concurrency * STEPS * 1000) / alone);
    ({ bytes } = await store.size(ids[0]));
  }
  await runtime.close();
  await store.close();
  return {
    case: 'durable_steps',
    store: name,
    concurrency,
    steps_per_second: Math.round(median(durable)),
    best: Math.round(Math.max(...durable)),
    without_store: Math.round(median(plain)),
    bytes_per_step: Math.round(bytes / STEPS),
  };
}

/** The rows of a step, written by one statement that PostgreSQL has planned before. */
async function byHand(concurrency) {
  const rates = [];
  for (let i = 0; i <= ROUNDS; i++) {
    const took = await replaySteps({ url: postgres.url, concurrency, steps: STEPS });
    if (i > 0) rates.push((concurrency * STEPS * 1000) / took);
  }
  return {
    case: 'durable_steps',
    store: BY_HAND,
    concurrency,
    steps_per_second: Math.round(median(rates)),
    best: Math.round(Math.max(...rates)),
  };
}

async function turn(runtime, id) {
  const { status } = await runtime.send(id, 'add numbers', { owner, wait: true });
  if (status !== 'completed') throw new Error(`bad run: ${status}`);
}

async function timed(work) {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

/** What a turn reads of a session, however long it is. */
async function loading(steps) {
  const path = newFile();
  const store = sqliteStore({ path });
  const runtime = new SessionRuntime({ store, agents: [addingAgent(steps)] });
  const { id } = await runtime.create({ owner });
  await turn(runtime, id);
  await runtime.close();
  await store.close();
  const fresh = sqliteStore({ path });
  const reader = new SessionRuntime({ store: fresh, agents: [addingAgent(steps)] });
  const cold = await timed(() => reader.state(id, { owner }));
  const loads = [];
  const pages = [];
  let messages = 0;
  for (let i = 0; i < 20; i++) {
    loads.push(
      await timed(
        async () => ({ length: messages } = (await reader.state(id, { owner })).messages),
      ),
    );
    pages.push(await timed(() => reader.steps(id, { owner, limit: 50 })));
  }
  const { bytes } = await fresh.size(id);
  await reader.close();
  await fresh.close();
  return {
    case: 'load',
    steps,
    messages_loaded: messages,
    cold_ms: round(cold),
    load_ms: round(median(loads)),
    page_of_50_steps_ms: round(median(pages)),
    session_bytes: bytes,
  };
}

/** From the kill of a worker in the middle of a tool to the end of its session in another process. */
async function recovery() {
  const leaseMs = 1_000;
  const path = newFile();
  const worker = spawn(
    process.execPath,
    [new URL('sessions-victim.mjs', import.meta.url).pathname, path],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const id = await new Promise((resolve) =>
    worker.stdout.once('data', (text) => resolve(`${text}`.trim())),
  );
  const store = sqliteStore({ path });
  const runtime = new SessionRuntime({
    store,
    agents: [addingAgent(20)],
    lease: { leaseMs, heartbeatMs: leaseMs / 3, signalMs: 200 },
  });
  runtime.start();
  const began = performance.now();
  worker.kill('SIGKILL');
  let session = await runtime.get(id, { owner });
  while (session.status === 'in_progress') {
    await new Promise((resolve) => setTimeout(resolve, 5));
    session = await runtime.get(id, { owner });
  }
  const recovered = performance.now() - began;
  await runtime.close();
  await store.close();
  return {
    case: 'recovery',
    lease_ms: leaseMs,
    kill_to_end_ms: Math.round(recovered),
    status: session.status,
  };
}

function bars() {
  const results = {};
  for (const line of lines.filter(
    (l) => l.case === 'durable_steps' && l.store.includes('NORMAL'),
  )) {
    const limit = BARS[line.concurrency];
    const value = line.steps_per_second;
    results[`steps_per_second_at_${line.concurrency}`] = { value, limit, pass: value >= limit };
  }
  const [short, , long] = lines.filter((line) => line.case === 'load');
  if (long) {
    const value = round(
      long.load_ms / lines.find((l) => l.case === 'load' && l.steps === 1_000).load_ms,
    );
    results.load_5000_to_1000 = { value, limit: 1.5, pass: value <= 1.5 };
    results.load_10 = { value: short.load_ms };
  }
  return results;
}
