import { own } from '../json.ts';
import { nestedNote } from './apply-nested.ts';
import { statusNote } from './apply-status.ts';
import { hasHole, noText } from './growing-text.ts';
import { liveRow, type StreamedText } from './streamed-text.ts';
import { withCallsRow, type LiveCall } from './live-calls.ts';
import { newWindow, type LogWindow } from './log-window.ts';
import { readMessages } from './read-messages.ts';
import { sameItems, type MessageList } from './message-list.ts';
import {
  newRun,
  newSnapshot,
  noApprovals,
  noInputs,
  noUsage,
  type LogSnapshot,
  type UiRun,
} from './log-snapshot.ts';
import type { UiMessage, UiToolFile } from './ui-message.ts';
import type { LogPlace, UiState } from './ui-state.ts';

/** A user message that the server has not sent back yet. */
export interface Sent {
  readonly message: UiMessage;
  /** The execution that answers it, once the server has named it. */
  readonly executionId: string | null;
}

/** State that the reducer keeps in addition to the visible state. */
export interface ReducerState {
  readonly sessionId: string | null;
  readonly log: LogWindow;
  /** Unfinished texts by agent. */
  readonly texts: Readonly<Record<string, StreamedText>>;
  /** Unfinished reasoning of the root agent. */
  readonly reasoning?: StreamedText | null;
  /** Start of the next text of an attempt, by agent, step and attempt. */
  readonly floors: Readonly<Record<string, number>>;
  readonly calls: readonly LiveCall[];
  /** When the worker of the visible run stopped answering. The next entry of the log removes it. */
  readonly workerLostAt?: string | null;
  readonly sent: readonly Sent[];
  readonly sentCount: number;
  /** Images and files that were sent from here, by the id of the server's message. */
  readonly files?: Readonly<Record<string, readonly UiToolFile[]>>;
  /** The messages that this state has produced. */
  readonly shown: MessageList;
  /** Number of invalid inputs; absent if there were none. */
  readonly ignored?: number;
}

const newReducerState = (snapshot: LogSnapshot, sessionId: string | null): ReducerState => ({
  sessionId,
  log: newWindow(snapshot),
  texts: {},
  floors: {},
  calls: [],
  sent: [],
  sentCount: 0,
  shown: snapshot.rows,
});

/** Creates the state before the first envelope. `history` is the server's conversation. */
export function newUiState(history: readonly UiMessage[] = []): UiState {
  const { messages, ignored } = readMessages(history);
  return stateOf({ ...newReducerState(newSnapshot(messages), null), ignored });
}

/**
 * Returns the reducer state of a UI state. If it is missing, or the messages were replaced, it is rebuilt from the
 * visible state.
 */
export function reducerStateOf(state: UiState): ReducerState {
  const { reducer, messages } = state;
  if (reducer?.shown === messages) return reducer;
  const rows = messages.filter((message) => !isTemporary(message));
  if (reducer) {
    const { log } = reducer;
    const base = { ...log.base, rows, run: overlaid(log.base.run) };
    const snapshot = { ...log.snapshot, rows, run: overlaid(log.snapshot.run) };
    return { ...reducer, log: { ...log, base, snapshot }, shown: messages };
  }
  const {
    executionId,
    place,
    status,
    stop,
    stepCount,
    usage,
    approvals,
    inputs = noInputs,
  } = state;
  const after = place?.after ?? 0;
  const run = executionId === null ? null : { ...newRun(executionId), after, last: after };
  const known = run && { ...run, status, stop, stepCount, usage, approvals, inputs };
  const sent = messages
    .filter(({ metadata }) => metadata.pending)
    .map((message) => ({ message, executionId: null }));
  const fresh = newReducerState({ rows, run: known, behind: {} }, state.sessionId);
  const { ignored = 0 } = state;
  return { ...fresh, ignored, sent, sentCount: sent.length, shown: messages };
}

/** Counts invalid inputs. */
export function withIgnored(state: UiState, count: number): UiState {
  const reducer = reducerStateOf(state);
  return stateOf({ ...reducer, ignored: (reducer.ignored ?? 0) + count }, state);
}

const overlaid = (run: UiRun | null): UiRun | null => run && { ...run, isOverlaid: true };

/** Whether the id belongs to another session: nothing of it may show here. */
export const isForeign = ({ sessionId }: ReducerState, id: string | null): boolean =>
  sessionId !== null && id !== null && sessionId !== id;

/** Whether a row is temporary. */
export const isTemporary = ({ role, metadata }: UiMessage): boolean =>
  metadata.streaming === true ||
  metadata.pending === true ||
  (role === 'status' &&
    metadata.compaction === undefined &&
    metadata.event === undefined &&
    metadata.status_type !== 'error' &&
    metadata.status_type !== 'continuation');

/** Returns the visible state; the messages of `before` stay the same list if nothing has changed. */
export function stateOf(reducer: ReducerState, before?: UiState): UiState {
  const { run } = reducer.log.snapshot;
  const messages = messagesOf(reducer, before?.messages);
  return {
    sessionId: reducer.sessionId,
    executionId: run?.id ?? null,
    status: run?.status ?? 'idle',
    messages,
    approvals: run?.approvals ?? noApprovals,
    inputs: run?.inputs ?? noInputs,
    stop: run?.stop ?? null,
    usage: run?.usage ?? noUsage,
    stepCount: run?.stepCount ?? 0,
    isWorkerLost: hasLostWorker(reducer),
    ignored: reducer.ignored ?? 0,
    gap: gapOf(reducer.log),
    textGap: textGapOf(reducer),
    place: run && { executionId: run.id, after: run.after },
    reducer: messages === reducer.shown ? reducer : { ...reducer, shown: messages },
  };
}

/** Whether the visible run waits for another worker. */
const hasLostWorker = ({ log, workerLostAt = null }: ReducerState): boolean =>
  workerLostAt !== null && log.snapshot.run?.status === 'processing';

/** Returns the first gap in log order. */
function gapOf({ snapshot, order }: LogWindow): LogPlace | null {
  const { run, behind } = snapshot;
  for (const executionId of order) {
    const known = own(behind, executionId);
    if (known?.hasHole) return { executionId, after: known.after };
  }
  return run?.hasHole ? { executionId: run.id, after: run.after } : null;
}

/** Text, reasoning and arguments after a gap are not shown. */
function textGapOf({ log, texts, reasoning, calls }: ReducerState): string | null {
  if (log.snapshot.run?.status !== 'processing') return null;
  for (const id in texts) if (hasHole(texts[id] ?? noText)) return texts[id]?.messageId ?? null;
  if (reasoning && hasHole(reasoning)) return reasoning.messageId;
  return calls.find(({ grown }) => hasHole(grown))?.id ?? null;
}

function messagesOf(reducer: ReducerState, before: MessageList | undefined): MessageList {
  const rows = withFiles(reducer);
  const tail = tailOf(reducer);
  const messages = tail.length === 0 ? rows : [...rows, ...tail];
  return before && sameItems(before, messages) ? before : messages;
}

/** Returns the unfinished rows after the conversation, with pending user messages. */
function tailOf(reducer: ReducerState): UiMessage[] {
  const { log, texts, reasoning = null, calls, sent } = reducer;
  const { run } = log.snapshot;
  const own = sent.map(({ message }) => message);
  if (run?.status !== 'processing') return own;
  const tail: UiMessage[] = run.inputId === null ? own.splice(0, 1) : [];
  const live = Object.values(texts).filter(({ text }) => text !== '');
  const said = live.find(({ parentId }) => parentId === null);
  const row = withCallsRow(liveRow(said, reasoning?.text ? reasoning : null), calls);
  if (row) tail.push(row);
  // nested agents run inside a call
  if (run.open.length > 0) tail.push(...nestedNotes(run, live));
  if (reducer.workerLostAt != null)
    tail.push(statusNote(run.id, 'waiting', workerLostText, reducer.workerLostAt));
  else if (run.note && !said) tail.push(run.note);
  tail.push(...own);
  return tail;
}

/** Rows with the bytes of their images, once each. */
const rowsWithFiles = new WeakMap<UiMessage, UiMessage>();

/** Adds the bytes of images that were sent from here to the rows of the log, which has none. */
function withFiles({ log, files }: ReducerState): MessageList {
  const { rows } = log.snapshot;
  if (files === undefined) return rows;
  return rows.map((row) => {
    const sent = own(files, row.id);
    if (!sent || row.metadata.files?.some(({ data }) => data !== undefined)) return row;
    const known = rowsWithFiles.get(row);
    const shown = known ?? { ...row, metadata: { ...row.metadata, files: sent } };
    rowsWithFiles.set(row, shown);
    return shown;
  });
}

const workerLostText = 'The worker stopped answering. Waiting for another worker…';

function nestedNotes(run: UiRun, live: readonly StreamedText[]): UiMessage[] {
  const notes = new Map<string, UiMessage>();
  for (const [id, { note }] of Object.entries(run.agents)) if (note) notes.set(id, note);
  for (const text of live)
    if (text.parentId !== null) notes.set(text.agentId, nestedText(run.id, text));
  return [...notes.values()];
}

const nestedText = (
  runId: string,
  { agentId, parentId, timestamp, text }: StreamedText,
): UiMessage =>
  nestedNote(
    runId,
    { agent_id: agentId, timestamp, ...(parentId !== null && { parent_agent_id: parentId }) },
    text,
  );
