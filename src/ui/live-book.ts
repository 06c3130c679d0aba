import type { Envelope } from '../broadcasting/envelope.ts';
import { own } from '../json.ts';
import { isForeign, type Book } from './book.ts';
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
  type LiveText,
} from './live-text.ts';
import { withEntries } from './log-window.ts';
import { findInTurn, hasCall, turnOf, type Rows } from './rows.ts';
import { trackOf, type Screen, type UiRun } from './screen.ts';

/** Chunks and deltas are no part of the log: they lie over it until the log has what they foretell. */
export function withChunk(before: Book, chunk: Chunk): Book {
  if (isForeign(before, chunk.session_id) || chunk.payload.content === '') return before;
  const known = own(before.texts, chunk.agent_id);
  if (known && isOf(known, chunk)) return withText(before, known, extended(known, chunk));
  const book = opened(before, chunk);
  const fresh = beginning(book, chunk);
  return fresh ? withText(book, known, extended(fresh, chunk)) : book;
}

/** The text that a chunk begins; null where it comes late. */
function beginning({ log, texts, floors }: Book, chunk: Chunk): LiveText | null {
  const { run, rows } = log.screen;
  const fresh = newText(chunk);
  if (run === null || isOver(fresh, run)) return null;
  const known = own(texts, fresh.agentId);
  if (known && (known.step > fresh.step || isNewer(known, fresh))) return null;
  const discards = discardsOf(fresh, run);
  if (fresh.counted === 'characters')
    return discards.length > fresh.discards || hasRow(rows, fresh.messageId) ? null : fresh;
  const next = discards.length === 0 ? 0 : own(floors, attemptKey(fresh));
  if (next === undefined || chunk.payload.chunk_index < next) return null;
  if (discards.some(({ at }) => at >= fresh.timestamp)) return null;
  return hasRow(rows, fresh.messageId) ? null : { ...fresh, discards: discards.length, next };
}

/** Of the same attempt the text that was begun last counts, of others the one that was heard of last. */
const isNewer = (known: LiveText, fresh: LiveText): boolean =>
  known.messageId === fresh.messageId && known.attempt === fresh.attempt
    ? known.discards > fresh.discards
    : known.lastAt > fresh.lastAt;

const withText = (book: Book, before: LiveText | undefined, live: LiveText): Book =>
  live === before ? book : { ...book, texts: { ...book.texts, [live.agentId]: live } };

/** The arguments of nested agents are not shown. */
export function withDelta(before: Book, delta: Delta): Book {
  if (isForeign(before, delta.session_id) || delta.parent_agent_id !== undefined) return before;
  const book = opened(before, delta);
  const known = book.calls.find(
    ({ id, executionId }) =>
      id === delta.payload.tool_call_id && executionId === delta.execution_id,
  );
  const next = grown(known ?? newCall(delta), delta);
  if (next === known || (!known && isCallOver(next, book.log.screen))) return book;
  return {
    ...book,
    calls: known ? book.calls.map((call) => (call === known ? next : call)) : [...book.calls, next],
  };
}

/** Calls that a client heard of from their middle stand where the worker has them. */
export function inOrderOf(unfinished: readonly Envelope[], book: Book): Book {
  const ids = unfinished.flatMap(({ payload }) =>
    'args_delta' in payload ? [payload.tool_call_id] : [],
  );
  const place = ({ id }: LiveCall): number => (ids.includes(id) ? ids.indexOf(id) : ids.length);
  const isOrdered = book.calls.every((call, i, all) => {
    const before = all[i - 1];
    return before === undefined || place(before) <= place(call);
  });
  return isOrdered ? book : { ...book, calls: book.calls.toSorted((a, b) => place(a) - place(b)) };
}

/** A chunk or a delta of an execution whose log was not seen shows that it runs. */
function opened(book: Book, envelope: Envelope): Book {
  const { execution_id: executionId, session_id, timestamp } = envelope;
  if (book.log.screen.run?.id === executionId) return book;
  const log = withEntries(book.log, [{ executionId, seq: 0, what: 'opened' }], timestamp);
  if (log === book.log) return book;
  return withoutOver({ ...book, sessionId: book.sessionId ?? session_id, log });
}

/** After the log has moved: drops texts and arguments that it has finished, discarded or left behind. */
export function withoutOver(book: Book): Book {
  const { screen } = book.log;
  const { run } = screen;
  const texts = Object.values(book.texts);
  if (run === null || (texts.length === 0 && book.calls.length === 0)) return book;
  const kept = texts.filter((live) => !isTextOver(live, screen, run));
  const calls = book.calls.filter((call) => !isCallOver(call, screen));
  if (kept.length === texts.length && calls.length === book.calls.length) return book;
  return {
    ...book,
    calls,
    texts: Object.fromEntries(kept.map((live) => [live.agentId, live])),
    floors: floorsOf(book, run),
  };
}

const isTextOver = (live: LiveText, { rows }: Screen, run: UiRun): boolean =>
  isOver(live, run) || discardsOf(live, run).length > live.discards || hasRow(rows, live.messageId);

const hasRow = (rows: Rows, id: string): boolean => rows.findLastIndex((row) => row.id === id) >= 0;

/**
 * A hook may ask the model once more in the same attempt: then the chunks behind the discarded ones are the text. Where
 * a hole leaves open which these are, nothing of it is shown before it is finished.
 */
function floorsOf({ texts, floors }: Book, run: UiRun): Book['floors'] {
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

function isCallOver(call: LiveCall, { rows, run }: Screen): boolean {
  return (
    run?.id !== call.executionId ||
    run.status !== 'processing' ||
    call.lastAt < trackOf(run, call.agentId).startedAt ||
    findInTurn(rows, turnOf(rows, run.inputId), (row) => hasCall(row, call.id)) >= 0
  );
}
