import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { startPostgres, type TestPostgres } from '../setup/postgres.ts';
import { pause, until } from '../setup/sessions.ts';
import { install, Running, type Installed } from './install.ts';

vi.setConfig({ testTimeout: 60_000 });

const ANN = 'token-of-ann';

/**
 * An agent that takes two quick steps, then a slow one: `tool` hangs in a tool, `model` in the model, until the file
 * `go` is there. Every call of a tool leaves a line in `effects`.
 */
const config = (
  store: string,
  more = '',
): string => `import { AgentBuilder, defineTool } from 'onward';
import { defineConfig } from 'onward/config';
import { postgresStore } from 'onward/stores/postgres';
import { bullQueue } from 'onward/queues/bullmq';
import { appendFileSync, existsSync, writeFileSync } from 'node:fs';

const free = async () => {
  writeFileSync('entered', '');
  while (!existsSync('go')) await new Promise((resolve) => setTimeout(resolve, 20));
};
const tool = (name, work) =>
  defineTool({
    name,
    description: name,
    async execute() {
      appendFileSync('effects', name + '\\n');
      await work?.();
      return name;
    },
  });
const usage = { input: 10, output: 5, total: 15 };
const driver = {
  name: 'planned',
  async infer({ messages }) {
    const all = [...messages];
    const [asked] = all;
    const done = all.filter((message) => message.isAssistant()).length;
    const call = (name) => ({ content: '', toolCalls: [{ id: 'c' + done, name, args: {} }], finishReason: 'tool_calls', usage });
    if (done < 2) return call('quick');
    if (done === 2 && asked.text === 'tool') return call('slow');
    if (asked.text === 'model') await free();
    return { content: 'done', toolCalls: [], finishReason: 'stop', usage };
  },
};
const agent = AgentBuilder.base().withName('support').withModel(driver).withTools(tool('quick'), tool('slow', free));
export default defineConfig({
  name: 'Shop',
  agents: [agent.build()],
  tokens: { '${ANN}': 'ann' },
  store: ${store},
  lease: { leaseMs: 20_000, heartbeatMs: 5_000 },
  ${more}
});
`;

let installed: Installed;
let postgres: TestPostgres;
beforeAll(async () => {
  [installed, postgres] = await Promise.all([install(), startPostgres()]);
}, 120_000);
afterAll(async () => {
  installed.remove();
  await postgres.stop();
});

let schemas = 0;
const stores = [
  ['sqlite', () => `'sessions.db'`],
  [
    'postgres',
    () =>
      `postgresStore({ connectionString: '${postgres.url}', schema: 'processes_${process.pid}_${schemas++}' })`,
  ],
] as const;

/** A process that has said that it started. */
async function begun(cwd: string, ...argv: string[]) {
  const running = new Running(installed.main, cwd, [...argv, '--json']);
  onTestFinished(() => void running.child.kill('SIGKILL'));
  await Promise.race([until(() => running.stdout.includes('\n')), running.ended]);
  expect(running.stderr).toBe('');
  const [line = ''] = running.stdout.split('\n');
  return Object.assign(running, {
    started: JSON.parse(line) as { url?: string; health_url?: string | null },
  });
}

const asAnn = (init: RequestInit = {}): RequestInit => ({
  ...init,
  headers: { authorization: `Bearer ${ANN}`, 'content-type': 'application/json' },
});

interface Detail {
  readonly id: string;
  readonly status: string;
  readonly stepCount: number;
}

/** A web process without work, and what a user does there. */
async function begin(source: string, message: string) {
  const cwd = installed.project({ 'onward.config.mjs': source });
  const web = await begun(cwd, 'serve', '--no-work', '--port', '0');
  const { url = '' } = web.started;
  const send = async (): Promise<string> => {
    const body = JSON.stringify({ message });
    const made = await fetch(`${url}/api/sessions`, asAnn({ method: 'POST', body }));
    expect(made.status).toBe(201);
    return ((await made.json()) as Detail).id;
  };
  const get = async (id: string): Promise<Detail> =>
    (await fetch(`${url}/api/sessions/${id}`, asAnn())).json() as Promise<Detail>;
  const effects = (): string[] => readFileSync(join(cwd, 'effects'), 'utf8').trim().split('\n');
  const entered = () => until(() => existsSync(join(cwd, 'entered')));
  const letGo = () => writeFileSync(join(cwd, 'go'), '');
  return { cwd, web, url, send, get, effects, entered, letGo };
}

/** Both end in order. */
async function endsInOrder(...processes: readonly Running[]): Promise<void> {
  for (const { child, ended } of processes) {
    child.kill('SIGTERM');
    expect(await ended).toMatchObject({ code: 0, signal: null });
  }
}

describe.each(stores)('processes over %s', (_name, makeStore) => {
  it('a message that serve --no-work accepts is executed by a worker', async () => {
    const { cwd, send, get, effects, web } = await begin(config(makeStore()), 'plain');
    const id = await send();
    await pause(300);
    expect(await get(id)).toMatchObject({ status: 'processing', stepCount: 0 });
    const worker = await begun(cwd, 'worker');
    await until(async () => (await get(id)).status === 'completed');
    expect(effects()).toEqual(['quick', 'quick']);
    await endsInOrder(worker, web);
  });

  it.each([
    ['model', ['quick', 'quick']],
    ['tool', ['quick', 'quick', 'slow']],
  ])(
    'SIGTERM in a %s call hands over within the grace, and the next worker finishes',
    async (where, expected) => {
      const { cwd, send, get, effects, entered, letGo } = await begin(config(makeStore()), where);
      const first = await begun(cwd, 'worker', '--grace', '1', '--health-port', '0');
      const id = await send();
      await entered();
      const reported = performance.now();
      first.child.kill('SIGTERM');
      await until(async () => {
        const probe = await fetch(`${first.started.health_url}/readyz`);
        return probe.status === 503;
      });
      expect(await first.ended).toMatchObject({ code: 0, signal: null });
      expect(performance.now() - reported).toBeLessThan(15_000);
      letGo();
      await begun(cwd, 'worker');
      const next = performance.now();
      await until(async () => (await get(id)).status !== 'processing');
      // the lease was released: no wait for its end
      expect(performance.now() - next).toBeLessThan(15_000);
      expect(effects()).toEqual(expected);
      expect(await get(id)).toMatchObject(
        where === 'model' ? { status: 'completed', stepCount: 3 } : { status: 'failed' },
      );
    },
  );

  it('serve ends its streams when it drains, and a second signal exits at once', async () => {
    const { cwd, send, entered, url } = await begin(config(makeStore()), 'tool');
    const busy = await begun(cwd, 'serve', '--port', '0', '--grace', '60');
    const id = await send();
    await entered();
    const events = await fetch(`${busy.started.url}/api/sessions/${id}/events`, asAnn());
    expect(events.status).toBe(200);
    busy.child.kill('SIGTERM');
    await events.text();
    expect((await fetch(`${busy.started.url}/readyz`)).status).toBe(503);
    expect((await fetch(`${busy.started.url}/healthz`)).status).toBe(200);
    // the other process takes its readers
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    const elsewhere = await fetch(`${url}/api/sessions/${id}/events`, asAnn());
    expect(elsewhere.status).toBe(200);
    await elsewhere.body?.cancel();
    busy.child.kill('SIGTERM');
    expect(await busy.ended).toMatchObject({ code: 143 });
  });
});

it('share the queue of the config: the web process adds, the worker takes', async () => {
  const prefix = `processes_queue_${process.pid}`;
  const queue = `queue: (options) => bullQueue({ connection: '${postgres.url}', prefix: '${prefix}', ...options }),`;
  const source = config(stores[1][1](), queue);
  const { cwd, web, send, get, effects } = await begin(source, 'plain');
  const worker = await begun(cwd, 'worker', '--concurrency', '2');
  const ids = [await send(), await send(), await send()];
  for (const id of ids) await until(async () => (await get(id)).status === 'completed');
  expect(effects()).toHaveLength(6);
  await endsInOrder(worker, web);
});
