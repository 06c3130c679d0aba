import { AgentError, show } from '../../errors/agent-error.ts';
import { isRecord } from '../../json.ts';
import { fail, pass, skip, type Score, type ScoreContext, type Scorer } from '../score.ts';

/**
 * Result of your own function: whether the run passes, a score from 0 to 1, null if it does not apply, or a score with
 * its reason.
 */
export type CustomResult =
  | boolean
  | number
  | null
  | {
      /** From 0 to 1; null if it does not apply. */
      readonly score: number | boolean | null;
      readonly reason?: string;
      readonly step?: number;
      readonly cost?: number | null;
    };

export interface CustomScorerOptions {
  /** Lowest score that passes. Default 1. */
  readonly threshold?: number;
}

/** Creates a scorer from a function. It may be async, such as a request to your own service. */
export function scorer(
  name: string,
  score: (context: ScoreContext) => CustomResult | Promise<CustomResult>,
  { threshold = 1 }: CustomScorerOptions = {},
): Scorer {
  return {
    name,
    ...(threshold < 1 && { label: thresholdLabel(name, threshold) }),
    score: async (context) => readScore(name, await score(context), threshold),
  };
}

export const thresholdLabel = (name: string, threshold: number): string =>
  `${name} ≥ ${threshold.toFixed(2)}`;

/** Reads what a function returned; throws for anything else, so that a mistake does not pass. */
export function readScore(name: string, given: unknown, threshold: number): Score {
  const result = isRecord(given) ? given : { score: given };
  const { score, reason, step, cost } = result;
  const more = {
    ...(typeof step === 'number' && { step }),
    ...((typeof cost === 'number' || cost === null) && { cost }),
  };
  if (score === null) return { ...skip(textOf(reason, 'it does not apply')), ...more };
  if (typeof score === 'boolean')
    return score
      ? pass(textOf(reason, 'passed'), more)
      : fail(textOf(reason, 'The function returned false.'), more);
  if (typeof score !== 'number' || !(score >= 0 && score <= 1))
    throw new AgentError(
      'invalid_option',
      `The scorer ${show(name)} returned ${show(score)}, expected a boolean, a number from 0 to 1, or null.`,
    );
  const isPassed = score >= threshold;
  const said = textOf(reason, isPassed ? 'passed' : `Expected at least ${threshold}.`);
  return { ...(isPassed ? pass(said, more) : fail(said, more)), score };
}

const textOf = (reason: unknown, otherwise: string): string =>
  typeof reason === 'string' && reason !== '' ? reason : otherwise;
