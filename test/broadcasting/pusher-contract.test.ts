import { describe, it } from 'vitest';
import type { Envelope } from 'onward/broadcasting';
import { pusherAuth, pusherBroadcaster } from 'onward/broadcasting/pusher';
import {
  broadcasterContract,
  type BroadcasterHarness,
} from '../../src/testing/broadcaster-contract.ts';
import { mounted, pusherClient, type PusherClient } from '../setup/pusher-clients.ts';
import { pusherServer } from '../setup/pusher-server.ts';

/** Waits for a pong, which arrives after everything that was sent before the ping. */
const caughtUp = (client: PusherClient): Promise<void> =>
  new Promise((resolve) => {
    const received = ({ event }: { readonly event: string }): void => {
      if (event !== 'pusher:pong') return;
      client.connection.unbind('message', received);
      resolve();
    };
    client.connection.bind('message', received);
    client.send_event('pusher:ping', {});
  });

async function harness(): Promise<BroadcasterHarness> {
  const server = await pusherServer();
  const { app, host, port } = server;
  const endpoint = await mounted(pusherAuth({ ...app, authorize: () => true }));
  return {
    broadcaster: pusherBroadcaster({ ...app, host, port, useTLS: false }),
    async read(channel) {
      const received: Envelope[] = [];
      const client = pusherClient(server, endpoint, 'ann');
      const subscription = client.subscribe(`private-${channel}`);
      subscription.bind_global((name: string, data: Envelope) => {
        if (name.startsWith('agent.')) received.push(data);
      });
      await new Promise((resolve) => {
        subscription.bind('pusher:subscription_succeeded', resolve);
      });
      return async () => {
        await caughtUp(client);
        return received;
      };
    },
    breakdown: (kind) => server.breakdown(kind === 'error' ? { status: 503 } : { hangs: true }),
  };
}

describe('pusherBroadcaster passes the broadcaster contract', () => {
  // each case has its own harness, because a server ends with its test
  for (const [i, { name }] of broadcasterContract(harness).entries())
    it(name, () => broadcasterContract(harness)[i]?.run());
});
