import type { ContinuationDecision } from './decision.ts';
import type { EvaluationFacts } from './facts.ts';
import type { Grants } from './grants.ts';
import type { StopReason } from './stop-reason.ts';

/** How a stopped run can continue: an imperative sentence, the option to raise, the grant to give. */
export interface Remedy {
  readonly text: string;
  readonly option?: string;
  readonly grant?: Grants;
}

/** What one criterion said, with the numbers it looked at. */
export interface ContinuationEvaluation {
  readonly criterion: string;
  readonly decision: ContinuationDecision;
  readonly reason: string;
  readonly context: Readonly<Record<string, unknown>>;
  readonly stopReason?: StopReason;
  readonly remedy?: Remedy;
  /** What it is about, as typed data: on limits, on errors and on whatever forbids. */
  readonly facts?: EvaluationFacts;
}

const verbs: Readonly<Record<ContinuationDecision, string>> = {
  forbid: 'forbade continuation',
  request: 'requested continuation',
  stop: 'allowed the stop',
  allow: 'allowed continuation',
};

export const ContinuationEvaluation = {
  /** For criteria that only return a decision: the reason says who and what. */
  fromDecision: (criterion: string, decision: ContinuationDecision): ContinuationEvaluation => ({
    criterion,
    decision,
    reason: `${criterion} ${verbs[decision]}`,
    context: {},
  }),
} as const;

/** Most steps get the same reason from the same criterion: made once per `key`, so that long histories stay small. */
export function sharedEvaluations<K>(
  make: (key: K) => ContinuationEvaluation,
): (key: K) => ContinuationEvaluation {
  const made = new Map<K, ContinuationEvaluation>();
  return (key) => {
    const known = made.get(key);
    if (known) return known;
    const evaluation = Object.freeze(make(key));
    if (made.size < 100) made.set(key, evaluation);
    return evaluation;
  };
}
