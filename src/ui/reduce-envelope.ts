import type { Envelope, Refill } from '../broadcasting/envelope.ts';
import { bookOf, isForeign, stateOf, withIgnored, type Book } from './book.ts';
import { inOrderOf, withChunk, withDelta, withoutOver } from './live-book.ts';
import { withEntries, type Entry } from './log-window.ts';
import { isNumbered, readEnvelope, readRefill } from './read-envelope.ts';
import { confirmed } from './sent-messages.ts';
import type { UiState } from './ui-state.ts';

/**
 * The state after one more envelope; the same object if the envelope says nothing new. Pure, and whatever is given as an
 * envelope never throws: what cannot be used is left out and counted in `ignored`.
 */
export function reduceEnvelope(state: UiState, envelope: Envelope): UiState {
  const read = readEnvelope(envelope);
  if (read === null) return withIgnored(state, 1);
  const counted = read.isWhole ? state : withIgnored(state, 1);
  return guarded(counted, (book) => withEnvelope(book, read.envelope));
}

function withEnvelope(book: Book, envelope: Envelope): Book {
  if (envelope.type === 'agent.stream.chunk') return withChunk(book, envelope);
  if (envelope.type === 'agent.tool.delta') return withDelta(book, envelope);
  return withLog(book, envelope.session_id, entriesOf([envelope]));
}

/** The state after a page of the log: what was missing is put in its place. Never throws, as `reduceEnvelope`. */
export function reduceRefill(state: UiState, refill: Refill): UiState {
  const page = readRefill(refill);
  if (page === null) return withIgnored(state, 1);
  const { execution_id: executionId, session_id, envelopes, unfinished, seq, more } = page;
  const counted = page.ignored === 0 ? state : withIgnored(state, page.ignored);
  if (executionId === null || (envelopes.length === 0 && seq === 0)) return counted;
  const mark: Entry = { executionId, seq, what: more ? 'known' : 'read' };
  return guarded(counted, (book) =>
    // behind the log: what it has finished is not begun again
    inOrderOf(
      unfinished,
      unfinished.reduce(withEnvelope, withLog(book, session_id, [...entriesOf(envelopes), mark])),
    ),
  );
}

/** The state of what a change makes of its book; a change that throws is none. */
function guarded(state: UiState, change: (book: Book) => Book): UiState {
  try {
    const book = bookOf(state);
    const next = change(book);
    return next === book ? state : stateOf(next, state);
  } catch {
    return withIgnored(state, 1);
  }
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
    what.seq === null || !isNumbered(what.type)
      ? []
      : { executionId: what.execution_id, seq: what.seq, what },
  );

function withLog(book: Book, sessionId: string | null, entries: readonly Entry[]): Book {
  if (isForeign(book, sessionId)) return book;
  const log = withEntries(book.log, entries, '');
  if (log === book.log) return book;
  const next = { ...book, sessionId: book.sessionId ?? sessionId, log };
  return withoutOver(confirmed(next, book.log.screen.rows, entries));
}
