import { decisiveOf } from '../continuation/decisive.ts';
import type { ContinuationEvaluation } from '../continuation/evaluation.ts';
import type { ContinuationOutcomeJSON } from '../continuation/outcome.ts';

/** Returns the deciding evaluation. */
export const decisiveEvaluation = (
  outcome: ContinuationOutcomeJSON | null,
): ContinuationEvaluation | undefined => (outcome ? decisiveOf(outcome.evaluations) : undefined);

export const evaluationOf = (
  outcome: ContinuationOutcomeJSON | null,
  criterion: string,
): ContinuationEvaluation | undefined =>
  outcome?.evaluations.find((evaluation) => evaluation.criterion === criterion);

/** Reads a number from the context of an evaluation; null if there is none. */
export function numberIn(
  evaluation: ContinuationEvaluation | undefined,
  key: string,
): number | null {
  const value = evaluation?.context[key];
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

export function textIn(evaluation: ContinuationEvaluation | undefined, key: string): string | null {
  const value = evaluation?.context[key];
  return typeof value === 'string' && value !== '' ? value : null;
}
