import { isRecord, type JsonObject, type JsonValue } from '../../json.ts';
import type { Message } from '../../messages/message.ts';
import { sentCall } from '../../messages/tool-call.ts';
import type { ModelFacts } from './ai-sdk-prompt.ts';
import { leftOut, sourceOf } from '../../messages/media-type.ts';
import { wireIds, wireName } from './wire-ids.ts';

/** A part of the stored message, while it grows. */
export interface GrowingPart {
  readonly type: KeptPart['type'];
  /** Id in the stream. */
  readonly id: string;
  text: string;
  readonly call?: number;
  options: JsonObject | null;
}

/** One part of an answer in its order: reasoning with its text, texts by their length, calls by their position. */
export interface KeptPart {
  readonly type: 'reasoning' | 'text' | 'call';
  readonly text?: string;
  readonly length?: number;
  readonly call?: number;
  /** Provider metadata to send back: signatures, item ids. */
  readonly options?: JsonObject;
}

/**
 * A part that releases before this one do not know, so they find it in its own list. `at` is the number of kept parts
 * before it.
 */
export interface ExtraPart {
  readonly type: 'provider_call' | 'provider_result' | 'file' | 'hidden';
  readonly at: number;
  /** Position in `providerCalls`, or among the files of the message. */
  readonly index?: number;
  /** Text that is not for the user, such as a compacted conversation. */
  readonly text?: string;
  readonly options?: JsonObject;
}

/** A tool call that the provider ran during its answer, in the metadata of the message. */
export type ProviderCall = {
  readonly id: string;
  readonly name: string;
  /** Absent if the call was in an earlier answer. */
  readonly args?: JsonValue;
  /** Absent if the result comes with a later answer. */
  readonly result?: JsonValue;
  readonly isError?: boolean;
};

/**
 * Returns an assistant message part by part, without blank texts. State goes only to the model that created it.
 * `isOpen`: whether the turn continues after the message, so that results of the provider may follow.
 */
export function assistantParts(
  message: Message,
  about: Pick<ModelFacts, 'provider' | 'version' | 'family' | 'account' | 'textTools'>,
  ids: ReadonlyMap<string, string> = wireIds(message.toolCalls),
  isOpen: boolean = true,
): object[] {
  const { parts: kept, extra } = keptParts(message, about);
  const texts = kept.filter(({ type }) => type === 'text');
  const length = texts.reduce((sum, part) => sum + (part.length ?? 0), 0);
  const isSame = texts.length > 0 && length === message.text.length;
  const parts: object[] = [];
  const addText = (text: string, options: object | null): void => {
    if (text.trim() !== '') parts.push({ type: 'text', text, ...options });
  };
  /** Sends a text without stored parts, or with a changed text, as one part before the calls. */
  let whole = isSame ? '' : message.text;
  const addWhole = (): void => {
    addText(whole, null);
    whole = '';
  };
  let at = 0;
  let next = 0;
  const addExtra = (before: number): void => {
    for (; (extra[next]?.at ?? Number.POSITIVE_INFINITY) <= before; next++)
      parts.push(...extraPart(message, extra[next] as ExtraPart, about, isOpen)); // a valid index
  };
  for (const [i, part] of kept.entries()) {
    addExtra(i);
    const options = part.options ? { providerOptions: part.options } : null;
    if (part.type === 'reasoning')
      parts.push({ type: 'reasoning', text: part.text ?? '', ...options });
    else if (part.type === 'call') {
      addWhole();
      parts.push(...callPart(message, part.call ?? -1, ids, options, about));
    } else if (isSame) addText(message.text.slice(at, (at += part.length ?? 0)), options);
  }
  addExtra(kept.length);
  addWhole();
  if (!extra.some(({ type }) => type === 'file')) parts.push(...fileNotes(message));
  const reported = new Set(kept.map(({ call }) => call));
  for (const i of message.toolCalls.keys())
    if (!reported.has(i)) parts.push(...callPart(message, i, ids, null, about));
  // signed reasoning alone is no answer
  return parts.some((part) => 'type' in part && part.type !== 'reasoning') ? parts : [];
}

function keptParts(
  message: Message,
  about: Pick<ModelFacts, 'provider' | 'family' | 'account'>,
): { readonly parts: readonly KeptPart[]; readonly extra: readonly ExtraPart[] } {
  const kept: unknown = message.metadata['aiSdk'];
  if (!isRecord(kept) || !isOwn(kept, about) || !Array.isArray(kept['parts']))
    return { parts: [], extra: [] };
  const { parts, extra } = kept;
  // written by the answer
  return { parts: parts as KeptPart[], extra: Array.isArray(extra) ? (extra as ExtraPart[]) : [] };
}

/** Whether this model made the state: its provider, its family and its account. Earlier releases stored only the first. */
export const isOwn = (
  { provider, model, account }: Readonly<Record<string, unknown>>,
  about: Pick<ModelFacts, 'provider' | 'family' | 'account'>,
): boolean =>
  provider === about.provider &&
  (model === undefined || (model === about.family && account === about.account));

function extraPart(
  message: Message,
  { type, index = 0, text = '', options: kept }: ExtraPart,
  { version }: Pick<ModelFacts, 'version'>,
  isOpen: boolean,
): object[] {
  const options = kept ? { providerOptions: kept } : null;
  if (type === 'hidden') return [{ type: 'text', text, ...options }];
  if (type === 'file') {
    const file = filesOf(message)[index];
    if (!file) return [];
    const { data = '', mediaType } = sourceOf(file);
    const bytes = version === 'v4' ? { type: 'data', data } : data;
    return [{ type: 'file', data: bytes, mediaType, ...options }];
  }
  const { providerCalls } = message.metadata;
  const call = Array.isArray(providerCalls)
    ? (providerCalls[index] as ProviderCall | undefined) // written by the answer
    : undefined;
  if (!call) return [];
  const { id: toolCallId, name: toolName, args: input = {}, result, isError } = call;
  if (type === 'provider_result') {
    const output = { type: isError ? 'error-json' : 'json', value: result ?? null };
    return [{ type: 'tool-result', toolCallId, toolName, output, ...options }];
  }
  // providers reject a call without a result before another turn
  if (result === undefined && !isOpen) return [];
  return [{ type: 'tool-call', toolCallId, toolName, input, providerExecuted: true, ...options }];
}

const filesOf = ({ content }: Message) =>
  typeof content === 'string' ? [] : content.filter((part) => part.type !== 'text');

/** Describes the files of an answer to another provider. */
const fileNotes = (message: Message): object[] =>
  filesOf(message).map((file) => ({
    type: 'text',
    text: leftOut(file, 'this provider did not create it'),
  }));

function callPart(
  { toolCalls }: Message,
  index: number,
  ids: ReadonlyMap<string, string>,
  options: object | null,
  { textTools }: Pick<ModelFacts, 'textTools'>,
): object[] {
  const call = toolCalls[index];
  if (!call) return [];
  const { id } = call;
  const { name, args } = sentCall(call);
  return [
    {
      type: 'tool-call',
      toolCallId: ids.get(id) ?? id,
      toolName: wireName(name),
      input: textTools?.has(name) && typeof args['input'] === 'string' ? args['input'] : args,
      ...options,
    },
  ];
}
