import type { AgentStatus, SessionRuntime } from 'onward';
import { mortal } from './mortal-store.ts';
import type { Said } from './provider-wires.ts';
import { ann, runtimeOn, until, waiting, type Place } from './sessions.ts';
import { builderFor, type Scene } from './turn-exits.ts';

/** A way into a parked session: the work fails each time it is tried, from this moment of the turn on. */
export interface Parking {
  readonly name: string;
  readonly script: readonly Said[];
  /** What the model says once the work can be done again. */
  readonly rest: readonly Said[];
  /** How the turn ends after the retry. */
  readonly ends: AgentStatus;
  /** Resolves when the work fails. */
  reach(parking: ParkingScene, scene: Scene): Promise<unknown>;
}

interface ParkingScene {
  readonly runtime: SessionRuntime;
  /** From now on the work fails. */
  fail(): void;
  /** The worker that has the session is gone, and says nothing of it. */
  die(): void;
}

/** Times short enough to see several tries of one turn in a test. */
const lease = { leaseMs: 120, heartbeatMs: 30, signalMs: 30 };

/** A session that was parked. */
export interface Parked {
  readonly runtime: SessionRuntime;
  /** The cause is gone, but for so many more tries. */
  repair(failuresLeft?: number): void;
}

/** Parks the session `s` in `place` in this way. */
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
  runtime.wiretap(() => {}); // so that answers are streamed
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
    name: 'in the middle of a tool that must not run again',
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
