import { jsonText, type JsonObject, type JsonValue } from '../../json.ts';
import { isBlank, type FilePart, type ImagePart } from '../../messages/content-part.ts';
import { leftOut, sourceOf } from '../../messages/media-type.ts';
import type { Message } from '../../messages/message.ts';
import { sentCall, type ToolCall } from '../../messages/tool-call.ts';
import { wireName } from './wire-ids.ts';

/** The server, the model family and the account that made an answer. Only the same ones get its state back. */
export interface StateOrigin {
  readonly server: string;
  readonly model: string;
  /** Absent in records of earlier releases. */
  readonly account?: string;
}

/**
 * State in an answer's metadata: its output items in their order. A message has the length of its text, and a call has
 * its position among the calls; both are stored in the message itself. No item has an id, because the server stores
 * none (`store: false`) and rejects ids that it does not know. Only calls of built-in tools, which require one, keep it.
 */
export type ResponsesState = {
  readonly server: string;
  readonly model: string;
  readonly account?: string;
  readonly items: readonly JsonObject[];
};

/** Types of calls that a tool of the agent answers. */
export const callTypes: ReadonlySet<unknown> = new Set(['function_call', 'custom_tool_call']);

/** Returns the metadata of an answer; undefined if plain text and calls say the same. */
export function metadataOf(
  { server, model, account }: StateOrigin,
  items: readonly JsonObject[],
): JsonObject | undefined {
  // the API rejects reasoning without the item that it led to
  const last = items.findLastIndex(({ type }) => type !== 'reasoning');
  const kept = items.slice(0, last + 1);
  if (kept.every(isPlain)) return undefined;
  const responses: ResponsesState = {
    server,
    model,
    ...(account !== undefined && { account }),
    items: kept,
  };
  return { responses };
}

const isPlain = ({ type, length: _length, call: _call, ...more }: JsonObject): boolean =>
  (type === 'message' || type === 'function_call') && Object.keys(more).length === 0;

/**
 * Converts an assistant message to items: those of its answer if this server and model made it, else plain ones. Blank
 * texts are omitted.
 */
export function assistantItems(
  message: Message,
  ids: ReadonlyMap<string, string>,
  origin: StateOrigin,
): JsonObject[] {
  const { toolCalls, text } = message;
  const kept = ownItems(message, origin);
  if (kept === null) {
    const notes = filesIn(message).map((file) => leftOut(file, 'this model did not create it'));
    const said = [text, ...notes].filter((part) => !isBlank(part)).join('\n');
    return [
      ...(said === '' ? [] : [{ role: 'assistant', content: said }]),
      ...toolCalls.map((call) => callItem(call, ids, { type: 'function_call' })),
    ];
  }
  const items: JsonObject[] = [];
  const files = filesIn(message);
  let at = 0;
  for (const item of kept) {
    const { length, call, annotations: _annotations, ...more } = item;
    if (item['type'] === 'message') {
      const content = text.slice(at, (at += Number(length)));
      if (!isBlank(content)) items.push({ ...more, role: 'assistant', content });
      // the API rejects reasoning without the item that it led to
      else while (items.at(-1)?.['type'] === 'reasoning') items.pop();
    } else if (item['type'] === 'image_generation_call' && !('result' in item)) {
      const result = dataOf(files.shift());
      if (result !== '') items.push({ ...item, result });
    } else {
      const called = callTypes.has(item['type']) ? toolCalls[Number(call)] : undefined;
      items.push(called ? callItem(called, ids, more) : item);
    }
  }
  return items;
}

const filesIn = ({ content }: Message): (ImagePart | FilePart)[] =>
  typeof content === 'string' ? [] : content.filter((part) => part.type !== 'text');

const dataOf = (file: ImagePart | FilePart | undefined): string =>
  (file && sourceOf(file).data) ?? '';

/** Returns the stored items; null if they are of another origin, or the message has changed since. */
function ownItems(message: Message, origin: StateOrigin): readonly JsonObject[] | null {
  const { server, model, account } = origin;
  const state = message.metadata['responses'] as unknown as ResponsesState | undefined; // written above
  if (state?.server !== server || state.model !== model) return null;
  if (state.account !== undefined && state.account !== account) return null;
  const { items } = state;
  const length = items.reduce(
    (sum, item) => sum + (item['type'] === 'message' ? Number(item['length']) : 0),
    0,
  );
  const calls = items.filter(({ type }) => callTypes.has(type));
  const isSame = length === message.text.length && calls.length === message.toolCalls.length;
  return isSame ? items : null;
}

function callItem(call: ToolCall, ids: ReadonlyMap<string, string>, more: JsonObject): JsonObject {
  const { id } = call;
  const { name, args } = sentCall(call);
  const value: JsonValue =
    more['type'] === 'custom_tool_call'
      ? { input: typeof args['input'] === 'string' ? args['input'] : '' }
      : { arguments: jsonText(args) ?? '{}' };
  return { ...more, call_id: ids.get(id) ?? id, name: wireName(name), ...value };
}
