import type { Execution } from '../agent/execution.ts';
import { isoTime, msOf } from '../clock.ts';
import type { PendingInput } from '../events/agent-event.ts';
import type { Session } from '../sessions/session.ts';
import type { ToolResultKind } from '../tools/tool-result.ts';
import { childFacts } from './child-facts.ts';
import { workedBetween, type LoggedCall, type LoggedStep, type RunLog } from './run-log.ts';
import { openModelBar, pausedIn } from './step-bars.ts';
import type { Retries } from './tool-retries.ts';
import type { TraceBar, TraceStep } from './trace.ts';

/** Facts of an unfinished step. */
export interface OpenStep extends LoggedStep {
  readonly type: 'running' | 'waiting';
  readonly calls: readonly LoggedCall[];
}

/** Returns the step that started in the log and is not recorded as finished; null if there is none. */
export function openStepOf(
  session: Pick<Session, 'status' | 'pause' | 'pendingApprovals' | 'pendingInputs'>,
  log: RunLog,
  finished: number,
): OpenStep | null {
  const { status, pause, pendingApprovals, pendingInputs } = session;
  if (status !== 'in_progress' && status !== 'paused') return null;
  const type = status === 'paused' ? 'waiting' : 'running';
  const { lastStep } = log;
  if (lastStep && lastStep.number > finished)
    return { ...lastStep, type, calls: callsOf(log, lastStep.number) };
  const waiting = [
    ...pendingApprovals,
    ...pendingInputs.filter(isFirstOfCall).map((question) => ({ ...question, args: {} })),
  ];
  if (waiting.length === 0 || lastStep) return null;
  // the log is gone: what waits is known from the session
  return {
    number: finished + 1,
    attempt: 1,
    startedAt: pause?.at ?? isoTime(0),
    answeredAt: pause ? msOf(pause.at) : 0,
    type,
    calls: waiting.map(({ callId, tool, args, path }) => ({
      id: path[0] ?? callId,
      tool,
      args,
      step: finished + 1,
      requestedAt: pause ? msOf(pause.at) : 0,
      askedAt: null,
      firstStartAt: null,
      startedAt: null,
      completedAt: null,
      completed: null,
    })),
  };
}

const isFirstOfCall = (
  { callId }: PendingInput,
  place: number,
  all: readonly PendingInput[],
): boolean => all.findIndex((one) => one.callId === callId) === place;

const callsOf = ({ calls }: RunLog, step: number): readonly LoggedCall[] =>
  [...calls.values()].filter((call) => call.step === step);

export interface OpenStepContext {
  /** Start on the axis. */
  readonly at: number;
  readonly now: number;
  readonly log: RunLog;
  readonly retries: Retries;
  /** Usage so far. */
  readonly used: Pick<Execution, 'usage' | 'cost'> | null;
  readonly costSoFar: number | null;
}

export function traceOpenStep(step: OpenStep, context: OpenStepContext): TraceStep {
  const { at, now, log, used } = context;
  const began = msOf(step.startedAt);
  const offset = (time: number): number => workedBetween(log.gaps, began, time);
  const durationMs = offset(now);
  const { answeredAt } = step;
  const modelMs = answeredAt === null ? durationMs : offset(answeredAt);
  return {
    number: step.number,
    attempt: step.attempt,
    type: step.type,
    startedAt: step.startedAt,
    at,
    durationMs,
    bars: [
      openModelBar(at, modelMs, answeredAt !== null),
      ...step.calls.map((call) => openBar(call, context, offset)),
    ],
    waitMs: 0,
    inputTokens: used?.usage.input ?? 0,
    outputTokens: used?.usage.output ?? 0,
    modelUsage: null,
    cost: used ? used.cost : 0,
    costSoFar: context.costSoFar,
    finishReason: null,
    softLanding: null,
    notes: [],
    outcome: null,
  };
}

function openBar(
  call: LoggedCall,
  { at, now, log, retries }: OpenStepContext,
  offset: (time: number) => number,
): TraceBar {
  const { completed, startedAt, requestedAt, completedAt } = call;
  const start = offset(startedAt ?? requestedAt ?? completedAt ?? now);
  const isPaused = log.gaps.some(({ to, calls }) => to === null && calls.includes(call.id));
  const isOpen = completed === null;
  const wasAsked = requestedAt !== null && startedAt !== null && startedAt >= requestedAt;
  return {
    kind: 'tool',
    name: call.tool,
    callId: call.id,
    at: at + start,
    durationMs: completed
      ? completed.durationMs
      : startedAt === null
        ? 0
        : Math.max(0, offset(now) - start),
    ...(isOpen && isPaused && call.askedAt !== null && { asks: true }),
    state: isOpen ? (isPaused || startedAt === null ? 'waiting' : 'running') : stateOf(completed),
    error: completed?.error ?? null,
    retry: retries.get(call.id) ?? null,
    pausedMs: pausedIn(log, call.id, now),
    answer:
      completed?.approval?.decision ??
      (completed?.error === 'denied' ? 'denied' : wasAsked ? 'approved' : null),
    ...(completed?.approval && { approval: completed.approval }),
    ...childFacts(log, call.id, !isOpen),
  };
}

const kinds: ReadonlySet<string> = new Set(['denied', 'aborted', 'blocked', 'timeout']);

/** Returns the state of a completed call. Without an error message, the event holds the kind of the result. */
export const stateOf = (completed: NonNullable<LoggedCall['completed']>): ToolResultKind => {
  if (completed.success) return 'ok';
  return completed.error !== null && kinds.has(completed.error)
    ? (completed.error as ToolResultKind) // one of the names
    : 'error';
};
