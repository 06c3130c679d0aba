import type { AgentDefinition } from './agent-options.ts';
import type { AgentState } from './agent-state.ts';

/** Returns the name of the limit that the next step of an execution lands for; null if it is an ordinary step. */
export function landingOf(
  { criteria, landingReserve }: Pick<AgentDefinition, 'criteria' | 'landingReserve'>,
  state: AgentState,
  beganAt: number,
  deps: object,
): string | null {
  const { execution } = state;
  // never the first step: an execution gets at least one answer with tools
  if (landingReserve === null || execution.answeredSteps === 0) return null;
  const before = state.steps.at(-1);
  const isRetry = before?.type === 'error' && before.executionId === execution.id;
  // a failed landing step is retried as a landing step, unless a grant settled it
  const mark = isRetry && before.number > execution.handledStep && before.softLanding;
  return mark || criteria.landing(state, beganAt, landingReserve, deps);
}
