import { Redis } from 'ioredis';
import { redisBus } from 'onward/bus/redis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasRedis, startRedis, type TestRedis } from '../setup/redis.ts';
import { calm, describeServerBus, expectExchange, peersOn } from './server-faults.ts';

describe.skipIf(!hasRedis)('the bus over Redis', () => {
  let server: TestRedis;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server?.stop());

  describeServerBus({
    kind: 'redis',
    url: () => server.url,
    at: (url, times) => redisBus({ connection: url, ...times }),
    crash: () => server,
    wrongLogin: (url) => url.replace('redis://', 'redis://bob:hunter2secret@'),
  });

  it('accepts options of ioredis, but handles reconnects itself', async () => {
    const times = calm();
    const connection = { port: server.port, db: 3, retryStrategy: () => 60_000 };
    const [a, b] = await peersOn(() => redisBus({ connection, ...times })).connect(2);
    const admin = new Redis(server.url);
    await admin.client('KILL', 'TYPE', 'pubsub');
    await admin.quit();
    await a.until('it connects again', () => a.connects === 2);
    await b.until('it connects again', () => b.connects === 2);
    await expectExchange(a, b);
  });

  it('reports a user without permission for the channel, and continues once permission is granted', async () => {
    const admin = new Redis(server.url);
    const times = calm();
    await admin.acl('SETUSER', 'bob', 'on', '>hunter2secret', '+@all', 'resetchannels');
    const connection = { port: server.port, username: 'bob', password: 'hunter2secret' };
    const peers = peersOn(() => redisBus({ connection, ...times }));
    const a = peers.open();
    await a.until('it is reported', () => a.failures.length > 0);
    expect(String(a.failures[0])).toMatch(
      /Redis: the user has no permission .* \(NOPERM\)\. It keeps/,
    );
    await admin.acl('SETUSER', 'bob', 'allchannels');
    await admin.quit();
    const [b] = await peers.connect(1);
    await a.until('it is connected', () => a.connects === 1);
    await expectExchange(a, b);
  });

  it('reports a refused publish once, and stays connected', async () => {
    const admin = new Redis(server.url);
    const times = calm();
    await admin.acl('SETUSER', 'eve', 'on', '>hunter2secret', '+@all', '-publish', 'allchannels');
    const connection = { port: server.port, username: 'eve', password: 'hunter2secret' };
    const [a, b] = await peersOn(() => redisBus({ connection, ...times })).connect(2);
    a.send(b, 'hello');
    await a.until('it is reported', () => a.failures.length > 0);
    a.send(b, 'hello');
    await admin.acl('SETUSER', 'eve', '+publish');
    await admin.quit();
    a.send(b, 'allowed');
    await b.until('one arrives', () => b.received.length > 0);
    expect(a.failures).toMatchObject([{ details: { reason: 'refused' } }]);
    expect(String(a.failures[0])).not.toContain('hello');
    expect([a.connection.isConnected, a.connects]).toEqual([true, 1]);
  });

  it('rejects a client, because the bus creates its own', () => {
    const client = new Redis({ lazyConnect: true });
    expect(() => redisBus({ connection: client })).toThrow(
      expect.objectContaining({ code: 'invalid_option' }),
    );
  });

  it.each([
    [{ connection: 5 as never }, 'connection'],
    [{ connection: null as never }, 'connection'],
    [{ channel: 'a b' }, 'channel'],
    [{ timeoutMs: 0 }, 'timeoutMs'],
  ])('rejects %j', (options, named) => {
    expect(() => redisBus(options)).toThrow(named);
  });
});
