import type { Envelope, EnvelopeOf, Refill } from '../broadcasting/envelope.ts';
import {
  reducerStateOf,
  isForeign,
  stateOf,
  withIgnored,
  type ReducerState,
} from './reducer-state.ts';
import { inOrderOf, withChunk, withDelta, withReasoning, withoutOver } from './apply-stream.ts';
import { withEntries, type Entry } from './log-window.ts';
import { isNumbered, readEnvelope, readRefill } from './read-envelope.ts';
import { confirmed } from './sent-messages.ts';
import type { UiState } from './ui-state.ts';

/**
 * Returns the state after an envelope; the same object if it changes nothing. Pure, and never throws: an invalid
 * envelope is left out and counted in `ignored`.
 */
export function reduceEnvelope(state: UiState, envelope: Envelope): UiState {
  const read = readEnvelope(envelope);
  if (read === null) return withIgnored(state, 1);
  const counted = read.isWhole ? state : withIgnored(state, 1);
  return guarded(counted, (reducer) => withEnvelope(reducer, read.envelope));
}

function withEnvelope(reducer: ReducerState, envelope: Envelope): ReducerState {
  if (envelope.type === 'agent.stream.chunk') return withChunk(reducer, envelope);
  if (envelope.type === 'agent.reasoning.chunk') return withReasoning(reducer, envelope);
  if (envelope.type === 'agent.tool.delta') return withDelta(reducer, envelope);
  if (envelope.type === 'agent.worker') return withWorker(reducer, envelope);
  return withLog(reducer, envelope.session_id, entriesOf([envelope]));
}

/** Notes whether the visible run waits for a worker. A notice about another run is out of date. */
function withWorker(reducer: ReducerState, envelope: EnvelopeOf<'agent.worker'>): ReducerState {
  const { session_id, execution_id, payload, timestamp } = envelope;
  const isOurs = reducer.log.snapshot.run?.id === execution_id && !isForeign(reducer, session_id);
  const at = payload.status === 'lost' ? timestamp : null;
  if (!isOurs || (reducer.workerLostAt ?? null) === at) return reducer;
  return { ...reducer, workerLostAt: at };
}

/** Returns the state after a page of the log, which fills gaps. Never throws, like `reduceEnvelope`. */
export function reduceRefill(state: UiState, refill: Refill): UiState {
  const page = readRefill(refill);
  if (page === null) return withIgnored(state, 1);
  const { execution_id: executionId, session_id, envelopes, unfinished, seq, more } = page;
  const counted = page.ignored === 0 ? state : withIgnored(state, page.ignored);
  if (executionId === null || (envelopes.length === 0 && seq === 0)) return counted;
  const mark: Entry = { executionId, seq, what: more ? 'known' : 'read' };
  return guarded(counted, (reducer) =>
    // apply unfinished text after the log, so that finished text does not start again
    inOrderOf(
      unfinished,
      unfinished.reduce(
        withEnvelope,
        withLog(reducer, session_id, [...entriesOf(envelopes), mark]),
      ),
    ),
  );
}

/** Applies a change to the reducer state; a change that throws is dropped. */
function guarded(state: UiState, change: (reducer: ReducerState) => ReducerState): UiState {
  try {
    const reducer = reducerStateOf(state);
    const next = change(reducer);
    return next === reducer ? state : stateOf(next, state);
  } catch {
    return withIgnored(state, 1);
  }
}

/** Continues without what `gap` asks for, if it cannot be filled. */
export function skipGap(state: UiState): UiState {
  const { gap } = state;
  if (!gap) return state;
  const reducer = reducerStateOf(state);
  const { executionId } = gap;
  const seqs = reducer.log.entries
    .filter((entry) => entry.executionId === executionId)
    .map((entry) => entry.seq);
  const mark: Entry = { executionId, seq: Math.max(gap.after, ...seqs), what: 'read' };
  return stateOf(withLog(reducer, reducer.sessionId, [mark]), state);
}

const entriesOf = (envelopes: readonly Envelope[]): Entry[] =>
  envelopes.flatMap((what) =>
    what.seq === null || !isNumbered(what.type)
      ? []
      : { executionId: what.execution_id, seq: what.seq, what },
  );

function withLog(
  reducer: ReducerState,
  sessionId: string | null,
  entries: readonly Entry[],
): ReducerState {
  if (isForeign(reducer, sessionId)) return reducer;
  const log = withEntries(reducer.log, entries, '');
  if (log === reducer.log) return reducer;
  // a worker wrote it
  const next = { ...reducer, sessionId: reducer.sessionId ?? sessionId, log, workerLostAt: null };
  return withoutOver(confirmed(next, reducer.log.snapshot.rows, entries));
}
