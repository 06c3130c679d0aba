import type { AgentStepJSON } from '../agent/agent-state.ts';
import { statusFacts, statusOf, type BroadcastStatus } from '../agent/agent-status.ts';
import type { Execution } from '../agent/execution.ts';
import type { ContinuationOutcomeJSON } from '../continuation/outcome.ts';
import { outcomeWithFacts } from '../continuation/with-facts.ts';
import type { AgentEvent } from '../events/agent-event.ts';
import type { Session } from '../sessions/session.ts';
import { openStepOf } from './open-step.ts';
import { runLogOf, type RunLog } from './run-log.ts';
import { broadcastStatusOf } from './stop-sentence-of.ts';
import { stopSentence } from './stop-sentence.ts';
import { tracePauses } from './trace-pauses.ts';
import { traceSteps } from './trace-steps.ts';
import { traceTotals } from './trace-totals.ts';
import type { Trace, TraceExecution, TraceNesting } from './trace.ts';

/** The fields of a session that a trace reads. */
export interface TracedSession extends Pick<
  Session,
  | 'id'
  | 'agent'
  | 'executionId'
  | 'status'
  | 'stopReason'
  | 'pause'
  | 'pendingApprovals'
  | 'pendingInputs'
  | 'allowance'
  | 'imported'
> {
  readonly outcome: ContinuationOutcomeJSON | null;
}

/** The records of a trace. */
export interface TraceRecords {
  readonly session: TracedSession;
  /** The execution to show; null before the first message. */
  readonly executionId: string | null;
  readonly executions: readonly TraceExecution[];
  /** The finished steps to show, in order. */
  readonly steps: readonly AgentStepJSON[];
  /** Some finished steps right before those, to count retries across them. */
  readonly stepsBefore?: readonly AgentStepJSON[];
  /** The step after those, if they are not the newest. */
  readonly stepAfter?: AgentStepJSON | null;
  /** The newest finished step of the execution, if it is not the last of those. */
  readonly newestStep?: AgentStepJSON | null;
  /** The matching part of the log, in order; any of it may be missing. */
  readonly events: readonly AgentEvent[];
  /** Totals of the execution so far; null if unknown, then the steps are counted. */
  readonly accounts: Execution | null;
  /** Totals before the first of the steps; null at the beginning. */
  readonly accountsBefore?: Execution | null;
  /** Totals after the newest finished step. */
  readonly accountsAfter?: Execution | null;
  /** The nested agent whose records these are; absent for the session's own. */
  readonly nested?: NestedRecords;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

export interface NestedRecords extends TraceNesting {
  readonly agentId: string;
}

/** Builds the trace of an execution from its records only. */
export function traceOf(records: TraceRecords): Trace {
  const { session, executionId, executions, steps, accounts, nested } = records;
  const newest = records.newestStep ?? steps.at(-1);
  const log = runLogOf(records.events, nested?.agentId);
  const isCurrent = executionId === session.executionId;
  const isNewest = !records.stepAfter;
  const open = isCurrent && isNewest ? openStepOf(session, log, lastNumber(records, steps)) : null;
  const shown = traceSteps(records, log, open);
  const outcome = lastOutcomeOf(records, newest, log);
  const status = isCurrent ? broadcastStatusOf(session) : statusBy(outcome);
  return {
    sessionId: session.id,
    agent: session.agent,
    executionId,
    status,
    executions,
    startedAt: accounts?.startedAt ?? steps[0]?.startedAt ?? null,
    totals: traceTotals({ records, log, shown, outcome, isOpen: open !== null }),
    steps: shown,
    hasEarlier: (shown[0]?.number ?? 1) > 1,
    pauses: tracePauses(log, shown, isCurrent && isNewest ? session : null),
    outcome,
    stop: stopSentence({
      status,
      outcome,
      pause: isCurrent ? session.pause : null,
      pendingApprovals: isCurrent ? session.pendingApprovals : [],
      pendingInputs: isCurrent ? session.pendingInputs : [],
      error: newest?.errors.at(-1) ?? null,
      allowance: isCurrent ? session.allowance : null,
      ...(nested && { isNested: true }),
      ...(session.imported && { imported: session.imported }),
    }),
    grants: accounts?.grants ?? {},
    ...(nested && {
      nested: { agentId: nested.agentId, callId: nested.callId, above: nested.above },
    }),
  };
}

const lastNumber = ({ accountsAfter }: TraceRecords, steps: readonly AgentStepJSON[]): number =>
  Math.max(steps.at(-1)?.number ?? 0, accountsAfter?.stepCount ?? 0);

/** Returns the newest outcome: of the session, of the last logged ending, of the newest step, of the beginning. */
function lastOutcomeOf(
  { session, stepAfter, executionId }: TraceRecords,
  newest: AgentStepJSON | undefined,
  { ending, outcome }: RunLog,
): ContinuationOutcomeJSON | null {
  const ofSession = executionId === session.executionId ? session.outcome : null;
  const ofLog = stepAfter ? null : (ending?.outcome ?? (newest ? null : outcome));
  const found = ofSession ?? ofLog ?? newest?.outcome ?? null;
  return found && outcomeWithFacts(found);
}

/** Returns the status of an execution that has ended because another one has started. */
function statusBy(outcome: ContinuationOutcomeJSON | null): BroadcastStatus {
  const reason = outcome?.stopReason ?? null;
  return reason === null ? 'stopped' : statusFacts(statusOf(reason), reason).broadcast;
}
