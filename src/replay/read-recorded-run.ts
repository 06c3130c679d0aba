import { isOpen } from '../agent/agent-status.ts';
import type { AgentStep } from '../agent/agent-step.ts';
import { pacer } from '../pacing.ts';
import type { SessionRuntime } from '../sessions/session-runtime.ts';
import type { Session } from '../sessions/session.ts';
import { readExecutions } from '../trace/read-executions.ts';
import { readSteps, readTotals, type RecordedExecution } from './recorded-execution.ts';

/** Most steps of one run, the newest. */
const MOST_STEPS = 2_000;
const PAGE = 50;

/**
 * Reads an execution of a session for a replay, a few steps at a time and without its messages and large results; null
 * if it has no steps.
 */
export async function readRecordedRun(
  runtime: SessionRuntime,
  session: Pick<Session, 'id' | 'owner' | 'status' | 'pause'>,
  executionId?: string,
): Promise<RecordedExecution | null> {
  const { id, owner, status, pause } = session;
  const found = await readExecutions(runtime, id, {
    owner,
    ...(executionId !== undefined && { executionId }),
  });
  const { shown, currentId } = found;
  if (!shown || shown.stepCount === 0) return null;
  const { firstPosition, stepCount } = shown;
  const isNewest = shown.id === currentId;
  const totals = await runtime.accounts(id, {
    owner,
    ...(!isNewest && { atStep: firstPosition + stepCount }),
  });
  if (!totals) return null;
  const turn = pacer(owner);
  const pages: (readonly AgentStep[])[] = [];
  let end = firstPosition + stepCount;
  const oldest = Math.max(firstPosition, end - MOST_STEPS);
  while (end > oldest) {
    const limit = Math.min(PAGE, end - oldest);
    const { items } = await runtime.steps(id, { owner, before: end, limit, omitLarge: true });
    if (items.length === 0) break; // pruned
    await turn();
    pages.unshift(readSteps(items).map((step) => ({ ...step, executionId: shown.id })));
    end -= items.length;
  }
  const isBusy = isNewest && isOpen(status);
  return {
    ...readTotals(totals),
    steps: pages.flat(),
    earlier: [],
    messages: null,
    isMidStep: isBusy && pause?.kind !== 'requested' && pause?.kind !== 'fork',
    isOpen: isBusy,
    isNested: false,
  };
}
