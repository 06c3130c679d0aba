import type { SessionRuntime } from 'onward';
import { describe, expect, it, vi } from 'vitest';
import { agentsOverHttp as setup, generations, ofAnn, remove } from '../setup/mcp-agent-server.ts';
import { until } from '../setup/sessions.ts';

vi.setConfig({ testTimeout: 60_000 });

describe('owners', () => {
  it('one owner never sees or changes a session of another', async () => {
    const { client, runtime, effects } = await setup();
    const [ann, bob] = [
      await client('a'),
      await client('b', { answers: () => ({ action: 'cancel' }) }),
    ];
    const { sessionId } = (await ann.call('support', { ...remove })).value;
    const before = JSON.stringify(await runtime.get(sessionId, ofAnn));
    const missing = await bob.call('support', { sessionId: 'none' });
    for (const args of [{ sessionId }, { sessionId, message: 'hi' }]) {
      const said = await bob.call('support', args);
      expect(said).toMatchObject({ isError: true, value: { status: 'failed' } });
      expect(said.text).not.toContain('lamp');
      expect(said.text.replaceAll(sessionId, 'none')).toBe(missing.text);
    }
    // with the state of a question that ann got
    const [pending] = (await runtime.get(sessionId, ofAnn)).pendingApprovals;
    const { callId, argsHash, executionId } = pending!;
    const refs = { question_1: { kind: 'approval', id: callId, argsHash, executionId } };
    const forged = await bob.client.callTool({
      name: 'support',
      arguments: remove,
      requestState: JSON.stringify({ sessionId, round: 1, left: [], refs }),
      inputResponses: { question_1: { action: 'accept', content: { decision: 'approve' } } },
    } as never);
    expect(forged.isError).toBe(true);
    expect(JSON.stringify(await runtime.get(sessionId, ofAnn))).toBe(before);
    expect((await runtime.list({ owner: 'bob' })).sessions).toEqual([]);
    expect(effects()).toEqual([]);
  });

  it('calls of both at the same time get their own sessions', async () => {
    const { client, runtime } = await setup();
    const clients = { ann: await client('a'), bob: await client('b') };
    const calls = Array.from({ length: 20 }, async (_one, i) => {
      const owner = i % 2 ? 'ann' : 'bob';
      const { value } = await clients[owner].call('support', { message: `${owner} ${i}` });
      expect(value.output).toBe(`1: ${owner} ${i}`);
      expect((await runtime.get(value.sessionId, { owner })).owner).toBe(owner);
    });
    await Promise.all(calls);
  });

  it('refuses a client that is not signed in, and a page of another site', async () => {
    const { post, runtime } = await setup();
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
    expect((await post(message, { authorization: '' })).status).toBe(401);
    expect(
      (await post(message, { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }))
        .status,
    ).toBe(403);
    expect((await runtime.list(ofAnn)).sessions).toEqual([]);
  });
});

describe('a client that leaves', () => {
  const slow = { message: 'call slow {"ms":30000}' };
  const newest = async (runtime: SessionRuntime) => (await runtime.list(ofAnn)).sessions[0];

  it.each(['cancels', 'is gone'])('stops the run, which says so: it %s', async (how) => {
    const { client, runtime, effects } = await setup();
    const { call, client: raw } = await client('a');
    const leave = new AbortController();
    const calling = call('support', slow, { signal: leave.signal }).catch(() => 'left');
    await until(() => effects().includes('slow started'));
    if (how === 'cancels') leave.abort('enough');
    else await raw.close();
    expect(await calling).toBe('left');
    await until(() => effects().includes('slow aborted'));
    const session = await until(async () => {
      const found = await newest(runtime);
      return found?.phase === 'idle' ? found : null;
    });
    expect(session).toMatchObject({ status: 'stopped', stopReason: 'user_requested' });
    expect(JSON.stringify(session.outcome)).toContain('the MCP client cancelled the call');
  });

  it('of the older generation leaves the run to itself: a lost connection is no cancel there', async () => {
    const { client, runtime, effects } = await setup();
    const { client: raw, call } = await client('a', { generation: 'legacy' });
    call('support', { message: 'call slow {"ms":1000}' }).catch(() => {});
    await until(() => effects().includes('slow started'));
    await raw.close();
    await until(() => effects().includes('slow done'));
    await until(async () => (await newest(runtime))?.status === 'completed');
  });

  it.each(generations)(
    'gets an answer from a server that closes, and the run continues (%s)',
    async (generation) => {
      const { client, runtime, effects, close } = await setup();
      const { call } = await client('a', { generation });
      const calling = call('support', { message: 'call slow {"ms":1000}' });
      await until(() => effects().includes('slow started'));
      await close();
      expect((await calling).value).toMatchObject({ status: 'working' });
      await until(async () => (await newest(runtime))?.status === 'completed');
      expect(effects()).toEqual(['slow started', 'slow done']);
    },
  );
});

describe('hostile clients', () => {
  it('get an error for what is no call, and leave nothing behind', async () => {
    const { client, runtime } = await setup();
    const { call, client: raw } = await client('a');
    for (const args of [
      {},
      { message: '' },
      { message: ' ' },
      { message: 7 },
      { message: 'x'.repeat(100_001) },
      { sessionId: 7 },
      { sessionId: '../../etc' },
      { message: 'hi', sessionId: 'none' },
      JSON.parse('{"__proto__":{"message":"hi"}}') as object,
      { message: 'hi', owner: 'bob' },
      { message: 'hi', constructor: 1 },
    ]) {
      const result = await call('support', args).catch((error: Error) => ({
        isError: true,
        text: error.message,
      }));
      expect(result.isError, JSON.stringify(args).slice(0, 80)).toBe(true);
      expect(result.text).not.toMatch(/\bat .*\.ts|onward-sessions/);
    }
    await expect(raw.callTool({ name: '__proto__', arguments: {} })).rejects.toThrow(
      'There is no tool',
    );
    for (const requestState of [
      '',
      'x',
      '{}',
      '[]',
      'null',
      `{"sessionId":"${'x'.repeat(70_000)}"}`,
    ]) {
      const params = { name: 'support', arguments: { message: 'hi' }, requestState };
      expect(await raw.callTool(params as never)).toMatchObject({ isError: true });
    }
    expect((await runtime.list(ofAnn)).sessions).toEqual([]);
  });

  it('cannot send lists of messages, large bodies, or use other methods', async () => {
    const { post, url } = await setup();
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'support' } };
    expect((await post([message, message])).status).toBe(400);
    expect((await post({ ...message, extra: 1 })).status).toBe(400);
    expect((await post('{')).status).toBe(400);
    expect((await post(message, { 'content-type': 'text/plain' })).status).toBe(415);
    for (const method of ['GET', 'DELETE']) {
      const { status } = await fetch(url, { method, headers: { authorization: 'Bearer token-a' } });
      expect(status).toBe(405);
    }
    // closes the socket
    expect((await post({ ...message, params: { text: 'x'.repeat(1_100_000) } })).status).toBe(413);
  });

  it('have a bounded number of calls at the same time, each owner for itself', async () => {
    const { client, effects } = await setup({ maxCalls: 2, waitMs: 3_000 });
    const [ann, bob] = [await client('a'), await client('b')];
    const slow = { message: 'call slow {"ms":1500}' };
    const running = [ann.call('support', slow), ann.call('support', slow)];
    await until(() => effects().length === 2);
    const refused = await ann.call('support', { message: 'hi' });
    expect(refused).toMatchObject({
      isError: true,
      text: expect.stringContaining('Too many calls'),
    });
    expect((await bob.call('support', { message: 'hi' })).value.status).toBe('completed');
    for (const { value } of await Promise.all(running)) expect(value.status).toBe('completed');
  });

  it.each(generations)('hold up no other request of their owner (%s)', async (generation) => {
    const { client, effects, url } = await setup();
    const { call } = await client('a', { generation });
    const running = Array.from({ length: 8 }, () =>
      call('support', { message: 'call slow {"ms":2000}' }),
    );
    await until(() => effects().length >= 8);
    const headers = { authorization: 'Bearer token-a' };
    const list = await fetch(url.replace('/mcp', '/sessions'), { headers });
    expect(list.status).toBe(200);
    expect(effects()).not.toContain('slow done');
    for (const { value } of await Promise.all(running)) expect(value.status).toBe('completed');
  });

  it('learn nothing about an error of the server, which is reported', async () => {
    const { client, runtime, errors } = await setup();
    const { call } = await client('a');
    vi.spyOn(runtime, 'create').mockRejectedValueOnce(new Error('password=hunter2'));
    const said = await call('support', { message: 'hi' });
    expect(said.value).toMatchObject({
      status: 'failed',
      explanation: 'Something went wrong on the server.',
    });
    expect(errors.splice(0).map(String)).toEqual(['Error: password=hunter2']);
  });
});
