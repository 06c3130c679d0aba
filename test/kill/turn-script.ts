import type { Plan } from './kill-agent.ts';
import { between, pick, seededRandom, seedOf } from './random.ts';

/** The events of one turn of a session. */
export interface TurnScript {
  readonly plan: Plan;
  /** Whether the model uses hostile call ids. */
  readonly isHostile: boolean;
  /** A client request during the run. */
  readonly disturbance: {
    readonly kind: 'stop' | 'pause' | 'queue';
    readonly afterMs: number;
  } | null;
  /** Whether an unacknowledged message is sent again with its id. Otherwise another one follows. */
  readonly isRepeated: boolean;
  /** Whether answers are given twice, the second time with the opposite decision. */
  readonly isAnsweredTwice: boolean;
  /** Whether answers are given again after the turn. */
  readonly isAnsweredLate: boolean;
  /** The answer to the nth call that needs approval. */
  answer(n: number): 'approve' | 'deny';
}

/** The steps that plans consist of. */
const STEPS: Plan = [
  ['note'],
  ['look'],
  ['pay'],
  ['slow'],
  ['ask'],
  ['research'],
  ['consult'],
  ['note', 'look', 'pay'],
  ['look', 'look', 'slow', 'note'],
  ['pay', 'ask', 'look', 'ask'],
  ['research', 'pay', 'consult'],
];

/** The same for the same seed, session and turn. */
export function turnScript(seed: number, session: string, turn: number): TurnScript {
  const random = seededRandom(seedOf(seed, session, turn));
  const length = 1 + Math.floor(random() * 4);
  const plan = Array.from({ length }, () => pick(random, STEPS) ?? []);
  const kind = pick(random, ['stop', 'pause', 'queue'] as const) ?? 'stop';
  const afterMs = Math.round(between(random, 0, 400));
  const [disturbed, hostile, repeated, twice, late] = [
    random(),
    random(),
    random(),
    random(),
    random(),
  ];
  return {
    plan,
    isHostile: hostile < 0.4,
    disturbance: disturbed < 0.2 ? { kind, afterMs } : null,
    isRepeated: repeated < 0.6,
    isAnsweredTwice: twice < 0.3,
    isAnsweredLate: late < 0.3,
    answer: (n) => (seededRandom(seedOf(seed, session, turn, n))() < 0.75 ? 'approve' : 'deny'),
  };
}
