import { createAgent } from 'onward';
import { toolSearch } from 'onward/capabilities';
import { mcp } from 'onward/mcp';
import { DeterministicDriver, ScenarioStep } from 'onward/testing';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { caller, hostile, isAlive, resultsOf, stateless, toolsOf } from '../setup/mcp-servers.ts';

vi.setConfig({ testTimeout: 120_000 });

describe('a hostile list of tools', () => {
  it('is bounded in tools and pages, and the step says what is left out', async () => {
    const many = await toolsOf(mcp(hostile('many').server));
    expect(many.tools).toHaveLength(1_000);
    expect(many.unavailable).toBe('it lists more than 1000 tools, and the others are left out');
    const pages = await toolsOf(mcp(hostile('pages').server));
    expect(pages.tools).toHaveLength(50);
    expect(pages.unavailable).toContain('more than 50 pages');
    expect(await toolsOf(mcp(hostile('empty').server))).toMatchObject({
      tools: [],
      unavailable: expect.stringContaining('cannot be reached'),
    });
  });

  it('1,000 tools are offered, and include narrows them', async () => {
    const { run, offered } = caller(mcp(hostile('thousand').server), [['bad__t999']]);
    expect(resultsOf(await run())).toEqual(['called t999']);
    expect(offered()[0]).toHaveLength(1_000);
    const few = await toolsOf(mcp(hostile('thousand').server, { include: ['t1', 't2'] }));
    expect(few.tools.map(({ name }) => name)).toEqual(['bad__t1', 'bad__t2']);
  });

  it('1,000 tools are found and called through toolSearch, each approved under its own name', async () => {
    const { server, calls } = hostile('thousand');
    const { toolCall, final } = ScenarioStep;
    const through = (name: string) => toolCall('call_tool', { name, arguments: {} });
    const model = DeterministicDriver.fromSteps(
      toolCall('search_tools', { query: 'does t777' }),
      through('bad__t777'),
      through('bad__t5'),
      final('done'),
    );
    const agent = createAgent({
      model,
      capabilities: [mcp(server, { needsApproval: ['t5'] }), toolSearch()],
    });
    onTestFinished(() => agent.close());
    const paused = await agent.run('go');
    expect(paused.steps.at(1)?.results[0]?.value).toBe('called t777');
    expect(paused.pendingApprovals).toMatchObject([{ tool: 'bad__t5' }]);
    expect(calls()).toEqual(['t777']);
    const { callId } = paused.pendingApprovals[0]!;
    const done = await agent.resume(JSON.parse(JSON.stringify(paused)), {
      approvals: { [callId]: { approve: true } },
    });
    expect(done.steps.at(2)?.results[0]?.value).toBe('called t5');
    expect(calls()).toEqual(['t777', 't5']);
    // one short prefix in all steps
    const sent = new Set(
      model.requests.map(({ system, tools }) => JSON.stringify([system, tools])),
    );
    expect(sent.size).toBe(1);
    expect(model.requests[0]?.tools.map(({ name }) => name)).toEqual(['search_tools', 'call_tool']);
    expect([...sent][0]!.length).toBeLessThan(25_000);
  });

  it('has safe names, and bounded texts and schemas; no schema is fetched', async () => {
    const { tools, unavailable = '' } = await toolsOf(mcp(hostile('shapes').server));
    expect(tools.map(({ name }) => name)).toEqual([
      'bad__good',
      'bad____proto__',
      'bad__constructor',
      expect.stringMatching(/^bad__sp_ace_slash_[0-9a-f]{8}$/),
      'bad__sp_ace_slash',
      expect.stringMatching(/^bad__x{50}_[0-9a-f]{8}$/),
      'bad__talkative',
      'bad__polluted',
    ]);
    for (const { name, description, jsonSchema } of tools) {
      expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
      expect(description.length).toBeLessThanOrEqual(4_000);
      expect(JSON.stringify(jsonSchema)).not.toContain('__proto__');
    }
    expect(unavailable).toContain('"external" is left out because its schema cannot be checked');
    expect(unavailable).toContain('"deep" is left out because its schema is nested too deeply');
    expect(unavailable).toContain('"huge" is left out because its schema has');
    expect(unavailable).toContain('its name is not 1 to 128 characters long');
    expect(({} as Record<string, unknown>)['string']).toBeUndefined();
  });

  it('that changes with each call takes effect step by step', async () => {
    const { run, offered, events } = caller(mcp(hostile('fickle').server), [
      ['bad__stay'],
      ['bad__new1'],
      ['bad__new2'],
    ]);
    expect(resultsOf(await run())).toEqual(['changed', 'unknown_tool', 'changed']);
    expect(offered().map((names) => names.at(-1))).toEqual([
      'bad__new1',
      'bad__new2',
      'bad__new2',
      'bad__new3',
    ]);
    expect(events.filter(({ type }) => type === 'ToolsChanged').length).toBeGreaterThan(0);
  });
});

describe('hostile answers', () => {
  it.each([
    ['lies', ['mcp_tool_error']],
    ['big', [expect.stringMatching(/^x{50000}… \[cut: 50000 of 9000000 characters shown\]$/)]],
    ['noise', ['after noise']],
    ['die', ['effect_unknown']],
    ['enormous', ['effect_unknown']],
    ['flood', ['effect_unknown']],
    ['deep', [expect.anything()]],
  ])('%s', async (mode, expected) => {
    const { server, calls } = hostile(mode);
    const { run } = caller(mcp(server), [['bad__call']]);
    const state = await run();
    expect(resultsOf(state)).toEqual(expected);
    expect(state.status).toBe('completed');
    // nothing was repeated (D74)
    expect(calls()).toEqual(['call']);
  });

  it('an idempotent call is repeated after a loss, at most twice', async () => {
    const { server, calls } = hostile('die');
    const { run } = caller(mcp(server, { idempotent: ['call'] }), [['bad__call']]);
    expect(resultsOf(await run())).toEqual(['mcp_unreachable']);
    expect(calls()).toEqual(['call', 'call', 'call']);
  });

  it('a server that hangs reaches our timeout and is notified (D75)', async () => {
    const { server, calls } = hostile('hang');
    const { run } = caller(mcp(server, { timeoutMs: 300 }), [['bad__call']]);
    expect(resultsOf(await run())).toEqual(['tool_timeout']);
    await expect.poll(calls).toEqual(['call', 'cancelled true']);
  });

  it('a server that says nothing does not hold up the step for longer than the time to connect', async () => {
    const began = Date.now();
    const { run } = caller(mcp(hostile('mute').server, { connectTimeoutMs: 500 }), []);
    const state = await run();
    expect(state.status).toBe('completed');
    expect(state.steps.at(0)?.notes).toEqual(['toolsMissing:bad']);
    expect(Date.now() - began).toBeLessThan(10_000);
  });

  it('300 reports of progress at once become one event', async () => {
    const { run, events } = caller(mcp(hostile('progress').server), [['bad__call']]);
    expect(resultsOf(await run())).toEqual(['done']);
    expect(events.filter(({ type }) => type === 'ToolProgress')).toHaveLength(1);
  });
});

describe('a child process', () => {
  it('gets only the variables that are given, and what it repeats of them is hidden', async () => {
    const key = 'k-1a2b3c4d5e6f7a8b9c0d';
    const { run, events } = caller(mcp(hostile('env', { API_KEY: key }).server), [['bad__call']]);
    const state = await run();
    expect(resultsOf(state)).toEqual([expect.stringContaining('the key is [redacted]')]);
    expect(JSON.stringify([state, events])).not.toContain(key);
    process.env['ONWARD_TEST_SECRET'] = 'x';
    const { run: again } = caller(mcp(hostile('environment').server), [['bad__call']]);
    expect(resultsOf(await again())).toEqual([expect.not.stringContaining('ONWARD_TEST_SECRET')]);
    delete process.env['ONWARD_TEST_SECRET'];
  });

  it('that cannot be started says what it wrote', async () => {
    const { unavailable } = await toolsOf(
      mcp({
        name: 'gone',
        command: process.execPath,
        args: ['-e', 'console.error("no config found"); process.exit(3)'],
      }),
    );
    expect(unavailable).toContain('no config found');
    const missing = await toolsOf(mcp({ name: 'gone', command: '/nowhere/server' }));
    expect(missing.unavailable).toContain('ENOENT');
  });

  it('is ended by close, even if it ignores signals, and when it was unused', async () => {
    const { server, pids } = hostile('stubborn');
    const capability = mcp(server);
    await toolsOf(capability);
    expect(pids().some(isAlive)).toBe(true);
    await capability.close();
    await expect.poll(() => pids().some(isAlive)).toBe(false);

    const idle = hostile('');
    const closing = mcp(idle.server, { idleMs: 200 });
    await toolsOf(closing);
    await expect.poll(() => idle.pids().some(isAlive)).toBe(false);
    // it opens again
    expect((await toolsOf(closing)).tools).toHaveLength(2);
    await closing.close();
  });
});

it('a lost answer does not interrupt other calls of the owner', async () => {
  const { url } = await stateless();
  const { tools } = await toolsOf(mcp({ name: 'st', url }, { timeoutMs: 20_000 }));
  const call = (name: string, args: object) =>
    Promise.resolve(
      tools
        .find((tool) => tool.name === `st__${name}`)
        ?.execute(args, { signal: AbortSignal.timeout(20_000), progress() {} } as never),
    );
  const slow = call('wait', { ms: 2_000 });
  await expect(call('cut', {})).rejects.toMatchObject({ report: { code: 'effect_unknown' } });
  expect(await slow).toBe('waited');
  expect(await call('pid', {})).toMatch(/^\d+$/);
});
