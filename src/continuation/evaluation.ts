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

/** Result of one criterion, with the numbers that it read. */
export interface ContinuationEvaluation {
  readonly criterion: string;
  readonly decision: ContinuationDecision;
  readonly reason: string;
  readonly context: Readonly<Record<string, unknown>>;
  readonly stopReason?: StopReason;
  readonly remedy?: Remedy;
  /** Typed data of limits, errors and forbids. Not stored if it can be derived from `context`. */
  readonly facts?: EvaluationFacts;
}

const verbs: Readonly<Record<ContinuationDecision, string>> = {
  forbid: 'forbade continuation',
  request: 'requested continuation',
  stop: 'allowed the stop',
  allow: 'allowed continuation',
};

export const ContinuationEvaluation = {
  /** Completes a bare decision with a reason that names the criterion and the decision. */
  fromDecision: (criterion: string, decision: ContinuationDecision): ContinuationEvaluation => ({
    criterion,
    decision,
    reason: `${criterion} ${verbs[decision]}`,
    context: {},
  }),
} as const;

/** Creates one evaluation per `key` and reuses it, so that long histories stay small. */
/* @__NO_SIDE_EFFECTS__ */
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
