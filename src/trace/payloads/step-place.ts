import { invalidOption } from '../../errors/agent-error.ts';

/** Names a step of a session. */
export interface StepPlace {
  /** Number of the step in its execution. */
  readonly step: number;
  /** Execution of the step. Default: the newest. */
  readonly executionId?: string;
  /** A nested agent: the `agentId` of its trace. Default: the session's own. */
  readonly agentId?: string;
}

function checkedStep(step: number): number {
  if (Number.isInteger(step) && step > 0) return step;
  throw invalidOption('step', step, 'the number of a step, from 1');
}

/** Returns only the place, without what else a query has. */
export const placeOf = ({ step, executionId, agentId }: StepPlace): StepPlace => ({
  step: checkedStep(step),
  ...(executionId !== undefined && { executionId }),
  ...(agentId !== undefined && { agentId }),
});
