import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { hmac, md5, phpJson, signedText } from '../setup/pusher-signing.ts';
import { pusherServer, type PusherServer } from '../setup/pusher-server.ts';

interface Frame {
  readonly event: string;
  readonly channel?: string;
  readonly data?: unknown;
}

interface Peer {
  readonly ws: WebSocket;
  readonly texts: readonly string[];
  /** The next frame that was not asked for yet. */
  next(): Promise<Frame>;
  say(event: string, data?: unknown, channel?: string): void;
  readonly socketId: string;
}

/** A bare WebSocket, so that what is measured is the server. */
async function peer(server: PusherServer, key = 'test-key', headers = {}): Promise<Peer> {
  const ws = new WebSocket(`ws://127.0.0.1:${server.port}${server.path}/app/${key}?protocol=7`, {
    headers,
  });
  onTestFinished(() => ws.terminate());
  const texts: string[] = [];
  const waiting: ((frame: Frame) => void)[] = [];
  let taken = 0;
  ws.on('message', (data: Buffer) => {
    texts.push(data.toString());
    if (waiting.length > 0) waiting.shift()?.(JSON.parse(texts[taken++]!) as Frame);
  });
  const next = async (): Promise<Frame> =>
    taken < texts.length
      ? (JSON.parse(texts[taken++]!) as Frame)
      : new Promise((resolve) => {
          waiting.push(resolve);
        });
  await once(ws, 'open');
  const first = await next();
  const { socket_id: socketId = '' } = JSON.parse(String(first.data)) as { socket_id?: string };
  if (socketId === '') taken = 0;
  return {
    ws,
    texts,
    next,
    socketId,
    say: (event, data, channel) => ws.send(JSON.stringify({ event, data, channel })),
  };
}

const codeOf = ({ event, data }: Frame): [string, number] => [
  event,
  (JSON.parse(String(data)) as { code: number }).code,
];

function signedTarget(
  server: PusherServer,
  method: string,
  path: string,
  body = '',
  more: Record<string, string> = {},
): string {
  const query = new URLSearchParams({
    auth_key: server.app.key,
    auth_timestamp: '1794768636',
    auth_version: '1.0',
    ...(body !== '' && { body_md5: md5(body) }),
    ...more,
  });
  const text = signedText(method, path, query, Buffer.from(body));
  query.set('auth_signature', hmac(server.app.secret, text));
  return `${server.path}${path}?${String(query)}`;
}

/** What came back over a bare connection until the server closed it. */
async function raw(server: PusherServer, request: string): Promise<string> {
  const socket = connect(server.port, '127.0.0.1');
  let answer = '';
  socket.on('data', (data) => (answer += data.toString()));
  socket.on('error', () => {});
  socket.write(request);
  await once(socket, 'close');
  return answer;
}

async function rest(
  server: PusherServer,
  method: string,
  path: string,
  body = '',
  more: Record<string, string> = {},
): Promise<[number, string]> {
  const response = await fetch(
    `http://127.0.0.1:${server.port}${signedTarget(server, method, path, body, more)}`,
    { method, ...(body !== '' && { body }) },
  );
  return [response.status, await response.text()];
}

const events = '/apps/test-app/events';
const batches = '/apps/test-app/batch_events';
const event = (data: string, channel = 'news'): string =>
  JSON.stringify({ name: 'e', data, channels: [channel] });

describe('signatures that other libraries made', () => {
  it.each([
    [
      '1234.5678:private-agent.run.1',
      '2f0c329f14cd75176c9442e0fb3dfcee7887feaa3eefdbca043a48c85180aefa',
    ],
    [
      '1234.5678:presence-room.1:{"user_id":"u1","user_info":{"name":"Ann"}}',
      '76b9174a6161ce395543eddfd792978485daa90bb5eca180fabcf9450379b49d',
    ],
  ])('%s', (text, signature) => {
    expect(hmac('test-secret', text)).toBe(signature);
  });

  it('the request that Laravel sent', () => {
    const body =
      '{"name":"App\\\\Events\\\\AgentToken","data":"{\\"delta\\":\\"\\\\u00e9\\\\\\/\\\\u2603\\",\\"seq\\":1}","channels":["private-agent.run.1","private-agent.run.2"]}';
    expect(body).toHaveLength(145);
    expect(md5(body)).toBe('2d708cf36c153c700bf72cad1657d02f');
    const query = new URLSearchParams(
      'auth_key=test-key&auth_timestamp=1794768636&auth_version=1.0',
    );
    const text = signedText('POST', events, query, Buffer.from(body));
    expect(text).toBe(
      'POST\n/apps/test-app/events\nauth_key=test-key&auth_timestamp=1794768636&auth_version=1.0&body_md5=2d708cf36c153c700bf72cad1657d02f',
    );
    expect(hmac('test-secret', text)).toBe(
      '8662ccb79d2a92b88a7b09fc6480ea946c35182ad3c876c3806635ae332710b8',
    );
  });
});

describe('connections', () => {
  it('greet with a socket id in a JSON string, and answer a ping', async () => {
    const client = await peer(await pusherServer());
    expect(client.socketId).toMatch(/^\d+\.\d+$/);
    expect(client.texts[0]).toBe(
      `{"event":"pusher:connection_established","data":"{\\"socket_id\\":\\"${client.socketId}\\",\\"activity_timeout\\":30}"}`,
    );
    client.say('pusher:ping', {});
    await client.next();
    expect(client.texts[1]).toBe('{"event":"pusher:pong"}');
  });

  it('4001: an unknown key is told and ended without a close frame', async () => {
    const client = await peer(await pusherServer(), 'other-key');
    expect(codeOf(await client.next())).toEqual(['pusher:error', 4001]);
    const [code] = (await once(client.ws, 'close')) as [number];
    expect(code).toBe(1006);
  });

  it.each([
    [
      '4009: a foreign origin',
      { allowedOrigins: ['*.example.com'] },
      { origin: 'https://a.test' },
      4009,
    ],
    ['4009: no origin', { allowedOrigins: ['*.example.com'] }, {}, 4009],
    ['4004: too many', { maxConnections: 0 }, {}, 4004],
  ])(
    '%s is told in the place of the greeting, and may go on',
    async (_name, options, headers, code) => {
      const client = await peer(await pusherServer(options), 'test-key', headers);
      expect(codeOf(await client.next())).toEqual(['pusher:error', code]);
      client.say('pusher:subscribe', { channel: 'news' });
      expect(await client.next()).toMatchObject({
        event: 'pusher_internal:subscription_succeeded',
      });
    },
  );

  it('an allowed origin is greeted, and only subscribed sockets count', async () => {
    const server = await pusherServer({ allowedOrigins: ['*.example.com'], maxConnections: 1 });
    const headers = { origin: 'https://app.example.com' };
    const first = await peer(server, 'test-key', headers);
    const second = await peer(server, 'test-key', headers);
    expect([first.socketId, second.socketId]).not.toContain('');
    expect((await rest(server, 'GET', '/apps/test-app/connections'))[1]).toBe('{"connections":0}');
    first.say('pusher:subscribe', { channel: 'news' });
    await first.next();
    expect((await rest(server, 'GET', '/apps/test-app/connections'))[1]).toBe('{"connections":1}');
    const third = await peer(server, 'test-key', headers);
    expect(codeOf(await third.next())[1]).toBe(4004);
  });

  it.each([
    ['not JSON', 'hello'],
    ['no object', '7'],
    ['no event', '{}'],
    ['a channel is missing', '{"event":"pusher:subscribe","data":{}}'],
    ['an unknown event of the protocol', '{"event":"pusher:signin","data":{}}'],
    ['data of a whisper that is a text', '{"event":"client-x","channel":"news","data":"t"}'],
  ])('4200: %s, and the socket stays open', async (_name, text) => {
    const client = await peer(await pusherServer());
    client.ws.send(text);
    expect(codeOf(await client.next())).toEqual(['pusher:error', 4200]);
    client.say('pusher:subscribe', '{"channel":"news"}');
    expect(await client.next()).toEqual({
      event: 'pusher_internal:subscription_succeeded',
      data: '{}',
      channel: 'news',
    });
  });

  it('any other name is dropped without a word', async () => {
    const client = await peer(await pusherServer());
    client.say('hello', {});
    client.say('pusher:ping', {});
    expect((await client.next()).event).toBe('pusher:pong');
  });

  it('1009: a message that is too large', async () => {
    const client = await peer(await pusherServer());
    client.ws.send('x'.repeat(10_001));
    const [code, reason] = (await once(client.ws, 'close')) as [number, Buffer];
    expect([code, reason.toString()]).toEqual([1009, 'Maximum message size exceeded']);
  });

  it('4301: too many messages', async () => {
    const client = await peer(await pusherServer({ maxMessages: 1 }));
    client.say('pusher:ping', {});
    client.say('pusher:ping', {});
    expect((await client.next()).event).toBe('pusher:pong');
    expect(codeOf(await client.next())).toEqual(['pusher:error', 4301]);
  });

  it('4201: pings whoever is silent, then ends him; sockets without a channel are left alone', async () => {
    const server = await pusherServer();
    const silent = await peer(server);
    const alone = await peer(server);
    silent.say('pusher:subscribe', { channel: 'news' });
    await silent.next();
    server.sockets.sweep(0);
    expect((await silent.next()).event).toBe('pusher:ping');
    server.sockets.sweep(0);
    expect(codeOf(await silent.next())[1]).toBe(4201);
    await once(silent.ws, 'close');
    alone.say('pusher:ping', {});
    expect((await alone.next()).event).toBe('pusher:pong');
  });
});

describe('channels', () => {
  const authOf = (text: string): string => `test-key:${hmac('test-secret', text)}`;

  it('4009: a wrong signature, without the name of the channel; the socket stays', async () => {
    const client = await peer(await pusherServer());
    client.say('pusher:subscribe', { channel: 'private-agent.1', auth: 'test-key:00' });
    expect(await client.next()).toEqual({
      event: 'pusher:error',
      data: '{"code":4009,"message":"Connection is unauthorized"}',
    });
    const auth = authOf(`${client.socketId}:private-agent.1`);
    client.say('pusher:subscribe', { channel: 'private-agent.1', auth });
    expect((await client.next()).event).toBe('pusher_internal:subscription_succeeded');
  });

  it('what is not in front of the colon does not count, and a name that begins like private is private', async () => {
    const client = await peer(await pusherServer());
    const auth = `any:${hmac('test-secret', `${client.socketId}:privateer`)}`;
    client.say('pusher:subscribe', { channel: 'privateer', auth });
    expect((await client.next()).event).toBe('pusher_internal:subscription_succeeded');
    client.say('pusher:subscribe', { channel: 'privateer' });
    expect(codeOf(await client.next())[1]).toBe(4009);
  });

  const join = async (client: Peer, member: unknown): Promise<Frame> => {
    const data = JSON.stringify(member);
    const auth = authOf(`${client.socketId}:presence-room:${data}`);
    client.say('pusher:subscribe', { channel: 'presence-room', auth, channel_data: data });
    return client.next();
  };

  it('presence: who is here, who comes and who goes, once a user', async () => {
    const server = await pusherServer();
    const [ann, bob, bobAgain] = [await peer(server), await peer(server), await peer(server)];
    expect((await join(ann, { user_id: 'a', user_info: {} })).data).toBe(
      '{"presence":{"count":1,"ids":["a"],"hash":{"a":[]}}}',
    );
    await join(bob, { user_id: 'b', user_info: null });
    expect(await ann.next()).toEqual({
      event: 'pusher_internal:member_added',
      data: '{"user_id":"b","user_info":null}',
      channel: 'presence-room',
    });
    await join(bobAgain, { user_id: 'b', user_info: null });
    expect((await rest(server, 'GET', '/apps/test-app/channels/presence-room/users'))[1]).toBe(
      '{"users":[{"id":"a"},{"id":"b"}]}',
    );
    bob.ws.close();
    await once(bob.ws, 'close');
    bobAgain.say('pusher:unsubscribe', { channel: 'presence-room' });
    expect(await ann.next()).toMatchObject({
      event: 'pusher_internal:member_removed',
      data: '{"user_id":"b"}',
    });
    expect(ann.texts).toHaveLength(4);
  });

  it('presence: one member without user_info spoils the channel', async () => {
    const server = await pusherServer();
    const [ann, bob] = [await peer(server), await peer(server)];
    expect(codeOf(await join(ann, { user_id: 'a' }))[1]).toBe(4200);
    expect(codeOf(await join(bob, { user_id: 'b', user_info: null }))[1]).toBe(4200);
  });

  it('whispers reach the other members with the true user id', async () => {
    const server = await pusherServer();
    const [ann, bob] = [await peer(server), await peer(server)];
    await join(ann, { user_id: 'a', user_info: null });
    ann.say('client-typing', { on: true }, 'presence-other');
    expect(codeOf(await ann.next())[1]).toBe(4009);
    await join(bob, { user_id: 'b', user_info: null });
    bob.ws.send('{"event":"client-typing","channel":"presence-room","data":{},"user_id":"a"}');
    await ann.next();
    expect(await ann.next()).toEqual({
      event: 'client-typing',
      channel: 'presence-room',
      data: {},
      user_id: 'b',
    });
    const off = await peer(await pusherServer({ acceptClientEventsFrom: 'none' }));
    off.say('client-x', {}, 'news');
    expect(codeOf(await off.next())[1]).toBe(4301);
  });
});

describe('the REST API', () => {
  it('forwards data exactly, escaped as PHP does, one by one and in batches', async () => {
    const server = await pusherServer();
    const client = await peer(server);
    client.say('pusher:subscribe', { channel: 'news' });
    await client.next();
    const data = '{"a/b":"é☃ \\"👩‍🚀\\""}';
    expect(await rest(server, 'POST', events, event(data))).toEqual([200, '{}']);
    await client.next();
    expect(client.texts.at(-1)).toBe(`{"event":"e","data":${phpJson(data)},"channel":"news"}`);
    // oxlint-disable-next-line no-control-regex -- that it is ASCII is what is tested
    expect(client.texts.at(-1)).toMatch(/^[\u0000-\u007f]+$/);
    const batch = [1, 2, 3].map((n) => ({ name: 'e', data: `${data}${n}`, channel: 'news' }));
    expect(await rest(server, 'POST', batches, JSON.stringify({ batch }))).toEqual([
      200,
      '{"batch":{}}',
    ]);
    for (const { data: sent } of batch) expect((await client.next()).data).toBe(sent);
  });

  it('413: 10,000 bytes of the whole request pass and 10,001 do not', async () => {
    const server = await pusherServer();
    const sized = async (bytes: number): Promise<string> => {
      const requestWith = (body: string): string =>
        `POST ${signedTarget(server, 'POST', events, body)} HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
      const room = bytes - requestWith(event('x'.repeat(9_000))).length;
      const request = requestWith(event('x'.repeat(9_000 + room)));
      expect(request).toHaveLength(bytes);
      return raw(server, request);
    };
    expect(await sized(10_000)).toMatch(/^HTTP\/1\.0 200 OK\r\n[\s\S]*\{\}$/);
    expect(await sized(10_001)).toMatch(/^HTTP\/1\.1 413 [\s\S]*\r\n\r\nPayload too large\.$/);
    expect(server.tooLarge).toBe(1);
    expect(server.requests.map(({ bytes }) => bytes)).toEqual([10_000]);
  });

  it('401: chunks are not read', async () => {
    const server = await pusherServer();
    const body = event('x');
    const target = signedTarget(server, 'POST', events, body);
    const head = `POST ${target} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n`;
    const chunked = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
    expect(await raw(server, head + chunked)).toMatch(/^HTTP\/1\.1 401/);
  });

  it.each([
    ['an object as data', { name: 'e', data: {}, channel: 'a' }, ['data']],
    ['empty data', { name: 'e', data: '', channel: 'a' }, ['data']],
    ['no name', { data: 'x', channel: 'a' }, ['name']],
    ['channels as a text', { name: 'e', data: 'x', channels: 'a' }, ['channels']],
    ['no channel', { name: 'e', data: 'x' }, ['channel']],
  ])('422: %s', async (_name, body, names) => {
    const [status, text] = await rest(await pusherServer(), 'POST', events, JSON.stringify(body));
    expect([status, Object.keys(JSON.parse(text) as object)]).toEqual([422, names]);
  });

  it('401, 404, 405 and 500 in plain text', async () => {
    const server = await pusherServer({ path: '/reverb' });
    const base = `http://127.0.0.1:${server.port}`;
    const said = async (path: string, method = 'GET'): Promise<[number, string]> => {
      const response = await fetch(base + path, { method });
      return [response.status, await response.text()];
    };
    expect(await rest(server, 'POST', events, event('x'))).toEqual([200, '{}']);
    expect(await rest(server, 'POST', events, 'not JSON')).toEqual([500, 'Internal server error.']);
    expect(await said('/reverb/apps/test-app/events', 'POST')).toEqual([
      401,
      'Authentication signature invalid.',
    ]);
    expect(await said('/reverb/apps/9/events', 'POST')).toEqual([
      404,
      'No matching application for ID [9].',
    ]);
    expect(await said('/apps/test-app/events', 'POST')).toEqual([404, 'Not found.']);
    expect((await said('/reverb/apps/test-app/events'))[0]).toBe(405);
    expect((await said('/reverb/apps/test-app/events', 'OPTIONS'))[0]).toBe(405);
    expect(await said('/reverb/app/test-key')).toEqual([500, 'Internal server error.']);
    expect(await said('/reverb/up')).toEqual([200, '{"health":"OK"}']);
    expect(server.connections).toBe(9);
  });

  it('a foreign key and an old timestamp pass, a changed body does not', async () => {
    const server = await pusherServer();
    const base = `http://127.0.0.1:${server.port}`;
    const more = { auth_key: 'foreign', auth_timestamp: '0' };
    expect((await rest(server, 'POST', events, event('x'), more))[0]).toBe(200);
    const target = signedTarget(server, 'POST', events, event('x'));
    const { status } = await fetch(base + target, { method: 'POST', body: event('y') });
    expect(status).toBe(401);
  });

  it('lists channels: an array when there are none', async () => {
    const server = await pusherServer();
    const list = '/apps/test-app/channels';
    expect((await rest(server, 'GET', list))[1]).toBe('{"channels":[]}');
    const client = await peer(server);
    client.say('pusher:subscribe', { channel: 'news' });
    await client.next();
    const info = { info: 'subscription_count', filter_by_prefix: 'n' };
    expect((await rest(server, 'GET', list, '', info))[1]).toBe(
      '{"channels":{"news":{"subscription_count":1}}}',
    );
    expect((await rest(server, 'GET', `${list}/none`))[1]).toBe('{"occupied":false}');
    expect((await rest(server, 'GET', `${list}/news`))[1]).toBe('{"occupied":true}');
    expect(await rest(server, 'GET', `${list}/none/users`)).toEqual([404, '{}']);
    expect(await rest(server, 'GET', `${list}/news/users`)).toEqual([400, '{}']);
  });

  it('500: a socket_id in a batch; what stands before it is delivered, the rest is lost', async () => {
    const server = await pusherServer();
    const client = await peer(server);
    client.say('pusher:subscribe', { channel: 'news' });
    await client.next();
    const item = (data: string, more = {}): object => ({
      name: 'e',
      data,
      channel: 'news',
      ...more,
    });
    const batch = [item('1'), item('2', { socket_id: client.socketId }), item('3')];
    expect((await rest(server, 'POST', batches, JSON.stringify({ batch })))[0]).toBe(500);
    expect((await client.next()).data).toBe('1');
    const one = JSON.stringify({ ...item('4'), socket_id: client.socketId });
    expect((await rest(server, 'POST', events, one))[0]).toBe(200);
    client.say('pusher:ping', {});
    expect((await client.next()).event).toBe('pusher:pong');
  });

  it('misbehaves when told', async () => {
    const server = await pusherServer();
    const client = await peer(server);
    client.say('pusher:subscribe', { channel: 'news' });
    await client.next();
    server.misbehave(
      { status: 429, headers: { 'Retry-After': '2' } },
      { drops: true, obeys: true },
    );
    expect(await rest(server, 'POST', events, event('1'))).toEqual([429, 'Told to.']);
    await expect(rest(server, 'POST', events, event('2'))).rejects.toThrow('fetch failed');
    expect((await rest(server, 'POST', events, event('3')))[0]).toBe(200);
    expect([(await client.next()).data, (await client.next()).data]).toEqual(['2', '3']);
  });
});
