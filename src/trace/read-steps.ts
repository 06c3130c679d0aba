import type { AgentStepJSON } from '../agent/agent-state.ts';
import { invalidOption } from '../errors/agent-error.ts';
import type { Session } from '../sessions/session.ts';
import type { SessionRuntime } from '../sessions/session-runtime.ts';

/** Steps to read before the visible ones, because a retry is detected by the call before it. */
const LOOK_BACK = 5;
/** Maximum pages of steps for one trace; each ends early if steps are large. */
const MAX_PAGES = 5;

/** Whose steps to read. */
export interface StepsToRead {
  readonly owner: string;
  /** A nested agent; absent: the session's own. */
  readonly agentId?: string;
  /** Position of the execution's first step, from 0. */
  readonly firstPosition: number;
  readonly stepCount: number;
}

export interface ReadSteps {
  /** The steps to show. */
  readonly steps: readonly AgentStepJSON[];
  readonly stepsBefore: readonly AgentStepJSON[];
  readonly stepAfter: AgentStepJSON | null;
  /** Number of the first step to show. */
  readonly first: number;
  /** Whether the newest step is among them. */
  readonly isNewest: boolean;
}

/** Reads at most `limit` steps before the number `before`, and some around them. */
export async function stepsFrom(
  runtime: SessionRuntime,
  sessionId: string,
  of: StepsToRead,
  { before, limit }: { readonly before: number; readonly limit: number },
): Promise<ReadSteps> {
  const from = Math.max(1, before - limit - LOOK_BACK);
  const read = await stepsBetween(runtime, sessionId, of, from, before);
  // fewer than requested if steps are large: the page starts later
  const oldest = read[0]?.number ?? before;
  const first = Math.max(1, before - limit, oldest > from ? oldest : 1);
  return {
    steps: read.filter(({ number }) => number >= first && number < before),
    stepsBefore: read.filter(({ number }) => number < first),
    stepAfter: read.find(({ number }) => number >= before) ?? null,
    first,
    isNewest: before > of.stepCount,
  };
}

/** Reads steps of the execution from one number to another, both included. */
export async function stepsBetween(
  runtime: SessionRuntime,
  sessionId: string,
  { owner, agentId, firstPosition, stepCount }: StepsToRead,
  from: number,
  to: number,
): Promise<readonly AgentStepJSON[]> {
  const found: AgentStepJSON[] = [];
  let last = Math.min(to, stepCount);
  for (let pages = 0; last >= from && pages < MAX_PAGES; pages += 1) {
    const { items } = await runtime.steps(sessionId, {
      owner,
      ...(agentId !== undefined && { agentId }),
      before: firstPosition + last,
      limit: last - from + 1,
      omitLarge: true,
    });
    if (items.length === 0) break; // pruned
    found.unshift(...items);
    last -= items.length;
  }
  return found;
}

/** The time up to which an open step is measured: that of the export for an imported session. */
export const nowOf = (runtime: SessionRuntime, { imported }: Pick<Session, 'imported'>): number =>
  imported ? Date.parse(imported.exportedAt) : runtime.clock.now();

export function checkedBefore(before: number | undefined, stepCount: number): number {
  if (before === undefined) return stepCount + 1;
  if (Number.isInteger(before) && before > 0) return Math.min(before, stepCount + 1);
  throw invalidOption('readTrace before', before, 'the number of a step');
}
