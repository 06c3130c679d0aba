/** The decision of one criterion on whether to continue. */
export const ContinuationDecision = {
  /** Stop, regardless of the other criteria. */
  ForbidContinuation: 'forbid',
  /** There is work to do: continue unless a criterion forbids it. */
  RequestContinuation: 'request',
  /** Nothing left to do: stop unless a criterion requests work. */
  AllowStop: 'stop',
  /** No objection to continuing. */
  AllowContinuation: 'allow',
} as const;
export type ContinuationDecision = (typeof ContinuationDecision)[keyof typeof ContinuationDecision];

export const isDecision = (value: unknown): value is ContinuationDecision =>
  value === 'forbid' || value === 'request' || value === 'stop' || value === 'allow';
