/** What one criterion says about going on. */
export const ContinuationDecision = {
  /** Stop, whatever the others say. */
  ForbidContinuation: 'forbid',
  /** There is work to do: go on unless somebody forbids it. */
  RequestContinuation: 'request',
  /** Nothing left to do here: stop unless somebody has work. */
  AllowStop: 'stop',
  /** No objection to going on. */
  AllowContinuation: 'allow',
} as const;
export type ContinuationDecision = (typeof ContinuationDecision)[keyof typeof ContinuationDecision];

export const isDecision = (value: unknown): value is ContinuationDecision =>
  value === 'forbid' || value === 'request' || value === 'stop' || value === 'allow';
