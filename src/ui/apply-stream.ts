import type { Envelope } from '../broadcasting/envelope.ts';
import { own } from '../json.ts';
import { isForeign, type ReducerState } from './reducer-state.ts';
import { hasHole } from './growing-text.ts';
import { grown, newCall, type Delta, type LiveCall } from './live-calls.ts';
import {
  attemptKey,
  discardsOf,
  extended,
  isOf,
  isOver,
  newText,
  type Chunk,
  type ReasoningChunk,
  type StreamedText,
} from './streamed-text.ts';
import { withEntries } from './log-window.ts';
import { findInTurn, hasCall, turnOf, type MessageList } from './message-list.ts';
import { trackOf, type LogSnapshot, type UiRun } from './log-snapshot.ts';

/** Adds a chunk. Chunks and deltas are not logged: they show over the log until it has the finished message or call. */
export function withChunk(before: ReducerState, chunk: Chunk): ReducerState {
  if (isForeign(before, chunk.session_id) || chunk.payload.content === '') return before;
  const known = own(before.texts, chunk.agent_id);
  if (known && isOf(known, chunk)) return withText(before, known, extended(known, chunk));
  const reducer = opened(before, chunk);
  const fresh = beginning(reducer, chunk);
  return fresh ? withText(reducer, known, extended(fresh, chunk)) : reducer;
}

/** Returns the text that a chunk starts; null if it is late. */
function beginning({ log, texts, floors }: ReducerState, chunk: Chunk): StreamedText | null {
  const { run } = log.snapshot;
  const fresh = newText(chunk);
  if (run === null || isLate(fresh, own(texts, fresh.agentId), log.snapshot, run)) return null;
  const discards = discardsOf(fresh, run);
  if (fresh.counted === 'characters') return discards.length > fresh.discards ? null : fresh;
  const next = discards.length === 0 ? 0 : own(floors, attemptKey(fresh));
  if (next === undefined || chunk.payload.chunk_index < next) return null;
  if (discards.some(({ at }) => at >= fresh.timestamp)) return null;
  return { ...fresh, discards: discards.length, next };
}

/** Whether the log or a newer text has replaced it. */
const isLate = (
  fresh: StreamedText,
  known: StreamedText | null | undefined,
  { rows }: LogSnapshot,
  run: UiRun,
): boolean =>
  isOver(fresh, run) ||
  (known != null && (known.step > fresh.step || isNewer(known, fresh))) ||
  hasRow(rows, fresh.messageId);

/** Adds reasoning of the root agent; that of nested agents is not shown. */
export function withReasoning(before: ReducerState, chunk: ReasoningChunk): ReducerState {
  if (isForeign(before, chunk.session_id) || chunk.parent_agent_id !== undefined) return before;
  if (chunk.payload.content === '') return before;
  const { reasoning: known } = before;
  if (known && isOf(known, chunk)) {
    const next = extended(known, chunk);
    return next === known ? before : { ...before, reasoning: next };
  }
  const reducer = opened(before, chunk);
  const { snapshot } = reducer.log;
  const { run } = snapshot;
  const fresh = newText(chunk);
  if (run === null || isLate(fresh, known, snapshot, run)) return reducer;
  if (discardsOf(fresh, run).length > fresh.discards) return reducer;
  return { ...reducer, reasoning: extended(fresh, chunk) };
}

/** Whether `known` is newer: within one attempt the last restart wins, otherwise the latest activity. */
const isNewer = (known: StreamedText, fresh: StreamedText): boolean =>
  known.messageId === fresh.messageId && known.attempt === fresh.attempt
    ? known.discards > fresh.discards
    : known.lastAt > fresh.lastAt;

const withText = (
  reducer: ReducerState,
  before: StreamedText | undefined,
  live: StreamedText,
): ReducerState =>
  live === before ? reducer : { ...reducer, texts: { ...reducer.texts, [live.agentId]: live } };

/** Adds a delta; arguments of nested agents are not shown. */
export function withDelta(before: ReducerState, delta: Delta): ReducerState {
  if (isForeign(before, delta.session_id) || delta.parent_agent_id !== undefined) return before;
  const reducer = opened(before, delta);
  const known = reducer.calls.find(
    ({ id, executionId }) =>
      id === delta.payload.tool_call_id && executionId === delta.execution_id,
  );
  const next = grown(known ?? newCall(delta), delta);
  if (next === known || (!known && isCallOver(next, reducer.log.snapshot))) return reducer;
  return {
    ...reducer,
    calls: known
      ? reducer.calls.map((call) => (call === known ? next : call))
      : [...reducer.calls, next],
  };
}

/** Sorts calls by the worker's order, because a client may have joined in the middle. */
export function inOrderOf(unfinished: readonly Envelope[], reducer: ReducerState): ReducerState {
  const ids = unfinished.flatMap(({ payload }) =>
    'args_delta' in payload ? [payload.tool_call_id] : [],
  );
  const indexOf = ({ id }: LiveCall): number => (ids.includes(id) ? ids.indexOf(id) : ids.length);
  const isOrdered = reducer.calls.every((call, i, all) => {
    const before = all[i - 1];
    return before === undefined || indexOf(before) <= indexOf(call);
  });
  return isOrdered
    ? reducer
    : { ...reducer, calls: reducer.calls.toSorted((a, b) => indexOf(a) - indexOf(b)) };
}

/** Marks an execution as running if a chunk or delta arrives before its log. */
function opened(reducer: ReducerState, envelope: Envelope): ReducerState {
  const { execution_id: executionId, session_id, timestamp } = envelope;
  if (reducer.log.snapshot.run?.id === executionId) return reducer;
  const log = withEntries(reducer.log, [{ executionId, seq: 0, what: 'opened' }], timestamp);
  if (log === reducer.log) return reducer;
  return withoutOver({ ...reducer, sessionId: reducer.sessionId ?? session_id, log });
}

/** Drops texts and arguments that the log has finished, discarded or passed. Called after the log has moved. */
export function withoutOver(reducer: ReducerState): ReducerState {
  const { snapshot } = reducer.log;
  const { run } = snapshot;
  const texts = Object.values(reducer.texts);
  const { reasoning = null } = reducer;
  if (run === null) return reducer;
  if (texts.length === 0 && reducer.calls.length === 0 && reasoning === null) return reducer;
  const kept = texts.filter((live) => !isTextOver(live, snapshot, run));
  const calls = reducer.calls.filter((call) => !isCallOver(call, snapshot));
  const keepsReasoning = reasoning !== null && !isTextOver(reasoning, snapshot, run);
  const isSame = kept.length === texts.length && calls.length === reducer.calls.length;
  if (isSame && keepsReasoning === (reasoning !== null)) return reducer;
  return {
    ...reducer,
    calls,
    reasoning: keepsReasoning ? reasoning : null,
    texts: Object.fromEntries(kept.map((live) => [live.agentId, live])),
    floors: floorsOf(reducer, run),
  };
}

const isTextOver = (live: StreamedText, { rows }: LogSnapshot, run: UiRun): boolean =>
  isOver(live, run) || discardsOf(live, run).length > live.discards || hasRow(rows, live.messageId);

const hasRow = (rows: MessageList, id: string): boolean =>
  rows.findLastIndex((row) => row.id === id) >= 0;

/**
 * Records where the next text of an attempt starts: a hook may call the model again in the same attempt, and the
 * chunks after the discarded ones are the text. If a gap makes this unclear, nothing is shown until the text is
 * finished.
 */
function floorsOf({ texts, floors }: ReducerState, run: UiRun): ReducerState['floors'] {
  const next: Record<string, number> = {};
  for (const live of Object.values(texts)) {
    const discards = discardsOf(live, run);
    if (live.counted === 'characters') continue;
    const isWhole = !hasHole(live);
    if (discards.length > live.discards && isWhole && live.lastAt <= (discards.at(-1)?.at ?? ''))
      next[attemptKey(live)] = live.next;
  }
  return { ...floors, ...next };
}

function isCallOver(call: LiveCall, { rows, run }: LogSnapshot): boolean {
  return (
    run?.id !== call.executionId ||
    run.status !== 'processing' ||
    call.lastAt < trackOf(run, call.agentId).startedAt ||
    findInTurn(rows, turnOf(rows, run.inputId), (row) => hasCall(row, call.id)) >= 0
  );
}
