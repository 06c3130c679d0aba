export const ErrorType = {
  Tool: 'tool',
  Model: 'model',
  Validation: 'validation',
  RateLimit: 'rate_limit',
  Timeout: 'timeout',
  Unknown: 'unknown',
} as const;
export type ErrorType = (typeof ErrorType)[keyof typeof ErrorType];

export const errorTypes: readonly ErrorType[] = /* @__PURE__ */ Object.values(ErrorType);

export const ErrorHandlingDecision = {
  Stop: 'stop',
  Retry: 'retry',
  Ignore: 'ignore',
} as const;
export type ErrorHandlingDecision =
  (typeof ErrorHandlingDecision)[keyof typeof ErrorHandlingDecision];
