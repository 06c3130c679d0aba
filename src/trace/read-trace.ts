import { invalidOption } from '../errors/agent-error.ts';
import type { GrantCapOptions, OwnerOptions } from '../sessions/session-options.ts';
import type { SessionRuntime } from '../sessions/session-runtime.ts';
import { readExecutions } from './read-executions.ts';
import { readLog } from './read-log.ts';
import { readNested, type TraceCall } from './read-nested.ts';
import { checkedBefore, nowOf, stepsBetween, stepsFrom } from './read-steps.ts';
import { traceOf } from './trace-of.ts';
import type { Trace } from './trace.ts';

const DEFAULT_STEPS = 100;
const MAX_STEPS = 400;

export interface ReadTraceOptions extends OwnerOptions, GrantCapOptions {
  /** Execution to read. Default: the current one, or the last. */
  readonly executionId?: string;
  /** A call that runs an agent: reads the trace of that agent, at any depth. */
  readonly call?: TraceCall;
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
  const { owner, call } = options;
  const limit = checkedSteps(options.limit);
  const { grants } = options;
  const session = await runtime.get(sessionId, { owner, ...(grants && { grants }) });
  const found = await readExecutions(runtime, sessionId, options);
  const { shown, executions, currentId } = found;
  const now = nowOf(runtime, session);
  if (shown && call) {
    const { before } = options;
    const isNewestExecution = shown.id === currentId;
    const current = { ...session, executionId: currentId };
    const request = { owner, call, session: current, shown, executions, isNewestExecution };
    return readNested(runtime, sessionId, { ...request, before, limit });
  }
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
  const pages = { owner, ...shown };
  const read = await stepsFrom(runtime, sessionId, pages, { before, limit });
  const { first, isNewest } = read;
  const atStep = (number: number) =>
    runtime.accounts(sessionId, { owner, atStep: shown.firstPosition + number });
  const [accountsBefore, accountsAfter, newest, events] = await Promise.all([
    first > 1 ? atStep(first - 1) : null,
    shown.stepCount > 0 ? atStep(shown.stepCount) : null,
    isNewest ? [] : stepsBetween(runtime, sessionId, pages, shown.stepCount, shown.stepCount),
    readLog(runtime, sessionId, {
      owner,
      executionId: shown.id,
      firstStep: first,
      lastStep: isNewest ? null : before - 1,
      stepCount: shown.stepCount,
      isNewest: shown.id === currentId,
    }),
  ]);
  return traceOf({
    session: { ...session, executionId: currentId },
    executionId: shown.id,
    executions,
    steps: read.steps,
    stepsBefore: read.stepsBefore,
    stepAfter: read.stepAfter,
    newestStep: newest[0] ?? null,
    events: events.map(({ event }) => event),
    accounts: shown.accounts ?? accountsAfter?.execution ?? null,
    accountsBefore: accountsBefore?.execution ?? null,
    accountsAfter: accountsAfter?.execution ?? null,
    now,
  });
}

function checkedSteps(limit: number = DEFAULT_STEPS): number {
  if (Number.isInteger(limit) && limit > 0) return Math.min(limit, MAX_STEPS);
  throw invalidOption('readTrace limit', limit, `a whole number from 1 to ${MAX_STEPS}`);
}
