import { isoTime } from '../clock.ts';
import { contextOf, type Failures } from '../continuation/retry-account.ts';
import { backoffMs } from '../errors/error-policy.ts';
import type { ErrorRecord } from '../errors/error-record.ts';
import { minusUsage } from '../inference/usage.ts';
import type { AgentStep } from './agent-step.ts';
import type { Booking } from './execution.ts';
import type { Run } from './run.ts';
import type { StepDraft } from './step-draft.ts';

/** Longest wait that a provider can ask for; longer ones are capped. */
const LONGEST_RETRY_AFTER_MS = 60_000;

/** Usage, cost and working time of the step that no earlier run has counted. */
export function bookingOf(draft: StepDraft, now: number, step: Booking['step']): Booking {
  const { counted, family, beganAt, waitedMs, compaction } = draft;
  const before = compaction?.isInStep ? compaction.counted : null;
  let { usage, cost } = draft;
  for (const known of [counted, before]) {
    if (known === null) continue;
    usage = minusUsage(usage, known.usage);
    if (cost !== null) cost -= known.cost ?? 0;
  }
  return {
    at: isoTime(now),
    usage,
    cost,
    seconds: (now - beganAt + (counted === null ? waitedMs : 0)) / 1000,
    family,
    step,
  };
}

export const workedMs = (draft: StepDraft, now: number): number =>
  (draft.counted?.ms ?? 0) + now - draft.beganAt;

/** Draws the wait before a retry, once, because time limits include it. Null if there is no retry. */
export function drawWait(run: Run, failure: ErrorRecord, failures: Failures): number | null {
  const { errorPolicy, random } = run.agent;
  const policy = errorPolicy.withMoreRetries(run.state.execution.grants.retries ?? 0);
  const { totalFailures, modelFailures } = failures;
  const context = contextOf(failure, { type: 'error' }, failures, totalFailures, policy);
  if (policy.evaluate(context) !== 'retry') return null;
  const { retryAfterMs } = failure;
  return retryAfterMs === undefined
    ? backoffMs(policy.backoff, modelFailures, random())
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
