import { ErrorType } from './error-type.ts';

/** Input of an {@link ErrorPolicy}: the newest failure and how often in a row it happened. */
export interface ErrorContext {
  readonly type: ErrorType;
  /**
   * Whether the model's own answer failed (call, refusal, response format), so that there is no answer to continue
   * with.
   */
  readonly modelCall: boolean;
  /**
   * Count that the failure belongs to: `model` for a failed call, `tool` for an answered step with errors. Default:
   * `model` if `modelCall` is set.
   */
  readonly countedAs?: 'model' | 'tool';
  /** Failures in a row of the same count. */
  readonly consecutiveFailures: number;
  readonly totalFailures: number;
  readonly message?: string;
  readonly toolName?: string;
  readonly retryable: boolean;
  readonly metadata: Readonly<Record<string, unknown>>;
}

const none: ErrorContext = Object.freeze({
  type: ErrorType.Unknown,
  modelCall: false,
  consecutiveFailures: 0,
  totalFailures: 0,
  retryable: true,
  metadata: Object.freeze({}),
});

export const ErrorContext = {
  none: (): ErrorContext => none,
} as const;

/** Whether nothing failed. A resolver may report a failure that the loop did not count. */
export const isNoFailure = ({ consecutiveFailures, message }: ErrorContext): boolean =>
  consecutiveFailures === 0 && message === undefined;
