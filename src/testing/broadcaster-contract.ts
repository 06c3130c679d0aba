import { deliveryCases } from './broadcaster-contract/delivery-cases.ts';
import type { BroadcasterRig } from './broadcaster-contract/rig.ts';

export type { BroadcasterRig, ChannelReader } from './broadcaster-contract/rig.ts';

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
  open: () => BroadcasterRig | Promise<BroadcasterRig>,
): readonly BroadcasterContractCase[] {
  let rig: Promise<BroadcasterRig> | undefined;
  const prepare = async (): Promise<BroadcasterRig> => open();
  return deliveryCases.map(([name, run]) => ({
    name,
    run: async () => run(await (rig ??= prepare())),
  }));
}
