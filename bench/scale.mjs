/**
 * Many processes on one PostgreSQL: how work that waits grows with the number of workers, how long a message, a stop
 * and an approval take from one process to another, what a streamed chunk costs that crosses processes, and what idle workers ask of the
 * database. Server, workers and sender are on this machine; each worker is a process.
 *
 *   npm run bench:scale -- [--only throughput,latency,chunks,idle] [--concurrency 10] [--samples 200]
 *
 * One JSON line per figure and, last, whether each bar is met. Never fails: figures are not tests.
 */
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { median, quantile, round } from './measure.mjs';
import { testSetup } from './test-setup.mjs';

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: 'throughput,latency,chunks,idle' },
    concurrency: { type: 'string', default: '10' },
    samples: { type: 'string', default: '200' },
  },
});
const only = new Set(values.only.split(','));
const concurrency = Number(values.concurrency);
const samples = Number(values.samples);
/** Turns of each worker's places in a measurement. */
const WAVES = 6;
const CALLS = 2;
const IDLE_MS = 20_000;

const { startPostgres } = await testSetup('postgres');
const { hasRedis, startRedis } = await testSetup('redis');
const postgres = await startPostgres();
const redis = hasRedis ? await startRedis() : null;
const program = fileURLToPath(new URL('scale-process.mjs', import.meta.url));
const bars = {};
let schemas = 0;

try {
  const servers = redis ? ['postgres', 'redis'] : ['postgres'];
  if (only.has('throughput')) {
    for (const server of servers) await throughput(server, server);
    await throughput('postgres', 'none');
  }
  if (only.has('latency')) {
    for (const bus of servers) await latency(bus, 'none', samples);
    for (const server of servers) await latency(server, server, samples);
    await latency('none', 'none', Math.min(samples, 20));
  }
  if (only.has('chunks')) for (const bus of servers) await chunks(bus);
  if (only.has('idle')) {
    await idle('none', 'none');
    for (const server of servers)
      for (const agents of [1, 50]) await idle(server, server, { agents });
    await idle('postgres', 'postgres', { agents: 50, workers: 12 });
  }
  print({ case: 'bars', ...bars });
} finally {
  await redis?.stop();
  await postgres.stop();
}

function print(line) {
  console.log(JSON.stringify(line));
}

/** Processes on a schema of their own. */
async function processes(bus, queue, workers, agents = 1) {
  const schema = `scale_${++schemas}`;
  const job = { url: postgres.url, redisUrl: redis?.url, schema, bus, queue, concurrency, agents };
  const sender = start({ ...job, work: false });
  await sender.ready;
  const all = Array.from({ length: workers }, () => start({ ...job, work: true }));
  await Promise.all(all.map(({ ready }) => ready));
  return {
    sender,
    workers: all,
    end: () => [sender, ...all].forEach(({ child }) => child.kill('SIGKILL')),
  };
}

function start(job) {
  const child = fork(program, [JSON.stringify(job)], { stdio: 'inherit' });
  const waiting = new Map();
  const started = new Map();
  let asked = 0;
  let isReady;
  const ready = new Promise((resolve) => (isReady = resolve));
  child.on('message', ({ ready: up, number, result, error, started: key, at }) => {
    if (up) isReady();
    else if (key !== undefined) started.get(key)?.(at);
    else if (error) waiting.get(number).reject(new Error(error));
    else waiting.get(number).resolve(result);
  });
  return {
    child,
    ready,
    /** When the model is first asked under this key, in milliseconds of the clock that all processes share. */
    begins: (key) => new Promise((resolve) => started.set(key, resolve)),
    ask: (task, options = {}) =>
      new Promise((resolve, reject) => {
        waiting.set(++asked, { resolve, reject });
        child.send({ number: asked, task, options });
      }),
  };
}

/** Sessions of three model calls and two tools each, at the same concurrency for each worker. */
async function throughput(bus, queue) {
  const rates = {};
  for (const count of [1, 2, 4]) {
    const { sender, workers, end } = await processes(bus, queue, count);
    await sender.ask('many', { sessions: count * concurrency, calls: 0 }); // warm-up
    for (const { ask } of [sender, ...workers]) await ask('cpu');
    const sessions = count * concurrency * WAVES;
    const { ms } = await sender.ask('many', { sessions, calls: CALLS });
    const cpu = await Promise.all(workers.map(({ ask }) => ask('cpu')));
    const sending = await sender.ask('cpu');
    end();
    rates[count] = sessions / (ms / 1000);
    print({
      case: 'throughput',
      bus,
      queue,
      workers: count,
      concurrency,
      sessions,
      sessions_per_second: round(rates[count]),
      steps_per_second: round(rates[count] * (CALLS + 1), 1),
      worker_cpu_ms_per_session: round(cpu.reduce((sum, used) => sum + used.ms, 0) / sessions, 1),
      sender_cpu_ms_per_session: round(sending.ms / sessions, 1),
    });
  }
  const value = round(rates[4] / rates[1]);
  print({
    case: 'throughput_ratio',
    bus,
    queue,
    four_to_one: value,
    two_to_one: round(rates[2] / rates[1]),
  });
  bars[`four_to_one_${bus}_${queue}`] = { value, limit: 3.5, pass: value >= 3.5 };
}

function percentiles(all) {
  const at = (share) => round(quantile(all, share), 1);
  return { p50_ms: at(0.5), p95_ms: at(0.95), p99_ms: at(0.99) };
}

/**
 * From `send` in one process to the model call in another, from `stop` to its answer when the run has ended, and from an
 * approval to the start of its tool.
 */
async function latency(bus, queue, count) {
  const { sender, workers, end } = await processes(bus, queue, 1);
  const [worker] = workers;
  await sender.ask('many', { sessions: 20, calls: 0 });
  const starts = [];
  const stops = [];
  const answers = [];
  const control = [];
  for (let i = 0; i < count; i++) {
    const { id } = await sender.ask('create');
    const begun = worker.begins(i);
    const sent = await sender.ask('send', { id, plan: { report: i, hangs: true } });
    starts.push((await begun) - sent.at);
    await wait(Math.random() * 20);
    stops.push((await sender.ask('stop', { id })).ms);
    const approval = `approval ${i}`;
    const { id: asking } = await sender.ask('create');
    await sender.ask('send', { id: asking, plan: { approval }, wait: true });
    const ran = worker.begins(approval);
    const answered = await sender.ask('approve', { id: asking });
    answers.push((await ran) - answered.at);
    // the machine by itself: one read of the same database by the same process
    control.push((await sender.ask('control')).ms);
  }
  end();
  const line = { bus, queue, samples: count };
  print({ case: 'send_to_start', ...line, ...percentiles(starts) });
  print({ case: 'stop_to_stopped', ...line, ...percentiles(stops) });
  print({ case: 'answer_to_tool', ...line, ...percentiles(answers) });
  print({ case: 'control_one_read', ...line, ...percentiles(control) });
  if (bus === 'none') return;
  for (const [name, all] of Object.entries({ starts, stops, answers })) {
    const value = round(median(all), 1);
    bars[`${name}_${bus}_${queue}`] = { value, limit: 50, pass: value <= 50 };
  }
}

/** What a chunk costs where it is read in another process, beside the same run without a reader. */
async function chunks(bus) {
  const { sender, workers, end } = await processes(bus, 'none', 1);
  const [worker] = workers;
  const plan = { chunks: 20_000, batch: 100, everyMs: 10 };
  const cpuOf = async (work) => {
    await Promise.all([sender.ask('cpu'), worker.ask('cpu')]);
    const result = await work();
    await wait(300);
    const [reading, working] = await Promise.all([sender.ask('cpu'), worker.ask('cpu')]);
    return { ...result, reading: reading.ms, working: working.ms };
  };
  const session = async () => (await sender.ask('create')).id;
  const alone = async () =>
    cpuOf(async () => sender.ask('send', { id: await session(), plan, wait: true }));
  const followed = async () =>
    cpuOf(async () => sender.ask('follow', { id: await session(), plan }));
  await alone(); // warm-up of both
  await followed();
  const rounds = [];
  for (let i = 0; i < 5; i++)
    rounds.push(
      i % 2 === 0
        ? { alone: await alone(), followed: await followed() }
        : { followed: await followed(), alone: await alone() },
    );
  end();
  const perChunk = (pick) => round((median(rounds.map(pick)) * 1000) / plan.chunks);
  print({
    case: 'chunk_over_bus',
    bus,
    chunks: plan.chunks,
    arrived: Math.min(...rounds.map((one) => one.followed.chunks)),
    worker_us: perChunk((one) => one.followed.working - one.alone.working),
    reader_us: perChunk((one) => one.followed.reading - one.alone.reading),
    worker_without_reader_us: perChunk((one) => one.alone.working),
  });
}

/** Transactions a second that idle workers make: outside of a transaction each statement is one. */
async function idle(bus, queue, { agents = 1, workers = 4 } = {}) {
  const { sender, end } = await processes(bus, queue, workers, agents);
  await sender.ask('many', { sessions: 8, calls: 0 });
  const client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
  const count = async () => {
    const { rows } = await client.query(
      'select (xact_commit + xact_rollback)::float8 as n from pg_stat_database where datname = current_database()',
    );
    return rows[0].n;
  };
  await wait(15_000); // connections that are idle report what they did after 10 seconds
  const before = await count();
  await wait(IDLE_MS);
  const after = await count();
  await client.end();
  end();
  const value = round((after - before) / (IDLE_MS / 1000) / workers, 1);
  print({ case: 'idle', bus, queue, workers, agents, statements_per_second_and_worker: value });
  bars[`idle_${bus}_${queue}_${workers}_workers_${agents}_agents`] = {
    value,
    limit: 10,
    pass: value < 10,
  };
}
