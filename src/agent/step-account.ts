import { isoTime } from '../clock.ts';
import { failedAnswer, worstError } from '../continuation/error-context-resolver.ts';
import { backoffMs } from '../errors/error-policy.ts';
import type { ErrorRecord } from '../errors/error-record.ts';
import { minusUsage } from '../inference/usage.ts';
import type { AgentStep } from './agent-step.ts';
import type { Booking, Execution } from './execution.ts';
import type { Run } from './run.ts';
import type { StepDraft } from './step-draft.ts';

/** A provider's request for a longer wait is ignored. */
const LONGEST_RETRY_AFTER_MS = 60_000;

/** Usage, cost and working time that no earlier stretch of the step has booked. */
export function bookingOf(draft: StepDraft, now: number, step: Booking['step']): Booking {
  const { counted, usage, cost, family, beganAt, waitedMs } = draft;
  return {
    at: isoTime(now),
    usage: counted === null ? usage : minusUsage(usage, counted.usage),
    cost: cost === null ? null : cost - (counted?.cost ?? 0),
    seconds: (now - beganAt + (counted === null ? waitedMs : 0)) / 1000,
    family,
    step,
  };
}

export const workedMs = (draft: StepDraft, now: number): number =>
  (draft.counted?.ms ?? 0) + now - draft.beganAt;

/** One failure is one step with at least one error that the policy does not ignore; a cut step counts for nothing. */
export function failures(
  run: Run,
  { type }: StepDraft,
  errors: readonly ErrorRecord[],
): Pick<Execution, 'consecutiveFailures' | 'totalFailures'> {
  const { consecutiveFailures, totalFailures } = run.state.execution;
  if (type === 'cut') return { consecutiveFailures, totalFailures };
  if (errors.length === 0) return { consecutiveFailures: 0, totalFailures };
  const { errorPolicy } = run.agent;
  const worst = worstError({ type, errors }, errorPolicy);
  const ignored =
    worst && errorPolicy.handlingOf({ ...worst, modelCall: failedAnswer({ type }) }) === 'ignore';
  const more = ignored ? 0 : 1;
  return {
    consecutiveFailures: consecutiveFailures + more,
    totalFailures: totalFailures + more,
  };
}

/** Drawn once, before the step is judged: time limits look ahead over it. Null when there will be no next try. */
export function drawWait(
  run: Run,
  failure: ErrorRecord,
  consecutiveFailures: number,
): number | null {
  const { errorPolicy, random } = run.agent;
  const { grants } = run.state.execution;
  const { type, retryable, retryAfterMs } = failure;
  const mayRetry = errorPolicy.handlingOf({ type, retryable, modelCall: true }) === 'retry';
  if (!mayRetry || consecutiveFailures > errorPolicy.maxRetries + (grants.retries ?? 0))
    return null;
  return retryAfterMs === undefined
    ? backoffMs(errorPolicy.backoff, consecutiveFailures, random())
    : Math.min(LONGEST_RETRY_AFTER_MS, Math.max(0, retryAfterMs));
}

export function withSuccesses(names: readonly string[], step: AgentStep): readonly string[] {
  let next = names;
  for (let i = 0; i < step.toolCalls.length; i++) {
    const name = step.toolCalls[i]?.name ?? '';
    if (step.results[i]?.kind === 'ok' && !next.includes(name)) next = [...next, name];
  }
  return next;
}
