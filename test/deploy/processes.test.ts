import { spawnSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { resolve } from 'node:path';
import { Redis } from 'ioredis';
import pg from 'pg';
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest';
import { install, Running, type Installed } from '../cli/install.ts';
import { startPostgres, type TestPostgres } from '../setup/postgres.ts';
import { hasRedis, startRedis } from '../setup/redis.ts';
import { until } from '../setup/sessions.ts';
import { SseClient } from '../setup/sse.ts';
import { processes, textOf, unitCommand, unitOf } from './deployment.ts';
import { startModelServer } from './model-server.ts';

vi.setConfig({ testTimeout: 120_000 });

let installed: Installed;
let postgres: TestPostgres;
beforeAll(async () => {
  [installed, postgres] = await Promise.all([install(), startPostgres()]);
}, 120_000);
afterAll(async () => {
  installed.remove();
  await postgres.stop();
});

const AUTH_SECRET = 'a secret of at least 32 characters';
const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

function signedIn(sub: string): {
  readonly authorization: string;
  readonly 'content-type': string;
} {
  const exp = Math.floor(Date.now() / 1000) + 600;
  const text = `${encoded({ alg: 'HS256' })}.${encoded({ sub, exp })}`;
  const signature = createHmac('sha256', AUTH_SECRET).update(text).digest('base64url');
  return { authorization: `Bearer ${text}.${signature}`, 'content-type': 'application/json' };
}
const headers = signedIn('ann');

/** A database of its own on the test server. */
async function newDatabase(): Promise<string> {
  const name = `deploy_${process.pid}_${Math.random().toString(36).slice(2)}`;
  const admin = new pg.Client({ connectionString: postgres.url });
  await admin.connect();
  await admin.query(`create database ${name}`);
  await admin.end();
  const url = new URL(postgres.url);
  url.pathname = `/${name}`;
  return url.href;
}

interface Started extends Running {
  readonly url: string;
}

/** A project with the files of the example. Returns what starts commands in it; each gets any free port. */
async function deployment(
  env: Readonly<Record<string, string>>,
): Promise<(commands: readonly (readonly string[])[]) => Promise<readonly Started[]>> {
  const files = ['onward.config.ts', 'auth.ts'].map((name) => [name, textOf(name)] as const);
  const cwd = installed.project(Object.fromEntries(files));
  const model = { MODEL_URL: await startModelServer(), MODEL_API_KEY: 'key' };
  const start = async (words: readonly string[]): Promise<Started> => {
    const argv = words.map((word, i) =>
      /^--(?:health-)?port$/.test(words[i - 1] ?? '') ? '0' : word,
    );
    const all = { AUTH_SECRET, ...model, ...env };
    const running = new Running(installed.main, cwd, [...argv, '--json'], all);
    onTestFinished(() => void running.child.kill('SIGKILL'));
    await Promise.race([until(() => running.stdout.includes('\n')), running.ended]);
    expect(running.stderr).toBe('');
    const [line = ''] = running.stdout.split('\n');
    const { url, health_url: healthUrl } = JSON.parse(line) as Record<string, string>;
    return Object.assign(running, { url: url ?? healthUrl ?? '' });
  };
  return (commands) => Promise.all(commands.map(start));
}

const probed = (url: string): number | null =>
  spawnSync(process.execPath, [resolve('examples/deploy/probe.mjs'), `${url}/readyz`]).status;

/** A session of Ann, over the API of one web process. */
async function newSession(url: string, message?: string): Promise<string> {
  const body = JSON.stringify({ ...(message !== undefined && { message }) });
  const created = await fetch(`${url}/api/sessions`, { method: 'POST', headers, body });
  expect(created.status).toBe(201);
  return ((await created.json()) as { id: string }).id;
}

const sessionAt = async (url: string, id: string): Promise<{ status: string }> =>
  (await fetch(`${url}/api/sessions/${id}`, { headers })).json() as Promise<{ status: string }>;

/** Sends a message to one web process and reads the events from another; returns the text that arrived in pieces. */
async function converse(sender: string, reader: string): Promise<string> {
  const id = await newSession(sender);
  const events = await fetch(`${reader}/api/sessions/${id}/events`, { headers });
  expect(events.status).toBe(200);
  const client = new SseClient(events.body ?? new ReadableStream());
  const body = JSON.stringify({ content: 'Where is order 7?' });
  const messages = `${sender}/api/sessions/${id}/messages`;
  expect((await fetch(messages, { method: 'POST', headers, body })).status).toBe(202);
  await client.until(() => client.ends > 0);
  expect(await sessionAt(reader, id)).toMatchObject({ status: 'completed', stepCount: 2 });
  return client.events
    .filter(({ event }) => event === 'agent.stream.chunk')
    .map(({ data }) => (data as { payload: { content: string } }).payload.content)
    .join('');
}

async function endInOrder(running: readonly Running[]): Promise<void> {
  for (const { child } of running) child.kill('SIGTERM');
  for (const { ended } of running) expect(await ended).toMatchObject({ code: 0, signal: null });
}

const ANSWER = 'Order 7 is shipped.';

it('compose.yaml: a web process accepts, a worker answers, another web process streams, all drain', async () => {
  const DATABASE_URL = await newDatabase();
  const start = await deployment({ DATABASE_URL, REDIS_URL: '' });
  const commands = processes.flatMap(({ service, count }) =>
    Array.from({ length: count }, () => service.command),
  );
  const webs = await start(commands.filter(([name]) => name === 'serve'));
  const [first = '', second = ''] = webs.map(({ url }) => url);
  expect((await fetch(`${first}/api/sessions`)).status).toBe(401);
  const early = await newSession(first, 'Where is order 7?');
  // the process without work has added to the queue
  expect((await connectionsOf(DATABASE_URL)).queue).toBeGreaterThan(0);
  expect((await sessionAt(second, early)).status).toBe('processing');

  const workers = await start(commands.filter(([name]) => name === 'worker'));
  const all = [...webs, ...workers];
  expect(all.map(({ url }) => probed(url))).toEqual(all.map(() => 0));
  await until(async () => (await sessionAt(second, early)).status === 'completed');
  expect(await converse(first, second)).toBe(ANSWER);
  expect(await converse(second, first)).toBe(ANSWER);

  const { bus, queue, store } = await connectionsOf(DATABASE_URL);
  expect(bus).toBe(all.length);
  expect(queue).toBeLessThanOrEqual(webs.length * QUEUE.web + workers.length * QUEUE.worker);
  expect(store).toBeLessThanOrEqual(all.length * STORE);
  await endInOrder(all);
});

it('systemd units: they run the same way, with Redis where it is installed', async () => {
  const REDIS_URL = hasRedis ? await redisUrl() : '';
  const start = await deployment({ DATABASE_URL: await newDatabase(), REDIS_URL });
  const all = await start([
    unitCommand(unitOf('onward-web@.service'), '4111'),
    unitCommand(unitOf('onward-worker@.service'), '1'),
  ]);
  const [{ url } = { url: '' }] = all;
  expect(all.map((one) => probed(one.url))).toEqual([0, 0]);
  expect(await converse(url, url)).toBe(ANSWER);
  if (hasRedis) expect(await redisConnections(REDIS_URL)).toBe(REDIS.web + REDIS.worker);
  await endInOrder(all);
  expect(all.map((one) => probed(one.url))).toEqual([1, 1]);
});

/** The connections of one process, as docs/deploying.md lists them. */
const STORE = 12;
const QUEUE = { web: 2, worker: 6 };
const REDIS = { web: 3, worker: 5 };

async function connectionsOf(
  url: string,
): Promise<{ readonly bus: number; readonly queue: number; readonly store: number }> {
  const admin = new pg.Client({ connectionString: url, application_name: 'admin' });
  await admin.connect();
  const { rows } = await admin.query<{ bus: number; queue: number; store: number }>(
    // BullMQ names the connection that listens after the queue
    `select count(*) filter (where application_name = 'onward bus')::int as bus,
       count(*) filter (where application_name in ('onward queue', 'sessions'))::int as queue,
       count(*) filter (where application_name = 'onward')::int as store
     from pg_stat_activity where datname = current_database()`,
  );
  await admin.end();
  const [found = { bus: 0, queue: 0, store: 0 }] = rows;
  return found;
}

async function redisConnections(url: string): Promise<number> {
  const client = new Redis(url);
  const list = String(await client.client('LIST'));
  client.disconnect();
  return list.trim().split('\n').length - 1;
}

async function redisUrl(): Promise<string> {
  const redis = await startRedis();
  onTestFinished(() => redis.stop());
  return redis.url;
}
