import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { memoryStore } from 'onward/stores/memory';
import { ScenarioStep } from 'onward/testing';
import { startDevServer, type DevServer, type DevServerOptions } from '../../src/cli/dev-server.ts';
import { followingDriver, gate, until } from '../setup/sessions.ts';
import { agentOn, cli, start, tempFolder } from './cli.ts';

const { final } = ScenarioStep;

const configOf = (...texts: readonly string[]) => ({
  name: 'Shop',
  agents: [agentOn(followingDriver(...texts.map((text) => [final(text)])))],
});

async function started(options: Partial<DevServerOptions> = {}): Promise<DevServer> {
  const server = await startDevServer({
    config: configOf('hi'),
    folder: tempFolder(),
    port: 0,
    ...options,
  });
  onTestFinished(() => server.close({ graceMs: 0 }));
  return server;
}

const call = (server: DevServer, path: string, init: RequestInit & { token?: string } = {}) => {
  const { token = server.token, ...more } = init;
  return fetch(`${server.url}${path}`, {
    ...more,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
  });
};

function builtConsole(): string {
  const folder = tempFolder();
  mkdirSync(join(folder, 'assets'));
  writeFileSync(join(folder, 'index.html'), '<!doctype html><title>console</title>');
  writeFileSync(join(folder, 'assets', 'app-1.js'), 'console.log(1)');
  return folder;
}

describe('startDevServer', () => {
  it('serves API and console on one address, and requires its token', async () => {
    const server = await started({ consoleDir: builtConsole() });
    expect(server.address).toBe(`${server.url}/#token=${server.token}`);
    expect(server.token).toMatch(/^[0-9a-f]{32}$/);
    const page = await fetch(`${server.url}/`);
    expect(await page.text()).toContain('<title>console</title>');
    expect((await fetch(`${server.url}/assets/app-1.js`)).status).toBe(200);
    expect((await fetch(`${server.url}/nothing`)).status).toBe(404);
    expect((await fetch(`${server.url}/api/health`)).status).toBe(200);
    for (const token of ['', 'wrong', `${server.token}0`, server.token.toUpperCase()])
      expect((await call(server, '/api/sessions', { token })).status).toBe(401);
    const info = await (await call(server, '/api/info')).json();
    expect(info).toMatchObject({
      name: 'Shop',
      owner: 'dev',
      store: 'SQLite · .onward/sessions.db',
    });
  });

  it('maps further tokens to owners, who see only their own sessions', async () => {
    const config = { ...configOf('hi', 'ho'), tokens: { 'token-of-ann': 'ann' } };
    const server = await started({ config, owner: 'bob' });
    const body = JSON.stringify({ message: 'hello' });
    const made = await call(server, '/api/sessions', { method: 'POST', body });
    expect(made.status).toBe(201);
    const { id } = (await made.json()) as { id: string };
    const count = async (token?: string): Promise<number> => {
      const answer = await call(server, '/api/sessions', token === undefined ? {} : { token });
      return ((await answer.json()) as { sessions: unknown[] }).sessions.length;
    };
    expect(await count()).toBe(1);
    expect(await count('token-of-ann')).toBe(0);
    expect((await call(server, `/api/sessions/${id}`, { token: 'token-of-ann' })).status).toBe(404);
    await server.runtime.wait(id, { owner: 'bob' });
  });

  it('shows the workers to the developer, and not to those with a token of the config', async () => {
    const config = { ...configOf('hi'), tokens: { 'token-of-ann': 'ann' } };
    const server = await started({ config, owner: 'bob' });
    const workers = await until(async () => {
      const answer = await call(server, '/api/admin/workers');
      expect(answer.status).toBe(200);
      const body = (await answer.json()) as { workers: readonly object[] };
      return body.workers.length > 0 ? body.workers : null;
    });
    expect(workers).toMatchObject([{ status: 'idle', pid: process.pid, agents: ['support'] }]);
    for (const token of ['token-of-ann', 'wrong', ''])
      expect((await call(server, '/api/admin/workers', { token })).status).toBe(403);
    const body = JSON.stringify({ ids: ['none'] });
    const retried = await call(server, '/api/admin/parked/retry', { method: 'POST', body });
    expect(await retried.json()).toEqual({ retried: [], skipped: ['none'], by: 'bob' });
  });

  it('keeps its token, readable only for this user, across a restart', async () => {
    const folder = tempFolder();
    const first = await started({ folder });
    const { token } = first;
    const modeOf = (...names: readonly string[]): number =>
      statSync(join(folder, '.onward', ...names)).mode & 0o777;
    expect(modeOf()).toBe(0o700);
    expect(modeOf('token')).toBe(0o600);
    await first.close({ graceMs: 0 });
    const second = await started({ folder });
    expect(second.token).toBe(token);
    const dot = join(folder, '.onward');
    expect(readFileSync(join(dot, '.gitignore'), 'utf8')).toBe('*\n');
    const own = await started({ folder, token: 'chosen-by-me' });
    expect(own.token).toBe('chosen-by-me');
    expect(readFileSync(join(dot, 'token'), 'utf8').trim()).toBe(token);
    await expect(started({ token: 'a b' })).rejects.toThrow('expected 8 to 200 letters');
  });

  it('continues sessions that an earlier process left', async () => {
    const folder = tempFolder();
    const config = configOf('taken up');
    const sent = await cli({ cwd: folder, config }, 'run', 'go', '--detach');
    const server = await started({ folder, config });
    const id = sent.stdout.trim();
    const session = await until(async () => {
      const now = await server.runtime.get(id, { owner: 'dev' });
      return now.status === 'completed' ? now : null;
    });
    expect(session.output).toBe('taken up');
  });

  it('serves a page that reports a missing console build', async () => {
    const server = await started({ consoleDir: tempFolder() });
    expect(server.hasConsole).toBe(false);
    const page = await fetch(server.url);
    expect(page.status).toBe(503);
    expect(await page.text()).toContain('The console is not built');
  });

  it('finishes the running step before it closes', async () => {
    const entered = gate();
    const go = gate();
    const folder = tempFolder();
    const slow = {
      name: 'slow',
      async infer() {
        entered.open();
        await go.passed;
        return { content: 'finished', toolCalls: [], finishReason: 'stop', usage: null };
      },
    };
    const config = { agents: [agentOn(slow)] };
    const server = await started({ folder, config });
    const { id } = await server.runtime.create({ owner: 'dev' });
    await server.runtime.send(id, 'go', { owner: 'dev' });
    await entered.passed;
    const closing = server.close({ graceMs: 10_000 });
    go.open();
    await closing;
    const shown = await cli({ cwd: folder, config }, 'sessions', 'show', id, '--json');
    expect(shown.last).toMatchObject({ status: 'completed', output: 'finished' });
  });

  it('does not start if the store cannot be read', async () => {
    const gone = new Error('The disk is gone.');
    const store = { ...memoryStore(), list: () => Promise.reject(gone) };
    await expect(started({ config: { ...configOf('hi'), store } })).rejects.toThrow(
      'The disk is gone.',
    );
  });

  it('requires an own token on a public host', async () => {
    await expect(started({ host: '0.0.0.0' })).rejects.toThrow('Set your own token');
  });
});

async function takenPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

describe('onward dev', () => {
  it('prints what runs and where, and exits with 0 on a signal', async () => {
    const world = { cwd: tempFolder(), config: configOf('hi'), consoleDir: builtConsole() };
    const { outcome, done } = start(['dev', '--port', '0', '--open'], world);
    await until(() => outcome.stdout.includes('Ctrl-C'));
    expect(outcome.stdout).toMatch(/Onward · Shop\n/);
    expect(outcome.stdout).toMatch(
      /Agent +support\n +Model +following\n +Store +SQLite · \.onward\/sessions\.db\n/,
    );
    expect(outcome.stdout).toMatch(/Open +http:\/\/127\.0\.0\.1:\d+\/#token=[0-9a-f]{32}\n/);
    expect(outcome.opened).toHaveLength(1);
    outcome.signal('SIGINT');
    expect((await done).code).toBe(0);
    expect(outcome.stderr).toContain('Finishing the running steps');
    expect(outcome.stderr).toContain('Stopped.');
    outcome.signal('SIGINT');
    expect(outcome.exits).toEqual([130]);
  });

  it('fails with a separate code if the requested port is in use', async () => {
    const port = await takenPort();
    const world = { cwd: tempFolder(), config: configOf('hi') };
    const { code, stderr } = await cli(world, 'dev', '--port', String(port));
    expect(code).toBe(6);
    expect(stderr).toContain(`Port ${port} is in use on 127.0.0.1`);
    expect(stderr).not.toContain('    at ');
  });

  it('uses the next free port by default', async () => {
    const blocker = createServer();
    await new Promise<void>((resolve) => {
      // another program may already use the port
      blocker.once('error', () => resolve()).listen(4111, '127.0.0.1', resolve);
    });
    onTestFinished(() => void blocker.close());
    const { port } = await startDevServer({ config: configOf('hi'), folder: tempFolder() }).then(
      async (server) => {
        await server.close({ graceMs: 0 });
        return server;
      },
    );
    expect(port).toBeGreaterThan(4111);
    expect(port).toBeLessThanOrEqual(4121);
  });

  it('warns if other machines can reach it', async () => {
    const world = {
      cwd: tempFolder(),
      config: configOf('hi'),
      env: { ONWARD_TOKEN: 'from-the-env' },
    };
    const refused = await cli({ ...world, env: {} }, 'dev', '--host', '0.0.0.0', '--port', '0');
    expect(refused.code).toBe(2);
    const { outcome, done } = start(['dev', '--host', '0.0.0.0', '--port', '0'], world);
    await until(() => outcome.stdout.includes('Ctrl-C'));
    expect(outcome.stderr).toContain('Other machines can reach this server');
    expect(outcome.stdout).toContain('#token=from-the-env');
    outcome.signal('SIGTERM');
    expect((await done).code).toBe(0);
    expect(existsSync(join(world.cwd, '.onward', 'token'))).toBe(false);
  });

  it('starts the demo model if there is no config', async () => {
    const { outcome, done } = start(['dev', '--port', '0'], { cwd: tempFolder() });
    await until(() => outcome.stdout.includes('Ctrl-C') || outcome.stderr !== '');
    expect(outcome.stdout).toMatch(
      /Model +Demo model: no key found; set OPENAI_API_KEY to use a live one\n/,
    );
    outcome.signal('SIGINT');
    expect((await done).code).toBe(0);
  });
});
