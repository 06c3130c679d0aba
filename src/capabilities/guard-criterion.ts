import type { AgentState } from '../agent/agent-state.ts';
import type { AgentGuard, GuardRecord } from '../agent/guard.ts';
import type { ContinuationCriterion } from '../continuation/criterion.ts';
import type { ContinuationEvaluation } from '../continuation/evaluation.ts';

/** Forbids after a step that the guard has blocked. */
export function guardCriterion({
  name,
  at,
}: Pick<AgentGuard, 'name' | 'at'>): ContinuationCriterion<AgentState> {
  const passed: ContinuationEvaluation = Object.freeze({
    criterion: name,
    decision: 'allow',
    reason: 'no objection',
    context: {},
  });
  return {
    name,
    evaluate({ currentStep, execution }): ContinuationEvaluation {
      if (currentStep?.executionId !== execution.id) return passed;
      const record = currentStep.guards?.find(
        (one) => one.name === name && one.at === at && one.decision === 'blocked',
      );
      return record ? blocked(record) : passed;
    },
  };
}

const whats = { input: 'the message', output: 'the answer', tools: 'the calls' } as const;

function blocked(record: GuardRecord): ContinuationEvaluation {
  const { name, at, reason = '', message, cause, tools = [] } = record;
  const failed = cause === undefined ? null : `the guard could not check ${whats[at]}: ${reason}`;
  return {
    criterion: name,
    decision: 'forbid',
    reason: failed ?? reason,
    context: { at },
    stopReason: 'guard',
    remedy: { text: remedyOf(record) },
    facts: {
      kind: 'guard',
      guard: name,
      at,
      cause: cause ?? 'blocked',
      reason,
      ...(message !== undefined && { message }),
      ...(tools.length > 0 && { tools }),
    },
  };
}

const remedyOf = ({ name, at, cause }: GuardRecord): string =>
  cause === undefined
    ? `send a new message; the guard "${name}" blocked ${whats[at]}.`
    : `fix the guard "${name}", or let it pass with onError: 'pass', then send a new message.`;
