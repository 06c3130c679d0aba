import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pusherAuth } from 'onward/broadcasting/pusher';
import { channelAuthorizer, connectSession, echoSource, pusherSource, sseSource } from 'onward/ui';
import type { EnvelopeSource, SessionView, SourceError } from 'onward/ui';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { echoClient, pusherClient } from '../setup/pusher-clients.ts';
import { pusherServer, type PusherServer } from '../setup/pusher-server.ts';
import { Wire } from '../react/fake-source.ts';

const sessionId = 'ses_1';
const name = `private-agent.${sessionId}`;
const backoff = { minMs: 5, maxMs: 20 };
const soon = (holds: () => void): Promise<void> => vi.waitFor(holds, { timeout: 15_000 });

/** Response of the endpoint; null for the correct one. */
type Answer = ((response: ServerResponse) => void) | null;

interface Endpoint {
  readonly url: string;
  answer: Answer;
  readonly headers: (string | undefined)[];
  readonly restart: () => Promise<void>;
  requests: number;
}

/** Starts a server whose responses the test controls. */
async function endpoint(good: (body: string, response: ServerResponse) => Promise<void> | void) {
  const open = (port: number) =>
    new Promise<ReturnType<typeof createServer>>((resolve) => {
      const server = createServer((request, response) => {
        let body = '';
        request.on('data', (piece: Buffer) => (body += piece.toString()));
        request.on('end', () => {
          self.requests++;
          self.headers.push(request.headers['last-event-id'] as string | undefined);
          if (self.answer) self.answer(response);
          else void good(body, response);
        });
      });
      server.listen(port, '127.0.0.1', () => resolve(server));
    });
  let server = await open(0);
  const { port } = server.address() as AddressInfo;
  const stop = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  const self: Endpoint = {
    url: `http://127.0.0.1:${port}/x`,
    answer: null,
    headers: [],
    requests: 0,
    async restart() {
      await stop();
      server = await open(port);
    },
  };
  onTestFinished(stop);
  return self;
}

const authOf = (server: PusherServer) => {
  const handler = pusherAuth({ ...server.app, authorize: () => true });
  return endpoint(async (body, response) => {
    const request = new Request('http://x/auth', {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body,
    });
    const answer = await handler(request);
    response.writeHead(answer.status, { 'content-type': 'application/json' });
    response.end(await answer.text());
  });
};

interface World {
  readonly door: Endpoint;
  readonly source: () => EnvelopeSource;
}
const worlds: readonly (readonly [string, () => Promise<World>])[] = [
  [
    'pusherSource',
    async () => {
      const server = await pusherServer();
      const door = await authOf(server);
      const pusher = pusherClient(server, door.url, 'ann');
      return { door, source: () => pusherSource({ pusher, sessionId, backoff }) };
    },
  ],
  [
    'echoSource',
    async () => {
      const server = await pusherServer();
      const door = await authOf(server);
      const echo = echoClient(server, door.url, 'ann');
      return { door, source: () => echoSource({ echo, sessionId, backoff }) };
    },
  ],
  [
    'sseSource',
    async () => {
      const door = await endpoint((_body, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(': hello\n\n');
      });
      return { door, source: () => sseSource({ url: door.url, backoff }) };
    },
  ],
];

function shown(source: EnvelopeSource) {
  const views: SessionView[] = [];
  const session = connectSession(source, (view) => views.push(view), { history: [] });
  onTestFinished(session.close);
  return { views, ...session };
}

const status =
  (code: number, headers: Record<string, string> = {}): Answer =>
  (response) => {
    response.writeHead(code, { 'content-type': 'text/html', ...headers });
    response.end('<html>no</html>');
  };

describe.each(worlds)('%s', (kind, make) => {
  it.each<[string, Answer, RegExp]>([
    ['no response', (response) => response.destroy(), /did not answer|got no response/],
    ['408', status(408), /answered 408/],
    ['425', status(425), /answered 425/],
    ['429', status(429), /answered 429/],
    ['500', status(500), /answered 500/],
    ['502', status(502), /answered 502/],
    ['503', status(503), /answered 503/],
    ['599', status(599), /answered 599/],
    ['200 with a page', status(200), /sign-in page/],
  ])('is offline with a reason on %s, retries, and goes live again', async (_n, bad, words) => {
    const { door, source } = await make();
    door.answer = bad;
    const { view, views } = shown(source());
    await soon(() => expect(view().connection).toBe('offline'));
    expect(view().error).toMatchObject({ name: 'SourceError', isFinal: false });
    expect(view().error?.message).toMatch(words);
    await soon(() => expect(door.requests).toBeGreaterThan(2));
    door.answer = null;
    await soon(() => expect(view().connection).toBe('live'));
    expect(view().error).toBeNull();
    for (const { connection, error } of views)
      if (connection === 'offline') expect(error?.message).toBeTruthy();
  });

  it.each([
    [401, 'refused', 'may not read the session'],
    [403, 'refused', 'may not read the session'],
    [404, 'not_found', 'there is no such session'],
  ])('stays offline with a reason on %i', async (code, kindOfError, words) => {
    const { door, source } = await make();
    door.answer = status(code);
    const { view } = shown(source());
    await soon(() => expect(view().connection).toBe('offline'));
    expect(view().error).toMatchObject({ code: kindOfError, status: code, isFinal: true });
    expect(view().error?.message).toContain(words);
    const asked = door.requests;
    await new Promise((resolve) => setTimeout(resolve, 150));
    expect(door.requests).toBe(asked);
    expect(kind).toBeTruthy();
  });
});

describe('a Pusher connection', () => {
  const connected = async (server: PusherServer, key?: string) => {
    const door = await authOf(server);
    const pusher = pusherClient(server, door.url, 'ann', key);
    return { pusher, ...shown(pusherSource({ pusher, sessionId, backoff, subscribeMs: 300 })) };
  };

  it.each([4100, 4150, 4200, 4299])('reconnects after %i', async (code) => {
    const server = await pusherServer();
    server.sockets.refuse(code);
    const { view } = await connected(server);
    await soon(() => expect(view().connection).toBe('live'));
  });

  it.each([
    [4003, 'the app is disabled'],
    [4004, 'limit of connections'],
    [4099, 'server refuses this connection'],
  ])('stays offline with a reason after %i until the page connects again', async (code, words) => {
    const server = await pusherServer();
    server.sockets.refuse(code);
    const { view, pusher } = await connected(server);
    await soon(() => expect(view().connection).toBe('offline'));
    expect(view().error).toMatchObject({ code: 'refused', isFinal: true });
    expect(view().error?.message).toContain(words);
    pusher.connect();
    await soon(() => expect(view().connection).toBe('live'));
  });

  it('reports an unknown key', async () => {
    const { view } = await connected(await pusherServer(), 'other');
    await soon(() =>
      expect(view().error?.message).toContain('4001: there is no app with this key'),
    );
    expect(view().connection).toBe('offline');
  });

  it('reports the limit of 4301, and goes live when there is capacity', async () => {
    const server = await pusherServer({ maxMessages: 0 });
    const { view } = await connected(server);
    await soon(() => expect(view().error?.message).toContain('4301: the limit of messages'));
    expect(view().connection).toBe('offline');
    server.sockets.allow(1_000);
    await soon(() => expect(view().connection).toBe('live'));
  });

  it('goes live when the signature becomes valid', async () => {
    const server = await pusherServer();
    const door = await authOf(server);
    door.answer = (response) => response.end('{"auth":"test-key:00"}');
    const pusher = pusherClient(server, door.url, 'ann');
    const { view } = shown(pusherSource({ pusher, sessionId, backoff, subscribeMs: 200 }));
    await soon(() => expect(view().error?.message).toContain('4009: unauthorized'));
    door.answer = null;
    await soon(() => expect(view().connection).toBe('live'));
  });

  it('requests a channel again if the endpoint does not respond', async () => {
    const server = await pusherServer();
    const door = await authOf(server);
    door.answer = () => {};
    const pusher = pusherClient(server, door.url, 'ann');
    const { view } = shown(pusherSource({ pusher, sessionId, backoff, subscribeMs: 200 }));
    await soon(() => expect(view().error?.message).toContain('was not confirmed within 200 ms'));
    door.answer = null;
    await soon(() => expect(view().connection).toBe('live'));
  });

  it('reads the headers of channelAuthorizer for each request and obeys Retry-After', async () => {
    const server = await pusherServer();
    const door = await authOf(server);
    let asked = 0;
    const headers = () => ({ authorization: `Bearer ${++asked}` });
    const pusher = pusherClient(server, door.url, 'ann', undefined, {
      channelAuthorization: channelAuthorizer({ url: door.url, headers }),
    });
    door.answer = status(429, { 'retry-after': '1' });
    const { view } = shown(pusherSource({ pusher, sessionId, backoff }));
    await soon(() => expect(view().connection).toBe('offline'));
    expect(view().error).toMatchObject({ status: 429, retryAfterMs: 1_000 });
    door.answer = null;
    expect(door.requests).toBe(1);
    await soon(() => expect(view().connection).toBe('live'));
    expect([door.requests, asked]).toEqual([2, 2]);
    const other = channelAuthorizer({ url: door.url });
    door.answer = (response) => response.destroy();
    const failed = await new Promise<Error | null>((resolve) => {
      other.customHandler({ socketId: '1.2', channelName: name }, resolve);
    });
    expect(failed?.message).toContain('got no response');
  });
});

describe('an event stream', () => {
  const line = (wire: Wire, make: (wire: Wire) => { seq: number | null; execution_id: string }) => {
    const envelope = make(wire);
    return `id: ${envelope.seq}@${envelope.execution_id}\ndata: ${JSON.stringify(envelope)}\n\n`;
  };

  it('continues at the known position after server restarts', async () => {
    const wire = new Wire();
    const lines = [
      line(wire, (w) => w.started()),
      line(wire, (w) => w.user('hi')),
      line(wire, (w) => w.says('hello')),
      line(wire, (w) => w.ends('completed')),
    ];
    const door = await endpoint((_body, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(lines[Math.min(door.requests, lines.length) - 1]);
    });
    const { view } = shown(sseSource({ url: door.url, backoff }));
    for (let known = 1; known < lines.length; known++) {
      await soon(() => expect(view().state.place?.after).toBe(known));
      await door.restart();
    }
    await soon(() => expect(view().state.status).toBe('completed'));
    expect(door.headers.slice(0, 4)).toEqual([undefined, '1@exe_1', '2@exe_1', '3@exe_1']);
    expect(view().state.messages.map(({ content }) => content)).toEqual(['hi', 'hello']);
  });

  it.each<[string, Answer, boolean]>([
    ['a page of a proxy', status(502), false],
    ['a sign-in page', status(200), false],
    ['401', status(401), true],
  ])('keeps its messages and has a reason if a reconnect gets %s', async (_n, bad, isFinal) => {
    const wire = new Wire();
    const first = line(wire, (w) => w.started()) + line(wire, (w) => w.user('hi'));
    let live: ServerResponse | null = null;
    const door = await endpoint((_body, response) => {
      live = response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(first);
    });
    const { view } = shown(sseSource({ url: door.url, backoff }));
    await soon(() => expect(view().state.place?.after).toBe(2));
    door.answer = bad;
    (live as ServerResponse | null)?.destroy();
    await soon(() => expect(view().connection).toBe('offline'));
    expect(view().error).toMatchObject({ name: 'SourceError', isFinal });
    expect(view().state.messages[0]).toMatchObject({ content: 'hi' });
    door.answer = null;
    if (!isFinal) await soon(() => expect(view().connection).toBe('live'));
  });

  it('is offline with a reason if every response ends', async () => {
    const door = await endpoint((_body, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end();
    });
    const { view, views } = shown(sseSource({ url: `${door.url}?token=secret`, backoff }));
    await soon(() => expect(view().error?.message).toMatch(/The stream of .*\/x ended/));
    for (const { connection, error } of views)
      if (connection === 'offline') expect(error).not.toBeNull();
    expect(JSON.stringify(view().error)).not.toContain('secret');
  });
});

describe('listeners', () => {
  const count = (target: unknown): number => {
    const { callbacks } = target as { callbacks: { _callbacks: Record<string, unknown[]> } };
    return Object.values(callbacks._callbacks).reduce((sum, list) => sum + list.length, 0);
  };

  it.each(['pusherSource', 'echoSource'])('%s unbinds only its own listeners', async (kind) => {
    const server = await pusherServer();
    const door = await authOf(server);
    const echo = echoClient(server, door.url, 'ann');
    const { pusher } = echo.connector;
    const source = () =>
      kind === 'echoSource'
        ? echoSource({ echo, sessionId, backoff })
        : pusherSource({ pusher, sessionId, backoff });
    const before = count(pusher.connection);
    const first = shown(source());
    await soon(() => expect(first.view().connection).toBe('live'));
    const received: unknown[] = [];
    const own = (data: unknown): void => void received.push(data);
    const channel = pusher.channel(name);
    // the page binds to the same channel after the source
    channel.bind('agent.status', own);
    first.close();
    await soon(() => expect(count(pusher.connection)).toBe(before));
    expect(count(channel)).toBe(1);
    const data = JSON.stringify(new Wire().started());
    server.channels.publish(name, { event: 'agent.status', data, channel: name });
    await soon(() => expect(received).toHaveLength(1));
    // without a listener of the page, the source leaves the channel
    channel.unbind('agent.status', own);
    const second = shown(source());
    await soon(() => expect(second.view().connection).toBe('live'));
    second.close();
    await soon(() => expect(count(channel)).toBe(0));
    expect(count(pusher.connection)).toBe(before);
  });
});

it('a source that goes offline without an error has a default reason', () => {
  const { view } = shown({
    open: (sink) => {
      sink.connection('offline');
      return () => {};
    },
  });
  expect(view()).toMatchObject({ connection: 'offline', error: { code: 'unreachable' } });
  const error = view().error as SourceError;
  expect(error.message).toContain('did not say why');
});
