import { ErrorContext } from '../errors/error-context.ts';
import type { ErrorPolicy } from '../errors/error-policy.ts';
import { contextOf, countsIn, worstError } from './retry-account.ts';
import { stepToJudge, type RunView } from './run-view.ts';

/** Reads the failure from the state that the error policy evaluates. */
export interface ErrorContextResolver<S = RunView> {
  resolve(state: S, policy: ErrorPolicy): ErrorContext;
}

/** Reads the newest step. If it has several errors, takes the one that the policy handles most strictly. */
export const agentErrorContextResolver: ErrorContextResolver = {
  resolve(state, policy): ErrorContext {
    const step = stepToJudge(state);
    const { execution } = state;
    const { totalFailures } = execution;
    // an interrupted step is not a failure, even if a tool failed before the interruption
    if (step && step.type !== 'cut' && step.errors.length > 0) {
      const counts = countsIn(execution, step.type);
      const record = worstError(step, counts, policy);
      if (record) return contextOf(record, step, counts, totalFailures, policy);
    }
    return totalFailures === 0 ? ErrorContext.none() : { ...ErrorContext.none(), totalFailures };
  },
};
