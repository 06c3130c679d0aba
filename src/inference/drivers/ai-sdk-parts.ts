import { isRecord, type JsonObject } from '../../json.ts';
import type { Message } from '../../messages/message.ts';
import { wireIds, wireName } from './wire-ids.ts';

/** One part of an answer, in its order: reasoning with its text, texts by their length, calls by their position. */
export interface KeptPart {
  readonly type: 'reasoning' | 'text' | 'call';
  readonly text?: string;
  readonly length?: number;
  readonly call?: number;
  /** What the provider added and wants back: signatures, ids of its items. */
  readonly options?: JsonObject;
}

/** An assistant message as the provider gave it, part by part, where it was that provider. */
export function assistantParts(
  message: Message,
  provider: string,
  ids: ReadonlyMap<string, string> = wireIds(message.toolCalls),
): object[] {
  const kept = keptParts(message, provider);
  const texts = kept.filter(({ type }) => type === 'text');
  const length = texts.reduce((sum, part) => sum + (part.length ?? 0), 0);
  const isSame = texts.length > 0 && length === message.text.length;
  const parts: object[] = [];
  /** A text that nothing is known of, or that changed since, goes as one before the calls. */
  let whole = isSame ? '' : message.text;
  const tellWhole = (): void => {
    if (whole !== '') parts.push({ type: 'text', text: whole });
    whole = '';
  };
  let at = 0;
  for (const part of kept) {
    const options = part.options ? { providerOptions: part.options } : null;
    if (part.type === 'reasoning')
      parts.push({ type: 'reasoning', text: part.text ?? '', ...options });
    else if (part.type === 'call') {
      tellWhole();
      parts.push(...callPart(message, part.call ?? -1, ids, options));
    } else if (isSame) {
      const text = message.text.slice(at, (at += part.length ?? 0));
      parts.push({ type: 'text', text, ...options });
    }
  }
  tellWhole();
  const told = new Set(kept.map(({ call }) => call));
  for (const i of message.toolCalls.keys())
    if (!told.has(i)) parts.push(...callPart(message, i, ids, null));
  return parts;
}

function keptParts(message: Message, provider: string): readonly KeptPart[] {
  const kept: unknown = message.metadata['aiSdk'];
  if (!isRecord(kept) || kept['provider'] !== provider || !Array.isArray(kept['parts'])) return [];
  return kept['parts'] as KeptPart[]; // written by the answer
}

function callPart(
  { toolCalls }: Message,
  index: number,
  ids: ReadonlyMap<string, string>,
  options: object | null,
): object[] {
  const call = toolCalls[index];
  if (!call) return [];
  const { id, name, args } = call;
  return [
    {
      type: 'tool-call',
      toolCallId: ids.get(id) ?? id,
      toolName: wireName(name),
      input: args,
      ...options,
    },
  ];
}
