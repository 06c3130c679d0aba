import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { removeFolder } from './setup/folders.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

/** A project with only the built package and its dependencies. */
const project = mkdtempSync(join(tmpdir(), 'onward-'));
beforeAll(() => {
  const modules = join(project, 'node_modules');
  for (const path of ['package.json', 'dist'])
    cpSync(path, join(modules, 'onward', path), { recursive: true });
  const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as {
    readonly dependencies: Readonly<Record<string, string>>;
  };
  for (const name of Object.keys(dependencies))
    cpSync(join('node_modules', name), join(modules, name), { recursive: true });
});
afterAll(() => {
  removeFolder(project);
});

function printed(code: string): string {
  writeFileSync(join(project, 'main.mjs'), code);
  return reported('main.mjs');
}

function reported(...argv: readonly string[]): string {
  const { PATH = '' } = process.env;
  const { stdout, stderr } = spawnSync(process.execPath, argv, {
    encoding: 'utf8',
    cwd: project,
    env: { PATH },
  });
  return `${stdout}${stderr}`.trim();
}

const onward = (...argv: readonly string[]): string =>
  reported(join('node_modules', 'onward', 'dist', 'cli', 'main.js'), ...argv);

const hasSqlite = process.getBuiltinModule('node:sqlite') !== undefined;

describe('without optional packages', () => {
  it('the core and the scripted model run', () => {
    expect(
      printed(`
        import { AgentBuilder } from 'onward';
        import { DeterministicDriver } from 'onward/testing';
        const model = DeterministicDriver.fromResponses('hello');
        console.log((await AgentBuilder.base().withModel(model).build().run('hi')).output);
      `),
    ).toBe('hello');
  });

  it('the OpenAI driver loads, and its first call names the package to install', () => {
    const said = printed(`
      import { AgentBuilder } from 'onward';
      import { openai } from 'onward/drivers/openai';
      for (const model of [openai('m', { apiKey: 'k' }), 'ollama:m'])
        await AgentBuilder.base().withModel(model).build().run('hi')
          .catch((error) => console.log(error.name, error.code, error.message));
    `);
    const line =
      'AgentError driver_missing The OpenAI driver needs the official SDK, which is not installed. Run: npm install openai';
    expect(said).toBe(`${line}\n${line}`);
  });

  it('the AI SDK driver recognizes a model by its shape and needs no package', () => {
    expect(
      printed(`
        import { AgentBuilder } from 'onward';
        const model = {
          specificationVersion: 'v3', provider: 'mine', modelId: 'm', supportedUrls: {},
          doGenerate: async () => ({
            content: [{ type: 'text', text: 'hello' }],
            finishReason: { unified: 'stop', raw: 'stop' },
            usage: { inputTokens: { total: 1 }, outputTokens: { total: 1 } },
            warnings: [],
          }),
          doStream: async () => { throw new Error('not asked'); },
        };
        console.log((await AgentBuilder.base().withModel(model).build().run('hi')).output);
      `),
    ).toBe('hello');
  });

  it('a name of an AI SDK package loads it, or says what to install or to update', () => {
    const install = (name: string, code: string) => {
      const folder = join(project, 'node_modules', name);
      mkdirSync(folder, { recursive: true });
      const exports = { '.': './index.js', './anthropic': './index.js' };
      writeFileSync(
        join(folder, 'package.json'),
        JSON.stringify({ name, type: 'module', exports }),
      );
      writeFileSync(join(folder, 'index.js'), code);
    };
    const model = (name: string, version: string) => `export const ${name} = (modelId) => ({
      specificationVersion: '${version}', provider: 'theirs', modelId, supportedUrls: {},
      doGenerate: async () => ({
        content: [{ type: 'text', text: '${name} ' + modelId }],
        finishReason: 'stop', usage: {}, warnings: [],
      }),
      doStream: async () => { throw new Error('not asked'); },
    });\n`;
    const ask = (...names: readonly string[]) =>
      printed(`
        import { createAgent } from 'onward';
        for (const model of ${JSON.stringify(names)})
          await createAgent({ model }).run('hi').then(
            ({ output, steps }) => console.log(output ?? JSON.stringify(steps.at(-1).errors)),
            (error) => console.log(error.code, error.message),
          );
      `).split('\n');
    expect(ask('anthropic:m', 'google:m', 'bedrock:m', 'vertex:m', 'vertex:claude-m')).toEqual(
      [
        ['anthropic:m', 'anthropic'],
        ['google:m', 'google'],
        ['bedrock:m', 'amazon-bedrock'],
        ['vertex:m', 'google-vertex'],
        ['vertex:claude-m', 'google-vertex'],
      ].map(
        ([name, last]) =>
          `driver_missing The model "${name}" needs the package @ai-sdk/${last}, which is not installed. Run: npm install @ai-sdk/${last}`,
      ),
    );
    // the shapes of releases that are not installed here
    install('@ai-sdk/amazon-bedrock', model('bedrock', 'v2'));
    install('@ai-sdk/google-vertex', model('vertex', 'v3') + model('vertexAnthropic', 'v3'));
    install('@ai-sdk/anthropic', model('anthropic', 'v1'));
    install('@ai-sdk/google', 'import "a-package-that-is-missing";');
    expect(ask('bedrock:m', 'vertex:m', 'vertex:claude-m', 'anthropic:m', 'google:m')).toEqual([
      'bedrock m',
      'vertex m',
      'vertexAnthropic claude-m',
      'invalid_option The model "anthropic:m" cannot be used: the installed @ai-sdk/anthropic makes models of specification "v1", expected language models of specification v2, v3, v4. Run: npm install @ai-sdk/anthropic@latest',
      expect.stringMatching(
        /^driver_missing The model "google:m" needs the package @ai-sdk\/google, which cannot be loaded: Cannot find package 'a-package-that-is-missing' .*\. Run: npm install @ai-sdk\/google$/,
      ),
    ]);
    install('@ai-sdk/anthropic', 'export const other = 1;');
    install(
      '@ai-sdk/google-vertex',
      `export const vertex = () => {
        throw Object.assign(new Error('Google Vertex project setting is missing.'), { name: 'AI_LoadSettingError' });
      };`,
    );
    const [unusable, setting] = ask('anthropic:m', 'vertex:m');
    expect(unusable).toContain('the installed @ai-sdk/anthropic exports no anthropic, expected');
    expect(setting).toMatch(/"type":"model","code":"auth".*project setting is missing/);
  });

  it('a session runs in memory, and other stores name the package to install', () => {
    const said = printed(`
      import { AgentBuilder, SessionRuntime } from 'onward';
      import { DeterministicDriver } from 'onward/testing';
      import { memoryStore } from 'onward/stores/memory';
      import { postgresStore } from 'onward/stores/postgres';
      import { sqliteStore } from 'onward/stores/sqlite';
      const model = DeterministicDriver.fromResponses('hello');
      const agents = [AgentBuilder.base().withModel(model).build()];
      const runtime = new SessionRuntime({ store: memoryStore(), agents });
      const { id } = await runtime.create({ owner: 'ann' });
      console.log((await runtime.send(id, 'hi', { owner: 'ann', wait: true })).output);
      const needs = [postgresStore({ connectionString: 'postgres://localhost/none' })];
      if (!process.getBuiltinModule('node:sqlite')) needs.push(sqliteStore({ path: 'a.db' }));
      for (const store of needs)
        await store.find('a').catch((error) => console.log(error.code, /npm install (\\S+)/.exec(error.message)[1]));
    `);
    expect(said.split('\n')).toEqual([
      'hello',
      'package_missing pg',
      ...(hasSqlite ? [] : ['package_missing @photostructure/sqlite']),
    ]);
  });

  it('the shared queue loads and names the package to install when it is used', () => {
    const said = printed(`
      import { bullQueue } from 'onward/queues/bullmq';
      const onError = (error) => console.log(error.code, /npm install (\\S+)/.exec(error.message)[1]);
      const queue = bullQueue({ connection: 'redis://localhost', onError });
      await queue.add('a');
      await queue.drain();
    `);
    expect(said).toBe('package_missing bullmq');
  });

  it('MCP servers load, and the first step names the package to install', () => {
    const said = printed(`
      import { createAgent } from 'onward';
      import { mcp } from 'onward/mcp';
      import { DeterministicDriver } from 'onward/testing';
      const capabilities = [mcp({ name: 'a', command: 'b' })];
      const agent = createAgent({ model: DeterministicDriver.fromResponses('hello'), capabilities });
      const state = await agent.run('hi');
      const [error] = state.steps.at(0).errors;
      console.log(error.code, /npm install (\\S+)\\./.exec(error.message)[1]);
    `);
    expect(said).toBe('tools_unavailable @modelcontextprotocol/client');
  });

  it('the MCP server loads, and its first client names the package to install', () => {
    const made = `
      import { AgentBuilder, SessionRuntime } from 'onward';
      import { DeterministicDriver } from 'onward/testing';
      import { memoryStore } from 'onward/stores/memory';
      const model = DeterministicDriver.fromResponses('hello');
      const agents = [AgentBuilder.base().withModel(model).build()];
    `;
    const said = printed(`
      ${made}
      import { mcpServer } from 'onward/mcp/server';
      const runtime = new SessionRuntime({ store: memoryStore(), agents });
      const server = mcpServer({ runtime });
      const request = new Request('http://localhost/api/mcp', { method: 'POST' });
      for (const call of [() => server.stdio({ owner: 'ann' }), () => server.fetch(request, { owner: 'ann' })])
        await call().catch((error) => console.log(error.code, /npm install (\\S+)/.exec(error.message)[1]));
    `);
    expect(said.split('\n')).toEqual(Array(2).fill('package_missing @modelcontextprotocol/server'));
    writeFileSync(
      join(project, 'onward.config.mjs'),
      `${made}; export default { agents, store: memoryStore() };`,
    );
    expect(onward('mcp')).toContain('Run: npm install @modelcontextprotocol/server');
    rmSync(join(project, 'onward.config.mjs'));
  });

  it('evals run without a test runner, and a YAML dataset names the package to install', () => {
    writeFileSync(join(project, 'cases.yaml'), '- input: hi\n');
    expect(
      printed(`
        import { createAgent } from 'onward';
        import { defineEval, evalMatchers, evalRunOf, outputContains, runEval } from 'onward/evals';
        import { readDataset } from 'onward/evals/node';
        import { DeterministicDriver } from 'onward/testing';
        const agent = createAgent({ model: DeterministicDriver.fromResponses('hello', 'hello') });
        const scorers = [outputContains('HELLO')];
        const report = await runEval(defineEval({ name: 'greets', agent, cases: [{ input: 'hi' }], scorers }));
        console.log(report.passed, report.cases[0].scores[0].status);
        const run = evalRunOf(await agent.run('hi'));
        console.log(evalMatchers.toHaveStoppedBecause(run, 'completed').pass);
        await readDataset('cases.yaml').catch((error) => console.log(error.code, error.message));
      `).split('\n'),
    ).toEqual([
      'true pass',
      'true',
      'package_missing cases.yaml is YAML, which needs a package that is not installed. Run: npm install --save-dev yaml',
    ]);
  });

  it('telemetry names the package to install when it is imported', () => {
    const said = printed(`
      await import('onward/telemetry').catch((error) =>
        console.log(error.code, /package '(\\S+)'/.exec(error.message)[1]));
    `);
    expect(said).toBe('ERR_MODULE_NOT_FOUND @opentelemetry/api');
  });

  it('the Pusher broadcaster loads, and its first call names the package to install', () => {
    const said = printed(`
      import { pusherBroadcaster } from 'onward/broadcasting/pusher';
      await pusherBroadcaster({ appId: 'a', key: 'k', secret: 's', host: 'localhost' })
        .broadcast('agent.s', { type: 'agent.status' })
        .catch((error) => console.log(error.code, /npm install (\\S+)/.exec(error.message)[1]));
    `);
    expect(said).toBe('package_missing pusher');
  });

  it('broadcastSessions reports a missing package, and no run waits for it', () => {
    const said = printed(`
      import { AgentBuilder, SessionRuntime } from 'onward';
      import { broadcastSessions } from 'onward/broadcasting';
      import { pusherBroadcaster } from 'onward/broadcasting/pusher';
      import { memoryStore } from 'onward/stores/memory';
      import { DeterministicDriver } from 'onward/testing';
      process.on('unhandledRejection', (error) => console.log('unhandled', error));
      const model = DeterministicDriver.fromResponses('hello');
      const agents = [AgentBuilder.base().withModel(model).build()];
      const runtime = new SessionRuntime({ store: memoryStore(), agents });
      const broadcaster = pusherBroadcaster({ appId: 'a', key: 'k', secret: 's', host: 'localhost' });
      const broadcasts = broadcastSessions(runtime, {
        broadcaster,
        onTransport: ({ state, error }) => console.log(state, error.code),
      });
      await broadcaster.ready().catch(({ code }) => console.log('ready', code));
      const { id } = await runtime.create({ owner: 'ann' });
      console.log((await runtime.send(id, 'hi', { owner: 'ann', wait: true })).output);
      await broadcasts.close();
      console.log(broadcasts.stats.dropped > 3, broadcasts.stats.failed, broadcasts.stats.queued);
      await runtime.close();
    `);
    expect(said.split('\n')).toEqual([
      'paused package_missing',
      'ready package_missing',
      'hello',
      'true 0 0',
    ]);
  });

  it('the in-process bus works, and other buses name the package to install', () => {
    const said = printed(`
      import { inProcessBus } from 'onward/bus';
      import { postgresBus } from 'onward/bus/postgres';
      import { redisBus } from 'onward/bus/redis';
      for (const bus of [inProcessBus(), postgresBus(), redisBus()]) {
        const said = await new Promise((resolve) => {
          const connection = bus.open('a', {
            received() {},
            connected: () => resolve([connection, 'connected']),
            failed: ({ code, message }) => resolve([connection, code + ' ' + /npm install (\\S+)/.exec(message)[1]]),
          });
        });
        console.log(said[1]);
        await said[0].close();
      }
    `);
    expect(said.split('\n')).toEqual([
      'connected',
      'package_missing pg',
      'package_missing ioredis',
    ]);
  });

  it('broadcasting and onward/ui need no package', () => {
    expect(
      printed(`
        import { AgentBuilder } from 'onward';
        import { AgentEventEnvelopeAdapter, memoryBroadcaster } from 'onward/broadcasting';
        import { DeterministicDriver } from 'onward/testing';
        import { newUiState, reduceEnvelope } from 'onward/ui';
        const broadcaster = memoryBroadcaster();
        const adapter = new AgentEventEnvelopeAdapter({ broadcaster, sessionId: 's', executionId: 'e' });
        const agent = AgentBuilder.base().withModel(DeterministicDriver.fromResponses('hello')).build();
        let screen = newUiState();
        broadcaster.subscribe('agent.s', (envelope) => { screen = reduceEnvelope(screen, envelope); });
        await agent.run('hi', { executionId: 'e', wiretap: adapter.wiretap() });
        await adapter.flush();
        console.log(screen.status, screen.messages.map(({ content }) => content).join(' '));
      `),
    ).toBe('completed hi hello');
  });

  it('the server answers requests on Node', () => {
    expect(
      printed(`
        import { AgentBuilder, SessionRuntime } from 'onward';
        import { agentServer } from 'onward/server';
        import { serve } from 'onward/server/node';
        import { memoryStore } from 'onward/stores/memory';
        import { DeterministicDriver } from 'onward/testing';
        const agents = [AgentBuilder.base().withModel(DeterministicDriver.fromResponses('a')).build()];
        const runtime = new SessionRuntime({ store: memoryStore(), agents });
        const server = agentServer({ runtime, owner: () => 'ann' });
        const running = await serve({ fetch: server, port: 0 });
        console.log((await fetch(running.url + '/api/sessions')).status);
        await running.close();
        await server.close();
      `),
    ).toBe('200');
  });

  it('a config loads, and the command prints its version', () => {
    expect(
      printed(`
        import { defineConfig } from 'onward/config';
        console.log(defineConfig({ name: 'Shop', agents: [] }).name);
      `),
    ).toBe('Shop');
    expect(onward('--version')).toMatch(/^\d+\.\d+\.\d+$/);
  });

  it('the demo runs if Node has SQLite, or names the package to install', () => {
    const said = onward('run', 'Which programs do we have?');
    if (hasSqlite) expect(said).toContain('program');
    else
      expect(said).toMatch(
        /^onward: The SQLite store needs Node 22\.13 or newer, .* Run: npm install @photostructure\/sqlite$/,
      );
  });

  it('only the React subpath fails to load, with an error that names React', () => {
    expect(
      printed(`await import('onward/react').catch(({ message }) => console.log(message));`),
    ).toMatch(/^Cannot find package 'react' imported from .*react[/\\]index\.js$/);
  });

  it('a TypeScript config runs if Node strips types, or the error names the package to install', () => {
    writeFileSync(
      join(project, 'onward.config.ts'),
      `import { AgentBuilder } from 'onward';
       import { DeterministicDriver } from 'onward/testing';
       import { memoryStore } from 'onward/stores/memory';
       const name: string = 'Shop';
       const model = DeterministicDriver.fromResponses('hello');
       export default { name, store: memoryStore(), agents: [AgentBuilder.base().withModel(model).build()] };`,
    );
    const said = onward('run', 'hi');
    rmSync(join(project, 'onward.config.ts'));
    const isStripped = 'typescript' in process.features && process.features.typescript !== false;
    if (isStripped) expect(said).toContain('hello');
    else expect(said).toMatch(/^onward: .* npm install .*jiti/);
  });
});
