import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import PusherSdk from 'pusher';
import { describe, expect, it, onTestFinished } from 'vitest';
import { AgentError } from 'onward';
import { BroadcastError, type Broadcast, type Broadcaster } from 'onward/broadcasting';
import { pusherBroadcaster, type PusherOptions } from 'onward/broadcasting/pusher';
import { everyEnvelope } from '../setup/pusher-envelopes.ts';
import { pusherServer, type Fault, type PusherServer } from '../setup/pusher-server.ts';
import { until } from '../setup/sessions.ts';

const envelopes = everyEnvelope('s1');
const [first, second] = envelopes as [(typeof envelopes)[0], (typeof envelopes)[0]];
const channel = 'agent.s1';

const to = (
  { app, host, port, path }: PusherServer,
  options: Partial<PusherOptions> = {},
): Broadcaster => pusherBroadcaster({ ...app, host, port, path, useTLS: false, ...options });

const batchOf = (count: number): Broadcast[] =>
  envelopes.slice(0, count).map((envelope) => ({ channel, envelope }));

async function refusal(work: Promise<void> | void): Promise<BroadcastError> {
  try {
    await work;
  } catch (error) {
    if (error instanceof BroadcastError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

describe('requests', () => {
  it('send an envelope to the private channel with its type as the name and its JSON as the data', async () => {
    const server = await pusherServer();
    await to(server).broadcast(channel, first);
    const [request] = server.requests;
    expect(request).toMatchObject({ method: 'POST', status: 200 });
    expect(request?.target).toMatch(/^\/apps\/test-app\/events\?auth_key=test-key&/);
    expect(Number(request?.headers['content-length'])).toBe(request?.body.length);
    expect(JSON.parse(String(request?.body))).toEqual({
      name: 'agent.status',
      data: JSON.stringify(first),
      channels: ['private-agent.s1'],
    });
  });

  it('send several envelopes in order in one request, and none for an empty batch', async () => {
    const server = await pusherServer();
    const broadcaster = to(server);
    await broadcaster.broadcastBatch(batchOf(3));
    await broadcaster.broadcastBatch([]);
    expect(server.requests).toHaveLength(1);
    const [request] = server.requests;
    expect(request?.target).toMatch(/^\/apps\/test-app\/batch_events\?/);
    expect(JSON.parse(String(request?.body))).toEqual({
      batch: envelopes.slice(0, 3).map((envelope) => ({
        channel: 'private-agent.s1',
        name: envelope.type,
        data: JSON.stringify(envelope),
      })),
    });
  });

  it('do not sign the path prefix of the server', async () => {
    const server = await pusherServer({ path: '/ws/reverb' });
    await to(server).broadcast(channel, first);
    expect(server.requests[0]).toMatchObject({ status: 200 });
    expect(server.requests[0]?.target).toMatch(/^\/ws\/reverb\/apps\/test-app\/events\?/);
    const astray = await refusal(to(server, { path: '' }).broadcast(channel, first));
    expect(astray.message).toMatch(
      /answered 404: it has no such app\. Check appId, host, port and path\.$/,
    );
  });

  it('run concurrently', async () => {
    const server = await pusherServer();
    server.misbehave({ hangs: true });
    const broadcaster = to(server);
    const controller = new AbortController();
    const hanging = refusal(broadcaster.broadcast(channel, first, controller.signal));
    await until(() => server.requests.length === 1);
    await broadcaster.broadcast(channel, second);
    controller.abort();
    expect((await hanging).retryable).toBe(true);
  });

  it('reuse a connection that the server keeps open', async () => {
    let connections = 0;
    const server = createServer((request, response) => {
      request.resume().on('end', () => response.end('{}'));
    });
    server.on('connection', () => (connections += 1));
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', () => resolve());
    });
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const app = { appId: 'a', key: 'k', secret: 's' };
    const broadcaster = pusherBroadcaster({ ...app, host: '127.0.0.1', port, useTLS: false });
    for (let i = 0; i < 5; i++) await broadcaster.broadcast(channel, first);
    expect(connections).toBe(1);
    const full = Array.from({ length: 10 }, () => ({ channel, envelope: first }));
    await Promise.all([1, 2].map(async () => broadcaster.broadcastBatch(full)));
    expect(connections).toBe(2);
  });

  it('put the envelopes of sessions that speak at once into one', async () => {
    const server = await pusherServer();
    const broadcaster = to(server);
    const channels = Array.from({ length: 25 }, (_, i) => `${channel}-${i}`);
    await Promise.all(channels.map(async (name) => broadcaster.broadcast(name, first)));
    expect(server.requests).toHaveLength(3);
  });

  it('use the given client, with the same errors', async () => {
    const server = await pusherServer();
    const client = new PusherSdk({ ...server.app, host: server.host, port: String(server.port) });
    const broadcaster = pusherBroadcaster({ client });
    await broadcaster.broadcastBatch(batchOf(2));
    expect(server.requests).toHaveLength(1);
    server.misbehave({ status: 413 }, { hangs: true });
    const refused = await refusal(broadcaster.broadcast(channel, first));
    expect(refused).toMatchObject({ retryable: false });
    expect(refused.message).toMatch(/^The Pusher server answered 413: /);
    const quick = pusherBroadcaster({ client, timeoutMs: 50 });
    expect((await refusal(quick.broadcast(channel, first))).message).toMatch(
      /not answer within 50 ms/,
    );
  });
});

describe('errors', () => {
  const rows: [number | Fault, boolean, RegExp][] = [
    [400, false, /it cannot read the request\. .* useTLS/],
    [401, false, /does not accept the signature\. Check that appId, key and secret/],
    [{ status: 401, body: 'Timestamp expired: 9 s' }, false, /Check the clock of this machine/],
    [403, false, /may not publish\. Check that it is enabled/],
    [404, false, /has no such app\. Check appId, host, port and path/],
    [405, false, /does not accept events/],
    [408, true, /answered 408/],
    [409, false, /it refused the request/],
    [
      413,
      false,
      /of about \d+ bytes is too large\. Lower maxRequestBytes, or raise .*REVERB_MAX_REQUEST_SIZE/,
    ],
    [
      { status: 422, body: '{"data":["bad \\"agent.status\\""],"<x>":[]}' },
      false,
      /does not accept data\. /,
    ],
    [{ status: 422, body: 'no' }, false, /does not accept the event\. /],
    [429, true, /too many requests\. .*batchSize/],
    [500, true, /it failed\. Check its log/],
    [503, true, /answered 503/],
    [
      { status: 301, headers: { Location: 'https://ws.example.com/x?y=z' } },
      false,
      /redirect to https:\/\/ws\.example\.com, which is not followed\. .*useTLS/,
    ],
    [
      { status: 307, headers: { Location: '/elsewhere' } },
      false,
      /answered 307 with a redirect to http:\/\/127/,
    ],
    [{ status: 302 }, false, /answered, but not as a Pusher-protocol server does/],
    [{ status: 200, body: '<html>Welcome</html>' }, false, /not as a Pusher-protocol server does/],
    [{ status: 200, body: '' }, false, /another server listens there/],
    [{ drops: true }, true, /could not be reached \(ECONNRESET\)\. Check that the server runs/],
    [{ hangs: true }, true, /did not answer within 2000 ms/],
  ];
  it.each(rows)('%j is retryable: %s', async (given, retryable, message) => {
    const server = await pusherServer();
    server.misbehave(typeof given === 'number' ? { status: given } : given);
    const broadcaster = to(server, { timeoutMs: 2_000 });
    const error = await refusal(broadcaster.broadcastBatch(batchOf(2)));
    expect(error.retryable).toBe(retryable);
    const { status = 0 } = typeof given === 'number' ? { status: given } : given;
    // the app or the address is wrong, not the events
    const isAboutAll = [401, 403, 404, 405].includes(status) || (status >= 200 && status < 400);
    expect(error.pauses).toBe(isAboutAll);
    expect(error.message).toMatch(message);
    expect(error.message).toContain(`http://127.0.0.1:${server.port}`);
    expect(server.requests).toHaveLength(1);
    await broadcaster.broadcast(channel, first);
    expect(server.requests.at(-1)?.status).toBe(200);
  });

  it.each([
    ['seconds', { 'Retry-After': '700' }, 700_000],
    ['a date', { 'retry-after': new Date(Date.now() + 3_600_000).toUTCString() }, 3_600_000],
    ['nothing', {}, null],
  ])('have the Retry-After of a 429 (%s)', async (_name, headers, ms) => {
    const server = await pusherServer();
    server.misbehave({ status: 429, headers });
    const { retryAfterMs } = await refusal(to(server).broadcast(channel, first));
    if (ms === null) expect(retryAfterMs).toBeNull();
    else expect(Math.abs((retryAfterMs ?? 0) - ms)).toBeLessThan(60_000);
  });

  it.each<[string, Partial<PusherOptions>, RegExp]>([
    ['the secret', { secret: 'wrong-secret' }, /answered 401: it does not accept the signature/],
    ['the app', { appId: 'other' }, /answered 404: it has no such app/],
    ['TLS', { useTLS: true, timeoutMs: 200 }, /within 200 ms.* useTLS/],
    ['the port', { port: 1 }, /could not be reached \(ECONNREFUSED\)\. Check that the server runs/],
  ])('explain what to check if %s is wrong', async (_name, options, message) => {
    const error = await refusal(to(await pusherServer(), options).broadcast(channel, first));
    expect(error.message).toMatch(message);
  });

  it('contain no secret, signature or payload, whatever the server responds', async () => {
    const server = await pusherServer();
    const faults: Fault[] = [400, 401, 403, 404, 413, 422, 429, 500, 200].map((status) => ({
      status,
      body: `{"${server.app.secret}":"auth_signature=abc ${JSON.stringify(first)}"`,
    }));
    faults.push(
      { drops: true },
      { hangs: true },
      { status: 301, headers: { Location: '/x?auth_signature=1' } },
    );
    server.misbehave(...faults);
    const broadcaster = to(server, { timeoutMs: 100 });
    for (const fault of faults) {
      const error = await refusal(broadcaster.broadcast(channel, first));
      const shown = [error.message, error.stack, JSON.stringify(error), String(error.cause)].join();
      expect(shown, JSON.stringify(fault)).not.toMatch(/test-secret|auth_signature|session_id|x1/);
    }
  });

  it('a signal aborts the request, before and during the call', async () => {
    const server = await pusherServer();
    const broadcaster = to(server);
    const early = await refusal(broadcaster.broadcast(channel, first, AbortSignal.abort('over')));
    expect(early).toMatchObject({ retryable: true, cause: 'over' });
    expect(server.requests).toHaveLength(0);

    server.misbehave({ hangs: true });
    const controller = new AbortController();
    const hanging = refusal(broadcaster.broadcast(channel, first, controller.signal));
    await until(() => server.requests.length === 1);
    controller.abort(new Error('the run is over'));
    expect((await hanging).message).toMatch(/was canceled before a response/);
    await until(() => server.requests[0]?.isAbandoned);
  });

  it('a timeout aborts the request', async () => {
    const server = await pusherServer();
    server.misbehave({ hangs: true });
    await refusal(to(server, { timeoutMs: 50 }).broadcast(channel, first));
    await until(() => server.requests[0]?.isAbandoned);
  });

  it('a response body that never ends is a timeout', async () => {
    const server = createServer((request, response) => {
      request.resume();
      response.writeHead(500).write('{');
    });
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', () => resolve());
    });
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    const { port } = server.address() as AddressInfo;
    const broadcaster = pusherBroadcaster({
      appId: 'a',
      key: 'k',
      secret: 's',
      host: '127.0.0.1',
      port,
      useTLS: false,
      timeoutMs: 100,
    });
    expect((await refusal(broadcaster.broadcast(channel, first))).message).toMatch(/within 100 ms/);
  });
});

describe('checks before a request', () => {
  it.each([
    ['a channel with a blank', 'agent.a b'],
    ['a channel with a slash', 'agent.a/b'],
    ['a channel that is too long', `agent.${'x'.repeat(187)}`],
    ['a channel with a colon', 'agent:1'],
  ])('refuse %s', async (_name, bad) => {
    const server = await pusherServer();
    const error = await refusal(to(server).broadcast(bad, first));
    expect(error.retryable).toBe(false);
    expect(error.message).toMatch(
      /cannot be used on the Pusher wire\. Channels and events have up to 200/,
    );
    expect(server.connections).toBe(0);
  });

  it('accept the longest channel', async () => {
    const server = await pusherServer();
    await to(server).broadcast(`agent.${'x'.repeat(186)}`, first);
    expect(server.requests[0]?.status).toBe(200);
  });

  it('refuse too many bytes and too many envelopes for one request', async () => {
    const server = await pusherServer();
    const content = 'x'.repeat(9_500);
    const large = { ...second, payload: { message_id: 'm', role: 'user', content, step: 1 } };
    const error = await refusal(to(server).broadcast(channel, large as typeof second));
    expect(error.retryable).toBe(false);
    expect(error.message).toMatch(
      /^1 envelopes \(agent\.message\) of \d+ bytes do not fit into one request: it has space for 10 envelopes and \d+ bytes/,
    );
    expect(error.message).not.toContain('xxx');
    expect((await refusal(to(server).broadcastBatch(batchOf(11)))).retryable).toBe(false);
    expect(server.connections).toBe(0);
  });

  it.each<[string, PusherOptions, RegExp]>([
    ['no secret', { appId: 'a', key: 'k', host: 'h' }, /^pusherBroadcaster secret is missing/],
    ['no app', { key: 'k', secret: 's', host: 'h' }, /^pusherBroadcaster appId got undefined/],
    [
      'a key that a URL cannot contain',
      { appId: 'a', key: 'k&x', secret: 's', host: 'h' },
      /^pusherBroadcaster key got "k&x"/,
    ],
    [
      'neither host nor cluster',
      { appId: 'a', key: 'k', secret: 's' },
      /^pusherBroadcaster host got undefined, expected a host name/,
    ],
    [
      'a host with a scheme',
      { appId: 'a', key: 'k', secret: 's', host: 'https://h' },
      /without scheme, port and path/,
    ],
    [
      'a path without a slash',
      { appId: 'a', key: 'k', secret: 's', host: 'h', path: 'x' },
      /^pusherBroadcaster path/,
    ],
    [
      'an invalid port',
      { appId: 'a', key: 'k', secret: 's', host: 'h', port: 0 },
      /^pusherBroadcaster port/,
    ],
    [
      'a limit that is too small',
      { appId: 'a', key: 'k', secret: 's', host: 'h', maxRequestBytes: 1_500 },
      /expected at least \d+: the headers take \d+ and proxies 400/,
    ],
    [
      'half an envelope',
      { appId: 'a', key: 'k', secret: 's', host: 'h', batchSize: 0.5 },
      /^pusherBroadcaster batchSize/,
    ],
    ['a client of another library', { client: {} as never }, /^pusherBroadcaster client/],
  ])('refuse options: %s', (_name, options, message) => {
    const made = (): unknown => pusherBroadcaster(options);
    expect(made).toThrow(AgentError);
    expect(made).toThrow(message);
  });

  it('accept a cluster of hosted Pusher, a batch size and an IPv6 address', async () => {
    const app = { appId: 'a', key: 'k', secret: 's' };
    const hosted = pusherBroadcaster({ ...app, cluster: 'eu', batchSize: 5 });
    expect(hosted).toMatchObject({ name: 'pusher', batchSize: 5 });
    const local = pusherBroadcaster({ ...app, host: '::1', port: 1, useTLS: false });
    expect((await refusal(local.broadcast(channel, first))).message).toContain('http://[::1]:1');
  });
});
