import { AgentState, createAgent, ErrorPolicy, type Agent } from 'onward';
import { mcp, type McpOptions, type McpServer } from 'onward/mcp';
import { DeterministicDriver, ScenarioStep } from 'onward/testing';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { everything, everythingHttp, resultsOf, stateless } from '../setup/mcp-servers.ts';

vi.setConfig({ testTimeout: 120_000 });

/** An agent that makes one call, as each process creates it. */
function agentFor(
  server: McpServer,
  options: McpOptions = {},
  ...calls: (readonly [string, object])[]
): Agent {
  const steps = calls.map(([name, args]) => ScenarioStep.toolCall(name, args as never));
  const agent = createAgent({
    errorPolicy: ErrorPolicy.production(),
    model: DeterministicDriver.fromSteps(...steps, ScenarioStep.final('done')),
    capabilities: [mcp(server, options)],
  });
  onTestFinished(() => agent.close());
  return agent;
}

/** The state as another process reads it. */
const elsewhere = (state: AgentState): AgentState =>
  AgentState.from(JSON.parse(JSON.stringify(state)));

const accept = (content: object) => ({ action: 'accept', content: content as never }) as const;

describe('a stateless server asks (D73, D75)', () => {
  it('and is answered from another process, after it was started anew', async () => {
    const server = await stateless();
    const where = { name: 'st', url: server.url };
    const paused = await agentFor(where, {}, ['st__confirm', { path: '/x' }]).run('go');
    expect([paused.status, paused.pause?.kind]).toEqual(['paused', 'input']);
    expect(paused.pendingInputs).toMatchObject([
      {
        inputId: 'call_1/yes',
        tool: 'st__confirm',
        message: `"st" (${new URL(server.url).host}) asks: Delete /x?`,
        schema: { properties: { sure: { type: 'boolean' } }, required: ['sure'] },
      },
    ]);
    await server.kill();
    await server.start();
    const done = await agentFor(where).resume(elsewhere(paused), {
      inputs: { 'call_1/yes': accept({ sure: true }) },
    });
    expect(resultsOf(done)).toEqual(['deleted /x, sure true, state of /x']);
    expect(server.effects()).toEqual(['/x']);
  });

  it.each(['decline', 'cancel'] as const)('and learns of %s', async (action) => {
    const server = await stateless();
    const where = { name: 'st', url: server.url };
    const paused = await agentFor(where, {}, ['st__confirm', { path: '/x' }]).run('go');
    const done = await agentFor(where).resume(paused, { inputs: { 'call_1/yes': { action } } });
    expect(resultsOf(done)).toEqual([`${action}: kept /x`]);
  });

  it('in three rounds, with keys of its own and a state of 64 KB, verbatim', async () => {
    const { url } = await stateless();
    const where = { name: 'st', url };
    let state = await agentFor(where, {}, ['st__rounds', { rounds: 3, size: 65_536 }]).run('go');
    for (const word of ['one', 'two', 'three']) {
      const [question] = state.pendingInputs;
      const inputs = { [question?.inputId ?? '']: accept({ word }) };
      state = await agentFor(where).resume(elsewhere(state), { inputs });
    }
    expect(resultsOf(state)).toEqual(['one,two,three,']);
  });

  it('with a state that is too large or has the credentials: the result says so', async () => {
    const { url } = await stateless();
    const headers = { authorization: 'Bearer abcdefgh-0123456789-secret' };
    const agent = agentFor(
      { name: 'st', url, headers },
      {},
      ['st__rounds', { rounds: 1, size: 65_537 }],
      ['st__keep_token', {}],
      ['st__again', {}],
    );
    const state = await agent.run('go');
    expect(resultsOf(state)).toEqual(['input_required', 'input_required', 'at last']);
    expect(JSON.stringify(state)).not.toContain('abcdefgh');
  });

  it('for a visit to an address, which must be one of the web', async () => {
    const { url } = await stateless();
    const where = { name: 'st', url };
    const paused = await agentFor(where, {}, ['st__visit', { url: 'https://pay.test/a' }]).run(
      'go',
    );
    expect(paused.pendingInputs).toMatchObject([
      { url: 'https://pay.test/a', message: expect.stringContaining('asks: Sign \\u202ehere') },
    ]);
    const inputs = { 'call_1/page': { action: 'accept' } as const };
    const done = await agentFor(where).resume(elsewhere(paused), { inputs });
    expect(resultsOf(done)).toEqual(['visited: accept']);
    const bad = await agentFor(where, {}, ['st__visit', { url: 'javascript:alert(1)' }]).run('go');
    expect(resultsOf(bad)).toEqual([expect.stringMatching(/input_required|mcp_/)]);
  });

  it('D74: and dies with the answer: the call is not repeated, unless it is idempotent', async () => {
    const server = await stateless();
    server.keepUp();
    const where = { name: 'st', url: server.url };
    const paused = await agentFor(where, {}, ['st__ask_and_die', { id: 'a' }]).run('go');
    const inputs = { 'call_1/yes': accept({ sure: true }) };
    const done = await agentFor(where).resume(elsewhere(paused), { inputs });
    expect(resultsOf(done)).toEqual(['effect_unknown']);
    expect(server.effects()).toEqual(['a', 'a answered']);
    await server.up();
    const again = await agentFor(where, { idempotent: ['ask_and_die'] }).resume(paused, { inputs });
    expect(resultsOf(again)).toEqual(['mcp_unreachable']);
    expect(server.effects().slice(2)).toEqual(['a answered', 'a answered', 'a answered']);
  });
});

const details = { name: 'Ada', check: true, firstLine: 'x', email: 'a@b.cd', integer: 7 };

describe.each(['stdio', 'http'] as const)('a server over %s that holds the request', (way) => {
  const connect = async (): Promise<McpServer> =>
    way === 'stdio'
      ? { name: 'ev', command: process.execPath, args: [everything(), 'stdio'] }
      : { name: 'ev', url: (await everythingHttp()).url };
  const call = ['ev__trigger-elicitation-request', {}] as const;
  const asking = async (server: McpServer, options: McpOptions = {}) => {
    const agent = agentFor(server, options, call);
    const paused = await agent.run('go');
    expect(paused.pause?.kind).toBe('input');
    const [question] = paused.pendingInputs;
    expect(question?.message).toMatch(/^"ev" \(.*\) asks: /);
    return { agent, paused, inputs: { [question?.inputId ?? '']: accept(details) } };
  };

  it('is answered on its connection, and the timeout of the tool stands still', async () => {
    const { agent, paused, inputs } = await asking(await connect(), { timeoutMs: 3_000 });
    await new Promise((resolve) => setTimeout(resolve, 3_500));
    const done = await agent.resume(paused, { inputs });
    expect(JSON.stringify(resultsOf(done))).toContain('Ada');
  });

  it('D74: without that connection, an idempotent call is repeated and the same question has its answer', async () => {
    const server = await connect();
    const { paused, inputs } = await asking(server);
    const lost = await agentFor(server).resume(elsewhere(paused), { inputs });
    expect(resultsOf(lost)).toEqual(['effect_unknown']);
    const options = { idempotent: ['trigger-elicitation-request'] };
    const done = await agentFor(server, options).resume(elsewhere(paused), { inputs });
    expect(JSON.stringify(resultsOf(done))).toContain('Ada');
  });
});
