import { describe, expect, it } from 'vitest';
import { inProcessBus } from '../bus/in-process-bus.ts';
import type { BusConnection, BusHandlers, MessageBus } from '../bus/message-bus.ts';
import { messageBusContract } from './message-bus-contract.ts';

/** Changes the arguments of `open` or the connection. */
interface Change {
  node?(node: string): string;
  handlers?(handlers: BusHandlers): BusHandlers;
  connection?(connection: BusConnection, handlers: BusHandlers): Partial<BusConnection>;
}

/** Creates a bus with the given mistake. */
function busWith(change: Change): MessageBus {
  const sound = inProcessBus();
  return {
    maxBytes: sound.maxBytes,
    open(node, given) {
      const handlers = change.handlers?.(given) ?? given;
      const connection = sound.open(change.node?.(node) ?? node, handlers);
      const parts: BusConnection = {
        get isConnected() {
          return connection.isConnected;
        },
        send: (...message) => connection.send(...message),
        close: () => connection.close(),
      };
      return Object.assign(parts, change.connection?.(connection, handlers));
    },
  };
}

async function failures(change: Change): Promise<string> {
  const bus = busWith(change);
  const failed: string[] = [];
  for (const { name, run } of messageBusContract(() => ({ bus: () => bus }), { waitMs: 100 }))
    await run().catch((error: Error) => failed.push(`${name}: ${error.message}`));
  return failed.join('\n');
}

const mistakes: readonly (readonly [string, Change, RegExp])[] = [
  [
    'delivers broadcasts to their sender',
    {
      connection: ({ send }, { received }) => ({
        send(to, text) {
          send(to, text);
          if (to === null) received(text);
        },
      }),
    },
    /and not at its sender/,
  ],
  [
    'broadcasts a message for one node',
    { connection: ({ send }) => ({ send: (_to, text) => send(null, text) }) },
    /arrives there alone/,
  ],
  [
    'confuses similar names',
    {
      node: (node) => node.toLowerCase(),
      connection: ({ send }) => ({
        send: (to, text) => send(to?.toLowerCase() ?? null, text),
      }),
    },
    /similar names/,
  ],
  [
    'sends urgent messages first',
    {
      connection: ({ send }) => ({
        send: (to, text, options) =>
          to === null ? send(to, text, options) : queueMicrotask(() => send(to, text, options)),
      }),
    },
    /in order, to one and to all/,
  ],
  [
    'sends equal messages once',
    {
      connection({ send }) {
        const sent = new Set<string>();
        return {
          send(to, text) {
            if (!sent.has(text)) send(to, text);
            sent.add(text);
          },
        };
      },
    },
    /as often as they are sent/,
  ],
  [
    'trims texts',
    { connection: ({ send }) => ({ send: (to, text) => send(to, text.trimEnd()) }) },
    /whatever is in it/,
  ],
  [
    'drops large messages without a report',
    {
      connection: ({ send }) => ({
        send: (to, text) => (text.length > 2_000 ? undefined : send(to, text)),
      }),
    },
    /a message of maxBytes arrives[^]*over maxBytes is reported/,
  ],
  [
    'throws in send',
    {
      connection: (connection) => ({
        send(to, text) {
          if (!connection.isConnected) throw new Error('not connected');
          connection.send(to, text);
        },
      }),
    },
    /can send when it says so[^]*is the end/,
  ],
  [
    'reports a refusal before send returns',
    {
      handlers: (handlers) => ({ ...handlers, failed: () => {} }),
      connection: ({ send }, { failed }) => ({
        send(to, text) {
          if (text.includes('\0')) failed(new Error('NUL'));
          send(to, text);
        },
      }),
    },
    /not well-formed is reported/,
  ],
  [
    'stops after an error of a handler',
    {
      handlers(handlers) {
        let isBroken = false;
        return {
          ...handlers,
          received(text) {
            if (isBroken) return;
            isBroken = true;
            handlers.received(text);
            isBroken = false;
          },
        };
      },
    },
    /the next message arrives/,
  ],
  [
    'reports a connection before it exists',
    { connection: (_connection, handlers) => (handlers.connected(), {}) },
    /can send when it says so/,
  ],
  ['does not close', { connection: () => ({ close: async () => {} }) }, /is the end/],
];

describe('the contract of buses', () => {
  it('passes a correct bus', async () => {
    expect(await failures({})).toBe('');
  });

  it.each(mistakes)('detects a bus that %s', async (_, change, expected) => {
    expect(await failures(change)).toMatch(expected);
  });
});
