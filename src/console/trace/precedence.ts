import type { ContinuationDecision } from '../../continuation/decision.ts';
import type { ContinuationEvaluation } from '../../continuation/evaluation.ts';
import type { ContinuationOutcomeJSON } from '../../continuation/outcome.ts';
import { decisiveEvaluation } from '../../trace/evaluations.ts';

/** All evaluations with one decision, in order of precedence. */
export interface EvaluationGroup {
  readonly decision: ContinuationDecision;
  readonly name: string;
  /** The deciding evaluation first, the others in evaluation order. */
  readonly evaluations: readonly ContinuationEvaluation[];
  readonly isDecisive: boolean;
}

/** In order of precedence. */
export const precedence: readonly ContinuationDecision[] = ['forbid', 'request', 'stop', 'allow'];

export const decisionNames: Readonly<Record<ContinuationDecision, string>> = {
  forbid: 'Stopped it',
  request: 'Asked to continue',
  stop: 'Ready to finish',
  allow: 'Allowed continuing',
};

export function groupByDecision(outcome: ContinuationOutcomeJSON): readonly EvaluationGroup[] {
  const decisive = decisiveEvaluation(outcome);
  const decidedAt = precedence.indexOf(outcome.decision);
  return precedence.map((decision, at) => {
    const said = outcome.evaluations.filter((e) => e.decision === decision);
    const isDecisive = at === decidedAt && decisive !== undefined;
    return {
      decision,
      name: decisionNames[decision],
      evaluations: isDecisive ? [decisive, ...said.filter((e) => e !== decisive)] : said,
      isDecisive,
    };
  });
}
