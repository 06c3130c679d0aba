import type { SessionDetail } from '../server/api.ts';
import type { Trace } from '../trace/trace.ts';

export interface StepPlace {
  readonly detail: Pick<SessionDetail, 'executionId' | 'stepCount' | 'executionStepCount'> | null;
  /** Of the newest execution: it lists all of them. */
  readonly trace: Pick<Trace, 'executions'> | null;
  /** Whose step it is. */
  readonly chosen: Pick<Trace, 'executionId'> | null;
}

/** The number of a step in its session. A trace counts the steps of one execution, from 1 in each. */
export function stepPosition(number: number, { detail, trace, chosen }: StepPlace): number {
  const executions = trace?.executions ?? [];
  const own = executions.findIndex(({ id }) => id === chosen?.executionId);
  const last = executions.findIndex(({ id }) => id === detail?.executionId);
  const steps = (from: number, to: number): number =>
    executions.slice(from, to).reduce((sum, { stepCount }) => sum + stepCount, 0);
  // counted back from the end: of a long session the list leaves the oldest ones out
  if (detail && own >= 0 && last >= own)
    return detail.stepCount - detail.executionStepCount - steps(own, last) + number;
  return steps(0, Math.max(0, own)) + number;
}
