import { describe, expect, expectTypeOf, it } from 'vitest';
import { AgentError } from '../../errors/agent-error.ts';
import {
  ownedSessions,
  pusherAuth,
  type AgentChannel,
  type PusherAuthOptions,
} from './pusher-auth.ts';

const app = { key: 'test-key', secret: 'test-secret' };
const form = 'application/x-www-form-urlencoded';

function ask(
  fields: Readonly<Record<string, string>> | string,
  { type = form, method = 'POST' } = {},
): Request {
  const body = typeof fields === 'string' ? fields : String(new URLSearchParams(fields));
  return new Request('http://app.test/broadcasting/auth', {
    method,
    headers: { 'content-type': type, 'x-user': 'ann' },
    ...(method === 'POST' && { body }),
  });
}

const asked = (channel: string): Readonly<Record<string, string>> => ({
  socket_id: '1234.5678',
  channel_name: channel,
});

async function said(
  request: Request,
  options: Partial<PusherAuthOptions> = {},
): Promise<[number, Record<string, unknown>]> {
  const response = await pusherAuth({ ...app, authorize: () => true, ...options })(request);
  expect(response.headers.get('content-type')).toMatch(/^application\/json/);
  expect(response.headers.get('cache-control')).toBe('no-store');
  return [response.status, (await response.json()) as Record<string, unknown>];
}

const private1 = 'test-key:2f0c329f14cd75176c9442e0fb3dfcee7887feaa3eefdbca043a48c85180aefa';

describe('pusherAuth', () => {
  it('signs a private channel like other libraries, for a form and for JSON', async () => {
    const fields = asked('private-agent.run.1');
    expect(await said(ask(fields))).toEqual([200, { auth: private1 }]);
    const json = ask(JSON.stringify(fields), { type: 'application/json; charset=utf-8' });
    expect(await said(json)).toEqual([200, { auth: private1 }]);
  });

  it('signs the exact text of a presence channel, always with user_info', async () => {
    const authorize = (): { userId: string; userInfo: { name: string } } => ({
      userId: 'u1',
      userInfo: { name: 'Änn' },
    });
    const [status, answer] = await said(ask(asked('presence-agent.1')), { authorize });
    expect(status).toBe(200);
    expect(answer['channel_data']).toBe('{"user_id":"u1","user_info":{"name":"Änn"}}');
    const bare = await said(ask(asked('presence-agent.1')), {
      authorize: () => ({ userId: 'u1' }),
    });
    expect(bare[1]['channel_data']).toBe('{"user_id":"u1","user_info":{"id":"u1"}}');
    // created with node:crypto
    expect(bare[1]['auth']).toBe(
      'test-key:' + (await hmac(`1234.5678:presence-agent.1:${String(bare[1]['channel_data'])}`)),
    );
    expect(answer['auth']).not.toBe(bare[1]['auth']);
  });

  it('passes the channel to the hook', async () => {
    const received: [string | null, AgentChannel][] = [];
    const authorize: PusherAuthOptions['authorize'] = async (request, channel) => {
      received.push([request.headers.get('x-user'), channel]);
      return true;
    };
    await said(ask(asked('private-agent.a=b@c,d.e;f_-')), { authorize });
    expect(received).toEqual([
      [
        'ann',
        {
          sessionId: 'a=b@c,d.e;f_-',
          channel: 'private-agent.a=b@c,d.e;f_-',
          kind: 'private',
          socketId: '1234.5678',
        },
      ],
    ]);
  });

  it.each([false, null, undefined])('answers 403 if the hook returns %s', async (access) => {
    const [status, body] = await said(ask(asked('private-agent.1')), { authorize: () => access });
    expect([status, body]).toEqual([
      403,
      {
        error: {
          code: 'forbidden',
          message: 'This channel does not exist, or it is not yours.',
        },
      },
    ]);
  });

  it.each([
    'private-orders.1',
    'private-agent.',
    'private-agentX1',
    'private-encrypted-agent.1',
    'agent.1',
    'presence-lobby',
    'private-agent.1:extra',
    'private-agent.a b',
    'private-agent.ä',
    `private-agent.${'x'.repeat(186)}`,
    'private-agent.1\nx',
  ])('refuses channel %j with 403 without calling the hook', async (channel) => {
    const authorize = (): never => {
      throw new Error('asked');
    };
    expect((await said(ask(asked(channel)), { authorize }))[0]).toBe(403);
  });

  it.each([
    ['no socket', { channel_name: 'private-agent.1' }],
    [
      'a socket that would change the signed text',
      { ...asked('private-agent.1'), socket_id: '1.2:private-agent.2' },
    ],
    ['a socket with a line end', { ...asked('private-agent.1'), socket_id: '1.2\n' }],
    ['an endless socket', { ...asked('private-agent.1'), socket_id: `1.${'2'.repeat(21)}` }],
    ['no channel', { socket_id: '1.2' }],
    ['an empty channel', { socket_id: '1.2', channel_name: '' }],
  ])('answers 400 to %s', async (_name, fields) => {
    const [status, body] = await said(ask(fields));
    expect([status, body]).toMatchObject([400, { error: { code: 'invalid_request' } }]);
  });

  it.each([
    ['incomplete JSON', '{"socket_id":'],
    ['JSON that is not an object', '[1]'],
    ['JSON with other types', '{"socket_id":1.2,"channel_name":["private-agent.1"]}'],
    ['an empty body', ''],
  ])('answers 400 to %s', async (_name, text) => {
    expect((await said(ask(text, { type: 'application/json' })))[0]).toBe(400);
  });

  it('answers 405 to other methods than POST, and 413 to a body that is too large', async () => {
    const response = await pusherAuth({ ...app, authorize: () => true })(
      ask('', { method: 'GET' }),
    );
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST']);
    const large = { ...asked('private-agent.1'), more: 'x'.repeat(9_000) };
    expect((await said(ask(large)))[0]).toBe(413);
    const padded = { ...asked('private-agent.run.1'), more: 'x'.repeat(8_000) };
    expect((await said(ask(padded)))[0]).toBe(200);
  });

  it('does not wait for the end of an endless body', async () => {
    let pulled = 0;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        pulled += 1;
        controller.enqueue(new Uint8Array(4_096));
      },
    });
    const init = { method: 'POST', body, duplex: 'half' } as RequestInit; // DOM types lack duplex
    expect((await said(new Request('http://app.test', init)))[0]).toBe(413);
    expect(pulled).toBeLessThan(6);
  });

  it('reports a hook that throws, without details for the client', async () => {
    const errors: unknown[] = [];
    const failure = new Error('password=hunter2');
    const [status, body] = await said(ask(asked('private-agent.1')), {
      authorize: () => Promise.reject(failure),
      onError: (error) => errors.push(error),
    });
    expect(errors).toEqual([failure]);
    expect([status, body]).toEqual([
      500,
      { error: { code: 'internal', message: 'The channel could not be authorized.' } },
    ]);
  });

  it('a presence channel requires a user id', async () => {
    const errors: unknown[] = [];
    const [status] = await said(ask(asked('presence-agent.1')), {
      onError: (error) => errors.push(error),
    });
    expect(status).toBe(500);
    expect(String(errors[0])).toContain('expected { userId, userInfo? }');
  });

  it('refuses options that cannot work, without showing the secret', () => {
    const made = (options: object): unknown => {
      try {
        return pusherAuth({ ...app, authorize: () => true, ...options });
      } catch (error) {
        return error instanceof AgentError ? `${error.code} ${error.message}` : error;
      }
    };
    expect(made({ secret: ' ' })).toMatch(/^invalid_option pusherAuth secret is missing/);
    expect(made({ secret: 12345678 })).not.toMatch(/1234/);
    expect(made({ key: 'a:b' })).toMatch(/^invalid_option pusherAuth key got "a:b"/);
    expect(made({ authorize: undefined })).toMatch(/^invalid_option pusherAuth authorize/);
  });
});

describe('ownedSessions', () => {
  const runtime = {
    get: async (id: string, { owner }: { readonly owner: string }): Promise<never> => {
      if (id === 'broken') throw new AgentError('store_failed', 'The database is away.');
      if (id !== 's1' || owner !== 'ann')
        throw new AgentError('session_not_found', `There is no session ${id}.`);
      return {} as never;
    },
  };
  const authorize = ownedSessions(runtime, (request) => request.headers.get('x-user'));

  it('allows only the owner, and refuses a missing session like one of another owner', async () => {
    expect((await said(ask(asked('private-agent.s1')), { authorize }))[0]).toBe(200);
    const foreign = await said(ask(asked('private-agent.s1')), {
      authorize: ownedSessions(runtime, async () => 'bob'),
    });
    const missing = await said(ask(asked('private-agent.s2')), { authorize });
    expect(foreign[0]).toBe(403);
    expect(missing).toEqual(foreign);
  });

  it.each([null, undefined, ''])(
    'refuses a client that is not signed in (%j) and reads no session',
    async (owner) => {
      const asks = ownedSessions({ get: () => Promise.reject(new Error('looked')) }, () => owner);
      expect((await said(ask(asked('private-agent.s1')), { authorize: asks }))[0]).toBe(403);
    },
  );

  it('uses the owner as the member id', async () => {
    const [, body] = await said(ask(asked('presence-agent.s1')), { authorize });
    expect(body['channel_data']).toBe('{"user_id":"ann","user_info":{"id":"ann"}}');
  });

  it('a failing store is an error, not a refusal', async () => {
    const errors: unknown[] = [];
    const options = { authorize, onError: (error: unknown) => errors.push(error) };
    expect((await said(ask(asked('private-agent.broken')), options))[0]).toBe(500);
    expect(AgentError.is(errors[0], 'store_failed')).toBe(true);
  });

  it('works as a hook', () => {
    expectTypeOf(authorize).toEqualTypeOf<PusherAuthOptions['authorize']>();
  });
});

async function hmac(text: string): Promise<string> {
  const { createHmac } = await import('node:crypto');
  return createHmac('sha256', 'test-secret').update(text).digest('hex');
}
