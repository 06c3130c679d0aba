import type { Plan } from './kill-agent.ts';
import { between, pick, seededRandom, seedOf } from './random.ts';

/** What happens in one turn of one session. */
export interface TurnScript {
  readonly plan: Plan;
  /** The model gives its calls ids that no provider should give. */
  readonly isHostile: boolean;
  /** The client request in the middle of the work. */
  readonly disturbance: {
    readonly kind: 'stop' | 'pause' | 'queue';
    readonly afterMs: number;
  } | null;
  /** A message without acknowledgment is sent again under its id; otherwise another one follows. */
  readonly isRepeated: boolean;
  /** Answers are given twice, the second time the other way round. */
  readonly isAnsweredTwice: boolean;
  /** Answers are given again when the turn is over. */
  readonly isAnsweredLate: boolean;
  /** To the calls that wait, in their order. */
  answer(n: number): 'approve' | 'deny';
}

/** Steps that plans are made of. */
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

/** The same for the same seed, session and turn, whatever happened before. */
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
