/**
 * How many chats one process holds: `N` at once, each a turn of five steps of two seconds, over one store. A turn is in
 * time if it took at most 1.5 seconds more than its ten. A count is held if 99 of 100 turns are in time.
 *
 *   npm run bench:capacity -- [--stores sqlite,postgres] [--chats 250,500,1000,1500,2000,3000] [--turns 2]
 *
 * One JSON line per count, each measured in a process of its own, and last the highest one held per store. Never fails:
 * figures are not tests.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createAgent, defineTool, inProcessQueue, SessionRuntime } from 'onward';
import { postgresStore } from 'onward/stores/postgres';
import { sqliteStore } from 'onward/stores/sqlite';
import { quantile, round } from './measure.mjs';
import { testSetup } from './test-setup.mjs';

const STEPS = 5;
const STEP_MS = 2_000;
const SLACK_MS = 1_500;
const HELD = 0.99;
const owner = (chat) => `owner-${chat % 50}`;
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const { values } = parseArgs({
  options: {
    stores: { type: 'string', default: 'sqlite,postgres' },
    chats: { type: 'string', default: '250,500,1000,1500,2000,3000' },
    turns: { type: 'string', default: '2' },
    one: { type: 'string' },
    at: { type: 'string' },
  },
});

if (values.one === undefined) await all();
else console.log(JSON.stringify(await measured(values.one, values.at, Number(values.chats))));

async function all() {
  const folder = mkdtempSync(join(tmpdir(), 'onward-capacity-'));
  const stores = values.stores.split(',');
  const { startPostgres } = await testSetup('postgres');
  const server = stores.includes('postgres') ? await startPostgres({ fsync: true }) : null;
  try {
    for (const store of stores) {
      let highest = 0;
      for (const chats of values.chats.split(',')) {
        const at = store === 'postgres' ? server.url : join(folder, `${chats}.db`);
        const file = fileURLToPath(import.meta.url);
        const given = ['--one', store, '--at', at, '--chats', chats, '--turns', values.turns];
        const line = execFileSync(process.execPath, [file, ...given], { encoding: 'utf8' });
        process.stdout.write(line);
        if (JSON.parse(line).in_time < HELD) break;
        highest = Number(chats);
      }
      console.log(JSON.stringify({ case: 'capacity', store, highest_held: highest }));
    }
  } finally {
    await server?.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A model and a tool that wait as real ones do. */
function waitingAgent() {
  const driver = {
    name: 'waiting',
    async infer({ messages }) {
      await sleep(STEP_MS - 200);
      const all = [...messages];
      const asked = all.findLastIndex((message) => message.isUser());
      const done = all.slice(asked).filter((message) => message.isAssistant()).length;
      const isLast = done === STEPS - 1;
      const usage = { input: 800, output: 60, total: 860 };
      return {
        content: isLast ? 'That is all that I found.' : '',
        toolCalls: isLast ? [] : [{ id: `call_${done}`, name: 'look', args: { page: done } }],
        finishReason: isLast ? 'stop' : 'tool_calls',
        usage,
      };
    },
  };
  const look = defineTool({
    name: 'look',
    description: 'Reads a page.',
    parameters: { type: 'object', properties: { page: { type: 'number' } } },
    execute: async ({ page }) => {
      await sleep(200);
      return `page ${page}: ${'text '.repeat(40)}`;
    },
    idempotent: true,
  });
  return createAgent({ name: 'chat', driver, tools: [look], maxSteps: 10 });
}

async function measured(kind, at, chats) {
  const store =
    kind === 'postgres'
      ? postgresStore({ connectionString: at, durability: 'process' })
      : sqliteStore({ path: at });
  const runtime = new SessionRuntime({
    store,
    agents: [waitingAgent()],
    queue: inProcessQueue({ concurrency: chats * 2 }),
  });
  runtime.start();
  await runtime.list({ owner: owner(0), limit: 1 });
  const delays = monitorEventLoopDelay({ resolution: 10 });
  const took = [];
  let peak = 0;
  const watch = setInterval(() => (peak = Math.max(peak, process.memoryUsage.rss())), 250);
  const rested = process.memoryUsage.rss();
  delays.enable();
  const before = process.cpuUsage();
  // spread over one turn, as people would be
  await Promise.all(
    Array.from({ length: chats }, async (_c, i) => {
      await sleep((STEPS * STEP_MS * i) / chats);
      const { id } = await runtime.create({ owner: owner(i) });
      for (let turn = 0; turn < Number(values.turns); turn++) {
        const began = performance.now();
        const { status } = await runtime.send(id, 'Look at this.', { owner: owner(i), wait: true });
        if (status !== 'completed') throw new Error(`bad turn: ${status}`);
        took.push(performance.now() - began);
      }
    }),
  );
  const { user, system } = process.cpuUsage(before);
  clearInterval(watch);
  await runtime.close();
  await store.close();
  const limit = STEPS * STEP_MS + SLACK_MS;
  return {
    case: 'capacity_at',
    store: kind,
    chats,
    in_time: round(took.filter((ms) => ms <= limit).length / took.length, 3),
    turn_p50_s: round(quantile(took, 0.5) / 1000),
    turn_p99_s: round(quantile(took, 0.99) / 1000),
    loop_lag_p99_ms: round(delays.percentile(99) / 1e6 - 10, 1),
    cpu_ms_per_turn: round((user + system) / 1000 / took.length),
    rss_kb_per_chat: Math.round((peak - rested) / 1024 / chats),
  };
}
