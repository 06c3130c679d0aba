import type { Envelope, Refill } from '../broadcasting/envelope.ts';
import { bookOf, isForeign, stateOf, type Book } from './book.ts';
import { withChunk, withDelta, withoutOver } from './live-book.ts';
import { withEntries, type Entry } from './log-window.ts';
import { confirmed } from './sent-messages.ts';
import type { UiState } from './ui-state.ts';

/** The state after one more envelope; the same object if the envelope says nothing new. Pure. */
export function reduceEnvelope(state: UiState, envelope: Envelope): UiState {
  const book = bookOf(state);
  const next =
    envelope.type === 'agent.stream.chunk'
      ? withChunk(book, envelope)
      : envelope.type === 'agent.tool.delta'
        ? withDelta(book, envelope)
        : withLog(book, envelope.session_id, entriesOf([envelope]));
  return next === book ? state : stateOf(next, state);
}

/** The state after a page of the log: what was missing is put in its place. */
export function reduceRefill(state: UiState, refill: Refill): UiState {
  const { execution_id: executionId, session_id, seq, more } = refill;
  if (executionId === null) return state;
  const book = bookOf(state);
  const entries = entriesOf(refill.envelopes);
  if (entries.length === 0 && seq === 0) return state;
  const mark: Entry = { executionId, seq, what: more ? 'known' : 'read' };
  const next = withLog(book, session_id, [...entries, mark]);
  return next === book ? state : stateOf(next, state);
}

/** Goes on without what `gap` asks for: where nobody can bring it. */
export function skipGap(state: UiState): UiState {
  const { gap } = state;
  if (!gap) return state;
  const book = bookOf(state);
  const { executionId } = gap;
  const seqs = book.log.entries
    .filter((entry) => entry.executionId === executionId)
    .map((entry) => entry.seq);
  const mark: Entry = { executionId, seq: Math.max(gap.after, ...seqs), what: 'read' };
  return stateOf(withLog(book, book.sessionId, [mark]), state);
}

const entriesOf = (envelopes: readonly Envelope[]): Entry[] =>
  envelopes.flatMap((what) =>
    what.seq === null ? [] : { executionId: what.execution_id, seq: what.seq, what },
  );

function withLog(book: Book, sessionId: string | null, entries: readonly Entry[]): Book {
  if (isForeign(book, sessionId)) return book;
  const log = withEntries(book.log, entries, '');
  if (log === book.log) return book;
  const next = { ...book, sessionId: book.sessionId ?? sessionId, log };
  return withoutOver(confirmed(next, book.log.screen.rows, entries));
}
