import { Peers, type MessageBusHarness } from './bus-contract/bus-harness.ts';
import { connectionCases } from './bus-contract/connection-cases.ts';
import { deliveryCases } from './bus-contract/delivery-cases.ts';

export type { MessageBusHarness } from './bus-contract/bus-harness.ts';

/** One promise of a `MessageBus`: `run` rejects, saying what was expected and seen, if it is broken. */
export interface MessageBusContractCase {
  readonly name: string;
  run(): Promise<void>;
}

/**
 * What every `MessageBus` must do, for any test runner:
 * `for (const { name, run } of messageBusContract(() => myHarness())) it(name, run)`.
 * The harness is made once. `waitMs` is how long a case waits for what must happen, 15 seconds by default.
 */
export function messageBusContract(
  open: () => MessageBusHarness | Promise<MessageBusHarness>,
  options: { readonly waitMs?: number } = {},
): readonly MessageBusContractCase[] {
  let harness: Promise<MessageBusHarness> | undefined;
  const prepare = async (): Promise<MessageBusHarness> => open();
  return [...deliveryCases, ...connectionCases].map(({ name, run }) => ({
    name,
    async run() {
      const peers = new Peers(await (harness ??= prepare()), options.waitMs ?? 15_000);
      try {
        await run(peers);
      } finally {
        await peers.close();
      }
    },
  }));
}
