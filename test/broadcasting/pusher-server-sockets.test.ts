import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { pusherServer } from '../setup/pusher-server.ts';
import { hmac } from '../setup/pusher-signing.ts';
import { codeOf, peer, rest, type Frame, type Peer } from './pusher-peer.ts';

describe('connections', () => {
  it('receive a socket id as a JSON string, and answer a ping', async () => {
    const client = await peer(await pusherServer());
    expect(client.socketId).toMatch(/^\d+\.\d+$/);
    expect(client.texts[0]).toBe(
      `{"event":"pusher:connection_established","data":"{\\"socket_id\\":\\"${client.socketId}\\",\\"activity_timeout\\":30}"}`,
    );
    client.say('pusher:ping', {});
    await client.next();
    expect(client.texts[1]).toBe('{"event":"pusher:pong"}');
  });

  it('end with 4001 and no close frame on an unknown key', async () => {
    const client = await peer(await pusherServer(), 'other-key');
    expect(codeOf(await client.next())).toEqual(['pusher:error', 4001]);
    const [code] = (await once(client.ws, 'close')) as [number];
    expect(code).toBe(1006);
  });

  it.each([
    [
      '4009 for an origin that is not allowed',
      { allowedOrigins: ['*.example.com'] },
      { origin: 'https://a.test' },
      4009,
    ],
    ['4009 without an origin', { allowedOrigins: ['*.example.com'] }, {}, 4009],
    ['4004 for too many connections', { maxConnections: 0 }, {}, 4004],
  ])('receive %s instead of the greeting and stay open', async (_name, options, headers, code) => {
    const client = await peer(await pusherServer(options), 'test-key', headers);
    expect(codeOf(await client.next())).toEqual(['pusher:error', code]);
    client.say('pusher:subscribe', { channel: 'news' });
    expect(await client.next()).toMatchObject({
      event: 'pusher_internal:subscription_succeeded',
    });
  });

  it('accept an allowed origin, and count only when subscribed', async () => {
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
    ['a text that is not JSON', 'hello'],
    ['a value that is not an object', '7'],
    ['an object without an event', '{}'],
    ['a missing channel', '{"event":"pusher:subscribe","data":{}}'],
    ['an unknown event of the protocol', '{"event":"pusher:signin","data":{}}'],
    ['client event data that is a string', '{"event":"client-x","channel":"news","data":"t"}'],
  ])('get 4200 for %s and stay open', async (_name, text) => {
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

  it('ignore unknown event names', async () => {
    const client = await peer(await pusherServer());
    client.say('hello', {});
    client.say('pusher:ping', {});
    expect((await client.next()).event).toBe('pusher:pong');
  });

  it('close with 1009 on a message that is too large', async () => {
    const client = await peer(await pusherServer());
    client.ws.send('x'.repeat(10_001));
    const [code, reason] = (await once(client.ws, 'close')) as [number, Buffer];
    expect([code, reason.toString()]).toEqual([1009, 'Maximum message size exceeded']);
  });

  it('get 4301 after too many messages', async () => {
    const client = await peer(await pusherServer({ maxMessages: 1 }));
    client.say('pusher:ping', {});
    client.say('pusher:ping', {});
    expect((await client.next()).event).toBe('pusher:pong');
    expect(codeOf(await client.next())).toEqual(['pusher:error', 4301]);
  });

  it('close with 4201 if they do not answer a ping, unless they have no channel', async () => {
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

  it('refuse a wrong signature with 4009 without naming the channel, and keep the socket open', async () => {
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

  it('ignore the key before the colon of a signature, and treat every name with the prefix "private" as private', async () => {
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

  it('report presence members once per user: present, joined and left', async () => {
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

  it('break a presence channel for everyone if one member has no user_info', async () => {
    const server = await pusherServer();
    const [ann, bob] = [await peer(server), await peer(server)];
    expect(codeOf(await join(ann, { user_id: 'a' }))[1]).toBe(4200);
    expect(codeOf(await join(bob, { user_id: 'b', user_info: null }))[1]).toBe(4200);
  });

  it('deliver client events to the other members with the real user id', async () => {
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
