/**
 * The buses over a server: how long a message takes from `send` in one connection to `received` in another, one at a
 * time, beside a bare client of the same package that does the same; the same of messages as large as they may be; and
 * how many short messages a second pass in a burst. Server and both connections are on this machine.
 *
 *   npm run bench:bus -- [--messages 200] [--burst 20000]
 *
 * One JSON line per figure. Never fails: figures are not tests.
 */
import { parseArgs } from 'node:util';
import { setTimeout as wait } from 'node:timers/promises';
import { Redis } from 'ioredis';
import pg from 'pg';
import { postgresBus } from 'onward/bus/postgres';
import { redisBus } from 'onward/bus/redis';
import { median, round } from './measure.mjs';
import { testSetup } from './test-setup.mjs';

const { values } = parseArgs({
  options: {
    messages: { type: 'string', default: '200' },
    burst: { type: 'string', default: '20000' },
  },
});
const messages = Number(values.messages);
const burst = Number(values.burst);
const ROUNDS = 5;

const { startPostgres } = await testSetup('postgres');
const { hasRedis, startRedis } = await testSetup('redis');
const servers = [
  {
    name: 'postgres',
    start: startPostgres,
    bus: (url) => postgresBus({ listenUrl: url }),
    bare: barePostgres,
  },
  {
    name: 'redis',
    start: startRedis,
    bus: (url) => redisBus({ connection: url }),
    bare: bareRedis,
  },
];
for (const { name, start, bus, bare } of servers) {
  if (name === 'redis' && !hasRedis) continue;
  const server = await start();
  const ours = await overBus(bus(server.url));
  const control = await bare(server.url);
  try {
    await measure(name, ours, control);
  } finally {
    await ours.close();
    await control.close();
    await server.stop();
  }
}

async function measure(server, ours, control) {
  await latencies(ours, 'warm-up'); // of both
  await latencies(control, 'warm-up');
  const rounds = [];
  for (let i = 0; i < ROUNDS; i++)
    rounds.push({
      bus: percentiles(await latencies(ours, 'x'.repeat(200))),
      bare: percentiles(await latencies(control, 'x'.repeat(200))),
    });
  const middle = (pick) => round(median(rounds.map(pick)));
  print({
    case: 'latency',
    server,
    messages,
    bytes: 200,
    bus_p50_ms: middle(({ bus }) => bus.p50),
    bus_p95_ms: middle(({ bus }) => bus.p95),
    bare_p50_ms: middle(({ bare }) => bare.p50),
    bare_p95_ms: middle(({ bare }) => bare.p95),
    ratio_p50: middle(({ bus, bare }) => bus.p50 / bare.p50),
  });
  const { p50, p95 } = percentiles(await latencies(ours, 'x'.repeat(ours.maxBytes)));
  print({
    case: 'latency',
    server,
    messages,
    bytes: ours.maxBytes,
    bus_p50_ms: p50,
    bus_p95_ms: p95,
  });
  const seconds = (await ours.burst(burst)) / 1000;
  print({
    case: 'burst',
    server,
    messages: burst,
    bytes: 200,
    per_second: Math.round(burst / seconds),
  });
}

/** Milliseconds of each message, one at a time. */
async function latencies({ exchange }, text) {
  const seen = [];
  for (let i = 0; i < messages; i++) {
    const began = performance.now();
    await exchange(text);
    seen.push(performance.now() - began);
    await wait(2);
  }
  return seen;
}

function percentiles(all) {
  const sorted = all.toSorted((a, b) => a - b);
  const at = (share) =>
    round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]);
  return { p50: at(0.5), p95: at(0.95) };
}

async function overBus(bus) {
  let received = () => {};
  const opened = (node) =>
    new Promise((resolve) => {
      const connection = bus.open(node, {
        received: (text) => received(text),
        connected: () => resolve(connection),
        failed: (error) => console.error(String(error)),
      });
    });
  const [from, to] = await Promise.all([opened('from'), opened('to')]);
  return {
    maxBytes: bus.maxBytes,
    exchange: (text) =>
      new Promise((resolve) => {
        received = resolve;
        from.send('to', text);
      }),
    /** Milliseconds until all have arrived. A queue that is full is waited for. */
    async burst(count) {
      let seen = 0;
      const began = performance.now();
      const arrived = new Promise((resolve) => {
        received = () => {
          if (++seen === count) resolve();
        };
      });
      for (let i = 0; i < count; i++) {
        from.send('to', 'x'.repeat(200));
        if (i % 1000 === 999) while (seen < i - 5000) await wait(1);
      }
      await arrived;
      return performance.now() - began;
    },
    close: () => Promise.all([from.close(), to.close()]),
  };
}

async function barePostgres(connectionString) {
  const [from, to] = [new pg.Client({ connectionString }), new pg.Client({ connectionString })];
  let received = () => {};
  await Promise.all([from.connect(), to.connect()]);
  to.on('notification', () => received());
  await to.query('listen bare');
  await from.query('set synchronous_commit to off');
  return {
    exchange: (text) =>
      new Promise((resolve) => {
        received = resolve;
        void from.query('select pg_notify($1, $2)', ['bare', text]);
      }),
    close: () => Promise.all([from.end(), to.end()]),
  };
}

async function bareRedis(url) {
  const [from, to] = [new Redis(url), new Redis(url)];
  let received = () => {};
  to.on('message', () => received());
  await to.subscribe('bare');
  return {
    exchange: (text) =>
      new Promise((resolve) => {
        received = resolve;
        void from.publish('bare', text);
      }),
    close: () => Promise.all([from.quit(), to.quit()]),
  };
}

function print(line) {
  console.log(JSON.stringify(line));
}
