import { deliveryCases } from './broadcaster-contract/delivery-cases.ts';
import type { BroadcasterHarness } from './broadcaster-contract/broadcaster-harness.ts';

export type {
  BroadcasterHarness,
  ChannelReader,
} from './broadcaster-contract/broadcaster-harness.ts';

/** One requirement of a `Broadcaster`: `run` rejects with what was expected and seen if it is violated. */
export interface BroadcasterContractCase {
  readonly name: string;
  run(): Promise<void>;
}

/**
 * Returns the requirements of every `Broadcaster` as cases for any test runner: `for (const { name, run } of
 * broadcasterContract(() => myHarness())) it(name, run)`. The harness is created once; each case reads its own
 * channels.
 */
export function broadcasterContract(
  open: () => BroadcasterHarness | Promise<BroadcasterHarness>,
): readonly BroadcasterContractCase[] {
  let harness: Promise<BroadcasterHarness> | undefined;
  const prepare = async (): Promise<BroadcasterHarness> => open();
  return deliveryCases.map(([name, run]) => ({
    name,
    run: async () => run(await (harness ??= prepare())),
  }));
}
