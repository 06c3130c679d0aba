import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { AgentState, createAgent, type AgentEvent } from 'onward';
import { mcp } from 'onward/mcp';
import { DeterministicDriver, ScenarioStep } from 'onward/testing';
import { getRequestListener } from '@hono/node-server';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { expect, it, onTestFinished, vi } from 'vitest';
import { resultsOf } from '../setup/mcp-servers.ts';

vi.setConfig({ testTimeout: 60_000 });

const TOKEN = 'token-abcdefgh-0123456789';

/** A server that needs a token, with its own authorization server. */
async function protectedServer() {
  const mcpHandler = createMcpHandler(() => {
    const server = new McpServer({ name: 'safe', version: '1' });
    server.registerTool('secret', { description: 'Returns it.' }, () => ({
      content: [{ type: 'text', text: 'the secret' }],
    }));
    return server;
  });
  let origin = '';
  const json = (value: object): Response => Response.json(value);
  const answer = (request: Request): Response | Promise<Response> => {
    const { pathname } = new URL(request.url);
    if (pathname.startsWith('/.well-known/oauth-protected-resource'))
      return json({ resource: `${origin}/mcp`, authorization_servers: [origin] });
    if (pathname.startsWith('/.well-known/'))
      return json({
        issuer: origin,
        authorization_endpoint: `${origin}/authorize`,
        token_endpoint: `${origin}/token`,
        response_types_supported: ['code'],
        code_challenge_methods_supported: ['S256'],
      });
    if (request.headers.get('authorization') === `Bearer ${TOKEN}`)
      return mcpHandler.fetch(request);
    return new Response('no', {
      status: 401,
      headers: {
        'www-authenticate': `Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource"`,
      },
    });
  };
  const listener = getRequestListener((request) => answer(request));
  const server = http.createServer((request, response) => void listener(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return `${origin}/mcp`;
}

/** The OAuth client of one user, as an app writes it: tokens are in its own store. */
function provider(tokens: Map<string, string>, owner: string | null) {
  const token = (): string | undefined => tokens.get(String(owner));
  return {
    get redirectUrl() {
      return 'https://app.test/callback';
    },
    get clientMetadata() {
      return { client_name: 'app', redirect_uris: ['https://app.test/callback'] };
    },
    clientInformation: () => ({ client_id: 'app' }),
    tokens: () => (token() ? { access_token: String(token()), token_type: 'bearer' } : undefined),
    saveTokens: () => {},
    redirectToAuthorization: () => {},
    saveCodeVerifier: () => {},
    codeVerifier: () => 'verifier',
  };
}

it('D76: missing authorization is a question with the address; afterwards the tools are there', async () => {
  const url = await protectedServer();
  const tokens = new Map<string, string>();
  const { toolCall, final } = ScenarioStep;
  const events: AgentEvent[] = [];
  const agentFor = (...steps: ScenarioStep[]) => {
    const model = DeterministicDriver.fromSteps(...steps, final('done'));
    const agent = createAgent({
      model,
      capabilities: [
        mcp({ name: 'safe', url, authProvider: ({ owner }) => provider(tokens, owner) as never }),
      ],
    });
    onTestFinished(() => agent.close());
    agent.wiretap((event) => void events.push(event));
    return { agent, model };
  };
  const { agent, model } = agentFor(toolCall('safe__authorize'));
  const paused = await agent.run('go', { owner: 'ann' });
  expect(model.requests[0]?.tools.map(({ name }) => name)).toEqual(['safe__authorize']);
  expect(paused.pause?.kind).toBe('input');
  const [question] = paused.pendingInputs;
  expect(question).toMatchObject({
    inputId: 'call_1/authorize',
    url: expect.stringMatching(/\/authorize\?.*client_id=app/),
    message: `"safe" (${new URL(url).host}) needs your permission. Open the address, allow access, and come back.`,
  });
  const inputs = { 'call_1/authorize': { action: 'accept' } } as const;
  // accepted, but not done: it asks again
  const again = await agent.resume(paused, { owner: 'ann', inputs });
  expect(again.pendingInputs.map(({ inputId }) => inputId)).toEqual(['call_1/authorize~2']);
  tokens.set('ann', TOKEN);
  const other = agentFor(toolCall('safe__secret'));
  const done = await other.agent.resume(AgentState.from(JSON.parse(JSON.stringify(again))), {
    owner: 'ann',
    inputs: { 'call_1/authorize~2': { action: 'accept' } },
  });
  expect(resultsOf(done)).toEqual([expect.stringContaining('is given'), 'the secret']);
  // it expires in the middle: the call asks, and is sent again
  const { agent: busy } = agentFor(toolCall('safe__secret'), toolCall('safe__secret'));
  const expired = await busy.run('go', {
    owner: 'ann',
    wiretap: ({ type }) => {
      if (type === 'ToolCallCompleted') tokens.delete('ann');
    },
  });
  expect(expired.pendingInputs).toMatchObject([
    { inputId: 'call_2/authorize', tool: 'safe__secret' },
  ]);
  tokens.set('ann', TOKEN);
  const renewed = await busy.resume(expired, {
    owner: 'ann',
    inputs: { 'call_2/authorize': { action: 'accept' } },
  });
  expect(resultsOf(renewed)).toEqual(['the secret', 'the secret']);
  const declined = await agentFor().agent.resume(paused, {
    owner: 'ann',
    inputs: { 'call_1/authorize': { action: 'decline' } },
  });
  expect(resultsOf(declined)).toEqual(['mcp_unauthorized']);
  expect(JSON.stringify([events, done, again, declined])).not.toContain(TOKEN);
});
