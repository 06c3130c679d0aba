import { isRecord } from '../json.ts';
import type { ContinuationDecision } from './decision.ts';
import type { ContinuationEvaluation } from './evaluation.ts';
import { isSpent, type EvaluationFacts } from './facts.ts';
import { derivedFacts } from './facts-of.ts';
import type { ContinuationOutcomeJSON } from './outcome.ts';

/**
 * Evaluation of a built-in limit that is not used up. Every step stores several, so records omit their facts, which the
 * getter derives from name and context.
 */
export class OpenLimit implements ContinuationEvaluation {
  readonly criterion: string;
  readonly decision: ContinuationDecision = 'allow';
  readonly reason: string;
  readonly context: Readonly<Record<string, unknown>>;

  constructor(criterion: string, reason: string, context: Readonly<Record<string, unknown>>) {
    this.criterion = criterion;
    this.reason = reason;
    this.context = context;
  }

  get facts(): EvaluationFacts {
    return derivedFacts(this);
  }
}

/** Number of fields of an evaluation without a stop reason, a remedy and facts. */
const FIELDS = 4;

/** Adds the facts that a record of this or an earlier release omits to a stored evaluation. */
export function withFacts(evaluation: ContinuationEvaluation): ContinuationEvaluation {
  if (!isRecord(evaluation) || evaluation.facts !== undefined) return evaluation;
  const facts = derivedFacts(evaluation);
  const { criterion, decision, reason, context } = evaluation;
  const isOpen = facts.kind === 'limit' && decision === 'allow' && !isSpent(facts);
  // a record of a newer release may hold more
  if (isOpen && typeof reason === 'string' && Object.keys(evaluation).length === FIELDS)
    return new OpenLimit(criterion, reason, context);
  const isWritten = decision === 'forbid' || facts.kind === 'limit' || facts.kind === 'error';
  return isWritten ? { ...evaluation, facts } : evaluation;
}

/** Adds the facts that records omit to an outcome, for clients outside Onward. */
export const outcomeWithFacts = (outcome: ContinuationOutcomeJSON): ContinuationOutcomeJSON => ({
  ...outcome,
  evaluations: outcome.evaluations.map((evaluation) => {
    const { facts } = withFacts(evaluation);
    return facts === undefined ? evaluation : { ...evaluation, facts };
  }),
});
