/** Why an execution ended. Travels with the evaluation that caused it; never guessed from a name. */
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

/** Among several forbids the first of these is decisive. */
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

/** The reason of a stop request where the caller gave none. */
export const DEFAULT_STOP = 'a stop was requested';
