/** Why an execution ended. Set by the evaluation that caused the stop. */
export const StopReason = {
  Completed: 'completed',
  StepsLimitReached: 'steps_limit',
  TokenLimitReached: 'token_limit',
  TimeLimitReached: 'time_limit',
  RetryLimitReached: 'retry_limit',
  ErrorForbade: 'error',
  FinishReasonReceived: 'finish_reason',
  GuardForbade: 'guard',
  UserRequested: 'user_requested',
} as const;
export type StopReason = (typeof StopReason)[keyof typeof StopReason];

/** Precedence of stop reasons: among several forbids, the first of these decides. */
export const forbidOrder: readonly StopReason[] = [
  StopReason.UserRequested,
  StopReason.TimeLimitReached,
  StopReason.ErrorForbade,
  StopReason.RetryLimitReached,
  StopReason.TokenLimitReached,
  StopReason.StepsLimitReached,
  StopReason.FinishReasonReceived,
  StopReason.GuardForbade,
  StopReason.Completed,
];

/** Default reason of a stop request. */
export const DEFAULT_STOP = 'a stop was requested';
