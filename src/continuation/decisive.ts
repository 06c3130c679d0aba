import type { ContinuationDecision } from './decision.ts';
import type { ContinuationEvaluation } from './evaluation.ts';
import { forbidOrder, StopReason } from './stop-reason.ts';

const strength: Readonly<Record<ContinuationDecision, number>> = {
  forbid: 3,
  request: 2,
  stop: 1,
  allow: 0,
};

const rankOf = (e: ContinuationEvaluation): number =>
  forbidOrder.indexOf(e.stopReason ?? StopReason.GuardForbade);

/** Finds the deciding evaluation: the strongest decision, then the precedence of stop reasons, then list order. */
export function decisiveOf(
  evaluations: readonly ContinuationEvaluation[],
): ContinuationEvaluation | undefined {
  let best: ContinuationEvaluation | undefined;
  for (const e of evaluations) {
    if (best === undefined || strength[e.decision] > strength[best.decision]) best = e;
    else if (e.decision === 'forbid' && best.decision === 'forbid' && rankOf(e) < rankOf(best))
      best = e;
  }
  return best;
}
