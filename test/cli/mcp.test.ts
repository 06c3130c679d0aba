import { join } from 'node:path';
import { ScenarioStep } from 'onward/testing';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { httpClient, stdioClient } from '../setup/mcp-clients.ts';
import { followingDriver, until } from '../setup/sessions.ts';
import { agentOn, cli, start, tempFolder, type FakeWorld } from './cli.ts';
import { install, type Installed } from './install.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const TOKEN = 'token-of-ann';
const { final } = ScenarioStep;

describe('onward mcp', () => {
  it('refuses to start without a config: there is no demo', async () => {
    const { code, stdout, stderr } = await cli({ cwd: tempFolder() }, 'mcp');
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain('onward mcp needs a config');
  });

  it('refuses agents that the config does not have', async () => {
    const config = { agents: [agentOn(followingDriver([final('hi')]))] };
    const { code, stderr } = await cli({ cwd: tempFolder(), config }, 'mcp', '--agents', 'other');
    expect(code).toBe(2);
    expect(stderr).toContain('The config has no agent "other"');
  });

  it('ends with a signal, and says on stderr what it serves', async () => {
    const config = { agents: [agentOn(followingDriver([final('hi')]))] };
    const { outcome, done } = start(['mcp'], { cwd: tempFolder(), config });
    await until(() => outcome.stderr.includes('Serving support to an MCP client'));
    outcome.signal('SIGTERM');
    expect((await done).code).toBe(0);
    expect(outcome.stdout).toBe('');
  });
});

describe('mcp: true in the config', () => {
  async function serving(command: string, mcp: boolean): Promise<string> {
    const world: FakeWorld = {
      cwd: tempFolder(),
      config: {
        agents: [agentOn(followingDriver([final('hi')]))],
        tokens: { [TOKEN]: 'ann' },
        ...(mcp && { mcp }),
      },
    };
    const { outcome, done } = start([command, '--port', '0', '--json'], world);
    await until(() => outcome.stdout.includes('\n'));
    onTestFinished(async () => {
      outcome.signal('SIGTERM');
      await done;
    });
    return String(outcome.last['url']);
  }

  it.each(['serve', 'dev'])('serves MCP clients with onward %s', async (command) => {
    const url = await serving(command, true);
    const { call } = await httpClient(`${url}/api/mcp`, TOKEN);
    expect((await call('support', { message: 'hello' })).value).toMatchObject({
      status: 'completed',
      output: 'hi',
    });
    await expect(httpClient(`${url}/api/mcp`, 'token-of-bob')).rejects.toThrow('401');
  });

  it.each(['serve', 'dev'])(
    'is needed: without it, onward %s has no such route',
    async (command) => {
      const url = await serving(command, false);
      const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
      const { status } = await fetch(`${url}/api/mcp`, { method: 'POST', headers, body: '{}' });
      expect(status).toBe(404);
    },
  );
});

describe('onward mcp, installed', () => {
  let installed: Installed;
  beforeAll(async () => {
    installed = await install();
  });
  afterAll(() => installed.remove());

  it('serves a TypeScript config whose code prints, to the official client', async () => {
    const cwd = installed.project({
      'onward.config.ts': `import { createAgent } from 'onward';
import { defineConfig } from 'onward/config';
console.log('the config prints');
process.stdout.write('in every way');
const usage = { input: 1, output: 1, total: 2 };
const model = {
  name: 'echo',
  async infer() {
    console.info('the model prints');
    return { content: 'hello', toolCalls: [], finishReason: 'stop', usage };
  },
};
export default defineConfig({ name: 'shop', agents: [createAgent({ name: 'clerk', model })] });
`,
    });
    const config = join(cwd, 'onward.config.ts');
    const { client, call, stderr } = await stdioClient([installed.main, 'mcp', '--config', config]);
    expect(client.getServerVersion()?.name).toBe('shop');
    const { value } = await call('clerk', { message: 'hi' });
    expect(value).toMatchObject({ status: 'completed', output: 'hello' });
    for (const text of ['the config prints', 'in every way', 'the model prints'])
      expect(stderr()).toContain(text);
  });
});
