import type { AgentStatus, SessionRuntime } from 'onward';
import { mortal } from './mortal-store.ts';
import type { Said } from './provider-wires.ts';
import { ann, runtimeOn, until, waiting, type Place } from './sessions.ts';
import { builderFor, type Scene } from './turn-exits.ts';

/** A way to park a session: its run fails on every try from this point of the turn on. */
export interface Parking {
  readonly name: string;
  readonly script: readonly Said[];
  /** The answers of the model once the run works again. */
  readonly rest: readonly Said[];
  /** The status of the turn after the retry. */
  readonly ends: AgentStatus;
  /** Resolves when the run starts to fail. */
  reach(parking: ParkingScene, scene: Scene): Promise<unknown>;
}

interface ParkingScene {
  readonly runtime: SessionRuntime;
  /** Makes the run fail from now on. */
  fail(): void;
  /** Kills the worker of the session without notice. */
  die(): void;
}

/** Short enough for several tries of one turn in a test. */
const lease = { leaseMs: 120, heartbeatMs: 30, signalMs: 30 };

/** A parked session. */
export interface Parked {
  readonly runtime: SessionRuntime;
  /** Removes the cause, after this many more failures. */
  repair(failuresLeft?: number): void;
}

/** Parks the session `s` in `place`. */
export async function parked(
  { reach }: Pick<Parking, 'reach'>,
  scene: Scene,
  place: Place,
): Promise<Parked> {
  const agent = builderFor(scene).build();
  let failuresLeft = 0;
  const deps = (): object => {
    if (failuresLeft-- > 0) throw new Error('the tenant cannot be reached');
    return {};
  };
  const worker = (store = place.open()): SessionRuntime =>
    runtimeOn(store, agent, { lease, deps, onError: () => {} });
  const doomed = mortal(place.open());
  const runtime = worker(doomed.store);
  runtime.wiretap(() => {}); // streams the answers
  await runtime.create({ id: 's', ...ann });
  await reach({ runtime, fail: () => void (failuresLeft = Infinity), die: doomed.die }, scene);
  const other = worker();
  other.start();
  await until(async () => (await other.get('s', ann)).phase === 'parked');
  return {
    runtime: other,
    repair: (left = 0) => {
      failuresLeft = left;
    },
  };
}

export const parkings: readonly Parking[] = [
  {
    name: 'before its first step',
    script: [],
    rest: [{ text: 'Done.' }],
    ends: 'completed',
    reach({ runtime, fail }) {
      fail();
      return runtime.send('s', 'go', ann);
    },
  },
  {
    name: 'between two steps',
    script: [{ thought: 'Both.', calls: [{ name: 'look' }, { name: 'wait' }] }],
    rest: [{ text: 'Done.' }],
    ends: 'completed',
    async reach({ runtime, fail }, { begun, release }) {
      await runtime.send('s', 'go', ann);
      await begun.passed;
      await runtime.pause('s', ann);
      release.open();
      await runtime.wait('s', ann);
      fail();
      await runtime.resume('s', ann);
    },
  },
  {
    name: 'after a call was approved',
    script: [{ text: 'I pay.', calls: [{ name: 'pay' }, { name: 'look' }] }],
    rest: [{ text: 'Paid.' }],
    ends: 'completed',
    async reach({ runtime, fail }) {
      const { pendingApprovals } = await runtime.send('s', 'go', waiting);
      fail();
      for (const { callId } of pendingApprovals) await runtime.approve('s', callId, ann);
    },
  },
  {
    name: 'during a non-idempotent tool',
    script: [{ calls: [{ name: 'look' }, { name: 'wait' }] }],
    rest: [],
    ends: 'failed',
    async reach({ runtime, fail, die }, { begun }) {
      await runtime.send('s', 'go', ann);
      await begun.passed;
      fail();
      die();
    },
  },
];
