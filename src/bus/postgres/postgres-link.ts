import { uuid } from '../../ids.ts';
import { needsDirectConnection } from '../bus-errors.ts';
import { nodeChannel } from '../bus-frame.ts';
import type { BusChannels, BusLink, LinkEvents } from '../bus-server.ts';
import { settledWithin } from '../deadline.ts';

/** The part of a `pg` Client that the bus uses. */
export interface ListenClientLike {
  connect(): Promise<unknown>;
  query(query: {
    text: string;
    values?: unknown[];
  }): Promise<{ readonly rows: readonly unknown[] }>;
  on(event: 'error' | 'end' | 'notification', listener: (value: never) => void): unknown;
  end(): Promise<void>;
  /** Id of the server process of this connection, as the server or a pooler reported on connect. */
  readonly processID?: number | null;
  /** Socket that is destroyed if a connection does not end by itself. */
  readonly connection?: { readonly stream?: { destroy(): unknown } };
}

interface ServerNotification {
  readonly channel: string;
  readonly payload?: string;
}

export interface LinkOptions {
  /** Creates a client that is not connected. */
  client(): ListenClientLike | Promise<ListenClientLike>;
  readonly timeoutMs: number;
}

/** How long a connection may take to end by itself, in milliseconds. */
const END_MS = 500;

/** Listens and notifies on one connection. */
export function postgresLink(
  options: LinkOptions,
  { all, own }: BusChannels,
  { received, broken }: LinkEvents,
): BusLink {
  const clients = new Set<ListenClientLike>();
  let isClosed = false;

  const connect = async (failed: (error: Error) => void): Promise<ListenClientLike> => {
    const client = await options.client();
    if (isClosed) throw new Error('the bus was closed');
    clients.add(client);
    client.on('error', failed);
    await client.connect();
    return client;
  };

  const open = async (): Promise<ListenClientLike> => {
    const client = await connect(broken);
    client.on('end', () => broken(new Error('the connection ended')));
    const probe = nodeChannel(all, uuid());
    let probed: () => void = () => {};
    const arrival = new Promise<void>((resolve) => (probed = resolve));
    client.on('notification', ({ channel, payload = '' }: ServerNotification) => {
      if (channel === probe) probed();
      else received(payload);
    });
    if ((await serverProcess(client)) !== client.processID) {
      await listen(client, probe);
      await notifyFromElsewhere(probe, arrival);
    }
    await listen(client, all, own);
    return client;
  };

  /**
   * Checks that a pooler forwards notifications of other clients. A pooler in transaction mode forwards only those that
   * the client sends itself.
   */
  const notifyFromElsewhere = async (channel: string, arrival: Promise<void>): Promise<void> => {
    const other = await connect(() => {}); // its statements reject with the error
    await notify(other, [channel], ['']);
    if (!(await settledWithin(arrival, options.timeoutMs / 2))) throw needsDirectConnection();
    await end(other);
  };

  const end = async (client: ListenClientLike): Promise<void> => {
    clients.delete(client);
    if (!(await settledWithin(client.end(), END_MS))) client.connection?.stream?.destroy();
  };

  const opened = open();
  return {
    ready: opened.then(() => {}),
    publish: async (messages) =>
      notify(
        await opened,
        messages.map(({ channel }) => channel),
        messages.map(({ payload }) => payload),
      ),
    ping: async () => (await opened).query({ text: 'select' }),
    async close() {
      isClosed = true;
      await Promise.all(Array.from(clients, end));
    },
  };
}

async function serverProcess(client: ListenClientLike): Promise<unknown> {
  const { rows } = await client.query({ text: 'select pg_backend_pid() as pid' });
  return (rows[0] as { readonly pid: unknown } | undefined)?.pid;
}

/** Listens to channels. Their names have no quotes. */
const listen = (client: ListenClientLike, ...channels: readonly string[]): Promise<unknown> =>
  client.query({ text: channels.map((channel) => `listen "${channel}"`).join('; ') });

/**
 * SQL that sends notifications without waiting for the server's disk. Set only for this transaction, because a pooler
 * may give the connection to other clients.
 */
const NOTIFY = `select set_config('synchronous_commit', 'off', true), pg_notify(channel, payload)
  from unnest($1::text[], $2::text[]) as message (channel, payload)`;

const notify = (
  client: ListenClientLike,
  channels: string[],
  payloads: string[],
): Promise<unknown> => client.query({ text: NOTIFY, values: [channels, payloads] });
