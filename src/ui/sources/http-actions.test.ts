import { describe, expect, it } from 'vitest';
import { json, mute, serve, type Reply } from '../../../test/setup/loopback.ts';
import { HttpActionError, httpActions, httpSession } from './http-actions.ts';

const refusal = (status: number, code: string, message: string, details = {}): Reply =>
  json({ error: { code, message, details } }, status);

const accepted = json({ sessionId: 'ses 1', executionId: 'exe_1', status: 'processing' }, 202);

describe('httpActions', () => {
  it('sends each request to its route, with the current headers', async () => {
    const server = await serve(...Array.from({ length: 11 }, () => accepted));
    let asked = 0;
    const actions = httpActions({
      base: `${server.url}/`,
      sessionId: 'ses 1',
      headers: () => ({ authorization: `Bearer ${++asked}` }),
    });
    expect(await actions.send('Hello', { id: 'msg_1' })).toMatchObject({ executionId: 'exe_1' });
    await actions.approve('call/1');
    await actions.approve('call_2', { id: 7 });
    await actions.deny('call_3', 'still in negotiation');
    const shown = { executionId: 'exe_1', argsHash: 'abc' };
    await actions.approve('call_4', undefined, shown);
    await actions.deny('call_5', 'no', shown);
    await actions.approveAll([{ callId: 'call_6', ...shown }]);
    await actions.stop();
    await actions.resume();
    await actions.resume({ steps: 5 });
    await actions.retry();
    const at = '/v1/sessions/ses%201';
    expect(server.requests.map(({ path, body }) => [path, body])).toEqual([
      [`${at}/messages`, { content: 'Hello', executionId: 'msg_1' }],
      [`${at}/approvals/call%2F1`, { decision: 'approve' }],
      [`${at}/approvals/call_2`, { decision: 'approve', args: { id: 7 } }],
      [`${at}/approvals/call_3`, { decision: 'deny', reason: 'still in negotiation' }],
      [`${at}/approvals/call_4`, { decision: 'approve', ...shown }],
      [`${at}/approvals/call_5`, { decision: 'deny', reason: 'no', ...shown }],
      [`${at}/approvals`, { calls: [{ callId: 'call_6', ...shown }] }],
      [`${at}/stop`, {}],
      [`${at}/resume`, {}],
      [`${at}/resume`, { grant: { steps: 5 } }],
      [`${at}/retry`, {}],
    ]);
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual(
      [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11].map((count) => `Bearer ${count}`),
    );
  });

  it('reads what the user may still grant from the session; an older server sends nothing', async () => {
    const allowance = { left: { steps: 3 }, grant: { steps: 3 } };
    const server = await serve(
      json({ id: 's', allowance }),
      json({ id: 's' }),
      refusal(404, 'session_not_found', 'There is no session "s".'),
    );
    const session = httpSession({ base: server.url, sessionId: 's' });
    expect(await session.allowance()).toEqual(allowance);
    expect(await session.allowance()).toBeNull();
    await expect(session.allowance()).rejects.toMatchObject({ code: 'session_not_found' });
    expect(server.requests.map(({ path }) => path)).toEqual(Array(3).fill('/v1/sessions/s'));
  });

  it('queues a message with whenBusy', async () => {
    const server = await serve(accepted);
    const actions = httpActions({ base: server.url, sessionId: 's', whenBusy: 'queue' });
    await actions.send('Next', { id: 'msg_1' });
    expect(server.requests[0]?.body['whenBusy']).toBe('queue');
  });

  it('a refusal has the message of the server', async () => {
    const server = await serve(refusal(409, 'conflict', 'Session "s" is busy.'));
    const { stop } = httpActions({ base: server.url, sessionId: 's' });
    await expect(stop()).rejects.toMatchObject({
      name: 'HttpActionError',
      status: 409,
      code: 'conflict',
      message: 'Session "s" is busy.',
    });
  });

  it('a retried message counts as sent if the server had accepted it', async () => {
    const taken = refusal(409, 'conflict', 'has begun before', { executionId: 'msg_1' });
    const other = refusal(409, 'conflict', 'is busy', { executionId: 'exe_9' });
    const server = await serve(taken, other);
    const { send } = httpActions({ base: server.url, sessionId: 's' });
    expect(await send('Hello', { id: 'msg_1' })).toEqual({ executionId: 'msg_1' });
    await expect(send('Hello', { id: 'msg_1' })).rejects.toThrow('is busy');
  });

  it("reports a missing response, and shows nothing of another server's page", async () => {
    const server = await serve(json('<h1>Bad gateway</h1>', 502), mute);
    const { stop } = httpActions({ base: server.url, sessionId: 's' });
    const thrown = await stop().catch((error: unknown) => error);
    expect(HttpActionError.is(thrown, 'refused')).toBe(true);
    expect(String(thrown)).not.toContain('Bad gateway');
    await server.close();
    await expect(stop()).rejects.toMatchObject({ status: 0, code: 'unreachable' });
  });
});

it('httpSession reads and acts on the same session', async () => {
  const server = await serve(json({ execution_id: null, envelopes: [], seq: 0, more: false }));
  const { source, actions } = httpSession({
    base: server.url,
    sessionId: 'a/b',
    headers: { authorization: 'Bearer t' },
  });
  expect(source.key).toBe(`sse ${server.url}/sessions/a%2Fb/events`);
  await source.refill?.(null, new AbortController().signal);
  expect(server.requests[0]?.path).toBe('/v1/sessions/a%2Fb/log');
  expect(server.requests[0]?.headers.authorization).toBe('Bearer t');
  expect(Object.keys(actions).toSorted()).toEqual([
    'answer',
    'approve',
    'approveAll',
    'attaches',
    'deny',
    'remembers',
    'resume',
    'retry',
    'send',
    'stop',
  ]);
});
