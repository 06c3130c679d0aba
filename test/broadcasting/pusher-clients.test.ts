import { describe, expect, it } from 'vitest';
import { pusherAuth, pusherBroadcaster, ownedSessions } from 'onward/broadcasting/pusher';
import type { Broadcaster } from 'onward/broadcasting';
import type { SessionRuntime } from 'onward';
import { ScenarioStep } from 'onward/testing';
import { echoClient, listening, mounted, pusherClient } from '../setup/pusher-clients.ts';
import { everyEnvelope } from '../setup/pusher-envelopes.ts';
import { pusherServer, type PusherServer } from '../setup/pusher-server.ts';
import { agentWith, gate, memoryPlace, runtimeOn, until } from '../setup/sessions.ts';

const broadcasterTo = ({ app, host, port, path }: PusherServer): Broadcaster =>
  pusherBroadcaster({ ...app, host, port, path, useTLS: false });

/** Starts a runtime with one session of ann, and its auth endpoint. */
async function guarded(server: PusherServer): Promise<[endpoint: string, sessionId: string]> {
  const runtime = runtimeOn(memoryPlace().open(), agentWith([ScenarioStep.final('hi')]));
  const { id } = await runtime.create({ owner: 'ann' });
  return [await endpointOf(server, runtime), id];
}

const endpointOf = (server: PusherServer, runtime: SessionRuntime): Promise<string> =>
  mounted(
    pusherAuth({
      ...server.app,
      authorize: ownedSessions(runtime, (request) => request.headers.get('x-user')),
    }),
  );

describe('Laravel Echo', () => {
  it.each([['one by one'], ['in a batch']])(
    'gets every envelope intact and in order, %s',
    async (how) => {
      const server = await pusherServer({ path: how === 'in a batch' ? '/reverb' : '' });
      const [endpoint, id] = await guarded(server);
      const received = await listening(echoClient(server, endpoint, 'ann'), id);
      const broadcaster = broadcasterTo(server);
      const envelopes = everyEnvelope(id);
      const channel = `agent.${id}`;
      if (how === 'in a batch') {
        const broadcasts = envelopes.map((envelope) => ({ channel, envelope }));
        await broadcaster.broadcastBatch(broadcasts.slice(0, 10));
        await broadcaster.broadcastBatch(broadcasts.slice(10));
      } else for (const envelope of envelopes) await broadcaster.broadcast(channel, envelope);
      await until(() => received.length >= envelopes.length);
      expect(received).toEqual(envelopes);
      expect(server.requests).toHaveLength(how === 'in a batch' ? 2 : envelopes.length);
    },
  );

  it.each(['bob', ''])(
    'gets an error with 403 for the session of another owner (user %j)',
    async (user) => {
      const server = await pusherServer();
      const [endpoint, id] = await guarded(server);
      const channel = echoClient(server, endpoint, user).private(`agent.${id}`);
      const refused = await new Promise((resolve, reject) => {
        channel.error(resolve).subscribed(() => reject(new Error('subscribed')));
      });
      expect(refused).toMatchObject({ type: 'AuthError', status: 403 });
      await broadcasterTo(server).broadcast(`agent.${id}`, everyEnvelope(id)[0]!);
      expect(server.channels.names()).toEqual([]);
    },
  );

  it('gets the members of a presence channel', async () => {
    const server = await pusherServer();
    const [endpoint, id] = await guarded(server);
    const members = await new Promise((resolve, reject) => {
      echoClient(server, endpoint, 'ann').join(`agent.${id}`).here(resolve).error(reject);
    });
    expect(server.channels.userIds(`presence-agent.${id}`)).toEqual(['ann']);
    expect(members).toEqual([{ id: 'ann' }]);
  });

  it('reconnects after a restart of the server and misses what was sent in between', async () => {
    const first = await pusherServer();
    const id = 's1';
    let door = Promise.resolve();
    const endpoint = await mounted(
      pusherAuth({ ...first.app, authorize: () => door.then(() => true) }),
    );
    const received = await listening(echoClient(first, endpoint, 'ann'), id);
    const [one, two, three] = everyEnvelope(id);
    const broadcaster = broadcasterTo(first);
    await broadcaster.broadcast(`agent.${id}`, one!);
    await until(() => received.length === 1);
    const { passed, open } = gate();
    door = passed;
    await first.close();
    await expect(broadcaster.broadcast(`agent.${id}`, two!)).rejects.toMatchObject({
      retryable: true,
    });
    const second = await pusherServer({ port: first.port });
    await broadcaster.broadcast(`agent.${id}`, two!); // no client is connected yet
    open();
    await until(() => second.channels.size(`private-agent.${id}`) === 1);
    await broadcaster.broadcast(`agent.${id}`, three!);
    await until(() => received.length === 2);
    expect(received).toEqual([one, three]);
  }, 30_000);
});

describe('pusher-js', () => {
  it('gets every envelope intact and in order', async () => {
    const server = await pusherServer();
    const [endpoint, id] = await guarded(server);
    const received: unknown[] = [];
    const channel = pusherClient(server, endpoint, 'ann').subscribe(`private-agent.${id}`);
    channel.bind_global((name: string, data: unknown) => {
      if (name.startsWith('agent.')) received.push(data);
    });
    await new Promise((resolve) => {
      channel.bind('pusher:subscription_succeeded', resolve);
    });
    const broadcaster = broadcasterTo(server);
    const envelopes = everyEnvelope(id);
    for (const envelope of envelopes) await broadcaster.broadcast(`agent.${id}`, envelope);
    await until(() => received.length >= envelopes.length);
    expect(received).toEqual(envelopes);
  });

  it('gets an error with 403 for the session of another owner', async () => {
    const server = await pusherServer();
    const [endpoint, id] = await guarded(server);
    const channel = pusherClient(server, endpoint, 'bob').subscribe(`private-agent.${id}`);
    const refused = await new Promise((resolve) => {
      channel.bind('pusher:subscription_error', resolve);
    });
    expect(refused).toMatchObject({ type: 'AuthError', status: 403 });
  });

  it('reports a wrong secret of the endpoint as a connection error, not as a channel error', async () => {
    const server = await pusherServer();
    const endpoint = await mounted(
      pusherAuth({ key: server.app.key, secret: 'another', authorize: () => true }),
    );
    const client = pusherClient(server, endpoint, 'ann');
    const reported: string[] = [];
    const channel = client.subscribe('private-agent.1');
    channel.bind('pusher:subscription_error', () => reported.push('channel'));
    const error = await new Promise((resolve) => {
      client.connection.bind('error', resolve);
    });
    expect(error).toMatchObject({ data: { code: 4009 } });
    expect(reported).toEqual([]);
    expect(client.connection.state).toBe('connected');
  });

  it('disconnects permanently on an unknown key', async () => {
    const server = await pusherServer();
    const client = pusherClient(server, '/none', 'ann', 'other');
    await until(() => client.connection.state === 'disconnected');
    expect(server.connections).toBe(1);
  });
});
