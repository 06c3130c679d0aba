import { deliveryCases } from './broadcaster-contract/delivery-cases.ts';
import type { BroadcasterHarness } from './broadcaster-contract/broadcaster-harness.ts';

export type {
  BroadcasterHarness,
  ChannelReader,
} from './broadcaster-contract/broadcaster-harness.ts';

/** One promise of a `Broadcaster`: `run` rejects, saying what was expected and seen, if it is broken. */
export interface BroadcasterContractCase {
  readonly name: string;
  run(): Promise<void>;
}

/**
 * What every `Broadcaster` must do, for any test runner:
 * `for (const { name, run } of broadcasterContract(() => myRig())) it(name, run)`.
 * The rig is made once; each case reads channels of its own.
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
