import { whole } from '../errors/agent-error.ts';
import { checkedChannel } from './bus-frame.ts';
import type { BusServer } from './bus-server.ts';
import type { MessageBus } from './message-bus.ts';
import { ServerConnection } from './server-connection.ts';

/** Options of every bus over a server. */
export interface ServerBusOptions {
  /**
   * Name of the channel that all processes of one application share and no other application on the server uses: a
   * letter and up to 37 letters, digits, `_`, `.`, `:` or `-`. Default `onward`.
   */
  readonly channel?: string;
  /** Time limit for connecting and for each answer of the server, in milliseconds. Default 5,000. */
  readonly timeoutMs?: number;
  /** How often the bus checks that the server still answers, in milliseconds. Default 5,000. */
  readonly pingMs?: number;
}

/** Creates a bus over a server. `name` is the function that got the options, for error messages. */
export function serverBus(
  name: string,
  maxBytes: number,
  options: ServerBusOptions,
  server: (timeoutMs: number) => BusServer,
): MessageBus {
  const channel = checkedChannel(`${name}({ channel })`, options.channel ?? 'onward');
  const timeoutMs = whole(`${name}({ timeoutMs })`, options.timeoutMs ?? 5_000);
  const pingMs = whole(`${name}({ pingMs })`, options.pingMs ?? 5_000);
  const used = server(timeoutMs);
  return {
    maxBytes,
    open: (node, handlers) =>
      new ServerConnection(used, node, handlers, { channel, maxBytes, timeoutMs, pingMs }),
  };
}
