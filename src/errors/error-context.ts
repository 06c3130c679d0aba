import { ErrorType } from './error-type.ts';

/** What an {@link ErrorPolicy} judges: the newest failure and how often in a row it happened. */
export interface ErrorContext {
  readonly type: ErrorType;
  /** The model's own answer failed (call, refusal, response format), so there is no answer to continue with. */
  readonly modelCall: boolean;
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

/** Nothing failed: there is nothing to judge. A resolver may report a failure that the loop did not count. */
export const isNoFailure = ({ consecutiveFailures, message }: ErrorContext): boolean =>
  consecutiveFailures === 0 && message === undefined;
