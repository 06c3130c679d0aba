import type { ErrorHandlingDecision, ErrorType } from '../errors/error-type.ts';
import type { GrantKind, Grants } from './grants.ts';
import type { ModelFailure } from './model-failure.ts';

/** A limit that counts something. */
export interface LimitFacts {
  readonly kind: 'limit';
  /** Unit that it counts; `repeats` are identical calls in a row. */
  readonly unit: 'steps' | 'tokens' | 'cost' | 'seconds' | 'repeats';
  /** Scope of the count; `family` is an agent with all its nested agents. */
  readonly scope: 'execution' | 'session' | 'family';
  /** Null if unknown, such as a cost without a price. */
  readonly used: number | null;
  /** The limit as configured. */
  readonly base: number;
  /** Amount that grants added. */
  readonly granted: number;
  /** The limit that applies now. */
  readonly limit: number;
  /** Whether the model answered the last step, which a soft landing reserved. */
  readonly landed?: true;
  /** ISO time of the earliest retry, if waiting for it would exceed the limit. */
  readonly until?: string;
  /** Kind of grant that raises the limit, set once the limit is used up; absent if no grant raises it. */
  readonly grant?: GrantKind;
  /** Amount used beyond the limit, set once the limit is used up. */
  readonly owed?: number;
  /** Smallest grant that allows one more step, set once the limit is used up. */
  readonly minimum?: number;
  /** Name of the parent agent that has the limit, if a nested agent stopped on it. */
  readonly agent?: string;
  /** Name of the repeated tool, for `repeats`. */
  readonly toolName?: string;
  /** Unit of a custom limit, in the plural. */
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
  /** Failures in a row: of model calls, of answered steps, or of the tool if it has its own `maxRetries`. */
  readonly attempts: number;
  /** Retries allowed for this count, with granted ones. */
  readonly maxRetries: number;
  readonly retryable: boolean;
  /**
   * How the error is handled now; `fallback` continues with another model, `compact` with a shorter request.
   */
  readonly handling: ErrorHandlingDecision | 'fallback' | 'compact';
  /** How the policy, or `onError` of the tool, handles this error before retries are counted. */
  readonly policy: ErrorHandlingDecision;
  /** Set if the options of the tool apply, and not the policy. */
  readonly byTool?: true;
  /** Message of the error record, set if the run stops or continues with another model. */
  readonly message?: string;
  /** ISO time before which the provider asks not to retry. */
  readonly until?: string;
  /** Id of the failed model, if the agent has fallback models. */
  readonly model?: string;
  /** Id of the model that the run continues with. */
  readonly fallback?: string;
  /** Set if the run stops because no model is left: the last failure of each. */
  readonly failedModels?: readonly ModelFailure[];
}

/** An answer with a finish reason that stops the run. */
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

/** Pending work. */
export interface PendingFacts {
  readonly kind: 'pending';
  readonly what: 'tools' | 'start' | 'retry' | 'format';
  /** Number of tool results that the model has not read. */
  readonly tools: number;
}

/** The model answered and called no tools. */
export interface AnsweredFacts {
  readonly kind: 'answered';
}

/** The tool of a `toolCalledCheck` succeeded. */
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

/** A guard blocked a message, an answer or calls, or could not check them. */
export interface GuardFacts {
  readonly kind: 'guard';
  readonly guard: string;
  readonly at: 'input' | 'output' | 'tools';
  /** `failed` and `timeout`: the check itself did not work, so that nothing was let through. */
  readonly cause: 'blocked' | 'failed' | 'timeout';
  readonly reason: string;
  /** Text for the user, in place of the reason. */
  readonly message?: string;
  /** Names of the tools whose calls were blocked. */
  readonly tools?: readonly string[];
}

/** The worker or the store could not continue the session. */
export interface RuntimeFacts {
  readonly kind: 'runtime';
  /** `failed`: cannot start or be stored; `parked`: too many failed tries; `shortened`: stored without needed data. */
  readonly what: 'failed' | 'parked' | 'shortened';
  readonly tries?: number;
  /** Last error of a parked session. */
  readonly error?: string;
}

/** A custom criterion, or one that this release does not know. */
export interface CustomFacts {
  readonly kind: 'custom';
  /** Remedy that the criterion returned. */
  readonly remedy: {
    readonly text: string;
    readonly option?: string;
    readonly grant?: Grants;
  } | null;
}

/** Typed data of an evaluation. */
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
  | GuardFacts
  | RuntimeFacts
  | CustomFacts;

/** Tolerance for sums of fractions, which may end just below the limit that they reach. */
export const ROUNDING = 1e-6;

/** Whether a limit is used up, or the model answered its soft landing step. */
export const isSpent = ({ used, limit, landed }: LimitFacts): boolean =>
  landed === true || (used !== null && used >= limit - ROUNDING);
