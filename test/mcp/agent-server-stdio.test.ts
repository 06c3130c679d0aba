import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SessionRuntime } from 'onward';
import { mcp } from 'onward/mcp';
import { sqliteStore } from 'onward/stores/sqlite';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { bundledProgram } from '../setup/child-program.ts';
import { removeFolder } from '../setup/folders.ts';
import { mcpAgents } from '../setup/mcp-agents.ts';
import { stdioClient, type ClientOptions, type Generation } from '../setup/mcp-clients.ts';
import { isAlive, toolsOf } from '../setup/mcp-servers.ts';
import { pause, until } from '../setup/sessions.ts';

vi.setConfig({ testTimeout: 90_000 });

const generations: readonly Generation[] = ['modern', 'legacy'];
const LEASE_MS = 2_000;

/** `onward mcp` in a child process, over a store of its own. */
async function setup() {
  const folder = mkdtempSync(join(tmpdir(), 'onward-mcp-'));
  onTestFinished(() => removeFolder(folder));
  const effects = join(folder, 'effects');
  writeFileSync(effects, '');
  const path = join(folder, 'sessions.db');
  const program = await bundledProgram('test/mcp/agents-program.ts');
  const args = [program, effects, String(LEASE_MS), 'mcp', '--store', path, '--owner', 'ann'];
  return {
    args,
    effects: () => readFileSync(effects, 'utf8').split('\n').filter(Boolean),
    client: (options?: ClientOptions) => stdioClient(args, options),
    runtime() {
      const store = sqliteStore({ path });
      const runtime = new SessionRuntime({ store, agents: mcpAgents(effects), work: false });
      onTestFinished(async () => {
        await runtime.close();
        await store.close();
      });
      return runtime;
    },
  };
}

const ofAnn = { owner: 'ann' };
const remove = { message: 'call remove {"article":"lamp"}' };
const slow = { message: 'call slow {"ms":30000}' };

describe.each(generations)('onward mcp, for a client of the %s generation', (generation) => {
  it('serves the agents of the config; only the protocol is on stdout', async () => {
    const { client, runtime } = await setup();
    const { client: raw, call, stderr } = await client({ generation });
    const errors: Error[] = [];
    Object.assign(raw, { onerror: (error: Error) => errors.push(error) });
    expect(raw.getServerVersion()?.name).toBe('tests');
    expect((await raw.listTools()).tools.map(({ name }) => name)).toEqual([
      'support',
      'the_invoice',
    ]);
    const { value } = await call('support', { message: 'call slow {"ms":10}' });
    expect(value).toMatchObject({ status: 'completed', output: 'got slow done' });
    expect(stderr()).toContain('a tool may print');
    expect(errors).toEqual([]);
    expect((await runtime().get(value.sessionId, ofAnn)).status).toBe('completed');
  });

  it('asks for approval in the client', async () => {
    const { client, effects } = await setup();
    const replies = [
      { action: 'cancel' },
      { action: 'decline' },
      { action: 'accept', content: { decision: 'approve' } },
    ];
    const { call, asked } = await client({ generation, answers: () => replies.shift() });
    const left = await call('support', remove);
    expect(left.value.status).toBe('waiting');
    const declined = await call('support', { sessionId: left.value.sessionId });
    expect(declined.value.status).toBe('completed');
    expect(effects()).toEqual([]);
    expect((await call('support', remove)).value.output).toBe('got removed lamp');
    expect(effects()).toEqual(['removed lamp']);
    expect(asked).toHaveLength(3);
  });

  it('asks again with what was wrong with an answer', async () => {
    const { client } = await setup();
    const names = ['A', 'Ann'];
    const answers = () => ({ action: 'accept', content: { name: names.shift() } });
    const { call, asked } = await client({ generation, answers });
    expect((await call('support', { message: 'call greet' })).value.output).toBe('got hello "Ann"');
    expect(asked[1]?.['message']).toContain('was not accepted');
  });

  it('stops the run of a call that the client cancels', async () => {
    const { client, effects } = await setup();
    const { call } = await client({ generation });
    const leave = new AbortController();
    const calling = call('support', slow, { signal: leave.signal }).catch(() => 'left');
    await until(() => effects().includes('slow started'));
    leave.abort('enough');
    expect(await calling).toBe('left');
    await until(() => effects().includes('slow aborted'));
    // the connection stays open
    expect((await call('support', { message: 'hi' })).value.output).toBe('1: hi');
  });

  it('leaves a call open whose question the client cancels', async () => {
    const { client, effects, runtime } = await setup();
    const leave = new AbortController();
    // an answer after the cancel does not count
    const answers = async () => {
      leave.abort('enough');
      await pause(100);
      return { action: 'accept', content: { decision: 'approve' } };
    };
    const { call } = await client({ generation, answers });
    const calling = call('support', remove, { signal: leave.signal }).catch(() => 'left');
    expect(await calling).toBe('left');
    await pause(300);
    const [session] = (await runtime().list(ofAnn)).sessions;
    expect(session).toMatchObject({ status: 'paused', pendingApprovals: [{ tool: 'remove' }] });
    // another call works
    expect((await call('support', { message: 'hi' })).value.output).toBe('1: hi');
    expect(effects()).toEqual([]);
  });

  it('D73: a run continues in another process after a kill, and the client gets its result there', async () => {
    const { client, effects, runtime } = await setup();
    const first = await client({ generation });
    first.call('support', { message: 'call slow {"ms":3000}' }).catch(() => {});
    await until(() => effects().includes('slow started'));
    process.kill(first.pid, 'SIGKILL');
    const second = await client({ generation });
    const { id } = (await runtime().list(ofAnn)).sessions[0]!;
    const result = await until(async () => {
      const { value } = await second.call('support', { sessionId: id });
      return value.status === 'completed' ? value : null;
    });
    expect(result.output).toBe('got slow done');
    // the tool is idempotent: it ran again
    expect(effects()).toEqual(['slow started', 'slow started', 'slow done']);
  });

  it('ends with its client, and leaves the run to others', async () => {
    const { client, effects, runtime } = await setup();
    const { client: raw, call, pid } = await client({ generation });
    call('support', slow).catch(() => {});
    await until(() => effects().includes('slow started'));
    await raw.close();
    await until(() => !isAlive(pid));
    const [session] = (await runtime().list(ofAnn)).sessions;
    expect(session).toMatchObject({ phase: 'open', status: 'in_progress' });
    expect(effects()).not.toContain('slow done');
  });
});

it('ends after what it was sent before the input closed, with exit code 0', async () => {
  const { args } = await setup();
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'pipe'] });
  let out = '';
  child.stdout.on('data', (chunk: unknown) => (out += String(chunk)));
  child.stdin.end('this is no JSON\n{"jsonrpc":"2.0"\n[]\n');
  const [code] = (await once(child, 'exit')) as [number];
  expect(code).toBe(0);
  for (const line of out.split('\n').filter(Boolean))
    expect(JSON.parse(line)).toMatchObject({ jsonrpc: '2.0' });
});

it('our own client starts onward mcp and has its agents as tools', async () => {
  const { args } = await setup();
  const desk = mcp({ name: 'desk', command: process.execPath, args });
  onTestFinished(() => desk.close());
  const { tools } = await toolsOf(desk);
  expect(tools.map(({ name }) => name)).toEqual(['desk__support', 'desk__the_invoice']);
});
