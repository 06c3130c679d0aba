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
  WaitingLimit,
} from '../session-store.ts';
import { hasProgress, noAttempts, noRetry } from './attempt-rules.ts';
import { runFacts, type ListedRow } from './query-rules.ts';
import { revisionConflict, staleOwner, startConflict } from './store-errors.ts';

/** A session as stores without SQL keep it. `isLeased` is computed on each read, because it depends on the time. */
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
  ...noRetry,
  closeReason: null,
  requires: row.requires ?? 1,
  updatedAt: row.createdAt,
});

export const shownRow = ({ run: _run, ...row }: KeptRow, isLeased: boolean): SessionRow => ({
  ...row,
  status: shownStatus(row),
  isLeased,
});

/** Returns the row with its run facts, for a list that asks for them. */
export const listedRow = (row: KeptRow, isLeased: boolean): ListedRow => ({
  ...shownRow(row, isLeased),
  run: row.run ?? null,
});

function shownStatus({ phase, status }: KeptRow): SessionRow['status'] {
  if (phase === 'open') return 'in_progress';
  return phase === 'parked' ? 'failed' : status;
}

/** Returns the row with one more command. */
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

/** Returns the phase of a session that has work to do: `open`, unless it is parked. */
export const awake = (phase: SessionPhase): SessionPhase => (phase === 'parked' ? phase : 'open');

export const mayAccept = (
  row: Pick<KeptRow, 'phase' | 'revision'>,
  { phases, revision }: AcceptCondition,
): boolean => phases.includes(row.phase) && (revision ?? row.revision) === row.revision;

/** Whether a session has no capacity for another command with this many bytes. */
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
 * Returns whether a message repeats one that was accepted before. `known` is the content hash that is stored with its
 * execution id; undefined if the id is not stored. An id that is in use but not stored counts as other content.
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

/** Returns the result of an answer to a call. */
export function answered(
  row: KeptRow,
  executionId: string,
  call: CallRow | undefined,
): Exclude<Decision, 'ambiguous'> {
  if (row.phase === 'idle' || row.executionId !== executionId) return 'over';
  if (call?.state === 'waiting') return 'accepted';
  return call === undefined || call.answer === null ? 'unknown' : 'answered';
}

/** Whether the commit is not written yet. Throws if it must not be written. */
export function isNewCommit(row: KeptRow, commit: Commit): boolean {
  if (row.token !== commit.token) throw staleOwner(commit);
  if (commit.revision < row.revision) return false;
  if (row.worker === null) throw staleOwner(commit);
  if (commit.revision > row.revision) throw revisionConflict(commit, row.revision);
  return true;
}

/** Returns the error for the first start that is not allowed. */
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

/** Returns the ledger entry of a call after a write, or the same object if nothing changes. */
export function nextCall(before: CallRow | undefined, write: CallWrite, token: number): CallRow {
  const { executionId, callId, tool, state } = write;
  if (before && (state === 'waiting' || before.state === 'committed')) return before;
  const blank = { executionId, callId, tool, token: 0, starts: 0, answer: null, result: null };
  const row = { ...(before ?? blank), state };
  if (state === 'started') return { ...row, token, starts: row.starts + 1 };
  return { ...row, result: write.result ?? null };
}

/** Returns the session's own row after a commit, before its `end` is applied. */
export const committed = (row: KeptRow, commit: Commit): KeptRow => ({
  ...row,
  ...commit.root,
  requires: commit.root ? (commit.root.requires ?? 1) : row.requires,
  tries: hasProgress(commit) ? 0 : row.tries,
  isQuarantined: row.isQuarantined && commit.endsQuarantine !== true,
  seq: commit.seq ?? row.seq,
  revision: row.revision + 1,
  updatedAt: commit.at ?? row.updatedAt,
  ...(commit.run && { run: runFacts(commit.run) }),
});

/** Applies the `end` of a commit. `isMoreToDo` means a command after `ended`, or a decided call after `paused`. */
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
  // the lease is kept, and the next work counts as its first try
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

/** Returns the bytes of all texts of a row that its store does not interpret. */
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
