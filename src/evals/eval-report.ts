import type { Score } from './score.ts';

/** Version of the document. A later version only adds fields, or has a higher number. */
export const REPORT_VERSION = 1;

/** `error`: the run or a scorer threw. `not_run`: the eval was aborted before it. */
export type RunStatus = 'passed' | 'failed' | 'error' | 'not_run';

/** Result of a scorer in a report. */
export interface ScoreReport extends Pick<Score, 'score' | 'reason' | 'step' | 'cost'> {
  readonly scorer: string;
  readonly status: Score['status'] | 'error';
}

/** A tool call in a report, redacted and shortened. */
export interface CallReport {
  readonly tool: string;
  /** JSON, shortened. */
  readonly args: string;
  readonly step: number;
  readonly agent: string | null;
  readonly kind: string;
  readonly error: string | null;
}

/** One run of a case. Its texts are redacted and shortened. */
export interface RunReport {
  /** From 1. */
  readonly number: number;
  readonly status: RunStatus;
  /** What was thrown; null if nothing was. */
  readonly error: string | null;
  readonly stopReason: string | null;
  readonly explanation: string;
  readonly answer: string;
  readonly steps: number;
  readonly tokens: number;
  /** Null if a price is unknown. */
  readonly cost: number | null;
  readonly durationMs: number;
  /** Session and execution in which it was recorded; null if it was not. */
  readonly sessionId: string | null;
  readonly executionId: string | null;
  /** The first 50. */
  readonly calls: readonly CallReport[];
  /** In the order of the scorers. */
  readonly scores: readonly ScoreReport[];
}

/** What one scorer found in all runs of a case. */
export interface CaseScore {
  readonly scorer: string;
  readonly status: ScoreReport['status'];
  /** Runs that passed, of those to which it applies. */
  readonly passed: number;
  readonly applied: number;
  /** Mean; null without scores. */
  readonly score: number | null;
}

export interface CaseReport {
  readonly name: string;
  readonly tags: readonly string[];
  readonly input: string;
  /** What the case expects, as JSON; null if it expects nothing. */
  readonly expected: string | null;
  /** `passed` if enough runs passed. */
  readonly status: Exclude<RunStatus, 'error'>;
  /** Runs that passed. */
  readonly passedRuns: number;
  /** Mean steps of a run. */
  readonly steps: number;
  readonly tokens: number;
  readonly cost: number | null;
  readonly durationMs: number;
  readonly scores: readonly CaseScore[];
  readonly runs: readonly RunReport[];
}

/** What one scorer found in all cases. */
export interface ScorerReport {
  readonly name: string;
  /** Name with its threshold, such as `cost ≤ $0.10`. */
  readonly label: string;
  /** Cases that passed, of those to which it applies. */
  readonly passed: number;
  readonly applied: number;
}

/** Change of a case from the baseline. */
export interface EvalComparison {
  /** Number of the stored run that it is compared with; null if it has none. */
  readonly number: number | null;
  readonly startedAt: string;
  /** Cases that passed now, minus those that passed then. */
  readonly change: number;
  /** Names of cases that passed then and do not now. */
  readonly regressed: readonly string[];
  /** Names of cases that pass now and did not then. */
  readonly fixed: readonly string[];
  /** Names of cases that are new. */
  readonly added: readonly string[];
  /** Names of cases that are gone. */
  readonly removed: readonly string[];
  /** Cost then. */
  readonly cost: number | null;
  readonly durationMs: number;
}

/** The results of an eval: what `--json` prints and `.onward/evals` stores. */
export interface EvalReport {
  readonly format: 'onward.eval';
  readonly version: typeof REPORT_VERSION;
  readonly suite: string;
  /** Number of the stored run; null if it is not stored. */
  readonly number: number | null;
  readonly agent: string | null;
  readonly model: string | null;
  readonly startedAt: string;
  readonly durationMs: number;
  readonly repeats: number;
  readonly passRate: number;
  readonly concurrency: number;
  /** Whether every case passed. */
  readonly passed: boolean;
  readonly isAborted: boolean;
  /** Why there are no cases: loading them failed. Null otherwise. */
  readonly error: string | null;
  readonly counts: {
    readonly cases: number;
    readonly passed: number;
    readonly failed: number;
    readonly notRun: number;
  };
  readonly tokens: number;
  /** Cost of the runs; null if a price is unknown. */
  readonly cost: number | null;
  /** Cost of models that judge; null if a price is unknown. */
  readonly judgeCost: number | null;
  readonly scorers: readonly ScorerReport[];
  /** In the order of the cases. */
  readonly cases: readonly CaseReport[];
  /** Change from the baseline; null without one. */
  readonly baseline: EvalComparison | null;
}
