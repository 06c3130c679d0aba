import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SessionRuntime } from 'onward';
import { agentServer } from 'onward/server';
import { sqliteStore } from 'onward/stores/sqlite';
import { expect, it, onTestFinished, vi } from 'vitest';
import { bundledProgram, startChild } from '../setup/child-program.ts';
import { removeFolder } from '../setup/folders.ts';
import { stateless, type HttpServer } from '../setup/mcp-servers.ts';
import { sessionAgent } from './mcp-session-agent.ts';

vi.setConfig({ testTimeout: 120_000 });

const ann = { owner: 'ann' };

/** A session that waits in a process that is then killed, and a runtime of this process over the same file. */
async function left(server: HttpServer, tool: string) {
  const folder = mkdtempSync(join(tmpdir(), 'onward-mcp-'));
  onTestFinished(() => removeFolder(folder));
  const path = join(folder, 'sessions.db');
  const program = await bundledProgram('test/mcp/mcp-session-program.ts');
  const child = startChild(program, [path, server.url, tool]);
  const said = await child.said('waiting');
  child.process.kill('SIGKILL');
  await child.gone;
  const { agent } = sessionAgent(server.url, []);
  const store = sqliteStore({ path });
  const runtime = new SessionRuntime({
    store,
    agents: [agent],
    leaseMs: 3_000,
    onError: () => {},
  } as never);
  onTestFinished(async () => {
    await runtime.close();
    await store.close();
  });
  return { said, runtime };
}

const resultOf = async (runtime: SessionRuntime) =>
  (await runtime.steps('s', ann)).items.flatMap(({ results }) => results);

it('a question in a killed process is answered here, by another instance of the server', async () => {
  const server = await stateless();
  const { said, runtime } = await left(server, 'st__confirm');
  expect(said).toBe('waiting input');
  await server.kill();
  await server.start();
  const { pendingInputs } = await runtime.get('s', ann);
  expect(pendingInputs).toMatchObject([{ inputId: 'call_1/yes', tool: 'st__confirm' }]);
  const done = await runtime.answer('s', 'call_1/yes', {
    ...ann,
    answer: { action: 'accept', content: { sure: true } },
    wait: true,
  });
  expect(done.status).toBe('completed');
  expect(await resultOf(runtime)).toMatchObject([
    { kind: 'ok', value: 'deleted /x, sure true, state of /x' },
  ]);
  expect(server.effects()).toEqual(['/x']);
});

it('D73: an approved call stays open while the server is down, and runs once when it is back', async () => {
  const server = await stateless();
  const { said, runtime } = await left(server, 'st__effect');
  expect(said).toBe('waiting approval');
  await server.kill();
  await runtime.approve('s', 'call_1', ann);
  await expect
    .poll(async () => (await runtime.get('s', ann)).error, { timeout: 30_000 })
    .toContain('The answered call of "st__effect" cannot run now');
  expect(await resultOf(runtime)).toEqual([]);
  await server.start();
  const done = await runtime.wait('s', ann);
  expect([done.status, done.tries]).toEqual(['completed', 0]);
  expect(await resultOf(runtime)).toMatchObject([{ kind: 'ok', value: 'done' }]);
  expect(server.effects()).toEqual(['paid']);
});

it('D82: an approval inside a nested agent is answered over HTTP by another process', async () => {
  const server = await stateless();
  const { said, runtime } = await left(server, 'ask_clerk');
  expect(said).toBe('waiting approval');
  const api = agentServer({ runtime, owner: () => 'ann' });
  onTestFinished(() => api.close());
  const ask = async (path: string, body?: object) => {
    const request = new Request(`http://localhost/api/sessions/s${path}`, {
      ...(body && {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
    });
    const response = await api(request);
    return { status: response.status, body: (await response.json()) as Record<string, never> };
  };
  const { body } = await ask('');
  const [pending = {}] = body['pendingApprovals'] as unknown as Record<string, unknown>[];
  expect(pending).toMatchObject({ tool: 'st__effect', args: { id: 'paid' }, path: ['call_1'] });
  const { callId, executionId, argsHash } = pending;
  const answer = { decision: 'approve', executionId, argsHash };
  const said202 = await ask(`/approvals/${String(callId)}`, answer);
  expect(said202.status).toBeLessThan(300);
  expect((await runtime.wait('s', ann)).status).toBe('completed');
  expect(server.effects()).toEqual(['paid']);
});
