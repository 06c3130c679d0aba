import type { EvalCase } from './eval-case.ts';
import type { EvalRun } from './eval-run.ts';

/** Result of one scorer on one run. */
export interface Score {
  /** `skip`: the scorer does not apply to the case. */
  readonly status: 'pass' | 'fail' | 'skip';
  /** From 0 to 1; null if the scorer only passes or fails. */
  readonly score: number | null;
  /** What was expected and what was seen, in one sentence. */
  readonly reason: string;
  /** Number of the step that shows it. */
  readonly step?: number;
  /** What the scorer itself has cost; null if a price is unknown. Absent if it called no model. */
  readonly cost?: number | null;
}

export interface ScoreContext {
  readonly run: EvalRun;
  readonly case: EvalCase;
  readonly signal: AbortSignal;
}

/** Judges a run. Plain object: write your own, or use `scorer(name, fn)`. */
export interface Scorer {
  /** Name in reports; two scorers of a suite have different names. */
  readonly name: string;
  /** Name with its threshold, such as `cost ≤ $0.10`. Default: the name. */
  readonly label?: string;
  score(context: ScoreContext): Score | Promise<Score>;
}

export const pass = (reason: string, more: Partial<Score> = {}): Score => ({
  status: 'pass',
  score: null,
  reason,
  ...more,
});

export const fail = (reason: string, more: Partial<Score> = {}): Score => ({
  status: 'fail',
  score: null,
  reason,
  ...more,
});

export const skip = (reason: string): Score => ({ status: 'skip', score: null, reason });
