import type { Pause } from '../agent/agent-state.ts';
import { isOpen, type AgentStatus } from '../agent/agent-status.ts';
import type { SessionInfo } from '../agent/execution.ts';
import { namedApprovals } from '../agent/named-approvals.ts';
import type { GrantAllowance, GrantRecord } from '../continuation/grant-allowance.ts';
import type { Grants } from '../continuation/grants.ts';
import { ContinuationOutcome } from '../continuation/outcome.ts';
import type { StopReason } from '../continuation/stop-reason.ts';
import type { Redactor } from '../errors/redactor.ts';
import type { PendingApproval, PendingInput } from '../events/agent-event.ts';
import { shownApprovals, type ApprovalRedactors } from '../events/shown-approvals.ts';
import { shownInputs } from '../events/shown-inputs.ts';
import type { Usage } from '../inference/usage.ts';
import type { JsonObject } from '../json.ts';
import type { Attention } from './attention.ts';
import { closedOutcome, parkedOutcome } from './attempts.ts';
import { shownRow, type ImportNote, type SessionImport } from './imported-session.ts';
import { lastRetryOf, type RetryRecord } from './retry-record.ts';
import type { RunFacts, SessionPhase, SessionRow } from './session-rows.ts';
import { shownTitle } from './session-title.ts';
import type { SessionOrigin, StateHeader } from './state-rows.ts';
import { stopNote } from './stop-note.ts';

/** A session without its history, as clients see it. Secrets are redacted. */
export interface Session<Output = unknown, Name extends string = string> {
  readonly id: string;
  readonly owner: string;
  readonly agent: Name;
  /** `metadata.title`, otherwise the beginning of the first user message; null while there is neither. */
  readonly title: string | null;
  readonly status: AgentStatus;
  /**
   * `open` has a worker or waits for one, `paused` waits for an approver or `resume`, `idle` waits for a message,
   * `parked` failed too often and waits for `retry`.
   */
  readonly phase: SessionPhase;
  /** Number of tries since the last progress. For a parked session, the tries before it was parked. */
  readonly tries: number;
  /** Why the last try failed, or why the session is parked. */
  readonly error: string | null;
  readonly parkedAt: string | null;
  /** Who continued it the last time it was parked, and when; null if that never happened. */
  readonly lastRetry: RetryRecord | null;
  /** The current execution, otherwise the last one. */
  readonly executionId: string | null;
  /** The session and step from which it was forked; null for one that was not. */
  readonly forkedFrom: SessionOrigin | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly messageCount: number;
  /** Steps of the whole session. */
  readonly stepCount: number;
  /** Recorded steps of the last execution. */
  readonly executionStepCount: number;
  /** Usage of the last execution. Totals of the session are in `info`. */
  readonly usage: Usage;
  readonly cost: number | null;
  readonly info: SessionInfo;
  /** Sum of all grants to the last execution. */
  readonly grants: Grants;
  /** The individual grants, oldest first. */
  readonly grantLog: readonly GrantRecord[];
  /**
   * Remaining allowance of the owner for the last execution; null while it is open, before the first one, and in lists.
   */
  readonly allowance: GrantAllowance | null;
  readonly pause: Pick<Pause, 'kind' | 'at' | 'reason'> | null;
  /** Calls without an answer. `hidden` marks redacted secrets in their arguments. */
  readonly pendingApprovals: readonly PendingApproval[];
  /** Questions of tools without an answer. */
  readonly pendingInputs: readonly PendingInput[];
  /** Null while the execution is open. */
  readonly stopReason: StopReason | null;
  readonly outcome: ContinuationOutcome | null;
  /** In lists, facts of its newest run record; null if there is none. */
  readonly run?: RunFacts | null;
  /** In lists, why it needs a person; null if it does not. */
  readonly attention?: Attention | null;
  /** Output of an ended execution, as stored: dates are text. */
  readonly output: Output | null;
  readonly metadata: JsonObject;
  /** Set if the session was imported: it is read-only, as it was when it was exported. Absent for all others. */
  readonly imported?: SessionImport;
}

/** Builds the view of a session. `waiting` are the calls without an answer in the ledger. */
export function sessionOf(
  stored: SessionRow,
  head: StateHeader,
  waiting: ReadonlySet<string>,
  redactors: ApprovalRedactors,
): Session {
  const { own: redactor } = redactors;
  const { state, seed, title, origin, imported } = head;
  const row = shownRow(stored, head);
  const { id, owner, agent, status, executionId, createdAt, updatedAt } = row;
  const { execution, info, pause, lastContinuationOutcome, output, metadata } = state;
  // accepted but not begun: the stored outcome belongs to another execution
  const isFresh = (row.phase === 'open' || row.phase === 'parked') && !isOpen(state.status);
  const isOver = row.phase !== 'open' && status !== 'paused';
  const outcome =
    ofRow(row, redactor) ??
    (lastContinuationOutcome && !isFresh
      ? ContinuationOutcome.from(redactor.value(lastContinuationOutcome))
      : null);
  const isClosed = row.closeReason !== null;
  const pending = namedApprovals(pause?.pendingApprovals ?? [], execution.id).filter(
    ({ callId }) => !isClosed && waiting.has(callId),
  );
  const asked = (pause?.pendingInputs ?? []).filter(
    ({ inputId }) => !isClosed && waiting.has(inputId),
  );
  return {
    id,
    owner,
    agent,
    title: shownTitle(metadata, title, redactor),
    status,
    phase: row.phase,
    tries: row.tries,
    error: row.error === null ? null : redactor.text(row.error),
    parkedAt: row.parkedAt,
    lastRetry: lastRetryOf(row),
    executionId: executionId || null,
    forkedFrom: origin ?? null,
    createdAt,
    updatedAt,
    messageCount: seed?.length ?? row.messageCount,
    stepCount: row.stepCount,
    executionStepCount: isFresh ? 0 : execution.stepCount,
    usage: execution.usage,
    cost: execution.cost,
    info,
    grants: isFresh ? {} : execution.grants,
    grantLog: isFresh ? [] : (execution.grantLog ?? []),
    allowance: null,
    pause: status === 'paused' ? pauseView(pause, redactor) : null,
    pendingApprovals: shownApprovals(pending, redactors),
    pendingInputs: shownInputs(asked, redactors.family),
    stopReason: isOver ? (outcome?.stopReason ?? null) : null,
    outcome,
    output: isOver ? redactor.value(output) : null,
    metadata: redactor.value(metadata),
    ...(imported && { imported: importOf(imported) }),
  };
}

const importOf = ({ row: _row, ...facts }: ImportNote): SessionImport => facts;

/** Returns the outcome that only the row has: the session is parked, or was stopped without reading its state. */
function ofRow(row: SessionRow, redactor: Redactor): ContinuationOutcome | null {
  if (row.phase === 'parked')
    return parkedOutcome({ ...row, error: row.error === null ? null : redactor.text(row.error) });
  if (row.phase !== 'idle' || row.closeReason === null) return null;
  return closedOutcome(redactor.text(stopNote(row.closeReason).reason));
}

function pauseView(pause: Pause | null, redactor: Redactor): Session['pause'] {
  if (!pause) return null;
  const { kind, at, reason } = pause;
  return { kind, at, ...(reason !== undefined && { reason: redactor.text(reason) }) };
}

export interface SessionPage<S extends Session = Session> {
  readonly sessions: readonly S[];
  /** Pass it to the next `list`; null on the last page. */
  readonly cursor: string | null;
}
