import { pusherAuth } from 'onward/broadcasting/pusher';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { channelOf, type Envelope } from '../../src/broadcasting/envelope.ts';
import { echoSource } from '../../src/ui/sources/echo-source.ts';
import type { Connection, EnvelopeSource } from '../../src/ui/sources/envelope-source.ts';
import { pusherSource } from '../../src/ui/sources/pusher-source.ts';
import { connectSession } from '../../src/ui/sources/session-view-store.ts';
import type { SourceError } from '../../src/ui/sources/source-error.ts';
import { echoClient, mounted, pusherClient } from '../setup/pusher-clients.ts';
import { pusherServer, type PusherServer } from '../setup/pusher-server.ts';
import { until } from '../setup/sessions.ts';
import { Wire } from './fake-source.ts';

const id = 'ses_1';
const name = `private-${channelOf(id)}`;

interface Received {
  readonly envelopes: Envelope[];
  readonly connections: Connection[];
  readonly errors: SourceError[];
  readonly close: () => void;
}

function listen(source: EnvelopeSource): Received {
  const received = {
    envelopes: [] as Envelope[],
    connections: [] as Connection[],
    errors: [] as SourceError[],
  };
  const close = source.open(
    {
      envelope: (envelope) => received.envelopes.push(envelope),
      connection: (state) => received.connections.push(state),
      stale: () => {},
      failed: (error) => received.errors.push(error as SourceError),
    },
    () => null,
  );
  return { ...received, close };
}

const auth = (
  server: PusherServer,
  options: { secret?: string; isLetIn?: boolean } = {},
): Promise<string> => {
  const { secret = server.app.secret, isLetIn = true } = options;
  return mounted(pusherAuth({ key: server.app.key, secret, authorize: () => isLetIn }));
};

const send = (server: PusherServer, envelope: Envelope): void =>
  server.channels.publish(name, {
    event: envelope.type,
    data: JSON.stringify(envelope),
    channel: name,
  });

interface Client {
  readonly source: () => EnvelopeSource;
  readonly disconnect: () => void;
  readonly connect: () => void;
}
type Make = (server: PusherServer, endpoint: string, more?: { subscribeMs?: number }) => Client;

const clients: readonly (readonly [string, Make])[] = [
  [
    'echoSource',
    (server, endpoint, more = {}) => {
      const echo = echoClient(server, endpoint, 'ann');
      return {
        source: () => echoSource({ echo, sessionId: id, ...more }),
        disconnect: () => echo.disconnect(),
        connect: () => echo.connector.pusher.connect(),
      };
    },
  ],
  [
    'pusherSource',
    (server, endpoint, more = {}) => {
      const pusher = pusherClient(server, endpoint, 'ann');
      return {
        source: () => pusherSource({ pusher, sessionId: id, ...more }),
        disconnect: () => pusher.disconnect(),
        connect: () => pusher.connect(),
      };
    },
  ],
];

describe.each(clients)('%s', (_name, make) => {
  it('gets every envelope type after the channel is confirmed, and leaves the channel on close', async () => {
    const server = await pusherServer();
    const { envelopes, connections, close } = listen(make(server, await auth(server)).source());
    await until(() => connections.at(-1) === 'live');
    expect(connections[0]).toBe('connecting');
    const wire = new Wire();
    const all = [
      wire.started(),
      wire.user('„größe“ 👩‍🚀'),
      wire.chunk('a', 0),
      wire.tool('t', 'c'),
      wire.toolDone('t', 'c', 'ok'),
      wire.limit(),
    ];
    for (const envelope of all) send(server, envelope);
    await until(() => envelopes.length === all.length);
    expect(envelopes).toEqual(all);
    close();
    await until(() => server.channels.size(name) === 0);
  });

  it('shares the channel between two views of one client, and the last one leaves it', async () => {
    const server = await pusherServer();
    const { source } = make(server, await auth(server));
    const first = listen(source());
    await until(() => first.connections.at(-1) === 'live');
    const second = listen(source());
    expect(second.connections).toEqual(['live']);
    first.close();
    const envelope = new Wire().started();
    send(server, envelope);
    await until(() => second.envelopes.length === 1);
    expect(first.envelopes).toEqual([]);
    expect(second.envelopes).toEqual([envelope]);
    second.close();
    await until(() => server.channels.size(name) === 0);
    const third = listen(source());
    await until(() => third.connections.at(-1) === 'live');
    third.close();
  });

  it('reports a refused channel and what to check', async () => {
    const server = await pusherServer();
    const { errors, connections, close } = listen(
      make(server, await auth(server, { isLetIn: false })).source(),
    );
    onTestFinished(close);
    await until(() => errors.length > 0);
    expect(errors[0]).toMatchObject({ code: 'refused', status: 403, isFinal: true });
    expect(errors[0]?.message).toContain('auth endpoint answered 403');
    expect(connections.at(-1)).toBe('offline');
  });

  it('reports a wrong signature after a timeout', async () => {
    const server = await pusherServer();
    const { source } = make(server, await auth(server, { secret: 'another' }), {
      subscribeMs: 200,
    });
    const { errors, connections, close } = listen(source());
    onTestFinished(close);
    await until(() => errors.length > 0);
    expect(errors[0]).toMatchObject({ code: 'unreachable' });
    expect(errors[0]?.message).toContain('not confirmed within 200 ms; the server reported 4009');
    expect(errors[0]?.message).toContain('secret');
    expect(connections.at(-1)).toBe('offline');
  });

  it('reports and skips invalid envelopes', async () => {
    const server = await pusherServer();
    const { envelopes, errors, connections, close } = listen(
      make(server, await auth(server)).source(),
    );
    onTestFinished(close);
    await until(() => connections.at(-1) === 'live');
    const publish = (data: string): void =>
      server.channels.publish(name, { event: 'agent.status', data, channel: name });
    publish('no JSON');
    publish('{"type":"agent.status"}');
    const envelope = new Wire().started();
    send(server, envelope);
    await until(() => envelopes.length === 1);
    expect(errors.map(({ code }) => code)).toEqual(['unreadable', 'unreadable']);
  });

  it('requests a refill after a lost connection', async () => {
    const server = await pusherServer();
    const endpoint = await auth(server);
    const wire = new Wire();
    const all = [wire.started(), wire.user('hi'), wire.says('hello'), wire.ends('completed')];
    const refill = vi.fn<NonNullable<EnvelopeSource['refill']>>(async (place) => ({
      session_id: id,
      execution_id: 'exe_1',
      envelopes: place ? all.slice(place.after) : [],
      seq: place ? 4 : 0,
      more: false,
    }));
    const client = make(server, endpoint);
    const source: EnvelopeSource = { ...client.source(), refill };
    const { view, close } = connectSession(source, () => {}, { history: [] });
    onTestFinished(close);
    await until(() => view().connection === 'live');
    send(server, all[0]!);
    send(server, all[1]!);
    await until(() => view().state.place?.after === 2);
    client.disconnect();
    expect(view().connection).toBe('offline');
    send(server, all[2]!); // no client is connected
    client.connect();
    await until(() => view().state.status === 'completed');
    expect(view().connection).toBe('live');
    expect(refill).toHaveBeenCalledWith({ executionId: 'exe_1', after: 2 }, expect.anything());
    expect(view().state.messages.map(({ content }) => content)).toEqual(['hi', 'hello']);
  });
});

it('stays in a channel that the page joined before', async () => {
  const server = await pusherServer();
  const pusher = pusherClient(server, await auth(server), 'ann');
  pusher.subscribe(name);
  const { connections, close } = listen(pusherSource({ pusher, sessionId: id }));
  await until(() => connections.at(-1) === 'live');
  close();
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(server.channels.size(name)).toBe(1);
});
