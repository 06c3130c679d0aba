/**
 * The HTTP API under load. First 200 clients at once on the loopback, each of which opens a session with a message and
 * reads its live events up to the end, again and again: sessions per second, and how long the first event and the end
 * take; then the same at half that pace. Beside it stands a bare HTTP server that answers with as many bytes and does
 * no work. Then memory: turns for minutes, and what stays of them. Server and clients are processes of their own; sessions are in a SQLite file.
 *
 *   npm run bench:server -- [--minutes 10] [--clients 200] [--seconds 8] [--only load|memory]
 *
 * One JSON line per figure and, last, whether each bar is met. Never fails: figures are not tests.
 */
import { fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { median, round } from './measure.mjs';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    clients: { type: 'string', default: '200' },
    seconds: { type: 'string', default: '8' },
    only: { type: 'string' },
  },
});
const minutes = Number(values.minutes);
const ROUNDS = 3;
const MEMORY_CLIENTS = 20;
const MB_PER_MINUTE = 1;
const folder = mkdtempSync(join(tmpdir(), 'onward-bench-server-'));
const children = [];
const lines = [];

try {
  if (values.only !== 'memory') await load(Number(values.clients), Number(values.seconds));
  if (values.only !== 'load') await memory();
} catch (error) {
  print({ case: 'error', error: String(error) });
} finally {
  for (const child of children) child.kill();
  rmSync(folder, { recursive: true, force: true });
}
console.log(JSON.stringify({ case: 'bars', ...bars() }));

function print(line) {
  lines.push(line);
  console.log(JSON.stringify(line));
}

/** Bare and Onward turn by turn, so that both meet the same moods of the machine; the first round warms up. */
async function load(clients, seconds) {
  const sides = {};
  for (const kind of ['bare', 'onward']) sides[kind] = await start(kind, clients);
  const rounds = { bare: [], onward: [] };
  for (let i = 0; i <= ROUNDS; i++)
    for (const [kind, side] of Object.entries(sides)) {
      const seen = await measured(side, { seconds: i === 0 ? seconds / 2 : seconds });
      if (i > 0) rounds[kind].push(seen);
      print({ case: 'round', server: kind, round: i === 0 ? 'warm-up' : i, ...seen });
    }
  const figures = {};
  for (const [kind, all] of Object.entries(rounds)) {
    const middle = (name) => round(median(all.map((one) => one[name])));
    figures[kind] = {
      sessions_per_second: middle('sessions_per_second'),
      first_event_p50_ms: middle('first_event_p50_ms'),
      first_event_p99_ms: middle('first_event_p99_ms'),
      end_p50_ms: middle('end_p50_ms'),
      end_p99_ms: middle('end_p99_ms'),
      server_cpu_ms_per_session: middle('server_cpu_ms_per_session'),
      errors: all.reduce((sum, one) => sum + one.errors, 0),
    };
    print({ case: 'load', server: kind, clients, ...figures[kind] });
  }
  const ratio = (a, b, name) => round(figures[a][name] / figures[b][name], 1);
  print({
    case: 'load_ratio',
    sessions: ratio('bare', 'onward', 'sessions_per_second'),
    server_cpu: ratio('onward', 'bare', 'server_cpu_ms_per_session'),
  });
  // clients that never pause mostly wait for each other: this is what they see of a server that keeps up
  const perSecond = Math.ceil(figures.onward.sessions_per_second / 2);
  for (const [kind, side] of Object.entries(sides)) {
    const seen = await measured(side, { seconds, perSecond });
    print({ case: 'half_load', server: kind, clients, ...seen });
    stop(side);
  }
}

/** With the processor time of the server, which says more than a clock where others use the machine too. */
async function measured(side, how) {
  const before = await ask(side.server, 'cpu');
  const seen = await ask(side.clients, 'load', how);
  const after = await ask(side.server, 'cpu');
  return { ...seen, server_cpu_ms_per_session: round((after.ms - before.ms) / seen.turns) };
}

/** Clients rest while memory is read, so that it shows what stays, not what is under way. */
async function memory() {
  const side = await start('onward', MEMORY_CLIENTS);
  const everyMs = Math.min(30_000, (minutes * 60_000) / 12);
  // first comes what is compiled, pooled and cached once, such as 32 MB of SQLite's pages
  const warmMinutes = Math.min(3, minutes / 2);
  const warmTurns = Math.min(10_000, minutes * 2_000);
  const samples = [];
  let began = performance.now();
  let isWarm = false;
  let turns = 0;
  let errors = 0;
  for (let minute = 0; !isWarm || minute < minutes || samples.length < 5;) {
    const seen = await ask(side.clients, 'load', { seconds: everyMs / 1000, turns: 5 });
    const { rss, heap } = await ask(side.server, 'memory');
    if (seen.turns === 0) throw new Error(`no turn was completed: ${seen.last_error}`);
    turns += seen.turns;
    errors += seen.errors;
    minute = (performance.now() - began) / 60_000;
    if (isWarm) samples.push({ minute, rss: rss / 1e6, heap: heap / 1e6 });
    print({
      case: isWarm ? 'memory_sample' : 'memory_warm_up',
      minute: round(minute),
      turns,
      rss_mb: round(rss / 1e6, 1),
      heap_after_gc_mb: round(heap / 1e6),
    });
    if (isWarm || minute < warmMinutes || turns < warmTurns) continue;
    isWarm = true;
    began = performance.now();
    minute = 0;
  }
  stop(side);
  const perMinute = (name) => round(slope(samples.map((each) => [each.minute, each[name]])), 3);
  print({
    case: 'memory',
    minutes,
    turns,
    errors,
    heap_mb_per_minute: perMinute('heap'),
    rss_mb_per_minute: perMinute('rss'),
  });
}

/** Of the line that fits best, by least squares. */
function slope(points) {
  const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const x = mean(points.map(([each]) => each));
  const y = mean(points.map(([, each]) => each));
  const above = points.reduce((sum, [a, b]) => sum + (a - x) * (b - y), 0);
  return above / points.reduce((sum, [a]) => sum + (a - x) ** 2, 0);
}

async function start(kind, clientCount) {
  const server = child('server-process.mjs', [kind, join(folder, `${children.length}.db`)]);
  const { port } = await reply(server, 'ready');
  const clients = child('server-clients.mjs', [String(port), String(clientCount)]);
  await reply(clients, 'ready');
  return { server, clients };
}

function child(file, parameters) {
  const execArgv = ['--expose-gc'];
  const started = fork(new URL(file, import.meta.url), parameters, { execArgv });
  children.push(started);
  return started;
}

function stop({ server, clients }) {
  server.kill();
  clients.kill();
}

function ask(side, what, value = {}) {
  const answer = reply(side, what);
  side.send({ what, value });
  return answer;
}

function reply(side, what) {
  return new Promise((resolve, reject) => {
    const gone = (code) => reject(new Error(`a process ended with ${code} before "${what}"`));
    const listen = (message) => {
      if (message.what !== what) return;
      side.off('message', listen).off('exit', gone);
      resolve(message.value);
    };
    side.on('message', listen).on('exit', gone);
  });
}

function bars() {
  const results = {};
  const most = (bar, value, limit) => {
    results[bar] = { value, limit, result: value <= limit ? 'PASS' : 'FAIL' };
  };
  for (const line of lines) {
    if (line.case === 'error') most('run', line.error, 0);
    if (line.case === 'load' || line.case === 'half_load')
      most(`${line.case}_errors_${line.server}`, line.errors, 0);
    if (line.case !== 'memory') continue;
    most('memory_errors', line.errors, 0);
    most('heap_mb_per_minute', line.heap_mb_per_minute, MB_PER_MINUTE);
    most('rss_mb_per_minute', line.rss_mb_per_minute, MB_PER_MINUTE);
  }
  return results;
}
