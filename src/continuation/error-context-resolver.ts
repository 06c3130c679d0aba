import { ErrorContext } from '../errors/error-context.ts';
import { stricter, type ErrorPolicy } from '../errors/error-policy.ts';
import type { ErrorRecord } from '../errors/error-record.ts';
import { stepToJudge, type RunView, type StepView } from './run-view.ts';

/** Reads from the state what the error policy has to judge. */
export interface ErrorContextResolver<S = RunView> {
  resolve(state: S, policy: ErrorPolicy): ErrorContext;
}

/** Of several errors of the step, the one that the policy is strictest about. */
export const agentErrorContextResolver: ErrorContextResolver = {
  resolve(state, policy): ErrorContext {
    const step = stepToJudge(state);
    const { consecutiveFailures, totalFailures } = state.execution;
    // a cut step is no failure, even where a tool failed before the cut
    const record = step && step.type !== 'cut' ? worstError(step, policy) : undefined;
    if (!step || !record)
      return totalFailures === 0 ? ErrorContext.none() : { ...ErrorContext.none(), totalFailures };
    return {
      type: record.type,
      modelCall: failedAnswer(step),
      consecutiveFailures,
      totalFailures,
      message: record.message,
      ...(record.toolName === undefined ? {} : { toolName: record.toolName }),
      retryable: record.retryable,
      metadata: { code: record.code },
    };
  },
};

/** A failed call, or an answer in the wrong format: there is no answer to continue with. */
export const failedAnswer = (step: Pick<StepView, 'type'>): boolean =>
  step.type === 'error' || step.type === 'final';

export function worstError(
  step: Pick<StepView, 'type' | 'errors'>,
  policy: ErrorPolicy,
): ErrorRecord | undefined {
  const modelCall = failedAnswer(step);
  const handling = (record: ErrorRecord) => policy.handlingOf({ ...record, modelCall });
  let worst = step.errors[0];
  for (const record of step.errors)
    if (worst !== undefined && stricter(handling(record), handling(worst))) worst = record;
  return worst;
}
