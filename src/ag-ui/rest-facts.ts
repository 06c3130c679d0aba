import { statusFacts } from '../agent/agent-status.ts';
import { wireExplanation } from '../broadcasting/wire-explanation.ts';
import { explainState } from '../continuation/explain-state.ts';
import { toJsonValue, type JsonObject } from '../json.ts';
import type { Session } from '../sessions/session.ts';

/** How the last run of a thread ended, as clients get it in the state; null before the first one. */
export function restFacts(session: Session): JsonObject | null {
  const { executionId, status, stopReason, outcome, executionStepCount } = session;
  if (executionId === null || status === 'in_progress' || status === 'pending') return null;
  const explanation = explainState(session);
  return {
    status: statusFacts(status, stopReason).broadcast,
    execution_id: executionId,
    stop_reason: stopReason,
    message: [explanation.headline, explanation.detail].filter(Boolean).join(' '),
    resolved_by: outcome?.resolvedBy ?? null,
    step_count: executionStepCount,
    remedy: toJsonValue(outcome?.decisive?.remedy ?? null),
    explanation: toJsonValue(wireExplanation(explanation)),
  };
}
