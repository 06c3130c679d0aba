import type { ContinuationDecision } from '../../continuation/decision.ts';
import type { ContinuationEvaluation } from '../../continuation/evaluation.ts';
import type { ContinuationOutcomeJSON } from '../../continuation/outcome.ts';
import { decisiveEvaluation } from '../../trace/evaluations.ts';

/** All voices that said the same, strongest rung first. */
export interface EvaluationGroup {
  readonly decision: ContinuationDecision;
  readonly name: string;
  /** The decisive voice first, the others as they were asked. */
  readonly evaluations: readonly ContinuationEvaluation[];
  readonly isDecisive: boolean;
  /** Why this rung counts or does not; null where there is nothing to say. */
  readonly rule: string | null;
}

/** In order of precedence. */
export const precedence: readonly ContinuationDecision[] = ['forbid', 'request', 'stop', 'allow'];

export const decisionNames: Readonly<Record<ContinuationDecision, string>> = {
  forbid: 'Forbid',
  request: 'Request',
  stop: 'Allow stop',
  allow: 'Allow',
};

const rules: Readonly<Record<ContinuationDecision, string>> = {
  forbid: 'one is enough to stop it',
  request: 'nobody forbids, so one is enough',
  stop: 'nobody has more work, so it may stop',
  allow: 'nobody objects',
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
      rule: isDecisive ? rules[decision] : said.length > 0 ? 'outranked' : null,
    };
  });
}
