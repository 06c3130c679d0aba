import type { SessionDetail } from '../server/api.ts';
import type { Trace } from '../trace/trace.ts';

export interface StepPlace {
  readonly detail: Pick<SessionDetail, 'executionId' | 'stepCount' | 'executionStepCount'> | null;
  /** Trace of the newest execution: it lists all executions. */
  readonly trace: Pick<Trace, 'executions'> | null;
  /** Execution of the step. */
  readonly chosen: Pick<Trace, 'executionId'> | null;
}

/** Returns the number of a step in its session. A trace counts the steps of each execution from 1. */
export function stepPosition(number: number, { detail, trace, chosen }: StepPlace): number {
  const executions = trace?.executions ?? [];
  const own = executions.findIndex(({ id }) => id === chosen?.executionId);
  const last = executions.findIndex(({ id }) => id === detail?.executionId);
  const steps = (from: number, to: number): number =>
    executions.slice(from, to).reduce((sum, { stepCount }) => sum + stepCount, 0);
  // count from the end: the list of a long session omits the oldest ones
  if (detail && own >= 0 && last >= own)
    return detail.stepCount - detail.executionStepCount - steps(own, last) + number;
  return steps(0, Math.max(0, own)) + number;
}
