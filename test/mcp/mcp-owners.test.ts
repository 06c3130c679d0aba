import { AgentState, createAgent, SessionRuntime, type AgentEvent } from 'onward';
import { mcp, type McpOptions } from 'onward/mcp';
import { memoryStore } from 'onward/stores/memory';
import { DeterministicDriver, ScenarioStep } from 'onward/testing';
import { describe, expect, it, vi } from 'vitest';
import { bundledProgram, startChild } from '../setup/child-program.ts';
import {
  caller,
  hostile,
  isAlive,
  resultsOf,
  stateless,
  toolsOf,
  type HttpServer,
} from '../setup/mcp-servers.ts';

vi.setConfig({ testTimeout: 120_000 });

const secretOf = (owner: string | null): string => `secret-of-${owner}-0123456789abcdef`;
const perOwner = ({ url }: HttpServer, options: McpOptions = {}) =>
  mcp(
    {
      name: 'st',
      url,
      headers: async ({ owner }) => ({
        authorization: `Bearer ${secretOf(owner)}`,
        'x-tenant': String(owner),
      }),
    },
    options,
  );

describe('owners', () => {
  it('D76: tokens never mix under load, and are in no state, event or log', async () => {
    const server = await stateless();
    // a busy machine loses idle connections
    const capability = perOwner(server, { idempotent: () => true });
    const agent = createAgent({
      name: 'a',
      model: {
        name: 'm',
        infer: async ({ messages }: { readonly messages: { readonly length: number } }) =>
          messages.length < 12
            ? {
                content: '',
                toolCalls: ['st__whoami', 'st__echo_token'].map((name, i) => ({
                  id: `c${messages.length}_${i}`,
                  name,
                  args: {},
                })),
                finishReason: 'tool_calls',
                usage: null,
              }
            : { content: 'done', toolCalls: [], finishReason: 'stop', usage: null },
      },
      capabilities: [capability],
    });
    const store = memoryStore();
    const runtime = new SessionRuntime({ store, agents: [agent], concurrency: 16 } as never);
    const events: AgentEvent[] = [];
    agent.wiretap((event) => void events.push(event));
    const owners = Array.from({ length: 24 }, (_, i) => `owner${i}`);
    await Promise.all(
      owners.map(async (owner) => {
        const { id } = await runtime.create({ owner });
        await runtime.send(id, 'go', { owner, wait: true });
        const steps = await runtime.steps(id, { owner });
        const results = steps.items.flatMap((step) => step.results.map(({ value }) => value));
        expect(results.length).toBeGreaterThanOrEqual(6);
        for (const [i, value] of results.entries())
          expect(value).toBe(i % 2 === 0 ? `token ${owner}` : 'you sent [redacted]');
      }),
    );
    await runtime.close();
    expect(events.length).toBeGreaterThan(200);
    expect(JSON.stringify(events)).not.toContain('secret-of-');
  });

  it('have a connection each; a shared one has no owner', async () => {
    const owners: (string | null)[] = [];
    const { server, pids } = hostile('');
    const own = mcp({ ...server, env: ({ owner }) => (owners.push(owner), {}) });
    await toolsOf(own, 'ann');
    await toolsOf(own, 'bob');
    await toolsOf(own, 'ann');
    const separate = new Set(pids()).size;
    const shared = mcp(
      { ...server, env: ({ owner }) => (owners.push(owner), {}) },
      { shared: true },
    );
    await toolsOf(shared, 'ann');
    const before = new Set(pids()).size;
    await toolsOf(shared, 'bob');
    expect(new Set(pids()).size).toBe(before);
    expect(before).toBeLessThan(separate * 2);
    expect(owners).toEqual(['ann', 'bob', 'ann', null, null]);
    await own.close();
    await shared.close();
    expect(pids().filter(isAlive)).toEqual([]);
  });

  it('an authProvider is asked once per owner, its token is hidden, and it is never shared', async () => {
    const server = await stateless();
    const asked: (string | null)[] = [];
    const capability = mcp({
      name: 'st',
      url: server.url,
      authProvider: ({ owner }) => {
        asked.push(owner);
        return { token: async () => secretOf(owner) };
      },
    });
    for (const owner of ['ann', 'bob', 'ann']) {
      const { run } = caller(capability, [['st__echo_token']]);
      expect(resultsOf(await run(owner))).toEqual(['you sent [redacted]']);
    }
    expect(asked.slice(0, 2)).toEqual(['ann', 'bob']);
    expect(() =>
      mcp(
        { name: 'st', url: server.url, authProvider: { token: async () => 'x' } },
        { shared: true },
      ),
    ).toThrow(
      'mcp("st") shared got true, expected false, because an authProvider acts for one owner',
    );
  });

  it('a new token takes effect at the next step', async () => {
    const server = await stateless();
    let tenant = 'old';
    const capability = mcp({
      name: 'st',
      url: server.url,
      headers: () => ({ authorization: 'x', 'x-tenant': tenant }),
    });
    const { run, events } = caller(capability, [['st__whoami'], ['st__whoami']], (number) => {
      if (number === 1) setTimeout(() => (tenant = 'new'), 0);
    });
    expect(resultsOf(await run('ann'))).toEqual([expect.any(String), 'token new']);
    expect(events.filter(({ type }) => type === 'ToolsChanged')).toEqual([]);
  });

  it('more connections than allowed close the one that was unused for the longest time', async () => {
    const { server, pids } = hostile('');
    const capability = mcp(server, { maxConnections: 2 });
    for (const owner of ['a', 'b', 'c']) await toolsOf(capability, owner);
    await expect.poll(() => pids().filter(isAlive).length).toBe(2);
    await capability.close();
  });
});

describe('hints and options', () => {
  const approvals = async (options: McpOptions) => {
    const { url } = await stateless();
    const { tools } = await toolsOf(mcp({ name: 'st', url }, options));
    const tool = (name: string) => tools.find((one) => one.name === `st__${name}`);
    return {
      destructive: (await tool('delete_all')?.needsApproval?.({})) ?? false,
      plain: (await tool('effect')?.needsApproval?.({})) ?? false,
      idempotent: tools.filter(({ idempotent }) => idempotent).map(({ name }) => name),
    };
  };

  it.each<[McpOptions, boolean, boolean, string[]]>([
    [{}, true, false, []],
    [{ trustHints: true }, true, false, ['st__pid', 'st__die_again']],
    [{ needsApproval: ['effect'] }, true, true, []],
    [{ needsApproval: true }, true, true, []],
    [{ needsApproval: false }, false, false, []],
    [{ needsApproval: ({ name }) => (name === 'effect' ? true : undefined) }, true, true, []],
    [{ idempotent: ({ name }) => name === 'effect' }, true, false, ['st__effect']],
  ])('%j', async (options, destructive, plain, idempotent) => {
    expect(await approvals(options)).toEqual({ destructive, plain, idempotent });
  });

  it('refuses options that cannot be meant', () => {
    const bad =
      (server: object, options: object = {}) =>
      () =>
        mcp(server as never, options);
    expect(bad({ name: 'a b', command: 'x' })).toThrow('mcp() name got "a b"');
    expect(bad({ name: 'a' })).toThrow('expected { name, command');
    expect(bad({ name: 'a', command: 'x', url: 'http://x' })).toThrow('expected { name, command');
    expect(bad({ name: 'a', url: 'ftp://x' })).toThrow('an http or https URL');
    expect(bad({ name: 'a', url: 'http://u:p@x' })).toThrow('expected them in headers');
    expect(bad({ name: 'a', command: 'x' }, { include: 'b' })).toThrow('include got "b"');
    expect(bad({ name: 'a', command: 'x' }, { timeoutMs: 0 })).toThrow('timeoutMs got 0');
  });
});

describe('a stateless server of the new generation', () => {
  it('answers calls, reports errors, and announces changed lists', async () => {
    const { url } = await stateless();
    const { run, offered } = caller(
      mcp({ name: 'st', url }),
      [['st__fail'], ['st__grow', { name: 'later' }], ['st__pid'], ['st__later']],
      async (number) => {
        // the notice comes on a stream of its own
        if (number === 3) await new Promise((resolve) => setTimeout(resolve, 500));
      },
    );
    const state = await run();
    expect(resultsOf(state)).toEqual([
      'mcp_tool_error',
      'grown',
      expect.stringMatching(/^\d+$/),
      'later',
    ]);
    const [failed] = [...state.steps].map(({ results }) => results[0]?.error?.message);
    expect(failed).toBe('the disk is full');
    expect(offered().at(1)).not.toContain('st__later');
    expect(offered().at(-1)).toContain('st__later');
  });

  it('D74: that dies during a call is not asked again, unless the tool is idempotent', async () => {
    const server = await stateless();
    server.keepUp();
    const { run } = caller(mcp({ name: 'st', url: server.url }, { trustHints: true }), [
      ['st__die', { id: 'once' }],
      ['st__effect', { id: 'after' }],
      ['st__die_again', { id: 'again' }],
    ]);
    const results = resultsOf(await run());
    expect(results.slice(0, 2)).toEqual(['effect_unknown', 'done']);
    const effects = server.effects();
    expect(effects.filter((id) => id === 'once')).toHaveLength(1);
    expect(effects.filter((id) => id === 'again').length).toBeGreaterThan(1);
  });
});

describe('approvals', () => {
  const model = (...steps: ScenarioStep[]) => DeterministicDriver.fromSteps(...steps);
  const { toolCall, final } = ScenarioStep;

  it('D75: a paused call is answered in another process, also while the server is down', async () => {
    const server = await stateless();
    const agentFor = (...steps: ScenarioStep[]) =>
      createAgent({
        model: model(...steps),
        capabilities: [mcp({ name: 'st', url: server.url }, { needsApproval: ['effect'] })],
      });
    const first = agentFor(toolCall('st__effect', { id: 'paid' }));
    const paused = AgentState.from(JSON.parse(JSON.stringify(await first.run('go'))));
    expect(paused.status).toBe('paused');
    await server.kill();
    const second = agentFor(final('done'));
    await expect(
      second.resume(paused, { approvals: { call_1: { approve: true, args: { id: 5 } } } }),
    ).rejects.toMatchObject({ code: 'invalid_approval' });
    await expect(
      second.resume(paused, { approvals: { call_1: { approve: true } } }),
    ).rejects.toMatchObject({ code: 'tools_unavailable' });
    await server.start();
    const third = agentFor(final('done'));
    const done = await third.resume(paused, { approvals: { call_1: { approve: true } } });
    expect(resultsOf(done)).toEqual(['done']);
    expect(server.effects()).toEqual(['paid']);
    for (const agent of [first, second, third]) await agent.close();
  });
});

describe('child processes', () => {
  it('end with the runtime, and a killed or exiting parent leaves none', async () => {
    const { server, pids } = hostile('');
    const agent = createAgent({
      model: DeterministicDriver.fromResponses('done'),
      capabilities: [mcp(server)],
    });
    const runtime = new SessionRuntime({ store: memoryStore(), agents: [agent] });
    const { id } = await runtime.create({ owner: 'ann' });
    await runtime.send(id, 'go', { owner: 'ann', wait: true });
    expect(pids().some(isAlive)).toBe(true);
    await runtime.close();
    expect(pids().filter(isAlive)).toEqual([]);

    const program = await bundledProgram('test/mcp/mcp-program.ts');
    for (const end of ['kill', 'exit']) {
      const orphan = hostile('');
      const child = startChild(program, [end, ...(orphan.server.args ?? [])]);
      await child.said('open');
      if (end === 'kill') child.process.kill('SIGKILL');
      await child.gone;
      expect(orphan.pids().length).toBeGreaterThan(0);
      await expect.poll(() => orphan.pids().filter(isAlive)).toEqual([]);
    }
  });
});
