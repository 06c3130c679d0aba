import type { TruncatedValue } from '../broadcasting/envelope.ts';
import { reducerStateOf, stateOf, type ReducerState, type Sent } from './reducer-state.ts';
import type { Entry } from './log-window.ts';
import { isTruncated, type MessageList } from './message-list.ts';
import { filesText } from './files-text.ts';
import type { UiMessage, UiToolFile } from './ui-message.ts';
import type { UiState } from './ui-state.ts';

/**
 * Shows a user message before the server has it. The server's message with the same text replaces it, one for one and
 * in order, so the same text sent twice shows twice.
 */
export function withUserMessage(
  state: UiState,
  text: string,
  id?: string,
  files: readonly UiToolFile[] = [],
): UiState {
  const reducer = reducerStateOf(state);
  const count = reducer.sentCount + 1;
  const message: UiMessage = {
    id: id ?? `sent:${count}`,
    role: 'user',
    content: text === '' ? filesText(files) : text,
    timestamp: new Date().toISOString(),
    metadata: { pending: true, ...(files.length > 0 && { files }) },
  };
  const sent = [...reducer.sent, { message, executionId: null }];
  return stateOf({ ...reducer, sent, sentCount: count }, state);
}

/** Records that the server accepted a visible message, and the execution that answers it. */
export function acceptUserMessage(state: UiState, id: string, executionId: string): UiState {
  const reducer = reducerStateOf(state);
  const index = reducer.sent.findIndex(({ message }) => message.id === id);
  const known = reducer.sent[index];
  if (!known || known.executionId === executionId) return state;
  const { run, behind } = reducer.log.snapshot;
  const isShown =
    Object.hasOwn(behind, executionId) || (run?.id === executionId && run.inputId !== null);
  const files = run?.id === executionId ? keptFiles(reducer, known, run.inputId) : {};
  const sent = isShown
    ? reducer.sent.toSpliced(index, 1)
    : reducer.sent.with(index, { ...known, executionId });
  return stateOf({ ...reducer, ...files, sent }, state);
}

/** Removes a message that could not be sent. */
export function withoutUserMessage(state: UiState, id: string): UiState {
  const reducer = reducerStateOf(state);
  const sent = reducer.sent.filter(({ message }) => message.id !== id);
  return sent.length === reducer.sent.length ? state : stateOf({ ...reducer, sent }, state);
}

/** Keeps the images that were sent from here: the log has no bytes, and the record is read at the end of the run. */
function keptFiles(
  { files = {} }: Pick<ReducerState, 'files'>,
  { message }: Sent,
  messageId: string | null,
): Pick<ReducerState, 'files'> {
  const sent = message.metadata.files;
  return sent && messageId !== null ? { files: { ...files, [messageId]: sent } } : {};
}

/** Removes pending messages that the server shows now. Called after the log has moved. */
export function confirmed(
  reducer: ReducerState,
  before: MessageList,
  entries: readonly Entry[],
): ReducerState {
  let { sent } = reducer;
  let files: Pick<ReducerState, 'files'> = {};
  for (const { what, executionId } of sent.length === 0 ? [] : entries) {
    if (typeof what !== 'object' || what.type !== 'agent.message') continue;
    const { role, message_id, content } = what.payload;
    if (role !== 'user' || before.some(({ id }) => id === message_id)) continue;
    const left = withoutFirst(sent, content, executionId);
    const gone = sent.find((one) => !left.includes(one));
    if (gone) files = { ...files, ...keptFiles({ ...reducer, ...files }, gone, message_id) };
    sent = left;
  }
  return sent === reducer.sent ? reducer : { ...reducer, ...files, sent };
}

/** Returns the first message of the execution, else the first with this text. */
export function withoutFirst(
  sent: readonly Sent[],
  content: string | TruncatedValue,
  executionId: string | null,
): readonly Sent[] {
  const own = sent.findIndex((one) => executionId !== null && one.executionId === executionId);
  const index =
    own >= 0
      ? own
      : sent.findIndex((one) => one.executionId === null && isSaid(one.message.content, content));
  return index < 0 ? sent : sent.toSpliced(index, 1);
}

export const isSaid = (text: string, content: string | TruncatedValue): boolean =>
  isTruncated(content)
    ? text.startsWith(content.summary.replace(/…$/, ''))
    : text.trim() === content.trim();
