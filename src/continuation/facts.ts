import type { ErrorHandlingDecision, ErrorType } from '../errors/error-type.ts';
import type { GrantKind, Grants } from './grants.ts';

/** A limit that counts something. */
export interface LimitFacts {
  readonly kind: 'limit';
  /** What it counts; `repeats` are identical calls in a row. */
  readonly unit: 'steps' | 'tokens' | 'cost' | 'seconds' | 'repeats';
  /** What it counts over; `family` is an agent with all agents behind its calls. */
  readonly scope: 'execution' | 'session' | 'family';
  /** Null if unknown, such as a cost without a price. */
  readonly used: number | null;
  /** The limit as configured. */
  readonly base: number;
  /** What grants have added to it. */
  readonly granted: number;
  /** The limit that applies now. */
  readonly limit: number;
  /** The last allowed step was kept for an answer, and that answer is there. */
  readonly landed?: true;
  /** ISO time at which the next try may begin, where waiting for it would exceed the limit. */
  readonly until?: string;
  /** The kind of grant that raises it, written once the limit is used up; absent where no grant raises it. */
  readonly grant?: GrantKind;
  /** What was used beyond the limit, written once the limit is used up. */
  readonly owed?: number;
  /** Smallest grant that pays for one more step, written once the limit is used up. */
  readonly minimum?: number;
  /** The agent whose limit it is, where that is an agent above the one that stopped. */
  readonly agent?: string;
  /** The tool that was called again and again, of `repeats`. */
  readonly toolName?: string;
  /** What a limit of your own counts, in the plural. */
  readonly counts?: string;
}

/** A failed model call or a failed tool. */
export interface ErrorFacts {
  readonly kind: 'error';
  readonly errorType: ErrorType;
  /** Code of the error record, such as `auth` or `tool_timeout`; empty if unknown. */
  readonly code: string;
  readonly modelCall: boolean;
  readonly toolName?: string;
  /** Failures in a row. */
  readonly attempts: number;
  readonly maxRetries: number;
  readonly retryable: boolean;
  /** What happens now. */
  readonly handling: ErrorHandlingDecision;
  /** What the policy says about this type of error before it counts. */
  readonly policy: ErrorHandlingDecision;
  /** Message of the error record, written where the run stops. */
  readonly message?: string;
}

/** An answer that ended for a reason on the list. */
export interface FinishFacts {
  readonly kind: 'finish';
  readonly finishReason: string;
}

/** A request to stop. */
export interface StopRequestFacts {
  readonly kind: 'stop_request';
  readonly source: 'user' | 'tool' | 'deadline';
  readonly toolName?: string;
  readonly reason: string;
}

/** Work that is left to do. */
export interface PendingFacts {
  readonly kind: 'pending';
  readonly what: 'tools' | 'start' | 'retry' | 'format';
  /** How many tool results the model has not read. */
  readonly tools: number;
}

/** The model answered and called no tools. */
export interface AnsweredFacts {
  readonly kind: 'answered';
}

/** The tool that the run was to end with has succeeded. */
export interface ToolCalledFacts {
  readonly kind: 'tool_called';
  readonly toolName: string;
}

/** A criterion threw, or did not return a decision. */
export interface BrokenFacts {
  readonly kind: 'broken';
}

/** A hook around the execution threw. */
export interface HookFacts {
  readonly kind: 'hook';
  readonly name: string;
}

/** The process or store that keeps the session could not continue it. */
export interface RuntimeFacts {
  readonly kind: 'runtime';
  /** `failed`: it cannot begin or be stored; `parked`: given up for now; `shortened`: stored without what it needs. */
  readonly what: 'failed' | 'parked' | 'shortened';
  readonly tries?: number;
  /** Why, of a parked session. */
  readonly error?: string;
}

/** A criterion of your own, or one that this release does not know. */
export interface CustomFacts {
  readonly kind: 'custom';
  /** How to continue, as the criterion said it. */
  readonly remedy: {
    readonly text: string;
    readonly option?: string;
    readonly grant?: Grants;
  } | null;
}

/** What an evaluation is about, as typed data. */
export type EvaluationFacts =
  | LimitFacts
  | ErrorFacts
  | FinishFacts
  | StopRequestFacts
  | PendingFacts
  | AnsweredFacts
  | ToolCalledFacts
  | BrokenFacts
  | HookFacts
  | RuntimeFacts
  | CustomFacts;

/** Sums of fractions of a second end just below the limit that they reach. */
export const ROUNDING = 1e-6;

/** Whether a limit is used up, or has answered its last step. */
export const isSpent = ({ used, limit, landed }: LimitFacts): boolean =>
  landed === true || (used !== null && used >= limit - ROUNDING);
