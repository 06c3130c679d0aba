import { mcpServer } from 'onward/mcp/server';
import { agentServer } from 'onward/server';
import { serve } from 'onward/server/node';
import { describe, expect, it, onTestFinished } from 'vitest';
import { agentsOverHttp as setup, ofAnn, remove } from '../setup/mcp-agent-server.ts';
import { httpClient } from '../setup/mcp-clients.ts';

describe('approvals and questions', () => {
  const accept = (content?: object) => () => ({ action: 'accept', ...(content && { content }) });

  it('runs an approved call once, and shows what it approves', async () => {
    const { client, effects } = await setup();
    const { call, asked } = await client('a', { answers: accept({ decision: 'approve' }) });
    const { value } = await call('support', remove);
    expect(value).toMatchObject({ status: 'completed', output: 'got removed lamp' });
    expect(effects()).toEqual(['removed lamp']);
    expect(asked).toHaveLength(1);
    expect(asked[0]).toMatchObject({
      message: expect.stringMatching(/"support" wants to call remove\.[^]*"article": "lamp"/),
      requestedSchema: { required: ['decision'] },
    });
  });

  it.each([
    ['denied', accept({ decision: 'deny', reason: 'in use' }), 'in use'],
    ['declined', () => ({ action: 'decline' }), 'The user declined.'],
  ])('does not run a call that was %s', async (_how, answers, reason) => {
    const { client, effects, runtime } = await setup();
    const { call } = await client('a', { answers });
    const { value } = await call('support', remove);
    expect(value.status).toBe('completed');
    expect(effects()).toEqual([]);
    const { items } = await runtime.steps(value.sessionId, ofAnn);
    expect(JSON.stringify(items)).toContain(reason);
  });

  it('leaves a call open that was cancelled, or answered with nothing, and asks again later', async () => {
    const { client, effects } = await setup();
    const replies: unknown[] = [
      { action: 'cancel' },
      { action: 'accept', content: {} },
      { action: 'accept', content: { decision: 'approve' } },
    ];
    const { call } = await client('a', { answers: () => replies.shift() });
    const left = await call('support', remove);
    expect(left.value).toMatchObject({ status: 'waiting', waitingFor: [{ tool: 'remove' }] });
    const { sessionId } = left.value;
    expect((await call('support', { sessionId })).value.status).toBe('waiting');
    expect(effects()).toEqual([]);
    expect((await call('support', { sessionId })).value.status).toBe('completed');
    expect(effects()).toEqual(['removed lamp']);
  });

  it('shows no secret, and says that it is hidden', async () => {
    const secret = `sk-proj-${'aB3d'.repeat(12)}`;
    const { client, effects } = await setup();
    const { call, asked } = await client('a', { answers: accept({ decision: 'approve' }) });
    const { text } = await call('support', { message: `call remove {"article":"${secret}"}` });
    expect(asked[0]!['message']).toContain('Hidden from view: /article.');
    expect(JSON.stringify(asked) + text).not.toContain(secret);
    expect(effects()).toEqual([`removed ${secret}`]);
  });

  it('does not ask for a call that it cannot show whole', async () => {
    const { client, effects } = await setup();
    const { call, asked } = await client('a', { answers: accept({ decision: 'approve' }) });
    const message = `call remove {"article":"${'lamp '.repeat(1_000)}"}`;
    const { value } = await call('support', { message });
    expect(value.waitingFor).toEqual([
      { tool: 'remove', asks: 'approval of a call with long arguments' },
    ]);
    expect([asked, effects()]).toEqual([[], []]);
  });

  it('asks for calls of one step together, and each has its own answer', async () => {
    const { client, effects } = await setup();
    const decisions = ['approve', 'deny'];
    const { call, asked } = await client('a', {
      answers: () => ({ action: 'accept', content: { decision: decisions.shift() } }),
    });
    const { value } = await call('support', { message: 'twice remove {"article":"lamp"}' });
    expect(value.status).toBe('completed');
    expect(asked).toHaveLength(2);
    expect(effects()).toEqual(['removed lamp']);
  });

  it('asks with the form of a tool, escapes its text, and asks again with what is wrong', async () => {
    const { client } = await setup();
    const names = ['A', 'Ann'];
    const { call, asked } = await client('a', {
      answers: () => ({ action: 'accept', content: { name: names.shift() } }),
    });
    const { value } = await call('support', { message: 'call greet' });
    expect(value.output).toBe('got hello "Ann"');
    expect(asked.map(({ message }) => String(message).split('\n')[0])).toEqual([
      'greet of "support" asks: What is your \\u202ename?',
      'greet of "support" asks: What is your \\u202ename?',
    ]);
    expect(asked[1]!['message']).toContain('was not accepted');
  });

  it('asks to open an address, and says what waits where no form of the protocol fits', async () => {
    const { client } = await setup();
    const { call, asked } = await client('a', { answers: accept() });
    expect((await call('support', { message: 'call pay' })).value.output).toBe(
      'got payment: accept',
    );
    expect(asked).toMatchObject([{ mode: 'url', url: 'https://pay.example.com/1' }]);
    const { value } = await call('support', { message: 'call order' });
    expect(value).toMatchObject({
      status: 'waiting',
      waitingFor: [{ tool: 'order', asks: 'Which items?' }],
    });
    expect(asked).toHaveLength(1);
  });

  it('an answer of another instance of the server counts, and the same answer twice runs once', async () => {
    const { runtime, url, effects } = await setup();
    const answers = new Promise<never>(() => {});
    const { client } = await httpClient(url, 'token-a', { answers: () => answers });
    const params = { name: 'support', arguments: remove };
    const asked = await client.callTool(params, { allowInputRequired: true });
    if (!('inputRequests' in asked)) throw new Error('it asks nothing');
    const [key = ''] = Object.keys(asked.inputRequests ?? {});
    const { requestState = '' } = asked;
    const again = {
      ...params,
      requestState,
      inputResponses: { [key]: { action: 'accept' as const, content: { decision: 'approve' } } },
    };
    const other = mcpServer({ runtime });
    const api = agentServer({ runtime, owner: () => 'ann', mcp: other });
    const running = await serve({ fetch: api, port: 0 });
    onTestFinished(async () => {
      await api.close();
      await running.close({ graceMs: 0 });
    });
    const elsewhere = await httpClient(`${running.url}/api/mcp`, 'token-a', {
      answers: () => answers,
    });
    for (let i = 0; i < 2; i++) {
      const { structuredContent } = await elsewhere.client.callTool(again);
      expect(structuredContent).toMatchObject({ status: 'completed', output: 'got removed lamp' });
    }
    expect(effects()).toEqual(['removed lamp']);
  });
});
