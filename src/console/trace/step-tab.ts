import type { StepTab } from '../route.ts';
import type { TraceStep } from '../../trace/trace.ts';
import type { TraceRow } from './trace-rows.ts';

/** The tab that the user opened last. */
let lastUsed: StepTab | null = null;

export function noteTab(tab: StepTab): void {
  lastUsed = tab;
}

/** Number of calls of a step that failed. */
export const failedCalls = (step: TraceStep | null): number =>
  step?.bars.filter(
    ({ kind, state }) =>
      kind === 'tool' && (state === 'error' || state === 'timeout' || state === 'blocked'),
  ).length ?? 0;

const hasFailed = (step: TraceStep | null): boolean =>
  step !== null && (step.type === 'error' || failedCalls(step) > 0);

/** Returns the tab of a step: the chosen one, tool calls if one failed, else the tab last used. */
export function tabOf(chosen: StepTab | null, step: TraceStep | null): StepTab {
  if (step === null) return 'decision';
  if (chosen !== null) return chosen;
  if (failedCalls(step) > 0) return 'tools';
  return lastUsed ?? 'decision';
}

/** Returns the next step with a failure, around the end; null if there is none. */
export function nextFailure(rows: readonly TraceRow[], at: number): number | null {
  const order = [...rows.slice(at + 1), ...rows.slice(0, at + 1)];
  return order.find(({ step }) => hasFailed(step))?.number ?? null;
}
