import { mkdirSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { inProcessQueue } from 'onward';
import { mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { OnwardConfig } from '../../src/cli/config.ts';
import { held } from '../setup/session-moments.ts';
import { followingDriver, until } from '../setup/sessions.ts';
import { agentOn, cli, lookInto, start, tempFolder, type FakeWorld } from './cli.ts';

const { final, toolCall } = ScenarioStep;
const ANN = 'token-of-ann';

const worldOf = (config: Partial<OnwardConfig> = {}, more: Partial<FakeWorld> = {}): FakeWorld => ({
  cwd: tempFolder(),
  config: {
    agents: [agentOn(followingDriver([final('hi')]))],
    tokens: { [ANN]: 'ann' },
    ...config,
  },
  ...more,
});

/** Runs the command until the test ends; `url` is where it listens. */
async function started(world: FakeWorld, ...argv: readonly string[]) {
  const running = start([...argv, '--json'], world);
  const { outcome, done } = running;
  await until(() => outcome.stdout.includes('\n') || outcome.stderr !== '');
  expect(outcome.stderr).toBe('');
  const { url, health_url: healthUrl } = outcome.last;
  onTestFinished(async () => {
    outcome.signal('SIGTERM');
    await done;
  });
  return { ...running, url: String(url ?? healthUrl) };
}

const serving = (world: FakeWorld, ...argv: readonly string[]) =>
  started(world, 'serve', '--port', '0', ...argv);

const asAnn = (init: RequestInit = {}): RequestInit => ({
  ...init,
  headers: { authorization: `Bearer ${ANN}`, 'content-type': 'application/json' },
});
const post = (message: string): RequestInit =>
  asAnn({ method: 'POST', body: JSON.stringify({ message }) });
const statusOf = async (url: string, init?: RequestInit): Promise<number> =>
  (await fetch(url, init)).status;

function builtConsole(): string {
  const folder = tempFolder();
  mkdirSync(join(folder, 'assets'));
  writeFileSync(join(folder, 'index.html'), '<!doctype html><title>console</title>');
  return folder;
}

describe('onward serve', () => {
  it('refuses to start without a config: there is no demo', async () => {
    const { code, stderr } = await cli({ cwd: tempFolder() }, 'serve');
    expect(code).toBe(2);
    expect(stderr).toContain('onward serve needs a config');
  });

  it('serves for the drain delay after SIGTERM, while it is not ready', async () => {
    const { url, outcome, done } = await serving(worldOf(), '--drain-delay', '2');
    expect(await statusOf(`${url}/readyz`)).toBe(200);
    outcome.signal('SIGTERM');
    await until(async () => (await statusOf(`${url}/readyz`)) === 503);
    const sent = await fetch(`${url}/api/sessions`, post('hello'));
    expect(sent.status).toBe(201);
    await done;
    await expect(fetch(`${url}/readyz`)).rejects.toThrow('fetch failed');
  });

  it.each([{}, { tokens: {} }])('refuses to start without users: %j', async (config) => {
    const { code, stderr } = await cli(worldOf({ tokens: undefined as never, ...config }), 'serve');
    expect(code).toBe(2);
    expect(stderr).toContain('the config has neither auth nor tokens');
  });

  it('answers a proxy on the same machine under the hosts of the config', async () => {
    const world = worldOf({ allowedHosts: ['chat.example.com'] });
    const { url } = await serving(world, '--host', '127.0.0.1');
    const statusFor = (host: string): Promise<number | undefined> =>
      new Promise((resolve, reject) => {
        const asked = request(`${url}/readyz`, { headers: { host } }, (answer) => {
          answer.resume();
          resolve(answer.statusCode);
        });
        asked.on('error', reject).end();
      });
    expect(await statusFor('chat.example.com')).toBe(200);
    expect(await statusFor('other.example.com')).toBe(421);
  });

  it('has the routes of operators with the hook of the config alone', async () => {
    const admin = ({ headers }: Request) => (headers.get('x-key') === 'op' ? { by: 'op' } : null);
    const [open, closed] = [
      await serving(worldOf({ server: { admin } })),
      await serving(worldOf()),
    ];
    const workers = (url: string, headers: Record<string, string>): Promise<number> =>
      statusOf(`${url}/api/admin/workers`, { headers });
    expect(await workers(open.url, { 'x-key': 'op' })).toBe(200);
    expect(await workers(open.url, { authorization: `Bearer ${ANN}` })).toBe(403);
    expect(await workers(closed.url, { 'x-key': 'op' })).toBe(404);
  });

  it('refuses a token that anyone could guess', async () => {
    const { code, stderr } = await cli(worldOf({ tokens: { '': 'ann' } }), 'serve');
    expect(code).toBe(2);
    expect(stderr).toContain('The token of the config has 0 characters');
  });

  it('admits owners by auth and by token, and no other client', async () => {
    const auth = (request: Request) => request.headers.get('x-user');
    const { url } = await serving(worldOf({ auth }));
    expect(await statusOf(`${url}/api/sessions`)).toBe(401);
    expect(await statusOf(`${url}/api/sessions`, asAnn())).toBe(200);
    const info = await fetch(`${url}/api/info`, { headers: { 'x-user': 'bob' } });
    expect(await info.json()).toMatchObject({ owner: 'bob' });
  });

  it('serves the console only where the config asks for it', async () => {
    const consoleDir = builtConsole();
    const without = await serving(worldOf({}, { consoleDir }));
    expect(await statusOf(`${without.url}/`)).toBe(404);
    const { url } = await serving(worldOf({ console: true }, { consoleDir }));
    expect(await (await fetch(`${url}/`)).text()).toContain('<title>console</title>');
    const unbuilt = await cli(worldOf({ console: true }, { consoleDir: tempFolder() }), 'serve');
    expect(unbuilt.code).toBe(2);
    expect(unbuilt.stderr).toContain('The config has console: true, and there is no console in');
  });

  it('caps what owners may grant, and takes the options of the API from the config', async () => {
    const { url } = await serving(worldOf({ server: { maxBodyBytes: 10 } }));
    expect(await statusOf(`${url}/api/sessions`, post('more than ten bytes'))).toBe(413);
    const capped = await serving(
      worldOf({
        agents: [
          agentOn(followingDriver([toolCall('stock', { article: 'a' })]), (b) => b.withMaxSteps(1)),
        ],
      }),
    );
    const made = await fetch(`${capped.url}/api/sessions`, post('go'));
    const { id } = (await made.json()) as { id: string };
    const session = `${capped.url}/api/sessions/${id}`;
    await until(async () => {
      const { status } = (await (await fetch(session, asAnn())).json()) as { status: string };
      return status === 'stopped';
    });
    const body = JSON.stringify({ grant: { steps: 1_000 } });
    const granted = await fetch(`${session}/resume`, asAnn({ method: 'POST', body }));
    expect(await granted.json()).toMatchObject({ error: { code: 'grant_refused' } });
  });

  it('drains: unready at once, streams end, running work finishes, and the exit code is 0', async () => {
    const { tool: slow, open, began } = held();
    const agent = agentOn(followingDriver([toolCall('slow'), final('done')]), (builder) =>
      builder.withTools(slow),
    );
    const world = worldOf({ agents: [agent] });
    const { url, outcome, done } = await serving(world);
    expect(await statusOf(`${url}/readyz`)).toBe(200);
    const made = await fetch(`${url}/api/sessions`, post('go'));
    const { id } = (await made.json()) as { id: string };
    await began();
    const events = await fetch(`${url}/api/sessions/${id}/events`, asAnn());
    outcome.signal('SIGTERM');
    await events.text(); // ends
    const unready = await fetch(`${url}/readyz`);
    expect(unready.status).toBe(503);
    expect(await unready.json()).toMatchObject({ code: 'draining' });
    expect(await statusOf(`${url}/healthz`)).toBe(200);
    const refused = await fetch(`${url}/api/sessions`, asAnn());
    expect(refused.status).toBe(503);
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(await refused.json()).toMatchObject({ error: { code: 'draining' } });
    open();
    expect((await done).code).toBe(0);
    const next = lookInto(world.cwd, agent);
    expect(await next.get(id, { owner: 'ann' })).toMatchObject({
      status: 'in_progress',
      stepCount: 1,
    });
    await expect(fetch(`${url}/healthz`)).rejects.toThrow('fetch failed');
    outcome.signal('SIGTERM');
    expect(outcome.exits).toEqual([143]);
  });

  it('hands over what still runs at the end of the grace', async () => {
    const { tool: slow, began } = held();
    const agent = agentOn(followingDriver([toolCall('slow'), final('done')]), (builder) =>
      builder.withTools(slow),
    );
    const world = worldOf({ agents: [agent] });
    const { url, outcome, done } = await serving(world, '--grace', '0');
    const made = await fetch(`${url}/api/sessions`, post('go'));
    const { id } = (await made.json()) as { id: string };
    await began();
    outcome.signal('SIGTERM');
    expect((await done).code).toBe(0);
    const next = lookInto(world.cwd, agent);
    expect(await next.recover()).toBe(1);
    await until(async () => (await next.get(id, { owner: 'ann' })).status !== 'in_progress');
    expect(slow.calls).toHaveLength(1);
  });

  it('with --no-work accepts messages and leaves them to workers', async () => {
    const look = mockTool('look');
    const agent = agentOn(followingDriver([toolCall('look'), final('done')]), (builder) =>
      builder.withTools(look),
    );
    const world = worldOf({ agents: [agent] });
    const { url, outcome } = await serving(world, '--no-work');
    expect(outcome.last).toMatchObject({ type: 'started', work: false, agents: ['support'] });
    const made = await fetch(`${url}/api/sessions`, post('go'));
    expect(made.status).toBe(201);
    const { id } = (await made.json()) as { id: string };
    const get = async (): Promise<unknown> =>
      (await fetch(`${url}/api/sessions/${id}`, asAnn())).json();
    expect(await get()).toMatchObject({ status: 'processing' });
    const worker = await started(world, 'worker');
    expect(worker.outcome.last).toMatchObject({ agents: ['support'], health_url: null });
    await until(async () => ((await get()) as { status: string }).status === 'completed');
    expect(look.calls).toHaveLength(1);
  });
});

describe('the queue of the config', () => {
  it('gets what serve --no-work accepts, and no process to work for it', async () => {
    const added: string[] = [];
    let starts = 0;
    const queue = {
      ...inProcessQueue(),
      start: () => void starts++,
      add: (sessionId: string) => void added.push(sessionId),
      local: { free: 0, tryAdd: () => false },
    };
    const { url } = await serving(worldOf({ queue: () => queue }), '--no-work');
    const made = await fetch(`${url}/api/sessions`, post('go'));
    const { id } = (await made.json()) as { id: string };
    expect({ added, starts }).toEqual({ added: [id], starts: 0 });
  });
});

describe('onward worker', () => {
  it('refuses to start without a config, and names agents that are not there', async () => {
    const demo = await cli({ cwd: tempFolder() }, 'worker');
    expect(demo.code).toBe(2);
    expect(demo.stderr).toContain('onward worker needs a config');
    const { code, stderr } = await cli(worldOf(), 'worker', '--agents', 'support,sales');
    expect(code).toBe(2);
    expect(stderr).toContain('The config has no agent "sales", expected some of: support.');
  });

  it.each([
    [['--concurrency', '0'], 'Expected a whole number from 1 to'],
    [['--grace', '-1'], 'Expected a whole number from 0 to'],
    [['--agents', 'a,,b'], 'Expected names with commas between them'],
    [['--health-port', 'x'], 'Expected a whole number from 0 to 65535'],
  ])('refuses %j', async (argv, message) => {
    const { code, stderr } = await cli(worldOf(), 'worker', ...argv);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });

  it('refuses --concurrency beside a queue that is made already', async () => {
    const world = worldOf({ queue: inProcessQueue() });
    const { code, stderr } = await cli(world, 'worker', '--concurrency', '3');
    expect(code).toBe(2);
    expect(stderr).toContain('--concurrency is 3, and the config has a queue');
  });

  it('serves only the two probes on its health port', async () => {
    const { url, outcome, done } = await started(worldOf(), 'worker', '--health-port', '0');
    expect(await (await fetch(`${url}/readyz`)).json()).toEqual({ status: 'ready' });
    expect(await statusOf(`${url}/healthz`)).toBe(200);
    expect(await statusOf(`${url}/api/sessions`, asAnn())).toBe(404);
    outcome.signal('SIGINT');
    expect((await done).code).toBe(0);
  });

  it('runs only the agents that it is given', async () => {
    const answer = (name: string) =>
      agentOn(followingDriver([final(name)]), (builder) => builder.withName(name));
    const world = worldOf({ agents: [answer('a'), answer('b')] });
    const { url } = await serving(world, '--no-work');
    const made = async (agent: string): Promise<string> => {
      const body = JSON.stringify({ agent, message: 'go' });
      const response = await fetch(`${url}/api/sessions`, asAnn({ method: 'POST', body }));
      return ((await response.json()) as { id: string }).id;
    };
    const status = async (id: string): Promise<string> => {
      const response = await fetch(`${url}/api/sessions/${id}`, asAnn());
      return ((await response.json()) as { status: string }).status;
    };
    const [a, b] = [await made('a'), await made('b')];
    await started(world, 'worker', '--agents', 'b');
    await until(async () => (await status(b)) === 'completed');
    expect(await status(a)).toBe('processing');
    await started(world, 'worker', '--concurrency', '1');
    await until(async () => (await status(a)) === 'completed');
  });
});
