import { mcp } from 'onward/mcp';
import { describe, expect, it, vi } from 'vitest';
import {
  caller,
  everything,
  everythingHttp,
  isAlive,
  resultsOf,
  stateless,
  toolsOf,
} from '../setup/mcp-servers.ts';

vi.setConfig({ testTimeout: 120_000 });

const stdio = () => ({ name: 'ev', command: process.execPath, args: [everything(), 'stdio'] });

describe.each(['stdio', 'http'] as const)('server-everything over %s', (way) => {
  const connect = async () =>
    way === 'stdio' ? stdio() : { name: 'ev', url: (await everythingHttp()).url };

  it('offers its tools, and their texts, structures, images, links, progress and errors arrive', async () => {
    const { run, offered, events } = caller(mcp(await connect(), { exclude: ['get-env'] }), [
      ['ev__echo', { message: 'hi' }],
      ['ev__get-sum', { a: 2, b: 3 }],
      ['ev__get-structured-content', { location: 'New York' }],
      ['ev__get-tiny-image'],
      ['ev__get-resource-links', { count: 1 }],
      ['ev__trigger-long-running-operation', { duration: 1, steps: 2 }],
      ['ev__get-sum', { a: 'x' }],
      ['ev__get-env'],
    ]);
    const state = await run();
    expect(resultsOf(state)).toEqual([
      'Echo: hi',
      'The sum of 2 and 3 is 5.',
      { temperature: 33, conditions: 'Cloudy', humidity: 82 },
      expect.stringContaining('image/png'),
      [expect.any(String), expect.objectContaining({ type: 'resource_link' })],
      expect.stringContaining('completed'),
      'bad_arguments',
      'unknown_tool',
    ]);
    expect(JSON.stringify(state.messages)).toContain('"data":"iVBOR');
    expect(offered()[0]).toContain('ev__echo');
    expect(offered()[0]).not.toContain('ev__get-env');
    const progress = events.flatMap((event) => (event.type === 'ToolProgress' ? [event] : []));
    expect(progress[0]).toMatchObject({ progress: 1, total: 2 });
    expect(state.status).toBe('completed');
  });

  it('has resources and prompts, by API and by tools', async () => {
    const capability = mcp(await connect(), { resourceTool: true, promptTool: true });
    const connection = await capability.connection();
    const [first] = await connection.resources();
    const uri = String(first?.['uri']);
    expect(await connection.readResource(uri)).toEqual([
      expect.objectContaining({
        type: 'resource',
        uri,
        text: expect.stringContaining('Everything'),
      }),
    ]);
    expect((await connection.resourceTemplates()).length).toBeGreaterThan(0);
    const prompts = await connection.prompts();
    expect(prompts.map(({ name }) => name)).toContain('args-prompt');
    expect(await connection.prompt('args-prompt', { city: 'Riga' })).toEqual({
      messages: [
        { role: 'user', content: { type: 'text', text: expect.stringContaining('Riga') } },
      ],
    });
    const { run } = caller(capability, [
      ['ev__resources'],
      ['ev__resources', { uri }],
      ['ev__prompts', { name: 'args-prompt', arguments: { city: 'Riga' } }],
    ]);
    const [list, read, prompt] = resultsOf(await run());
    expect(list).toContainEqual(expect.objectContaining({ uri }));
    expect(read).toEqual([expect.objectContaining({ uri })]);
    expect(prompt).toMatchObject({ messages: [{ role: 'user' }] });
  });

  it('receives a cancel, and our timeout holds (D75)', async () => {
    const { agent } = caller(mcp(await connect()), [
      ['ev__trigger-long-running-operation', { duration: 60, steps: 5 }],
    ]);
    const abort = new AbortController();
    const running = agent.run('go', {
      signal: abort.signal,
      wiretap: ({ type }) => {
        if (type === 'ToolProgress' || type === 'ToolCallStarted')
          setTimeout(() => abort.abort('enough'), 50);
      },
    });
    expect(resultsOf(await running)).toEqual(['aborted']);

    const began = Date.now();
    const { run } = caller(mcp(await connect(), { timeoutMs: 700 }), [
      ['ev__trigger-long-running-operation', { duration: 60, steps: 5 }],
      ['ev__echo', { message: 'still there' }],
    ]);
    expect(resultsOf(await run())).toEqual(['tool_timeout', 'Echo: still there']);
    expect(Date.now() - began).toBeLessThan(30_000);
  });
});

describe('a killed server (D73)', () => {
  it('over stdio is started again: before, between and during calls', async () => {
    const capability = mcp(stdio(), { idempotent: ['trigger-long-running-operation'] });
    const pids = new Set<number>();
    const { run } = caller(
      capability,
      [
        ['ev__echo', { message: 'a' }],
        ['ev__echo', { message: 'b' }],
      ],
      async (number) => {
        if (number !== 2) return;
        for (const pid of childPids()) {
          pids.add(pid);
          process.kill(pid, 'SIGKILL');
        }
        await expect.poll(() => [...pids].some(isAlive)).toBe(false);
      },
    );
    expect(resultsOf(await run())).toEqual(['Echo: a', 'Echo: b']);
    expect(pids.size).toBeGreaterThan(0);
    for (const pid of pids) expect(isAlive(pid)).toBe(false);
  });

  it('over HTTP with a session that the new process does not know', async () => {
    const server = await everythingHttp();
    const { run } = caller(
      mcp({ name: 'ev', url: server.url }),
      [
        ['ev__echo', { message: 'a' }],
        ['ev__echo', { message: 'b' }],
      ],
      async (number) => {
        if (number !== 2) return;
        await server.kill();
        await server.start();
      },
    );
    expect(resultsOf(await run())).toEqual(['Echo: a', 'Echo: b']);
  });

  it('during a call: it is not repeated, and the next one works (D74)', async () => {
    const server = await everythingHttp();
    const { run } = caller(mcp({ name: 'ev', url: server.url }), [
      ['ev__trigger-long-running-operation', { duration: 30, steps: 30 }],
      ['ev__echo', { message: 'b' }],
    ]);
    const killed = new Promise<void>((resolve, reject) =>
      setTimeout(
        () =>
          void server
            .kill()
            .then(() => server.start())
            .then(resolve, reject),
        4_000,
      ),
    );
    const results = resultsOf(await run());
    await killed;
    expect(results).toEqual(['effect_unknown', 'Echo: b']);
  });

  it('that stays down: the step says which tools are missing, and calls get a typed result', async () => {
    const server = await stateless();
    const capability = mcp({ name: 'st', url: server.url });
    const { run } = caller(capability, [['st__pid'], ['st__pid']], async (number) => {
      if (number === 2) await server.kill();
    });
    expect(resultsOf(await run())).toEqual([expect.stringMatching(/^\d+$/), 'mcp_unreachable']);

    const later = caller(mcp({ name: 'st', url: server.url }), []);
    const state = await later.run();
    expect([state.status, state.steps.at(0)?.notes]).toEqual(['completed', ['toolsMissing:st']]);
    expect(later.events).toContainEqual(
      expect.objectContaining({
        type: 'ToolsChanged',
        unavailable: [
          {
            source: 'st',
            reason: expect.stringMatching(/^the server cannot be reached \(.*ECONNREFUSED/),
          },
        ],
      }),
    );
    const must = caller(mcp({ name: 'st', url: server.url }, { required: true }), []);
    setTimeout(() => void server.start(), 500);
    const required = await must.run();
    expect(required.steps.at(0)?.errors[0]?.code).toBe('tools_unavailable');
    expect(required.status).toBe('completed');
    expect(must.offered().at(-1)).toContain('st__pid');
  });
});

function childPids(): number[] {
  return (process as unknown as { _getActiveHandles(): { pid?: number; spawnargs?: string[] }[] })
    ._getActiveHandles()
    .flatMap(({ pid, spawnargs }) =>
      pid !== undefined && spawnargs?.some((arg) => arg.includes('server-everything')) ? [pid] : [],
    );
}

it('two connections of one capability are closed with it', async () => {
  const capability = mcp(stdio());
  await toolsOf(capability, 'ann');
  await toolsOf(capability, 'bob');
  const pids = childPids();
  expect(pids).toHaveLength(2);
  await capability.close();
  expect(pids.map(isAlive)).toEqual([false, false]);
});
