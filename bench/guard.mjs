/**
 * Short cases beside something that a slow machine slows down as much, compared with the ratios in `guard.json`. It says
 * what became slower and where to look, and then ends with 1. Not part of the tests: run it before and after a change.
 *
 *   npm run bench:guard -- [case …] [--update]
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { SessionRuntime } from 'onward';
import { memoryStore } from 'onward/stores/memory';
import { sqliteStore } from 'onward/stores/sqlite';
import { round } from './measure.mjs';
import { addingAgent, bareLoop, onwardLoop } from './scenario.mjs';

/** Ratios of times move on a shared machine; counts and bytes do not. */
const TIME = 1.4;
const SIZE = 1.03;
const EXACT = 1;
const WARM_STEPS = 60_000;
const SAMPLE_STEPS = 4_000;
const owner = 'bench';
const stored = new URL('guard.json', import.meta.url);
const cwd = fileURLToPath(new URL('..', import.meta.url));
const main = join(cwd, 'dist/cli/main.js');

/** Each process says at its end what it has used. */
const atExit =
  "process.on('exit', () => { const { user, system } = process.cpuUsage(); process.stderr.write(`\\n${user + system}`); })";

const cases = {
  loop_10: { tolerance: TIME, look: 'src/agent, src/continuation', measure: () => loopRatio(10) },
  loop_1000: {
    tolerance: TIME,
    look: 'src/agent/agent-state.ts, src/append-only.ts: something grows with the run',
    measure: () => loopRatio(1_000),
  },
  durable_memory: {
    tolerance: TIME,
    look: 'src/sessions/execution-writer.ts, commit-batch.ts, large-values.ts',
    measure: () => durableRatio(() => memoryStore()),
  },
  durable_sqlite: {
    tolerance: TIME,
    look: 'src/sessions/stores/sqlite',
    measure: (folder) => durableRatio((i) => sqliteStore({ path: join(folder, `${i}.db`) })),
  },
  bytes_per_step: {
    tolerance: SIZE,
    look: 'src/sessions/state-rows.ts, event-log.ts, src/agent/agent-step.ts',
    measure: bytesPerStep,
  },
  reads_of_a_session: {
    tolerance: EXACT,
    look: 'src/sessions/session-worker.ts, leased-run.ts, load-session.ts',
    measure: readsOfSession,
  },
  import: {
    tolerance: TIME,
    look: 'src/index.ts, bundle.mjs: what is loaded on demand',
    measure: () => toEmptyProcess(['--input-type=module', '-e', "await import('onward')"]),
  },
  help: {
    tolerance: TIME,
    look: 'src/cli/main.ts: commands load with their first use',
    measure: () => toEmptyProcess([main, '--help']),
  },
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { update: { type: 'boolean', default: false } },
});
const known = JSON.parse(readFileSync(stored, 'utf8'));
const folder = mkdtempSync(join(tmpdir(), 'onward-guard-'));
let failed = 0;
try {
  for (const [name, { tolerance, look, measure }] of Object.entries(cases)) {
    if (positionals.length > 0 && !positionals.includes(name)) continue;
    const value = round(await measure(folder));
    const limit = known[name] === undefined ? null : round(known[name] * tolerance);
    const isWorse = limit !== null && value > limit;
    console.log(
      JSON.stringify({ case: name, value, stored: known[name] ?? null, limit, pass: !isWorse }),
    );
    if (values.update) known[name] = value;
    else if (isWorse) {
      failed += 1;
      console.log(`  ${name} is ${value}, at most ${limit} was expected. Look at ${look}.`);
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
if (values.update) writeFileSync(stored, `${JSON.stringify(known, null, 2)}\n`);
process.exitCode = failed > 0 ? 1 : 0;

/** The best of many samples on both sides, in CPU time: what a busy machine adds is never less than nothing. */
async function loopRatio(steps) {
  const [ours, bare] = [onwardLoop(steps), bareLoop(steps)];
  const sample = (loop, units) =>
    cpuOf(async () => {
      for (let done = 0; done < units; done += steps) await loop();
    });
  await sample(ours, WARM_STEPS);
  await sample(bare, WARM_STEPS);
  const best = { ours: Infinity, bare: Infinity };
  for (let i = 0; i < 30; i++) {
    best.ours = Math.min(best.ours, await sample(ours, SAMPLE_STEPS));
    best.bare = Math.min(best.bare, await sample(bare, SAMPLE_STEPS));
  }
  return best.ours / best.bare;
}

/** CPU of a durable step beside that of the same step without a store. */
async function durableRatio(open) {
  const STEPS = 200;
  const loop = onwardLoop(STEPS);
  const best = { durable: Infinity, plain: Infinity };
  for (let i = 0; i < 9; i++) {
    const store = open(i);
    const runtime = new SessionRuntime({ store, agents: [addingAgent(STEPS)] });
    const durable = await cpuOf(() => turns(runtime, 5));
    await runtime.close();
    await store.close();
    const plain = await cpuOf(async () => {
      for (let k = 0; k < 25; k++) await loop();
    });
    best.durable = Math.min(best.durable, durable * 5);
    best.plain = Math.min(best.plain, plain);
  }
  return best.durable / best.plain;
}

async function turns(runtime, count) {
  for (let i = 0; i < count; i++) {
    const { id } = await runtime.create({ owner });
    await runtime.send(id, 'add numbers', { owner, wait: true });
  }
}

async function cpuOf(work) {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

async function bytesPerStep() {
  const STEPS = 100;
  const store = memoryStore();
  const runtime = new SessionRuntime({ store, agents: [addingAgent(STEPS)] });
  const { id } = await runtime.create({ owner });
  await runtime.send(id, 'add numbers', { owner, wait: true });
  const { bytes } = await store.size(id);
  await runtime.close();
  return bytes / STEPS;
}

async function readsOfSession() {
  const reads = /^(find|messages|steps|events|agents|calls|nextCommand|blobs)$/;
  let count = 0;
  const store = new Proxy(memoryStore(), {
    get(of, name) {
      if (reads.test(name)) count += 1;
      return of[name];
    },
  });
  const runtime = new SessionRuntime({ store, agents: [addingAgent(3)] });
  await turns(runtime, 1);
  await runtime.close();
  return count;
}

/** CPU of a process beside that of an empty one. */
function toEmptyProcess(args) {
  const best = { ours: Infinity, empty: Infinity };
  for (let i = 0; i < 10; i++) {
    best.ours = Math.min(best.ours, cpuOfProcess(args));
    best.empty = Math.min(best.empty, cpuOfProcess(['-e', '0']));
  }
  return best.ours / best.empty;
}

function cpuOfProcess(args) {
  const hook = `--import=data:text/javascript,${encodeURIComponent(atExit)}`;
  const { stderr } = spawnSync(process.execPath, [hook, ...args], { cwd, encoding: 'utf8' });
  return Number(stderr.trim().split('\n').at(-1));
}
