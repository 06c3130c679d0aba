import type { ContinuationEvaluation } from '../continuation/evaluation.ts';
import { ContinuationOutcome, type ContinuationOutcomeJSON } from '../continuation/outcome.ts';

/** The voice that decided. */
export const decisiveEvaluation = (
  outcome: ContinuationOutcomeJSON | null,
): ContinuationEvaluation | undefined =>
  outcome ? ContinuationOutcome.from(outcome).decisive : undefined;

export const evaluationOf = (
  outcome: ContinuationOutcomeJSON | null,
  criterion: string,
): ContinuationEvaluation | undefined =>
  outcome?.evaluations.find((evaluation) => evaluation.criterion === criterion);

/** A number that a voice has looked at; null where it named none. */
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

/** A limit ended the run though the model had answered: its last step was kept for that. */
export const isSoftLanding = ({ evaluations }: ContinuationOutcomeJSON): boolean =>
  evaluations.some(({ decision }) => decision === 'stop') &&
  !evaluations.some(({ decision }) => decision === 'request');
