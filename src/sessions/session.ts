import type { Pause } from '../agent/agent-state.ts';
import { isOpen, type AgentStatus } from '../agent/agent-status.ts';
import type { SessionInfo } from '../agent/execution.ts';
import { namedApprovals } from '../agent/named-approvals.ts';
import type { GrantAllowance, GrantRecord } from '../continuation/grant-allowance.ts';
import type { Grants } from '../continuation/grants.ts';
import { ContinuationOutcome } from '../continuation/outcome.ts';
import type { StopReason } from '../continuation/stop-reason.ts';
import type { Redactor } from '../errors/redactor.ts';
import type { PendingApproval } from '../events/agent-event.ts';
import { shownApprovals, type ApprovalRedactors } from '../events/shown-approvals.ts';
import type { Usage } from '../inference/usage.ts';
import type { JsonObject } from '../json.ts';
import { closedOutcome, parkedOutcome } from './attempts.ts';
import type { SessionPhase, SessionRow } from './session-rows.ts';
import { shownTitle } from './session-title.ts';
import type { StateHeader } from './state-rows.ts';
import { stopNote } from './stop-note.ts';

/** A session as people and programs see it, without its history; secrets are redacted. */
export interface Session<Output = unknown, Name extends string = string> {
  readonly id: string;
  readonly owner: string;
  readonly agent: Name;
  /** `metadata.title`, else from the first message of the user; null while there is neither. */
  readonly title: string | null;
  readonly status: AgentStatus;
  /** `open` is worked on or waits for a worker, `paused` waits for people, `parked` failed too often and waits for `retry`. */
  readonly phase: SessionPhase;
  /** How often the work was taken up since it last came further; of a parked session, after how many it was given up. */
  readonly tries: number;
  /** Why the last try failed; of a parked session, why it is parked. */
  readonly error: string | null;
  readonly parkedAt: string | null;
  /** The execution that is worked on, or was last. */
  readonly executionId: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly messageCount: number;
  /** Steps of the whole session. */
  readonly stepCount: number;
  /** Recorded steps of the last execution. */
  readonly executionStepCount: number;
  /** Of the last execution; the whole session's are in `info`. */
  readonly usage: Usage;
  readonly cost: number | null;
  readonly info: SessionInfo;
  /** What was granted to the last execution, in sum. */
  readonly grants: Grants;
  /** Who granted it and when, oldest first. */
  readonly grantLog: readonly GrantRecord[];
  /** What the owner may still grant to the last execution; null while it is open, before the first, and in lists. */
  readonly allowance: GrantAllowance | null;
  readonly pause: Pick<Pause, 'kind' | 'at' | 'reason'> | null;
  /** Calls without an answer; `hidden` says where secrets in their arguments are not shown. */
  readonly pendingApprovals: readonly PendingApproval[];
  /** Null while the execution is open. */
  readonly stopReason: StopReason | null;
  readonly outcome: ContinuationOutcome | null;
  /** Of an ended execution, as it was stored: dates are text. */
  readonly output: Output | null;
  readonly metadata: JsonObject;
}

/** `waiting` are the calls without an answer in the ledger. */
export function sessionOf(
  row: SessionRow,
  { state, seed, title }: StateHeader,
  waiting: ReadonlySet<string>,
  redactors: ApprovalRedactors,
): Session {
  const { own: redactor } = redactors;
  const { id, owner, agent, status, executionId, createdAt, updatedAt } = row;
  const { execution, info, pause, lastContinuationOutcome, output, metadata } = state;
  // accepted but not begun: the stored outcome is about something else
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
    executionId: executionId || null,
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
    stopReason: isOver ? (outcome?.stopReason ?? null) : null,
    outcome,
    output: isOver ? redactor.value(output) : null,
    metadata: redactor.value(metadata),
  };
}

/** What the row alone knows: that the session is parked, or was stopped though its state could not be read. */
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
  /** Give it to the next `list`; null on the last page. */
  readonly cursor: string | null;
}
