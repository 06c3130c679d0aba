import { isRecord, parseJson } from '../json.ts';

/** Why a call waits for input, and what it needs to continue. */
export type InputState =
  /** The server answered with questions: the call is sent again with the answers and the server's state. */
  | {
      readonly kind: 'sent';
      /** The server's key of each question, by ours. */
      readonly keys: Readonly<Record<string, string>>;
      /** State of the server, verbatim; null if it gave none. */
      readonly requestState: string | null;
    }
  /** The server holds the request open: it is answered on the connection that has it. */
  | { readonly kind: 'held'; readonly id: string; readonly keys: readonly string[] }
  /** The server refused the call until the user has opened an address. */
  | { readonly kind: 'again'; readonly keys: readonly string[] };

/** Writes the state: one line of JSON, then the server's state as it came. */
export function inputStateText(state: InputState): string {
  if (state.kind !== 'sent') return JSON.stringify(state);
  const { requestState, ...rest } = state;
  const head = JSON.stringify({ ...rest, hasState: requestState !== null });
  return requestState === null ? head : `${head}\n${requestState}`;
}

/** Reads a state; null if this version cannot read it. */
export function readInputState(text: string | null): InputState | null {
  if (text === null) return null;
  const end = text.indexOf('\n');
  const head = parseJson(end === -1 ? text : text.slice(0, end));
  if (!head.ok || !isRecord(head.value)) return null;
  const { kind, id, keys, hasState } = head.value;
  if (kind === 'sent' && isRecord(keys)) {
    const requestState = hasState === true && end !== -1 ? text.slice(end + 1) : null;
    return { kind, keys: keys as Record<string, string>, requestState }; // written above
  }
  const known = Array.isArray(keys) ? keys.filter((key) => typeof key === 'string') : [];
  if (kind === 'held' && typeof id === 'string') return { kind, id, keys: known };
  return kind === 'again' ? { kind, keys: known } : null;
}
