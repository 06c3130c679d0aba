import type { AgentStepJSON } from '../agent/agent-state.ts';
import { invalidOption } from '../errors/agent-error.ts';
import type { GrantCapOptions, OwnerOptions } from '../sessions/session-options.ts';
import type { SessionRuntime } from '../sessions/session-runtime.ts';
import { readExecutions, type FoundExecution } from './read-executions.ts';
import { readLog } from './read-log.ts';
import { traceOf } from './trace-of.ts';
import type { Trace } from './trace.ts';

const DEFAULT_STEPS = 100;
const MAX_STEPS = 400;
/** Steps to read before the visible ones, because a retry is detected by the call before it. */
const LOOK_BACK = 5;
/** Maximum pages of steps for one trace; each ends early if steps are large. */
const MAX_PAGES = 5;

export interface ReadTraceOptions extends OwnerOptions, GrantCapOptions {
  /** Execution to read. Default: the current one, or the last. */
  readonly executionId?: string;
  /** Only steps with a lower number. */
  readonly before?: number;
  /** Maximum steps, the newest of them. Default 100, at most 400. */
  readonly limit?: number;
}

/** Reads the trace of an execution: what happened, and why. The cost does not depend on the length of the session. */
export async function readTrace(
  runtime: SessionRuntime,
  sessionId: string,
  options: ReadTraceOptions,
): Promise<Trace> {
  const { owner } = options;
  const limit = checkedSteps(options.limit);
  const { grants } = options;
  const session = await runtime.get(sessionId, { owner, ...(grants && { grants }) });
  const found = await readExecutions(runtime, sessionId, options);
  const { shown, executions } = found;
  const now = runtime.clock.now();
  if (!shown)
    return traceOf({
      session,
      executionId: null,
      executions,
      steps: [],
      events: [],
      accounts: null,
      now,
    });

  const before = checkedBefore(options.before, shown.stepCount);
  const from = Math.max(1, before - limit - LOOK_BACK);
  const read = await stepsOf(runtime, sessionId, { owner, ...shown }, from, before);
  // fewer than requested if steps are large: the page starts later
  const oldest = read[0]?.number ?? before;
  const first = Math.max(1, before - limit, oldest > from ? oldest : 1);
  const isNewest = before > shown.stepCount;
  const atStep = (number: number) =>
    runtime.accounts(sessionId, { owner, atStep: shown.firstPosition + number });
  const [accountsBefore, accountsAfter, newest, events] = await Promise.all([
    first > 1 ? atStep(first - 1) : null,
    shown.stepCount > 0 ? atStep(shown.stepCount) : null,
    isNewest
      ? []
      : stepsOf(runtime, sessionId, { owner, ...shown }, shown.stepCount, shown.stepCount),
    readLog(runtime, sessionId, {
      owner,
      executionId: shown.id,
      firstStep: first,
      lastStep: isNewest ? null : before - 1,
      stepCount: shown.stepCount,
      isNewest: shown.id === found.currentId,
    }),
  ]);
  return traceOf({
    session: { ...session, executionId: found.currentId },
    executionId: shown.id,
    executions,
    steps: read.filter(({ number }) => number >= first && number < before),
    stepsBefore: read.filter(({ number }) => number < first),
    stepAfter: read.find(({ number }) => number >= before) ?? null,
    newestStep: newest[0] ?? null,
    events: events.map(({ event }) => event),
    accounts: shown.accounts ?? accountsAfter?.execution ?? null,
    accountsBefore: accountsBefore?.execution ?? null,
    accountsAfter: accountsAfter?.execution ?? null,
    now,
  });
}

/** Reads steps of the execution from one number to another, both included. */
async function stepsOf(
  runtime: SessionRuntime,
  sessionId: string,
  { owner, firstPosition, stepCount }: OwnerOptions & FoundExecution,
  from: number,
  to: number,
): Promise<readonly AgentStepJSON[]> {
  const found: AgentStepJSON[] = [];
  let last = Math.min(to, stepCount);
  for (let pages = 0; last >= from && pages < MAX_PAGES; pages += 1) {
    const { items } = await runtime.steps(sessionId, {
      owner,
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

function checkedSteps(limit: number = DEFAULT_STEPS): number {
  if (Number.isInteger(limit) && limit > 0) return Math.min(limit, MAX_STEPS);
  throw invalidOption('readTrace limit', limit, `a whole number from 1 to ${MAX_STEPS}`);
}

function checkedBefore(before: number | undefined, stepCount: number): number {
  if (before === undefined) return stepCount + 1;
  if (Number.isInteger(before) && before > 0) return Math.min(before, stepCount + 1);
  throw invalidOption('readTrace before', before, 'the number of a step');
}
