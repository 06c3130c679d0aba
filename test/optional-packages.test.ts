import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

/** A project that installed this package as it is built, with its dependencies and nothing else. */
const project = mkdtempSync(join(tmpdir(), 'onward-'));
beforeAll(() => {
  const modules = join(project, 'node_modules');
  for (const path of ['package.json', 'dist'])
    cpSync(path, join(modules, 'onward', path), { recursive: true });
  for (const name of ['@cfworker/json-schema', 'eventsource-parser'])
    cpSync(join('node_modules', name), join(modules, name), { recursive: true });
});
afterAll(() => {
  rmSync(project, { recursive: true, force: true });
});

function printed(code: string): string {
  const file = join(project, 'main.mjs');
  writeFileSync(file, code);
  const { stdout, stderr } = spawnSync(process.execPath, [file], {
    encoding: 'utf8',
    cwd: project,
  });
  return `${stdout}${stderr}`.trim();
}

describe('without the packages of providers', () => {
  it('the core and its testing doubles run', () => {
    expect(
      printed(`
        import { AgentBuilder } from 'onward';
        import { DeterministicDriver } from 'onward/testing';
        const model = DeterministicDriver.fromResponses('hello');
        console.log((await AgentBuilder.base().withModel(model).build().run('hi')).output);
      `),
    ).toBe('hello');
  });

  it('the OpenAI driver loads, and its first call says what to install', () => {
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

  it('the AI SDK driver needs no package of theirs: a model is known by its shape', () => {
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

  it('a session runs in memory, and a store that needs a package says what to install', () => {
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
    const hasSqlite = process.getBuiltinModule('node:sqlite') !== undefined;
    expect(said.split('\n')).toEqual([
      'hello',
      'package_missing pg',
      ...(hasSqlite ? [] : ['package_missing @photostructure/sqlite']),
    ]);
  });

  it('the Pusher broadcaster loads, and its first call says what to install', () => {
    const said = printed(`
      import { pusherBroadcaster } from 'onward/broadcasting/pusher';
      await pusherBroadcaster({ appId: 'a', key: 'k', secret: 's', host: 'localhost' })
        .broadcast('agent.s', { type: 'agent.status' })
        .catch((error) => console.log(error.code, /npm install (\\S+)/.exec(error.message)[1]));
    `);
    expect(said).toBe('package_missing pusher');
  });

  it('broadcasting and the screen need no package', () => {
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
});
