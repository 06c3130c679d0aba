import type { AgentError } from '../../errors/agent-error.ts';
import { utf8Bytes } from '../../json.ts';
import type {
  CallRow,
  CallState,
  CommandRow,
  NewSessionRow,
  SessionPhase,
  SessionRow,
} from '../session-rows.ts';
import type {
  AcceptCondition,
  Acceptance,
  CallWrite,
  Commit,
  CommitReceipt,
  Decision,
  LeaseSignal,
  NewCommand,
  SessionQuery,
  WaitingLimit,
} from '../session-store.ts';
import { hasProgress, noAttempts } from './attempt-rules.ts';
import { revisionConflict, staleOwner, startConflict } from './store-errors.ts';

/** A session as stores without SQL keep it: whether its lease is good is a question of time. */
export type KeptRow = Omit<SessionRow, 'isLeased'>;

export const newRow = (row: NewSessionRow): KeptRow => ({
  ...row,
  phase: 'idle',
  revision: 0,
  token: 0,
  worker: null,
  stopReason: null,
  pauseReason: null,
  seq: 0,
  ...noAttempts,
  closeReason: null,
  requires: row.requires ?? 1,
  updatedAt: row.createdAt,
});

export const shownRow = (row: KeptRow, isLeased: boolean): SessionRow => ({
  ...row,
  status: shownStatus(row),
  isLeased,
});

function shownStatus({ phase, status }: KeptRow): SessionRow['status'] {
  if (phase === 'open') return 'in_progress';
  return phase === 'parked' ? 'failed' : status;
}

export const isListed = (
  row: SessionRow,
  { status, phase, agent, notAgents }: Omit<SessionQuery, 'owner' | 'limit' | 'after'>,
): boolean =>
  (status === undefined || row.status === status) &&
  (phase === undefined || row.phase === phase) &&
  (agent === undefined || row.agent === agent) &&
  notAgents?.includes(row.agent) !== true;

/** The row with a command more. */
export const accepted = (
  row: KeptRow,
  { at, requires = 1 }: Pick<NewCommand, 'at' | 'requires'>,
): KeptRow => ({
  ...row,
  requires: Math.max(row.requires, requires),
  ...(row.phase === 'idle' && noAttempts),
  phase: awake(row.phase),
  updatedAt: at,
});

/** What has something to do wants a worker, unless it is parked. */
export const awake = (phase: SessionPhase): SessionPhase => (phase === 'parked' ? phase : 'open');

export const mayAccept = (
  row: Pick<KeptRow, 'phase' | 'revision'>,
  { phases, revision }: AcceptCondition,
): boolean => phases.includes(row.phase) && (revision ?? row.revision) === row.revision;

/** Whether a session has no space for one more command of so many bytes. */
export const isFullFor = (
  waiting: WaitingLimit,
  bytes: number,
  { maxWaiting }: AcceptCondition,
): boolean =>
  maxWaiting !== undefined &&
  waiting.commands > 0 &&
  (waiting.commands >= maxWaiting.commands || waiting.bytes + bytes > maxWaiting.bytes);

export const waitingIn = (commands: readonly Pick<CommandRow, 'body'>[]): WaitingLimit => ({
  commands: commands.length,
  bytes: commands.reduce((sum, { body }) => sum + utf8Bytes(body), 0),
});

/**
 * Whether a message repeats one that was accepted before. `known` is the content hash that is remembered with its
 * execution id, undefined if the id is not remembered. An id that is in use without being remembered has other content.
 */
export function repeatOf(
  current: string | null,
  {
    executionId,
    contentHash,
  }: { readonly executionId: string; readonly contentHash?: NewCommand['contentHash'] | undefined },
  known: string | null | undefined,
  isWaiting: () => boolean,
): Acceptance['repeat'] {
  if (contentHash === undefined) return undefined;
  if (known === undefined) return current === executionId ? 'other' : undefined;
  if (known === null || known !== contentHash) return 'other';
  return isWaiting() ? 'waiting' : 'begun';
}

/** What an answer to a call comes to. */
export function answered(
  row: KeptRow,
  executionId: string,
  call: CallRow | undefined,
): Exclude<Decision, 'ambiguous'> {
  if (row.phase === 'idle' || row.executionId !== executionId) return 'over';
  if (call?.state === 'waiting') return 'accepted';
  return call === undefined || call.answer === null ? 'unknown' : 'answered';
}

/** Whether the commit has still to be written; throws when it may not be. */
export function isNewCommit(row: KeptRow, commit: Commit): boolean {
  if (row.token !== commit.token) throw staleOwner(commit);
  if (commit.revision < row.revision) return false;
  if (row.worker === null) throw staleOwner(commit);
  if (commit.revision > row.revision) throw revisionConflict(commit, row.revision);
  return true;
}

/** The first start that may not be, as the error to throw. */
export function refusedStart(
  commit: Commit,
  stateOf: (write: CallWrite) => CallState | undefined,
): AgentError | null {
  const starts = new Set<string>();
  for (const write of commit.calls ?? []) {
    if (write.state !== 'started') continue;
    const before = stateOf(write);
    const key = JSON.stringify([write.executionId, write.callId]);
    const isRepeated = before === 'started' || starts.has(key);
    if (before === 'committed' || (isRepeated && !write.again))
      return startConflict(commit, write.callId);
    starts.add(key);
  }
  return null;
}

/** The line of a call after a write; the same object where it changes nothing. */
export function nextCall(before: CallRow | undefined, write: CallWrite, token: number): CallRow {
  const { executionId, callId, tool, state } = write;
  if (before && (state === 'waiting' || before.state === 'committed')) return before;
  const blank = { executionId, callId, tool, token: 0, starts: 0, answer: null, result: null };
  const row = { ...(before ?? blank), state };
  if (state === 'started') return { ...row, token, starts: row.starts + 1 };
  return { ...row, result: write.result ?? null };
}

/** The session's own row after a commit, before its `end`. */
export const committed = (row: KeptRow, commit: Commit): KeptRow => ({
  ...row,
  ...commit.root,
  requires: commit.root ? (commit.root.requires ?? 1) : row.requires,
  tries: hasProgress(commit) ? 0 : row.tries,
  isQuarantined: row.isQuarantined && commit.endsQuarantine !== true,
  seq: commit.seq ?? row.seq,
  revision: row.revision + 1,
  updatedAt: commit.at ?? row.updatedAt,
});

/** And after it. What may be left to do: a command when it `ended`, a decided call when it `paused`. */
export function ended(row: KeptRow, end: NonNullable<Commit['end']>, isMoreToDo: boolean): KeptRow {
  if (end === 'handover') return { ...row, tries: Math.max(0, row.tries - 1), worker: null };
  const stopReason = end === 'ended' ? null : row.stopReason;
  const next: KeptRow = {
    ...row,
    ...(end === 'ended' && { ...noAttempts, closeReason: null }),
    tries: 0,
    error: null,
    stopReason,
    pauseReason: null,
  };
  // the lease is kept, and what follows is its first try
  if (isMoreToDo || stopReason !== null) return { ...next, phase: 'open', tries: 1 };
  return { ...next, phase: end === 'ended' ? 'idle' : 'paused', worker: null };
}

export const signalOf = (row: KeptRow): LeaseSignal => ({
  sessionId: row.id,
  token: row.token,
  stopReason: row.stopReason,
  pauseReason: row.pauseReason,
});

export const receiptOf = (row: KeptRow): CommitReceipt => ({
  phase: row.phase,
  stopReason: row.stopReason,
  pauseReason: row.pauseReason,
});

/** The bytes of all texts of a row that its store does not look into. */
export const bytesOf = (row: {
  readonly head?: string;
  readonly body?: string;
  readonly mark?: string;
  readonly answer?: string | null;
  readonly result?: string | null;
}): number =>
  [row.head, row.body, row.mark, row.answer, row.result].reduce(
    (sum, text) => sum + (text ? utf8Bytes(text) : 0),
    0,
  );
