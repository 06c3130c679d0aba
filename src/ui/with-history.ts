import { reducerStateOf, stateOf, withIgnored } from './reducer-state.ts';
import { withoutOver } from './apply-stream.ts';
import { refolded } from './log-window.ts';
import { readMessages } from './read-messages.ts';
import { reconcileMessages } from './reconcile.ts';
import { keepingOld } from './message-list.ts';
import { withoutFirst } from './sent-messages.ts';
import type { UiMessage } from './ui-message.ts';
import type { UiState } from './ui-state.ts';

/**
 * Applies the server's conversation over the streamed one. Accepts a list of messages, or a whole state, which
 * continues from there.
 */
export function reconcile(streamed: UiState, canonical: readonly UiMessage[]): UiState;
export function reconcile(
  streamed: readonly UiMessage[],
  canonical: readonly UiMessage[],
): readonly UiMessage[];
export function reconcile(
  streamed: UiState | readonly UiMessage[],
  canonical: readonly UiMessage[],
): UiState | readonly UiMessage[] {
  const { messages, ignored } = readMessages(canonical);
  if (!isState(streamed)) return reconcileMessages(streamed, messages);
  const state = reconcileState(streamed, messages);
  return ignored === 0 ? state : withIgnored(state, ignored);
}

const isState = (value: UiState | readonly UiMessage[]): value is UiState => 'messages' in value;

function reconcileState(state: UiState, canonical: readonly UiMessage[]): UiState {
  const reducer = reducerStateOf(state);
  const { base, snapshot } = reducer.log;
  const rows = reconcileMessages(base.rows, canonical);
  const run = base.run && { ...base.run, isOverlaid: true };
  const moved = refolded(reducer.log, { ...base, rows, run });
  const kept = keepingOld(snapshot.rows, moved.snapshot.rows);
  const known = new Set(snapshot.rows.map(({ id }) => id));
  const sent = canonical
    .filter(({ id, role }) => role === 'user' && !known.has(id))
    .reduce((left, { content }) => withoutFirst(left, content, null), reducer.sent);
  if (kept === snapshot.rows && sent === reducer.sent) return state;
  const log = { ...moved, snapshot: { ...moved.snapshot, rows: kept } };
  return stateOf(withoutOver({ ...reducer, sent, log }), state);
}
