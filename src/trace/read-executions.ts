import type { Execution } from '../agent/execution.ts';
import { AgentError } from '../errors/agent-error.ts';
import type { SessionRuntime } from '../sessions/session-runtime.ts';
import type { TraceExecution } from './trace.ts';

const PAGE = 25;
/** Maximum steps to read for the list, and for one execution that is not in it. */
const LISTED_STEPS = 200;
const SEARCHED_STEPS = 5_000;

export interface FoundExecution extends TraceExecution {
  /** Index of its first step in the session, from 0. */
  readonly firstPosition: number;
  /** Totals of the newest execution so far. */
  readonly accounts: Execution | null;
}

export interface FoundExecutions {
  /** Executions, oldest first. */
  readonly executions: readonly TraceExecution[];
  /** The requested execution, else the newest; null before the first message. */
  readonly shown: FoundExecution | null;
  readonly currentId: string | null;
}

/** Reads the executions of a session from its newest steps: the last step of each has its number. */
export async function readExecutions(
  runtime: SessionRuntime,
  sessionId: string,
  { owner, executionId }: { readonly owner: string; readonly executionId?: string },
): Promise<FoundExecutions> {
  const now = await runtime.accounts(sessionId, { owner });
  const found: FoundExecution[] = [];
  let end = now?.info.stepCount ?? 0;
  if (now && now.execution.id !== '') {
    const { id, startedAt, stepCount } = now.execution;
    end -= stepCount;
    found.push({ id, startedAt, stepCount, firstPosition: end, accounts: now.execution });
  }
  const isFound = (): boolean =>
    executionId === undefined || found.some(({ id }) => id === executionId);
  for (let read = 0; end > 0 && read < (isFound() ? LISTED_STEPS : SEARCHED_STEPS);) {
    const { items } = await runtime.steps(sessionId, {
      owner,
      before: end,
      limit: PAGE,
      omitLarge: true,
    });
    if (items.length === 0) break; // pruned
    read += items.length;
    const pageStart = end - items.length;
    while (end > pageStart) {
      const last = items[end - 1 - pageStart];
      const stepCount = last?.number ?? 1;
      const firstPosition = Math.max(0, end - stepCount);
      const startedAt = items[firstPosition - pageStart]?.startedAt ?? null;
      const id = last?.executionId ?? '';
      found.push({ id, startedAt, stepCount, firstPosition, accounts: null });
      end = firstPosition;
    }
  }
  const shown = executionId === undefined ? found[0] : found.find(({ id }) => id === executionId);
  if (!shown && executionId !== undefined) throw executionNotFound(sessionId, executionId);
  const executions = found
    .map(({ id, startedAt, stepCount }) => ({ id, startedAt, stepCount }))
    .toReversed();
  return { executions, shown: shown ?? null, currentId: now?.execution.id || null };
}

const executionNotFound = (sessionId: string, executionId: string): AgentError =>
  new AgentError(
    'invalid_option',
    `Session ${sessionId} has no stored execution "${executionId}". Omit executionId for the newest one.`,
    { details: { sessionId, executionId } },
  );
