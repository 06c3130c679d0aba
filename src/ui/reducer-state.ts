import { own } from '../json.ts';
import { nestedNote } from './apply-nested.ts';
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
  noUsage,
  type LogSnapshot,
  type UiRun,
} from './log-snapshot.ts';
import type { UiMessage } from './ui-message.ts';
import type { LogPlace, UiState } from './ui-state.ts';

/** A message of the user that the server has not shown yet. */
export interface Sent {
  readonly message: UiMessage;
  /** The execution that answers it, once the server has told. */
  readonly executionId: string | null;
}

/** What the reducer remembers beside what is on screen. */
export interface ReducerState {
  readonly sessionId: string | null;
  readonly log: LogWindow;
  /** Texts that are being made, by agent. */
  readonly texts: Readonly<Record<string, StreamedText>>;
  /** Reasoning that is being made, of the agent that the user talks to. */
  readonly reasoning?: StreamedText | null;
  /** Where the next text of an attempt begins, by agent, step and attempt. */
  readonly floors: Readonly<Record<string, number>>;
  readonly calls: readonly LiveCall[];
  readonly sent: readonly Sent[];
  readonly sentCount: number;
  /** The messages that this book has put on screen. */
  readonly shown: MessageList;
  /** What came and could not be used; absent where nothing was. */
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

/** Before the first envelope; `history` is the conversation as the server keeps it. */
export function newUiState(history: readonly UiMessage[] = []): UiState {
  const { messages, ignored } = readMessages(history);
  return stateOf({ ...newReducerState(newSnapshot(messages), null), ignored });
}

/** The book of a state. One that lost it, or was given other messages, is taken as it looks. */
export function reducerStateOf(state: UiState): ReducerState {
  const { reducer, messages } = state;
  if (reducer?.shown === messages) return reducer;
  const rows = messages.filter((message) => !isPassing(message));
  if (reducer) {
    const { log } = reducer;
    const base = { ...log.base, rows, run: overlaid(log.base.run) };
    const snapshot = { ...log.snapshot, rows, run: overlaid(log.snapshot.run) };
    return { ...reducer, log: { ...log, base, snapshot }, shown: messages };
  }
  const { executionId, place, status, stop, stepCount, usage, approvals } = state;
  const after = place?.after ?? 0;
  const run = executionId === null ? null : { ...newRun(executionId), after, last: after };
  const known = run && { ...run, status, stop, stepCount, usage, approvals };
  const sent = messages
    .filter(({ metadata }) => metadata.pending)
    .map((message) => ({ message, executionId: null }));
  const fresh = newReducerState({ rows, run: known, behind: {} }, state.sessionId);
  const { ignored = 0 } = state;
  return { ...fresh, ignored, sent, sentCount: sent.length, shown: messages };
}

/** Counts what could not be used. */
export function withIgnored(state: UiState, count: number): UiState {
  const reducer = reducerStateOf(state);
  return stateOf({ ...reducer, ignored: (reducer.ignored ?? 0) + count }, state);
}

const overlaid = (run: UiRun | null): UiRun | null => run && { ...run, isOverlaid: true };

/** Of another session: nothing of it may show here. */
export const isForeign = ({ sessionId }: ReducerState, id: string | null): boolean =>
  sessionId !== null && id !== null && sessionId !== id;

/** Only on screen while it happens. */
export const isPassing = ({ role, metadata }: UiMessage): boolean =>
  metadata.streaming === true ||
  metadata.pending === true ||
  (role === 'status' &&
    metadata.status_type !== 'error' &&
    metadata.status_type !== 'continuation');

/** The state that a book shows; the messages of `before` stay the same list if nothing on it has changed. */
export function stateOf(reducer: ReducerState, before?: UiState): UiState {
  const { run } = reducer.log.snapshot;
  const messages = messagesOf(reducer, before?.messages);
  return {
    sessionId: reducer.sessionId,
    executionId: run?.id ?? null,
    status: run?.status ?? 'idle',
    messages,
    approvals: run?.approvals ?? noApprovals,
    stop: run?.stop ?? null,
    usage: run?.usage ?? noUsage,
    stepCount: run?.stepCount ?? 0,
    ignored: reducer.ignored ?? 0,
    gap: gapOf(reducer.log),
    textGap: textGapOf(reducer),
    place: run && { executionId: run.id, after: run.after },
    reducer: messages === reducer.shown ? reducer : { ...reducer, shown: messages },
  };
}

/** The first hole in the order of the log. */
function gapOf({ snapshot, order }: LogWindow): LogPlace | null {
  const { run, behind } = snapshot;
  for (const executionId of order) {
    const known = own(behind, executionId);
    if (known?.hasHole) return { executionId, after: known.after };
  }
  return run?.hasHole ? { executionId: run.id, after: run.after } : null;
}

/** What comes of a text, or of arguments, behind a hole does not show. */
function textGapOf({ log, texts, calls }: ReducerState): string | null {
  if (log.snapshot.run?.status !== 'processing') return null;
  for (const id in texts) if (hasHole(texts[id] ?? noText)) return texts[id]?.messageId ?? null;
  return calls.find(({ grown }) => hasHole(grown))?.id ?? null;
}

function messagesOf(reducer: ReducerState, before: MessageList | undefined): MessageList {
  const { rows } = reducer.log.snapshot;
  const tail = tailOf(reducer);
  const messages = tail.length === 0 ? rows : [...rows, ...tail];
  return before && sameItems(before, messages) ? before : messages;
}

/** What is on its way: behind the conversation, with the user's own next words around it. */
function tailOf({ log, texts, reasoning = null, calls, sent }: ReducerState): UiMessage[] {
  const { run } = log.snapshot;
  const own = sent.map(({ message }) => message);
  if (run?.status !== 'processing') return own;
  const tail: UiMessage[] = run.inputId === null ? own.splice(0, 1) : [];
  const live = Object.values(texts).filter(({ text }) => text !== '');
  const said = live.find(({ parentId }) => parentId === null);
  const row = withCallsRow(liveRow(said, reasoning?.text ? reasoning : null), calls);
  if (row) tail.push(row);
  // nested agents work inside a call
  if (run.open.length > 0) tail.push(...nestedNotes(run, live));
  if (run.note && !said) tail.push(run.note);
  tail.push(...own);
  return tail;
}

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
