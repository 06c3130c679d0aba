import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { pusherServer, type PusherServer } from '../setup/pusher-server.ts';
import { hmac, md5, phpJson, signedText } from '../setup/pusher-signing.ts';
import { peer, rest, signedTarget } from './pusher-peer.ts';

/** Sends raw bytes and returns everything until the server closes the connection. */
async function raw(server: PusherServer, request: string): Promise<string> {
  const socket = connect(server.port, '127.0.0.1');
  let answer = '';
  socket.on('data', (data) => (answer += data.toString()));
  socket.on('error', () => {});
  socket.write(request);
  await once(socket, 'close');
  return answer;
}

const events = '/apps/test-app/events';
const batches = '/apps/test-app/batch_events';
const event = (data: string, channel = 'news'): string =>
  JSON.stringify({ name: 'e', data, channels: [channel] });

describe('signatures of other libraries', () => {
  it.each([
    [
      '1234.5678:private-agent.run.1',
      '2f0c329f14cd75176c9442e0fb3dfcee7887feaa3eefdbca043a48c85180aefa',
    ],
    [
      '1234.5678:presence-room.1:{"user_id":"u1","user_info":{"name":"Ann"}}',
      '76b9174a6161ce395543eddfd792978485daa90bb5eca180fabcf9450379b49d',
    ],
  ])('matches for %s', (text, signature) => {
    expect(hmac('test-secret', text)).toBe(signature);
  });

  it('matches a request of Laravel', () => {
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

describe('the REST API', () => {
  it('forwards data unchanged, escaped like PHP, in single events and in batches', async () => {
    const server = await pusherServer();
    const client = await peer(server);
    client.say('pusher:subscribe', { channel: 'news' });
    await client.next();
    const data = '{"a/b":"é☃ \\"👩‍🚀\\""}';
    expect(await rest(server, 'POST', events, event(data))).toEqual([200, '{}']);
    await client.next();
    expect(client.texts.at(-1)).toBe(`{"event":"e","data":${phpJson(data)},"channel":"news"}`);
    // oxlint-disable-next-line no-control-regex -- the test checks that it is ASCII
    expect(client.texts.at(-1)).toMatch(/^[\u0000-\u007f]+$/);
    const batch = [1, 2, 3].map((n) => ({ name: 'e', data: `${data}${n}`, channel: 'news' }));
    expect(await rest(server, 'POST', batches, JSON.stringify({ batch }))).toEqual([
      200,
      '{"batch":{}}',
    ]);
    for (const { data: sent } of batch) expect((await client.next()).data).toBe(sent);
  });

  it('accepts a request of 10,000 bytes and answers 413 to 10,001', async () => {
    const server = await pusherServer();
    const sized = async (bytes: number): Promise<string> => {
      const requestWith = (body: string): string =>
        `POST ${signedTarget(server, 'POST', events, body)} HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
      const space = bytes - requestWith(event('x'.repeat(9_000))).length;
      const request = requestWith(event('x'.repeat(9_000 + space)));
      expect(request).toHaveLength(bytes);
      return raw(server, request);
    };
    expect(await sized(10_000)).toMatch(/^HTTP\/1\.0 200 OK\r\n[\s\S]*\{\}$/);
    expect(await sized(10_001)).toMatch(/^HTTP\/1\.1 413 [\s\S]*\r\n\r\nPayload too large\.$/);
    expect(server.tooLarge).toBe(1);
    expect(server.requests.map(({ bytes }) => bytes)).toEqual([10_000]);
  });

  it('answers 401 to a chunked body', async () => {
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
  ])('answers 422 to %s', async (_name, body, names) => {
    const [status, text] = await rest(await pusherServer(), 'POST', events, JSON.stringify(body));
    expect([status, Object.keys(JSON.parse(text) as object)]).toEqual([422, names]);
  });

  it('answers 401, 404, 405 and 500 in plain text', async () => {
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

  it('accepts another key and an old timestamp, but no changed body', async () => {
    const server = await pusherServer();
    const base = `http://127.0.0.1:${server.port}`;
    const more = { auth_key: 'foreign', auth_timestamp: '0' };
    expect((await rest(server, 'POST', events, event('x'), more))[0]).toBe(200);
    const target = signedTarget(server, 'POST', events, event('x'));
    const { status } = await fetch(base + target, { method: 'POST', body: event('y') });
    expect(status).toBe(401);
  });

  it('lists channels, as an empty array if there are none', async () => {
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

  it('answers 500 to a socket_id in a batch and delivers only the events before it', async () => {
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

  it('simulates faults', async () => {
    const server = await pusherServer();
    const client = await peer(server);
    client.say('pusher:subscribe', { channel: 'news' });
    await client.next();
    server.misbehave(
      { status: 429, headers: { 'Retry-After': '2' } },
      { drops: true, obeys: true },
    );
    expect(await rest(server, 'POST', events, event('1'))).toEqual([429, 'As configured.']);
    await expect(rest(server, 'POST', events, event('2'))).rejects.toThrow('fetch failed');
    expect((await rest(server, 'POST', events, event('3')))[0]).toBe(200);
    expect([(await client.next()).data, (await client.next()).data]).toEqual(['2', '3']);
  });
});
