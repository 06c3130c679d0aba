import { perform, type AfterStep } from './agent-loop.ts';
import type { AgentState } from './agent-state.ts';
import type { Run } from './run.ts';
import { observed } from './run-observer.ts';

/** Runs the loop, observed if an observer records the run. */
export const performObserved = (
  run: Run,
  isResumed: boolean,
  afterStep: AfterStep | null = null,
): Promise<AgentState> => observed(run, isResumed, () => perform(run, isResumed, afterStep));
