import { refusalOf } from './bus-frame.ts';
import type { BusConnection, BusHandlers, MessageBus } from './message-bus.ts';
import { safeHandlers } from './safe-handlers.ts';

/** Smallest limit of all buses, so that every bus carries a message that this one carries. */
const MAX_BYTES = 7_900;

interface Member {
  readonly node: string;
  readonly handlers: BusHandlers;
  isConnected: boolean;
}

/** Creates a bus between runtimes in one process. Pass the same bus to all of them. */
export function inProcessBus(): MessageBus {
  const members = new Set<Member>();
  return {
    maxBytes: MAX_BYTES,
    open(node, given): BusConnection {
      const handlers = safeHandlers(given);
      const member: Member = { node, handlers, isConnected: false };
      const soon = (to: Member, call: () => void): void =>
        queueMicrotask(() => {
          if (members.has(to)) call();
        });
      members.add(member);
      soon(member, () => {
        member.isConnected = true;
        handlers.connected();
      });
      return {
        get isConnected() {
          return member.isConnected;
        },
        send(to, text): void {
          const refusal = refusalOf(text, MAX_BYTES);
          if (refusal) soon(member, () => handlers.failed(refusal));
          if (refusal || !member.isConnected) return;
          for (const other of members)
            if (other !== member && other.isConnected && (to === null || to === other.node))
              soon(other, () => other.handlers.received(text));
        },
        async close(): Promise<void> {
          member.isConnected = false;
          members.delete(member);
        },
      };
    },
  };
}
