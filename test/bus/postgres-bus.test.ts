import { postgresBus, type PostgresBusOptions } from 'onward/bus/postgres';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { hasPgBouncer, startPgBouncer } from '../setup/pgbouncer.ts';
import { postgresPooler } from '../setup/postgres-pooler.ts';
import { postgresProxy } from '../setup/postgres-proxy.ts';
import { startPostgres, type TestPostgres } from '../setup/postgres.ts';
import { calm, describeServerBus, expectExchange, peersOn, quick } from './server-faults.ts';

let server: TestPostgres;
let admin: pg.Pool;
beforeAll(async () => {
  server = await startPostgres();
  admin = new pg.Pool({ connectionString: server.url, application_name: 'admin' });
  admin.on('error', () => {});
}, 60_000);
afterAll(async () => {
  await admin?.end();
  await server?.stop();
});

describeServerBus({
  kind: 'postgres',
  url: () => server.url,
  at: (url, times) => postgresBus({ listenUrl: url, ...times }),
  crash: () => (server.kill ? { kill: server.kill, restart: server.restart } : null),
  wrongLogin: (url) => url.replace('//postgres@', '//bob:hunter2secret@'),
});

describe('connections', () => {
  it('uses one connection, and sends a statement every pingMs while idle', async () => {
    const proxy = await postgresProxy(server.url);
    onTestFinished(() => proxy.close());
    const [a] = await peersOn(() => postgresBus({ listenUrl: proxy.url, ...quick() })).connect(1);
    await expect.poll(() => proxy.statements.length).toBeGreaterThan(6);
    expect(new Set(proxy.statements.slice(2))).toEqual(new Set(['select']));
    expect(proxy.connections).toBe(1);
    expect(a.failures).toEqual([]);
  });

  it('creates a client for each connection without changing its settings', async () => {
    const made: pg.Client[] = [];
    const times = calm();
    const client = (): pg.Client => {
      const next = new pg.Client({ connectionString: server.url });
      made.push(next);
      return next;
    };
    const [a, b] = await peersOn(() => postgresBus({ client, ...times })).connect(2);
    await expectExchange(a, b);
    const { rows } = await made[0]!.query('show synchronous_commit');
    expect(rows).toEqual([{ synchronous_commit: 'on' }]);
    await admin.query('select pg_terminate_backend($1)', [
      (made[0] as unknown as { processID: number }).processID, // in no type of the package
    ]);
    await a.until('it connects again', () => a.connects === 2);
    await expectExchange(a, b);
    expect(made).toHaveLength(3);
    expect(String(a.failures[0])).toContain('(57P01)');
  });

  it('reports a client that cannot be created', async () => {
    const client = async (): Promise<never> => {
      throw new Error('no token from the identity service');
    };
    const a = peersOn(() => postgresBus({ client, ...calm() })).open();
    await a.until('it is reported', () => a.failures.length > 0);
    expect(String(a.failures[0])).toContain('PostgreSQL: no token from the identity service. It');
  });

  it('ignores notifications that are not from the bus, and accepts any valid channel name', async () => {
    const channel = `Odd.Name:with-all_${process.pid}`;
    const times = { channel };
    const [a, b] = await peersOn(() => postgresBus({ listenUrl: server.url, ...times })).connect(2);
    for (const payload of ['', 'hello', '{"v":1}', '1', '1abcdefabcdef:', '1abcdefabcdefz'])
      await admin.query('select pg_notify($1, $2)', [channel, payload]);
    await expectExchange(a, b);
    expect([a.failures, b.failures]).toEqual([[], []]);
  });

  it('reports a character that the encoding of the database does not support, and sends the next messages', async () => {
    const name = `latin_${process.pid}_${Date.now()}`;
    await admin.query(
      `create database ${name} template template0 encoding 'LATIN1' locale_provider libc locale 'C'`,
    );
    const url = new URL(server.url);
    url.pathname = name;
    const times = calm();
    const peers = peersOn(() => postgresBus({ listenUrl: url.href, ...times }));
    onTestFinished(async () => {
      await peers.close();
      await admin.query(`drop database ${name} with (force)`);
    });
    const [a, b] = await peers.connect(2);
    // sent together: the others arrive
    for (const text of ['before', '你好', 'after']) a.send(b, text);
    await a.until('it is reported', () => a.failures.length > 0);
    await b.until('the others arrived', () => b.received.includes('after'));
    expect(b.received).toContain('before');
    await expectExchange(a, b);
    expect(a.failures).toMatchObject([{ code: 'bus_failed', details: { reason: 'refused' } }]);
    expect(a.connects).toBe(1);
  });
});

describe('poolers', () => {
  const expectReported = async (listenUrl: string, connections: () => number): Promise<void> => {
    const times = { ...calm(), timeoutMs: 3_000 };
    const a = peersOn(() => postgresBus({ listenUrl, ...times })).open();
    await a.until('it is reported', () => a.failures.length > 0);
    const tries = connections();
    await expect.poll(connections).toBeGreaterThan(tries);
    expect(a.failures).toMatchObject([
      {
        code: 'bus_failed',
        details: { reason: 'needs_direct_connection' },
        message: expect.stringMatching(/transaction mode.*PgBouncer.*Set listenUrl/s) as string,
      },
    ]);
    expect([a.connects, a.connection.isConnected]).toEqual([0, false]);
  };

  it('reports a pooler in transaction mode once, with the option to set', async () => {
    const pooler = await postgresPooler(server.url, 2);
    onTestFinished(() => pooler.close());
    const proxy = await postgresProxy(pooler.url);
    onTestFinished(() => proxy.close());
    await expectReported(proxy.url, () => proxy.connections);
  });

  it.skipIf(!hasPgBouncer)('reports PgBouncer in transaction mode', async () => {
    const proxy = await postgresProxy(await startPgBouncer(server.url));
    onTestFinished(() => proxy.close());
    await expectReported(proxy.url, () => proxy.connections);
  });

  it.skipIf(!hasPgBouncer)('sends messages through PgBouncer in session mode', async () => {
    const listenUrl = await startPgBouncer(server.url, 'session');
    const times = calm();
    const [a, b] = await peersOn(() => postgresBus({ listenUrl, ...times })).connect(2);
    await expectExchange(a, b);
    expect([a.failures, b.failures]).toEqual([[], []]);
  });
});

describe('options', () => {
  it.each<[string, PostgresBusOptions]>([
    ['channel', { channel: '' }],
    ['channel', { channel: 'a b' }],
    ['channel', { channel: 'a"; drop table sessions; --' }],
    ['channel', { channel: '1a' }],
    ['channel', { channel: 'ä' }],
    ['channel', { channel: 'a\n' }],
    ['channel', { channel: 'a'.repeat(39) }],
    ['channel', { channel: 7 as never }],
    ['timeoutMs', { timeoutMs: 0 }],
    ['pingMs', { pingMs: -1 }],
    ['listenUrl', { listenUrl: 7 as never }],
    ['client', { client: 'x' as never }],
    ['not both', { listenUrl: 'postgres://x', client: () => new pg.Client() }],
  ])('rejects %s in %j', (named, options) => {
    expect(() => postgresBus(options)).toThrow(
      expect.objectContaining({
        code: 'invalid_option',
        message: expect.stringContaining(named) as string,
      }),
    );
  });
});
