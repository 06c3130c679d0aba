import { isRecord, type JsonObject } from '../../json.ts';
import type { Message } from '../../messages/message.ts';

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
export function assistantParts(message: Message, provider: string): object[] {
  const kept = keptParts(message, provider);
  const texts = kept.filter(({ type }) => type === 'text');
  const kinds = kept.map(({ type }) => type);
  const length = texts.reduce((sum, part) => sum + (part.length ?? 0), 0);
  // a text that changed since, such as a dropped leak, goes as one
  const isSame = length === message.text.length;
  const parts: object[] = [];
  let at = 0;
  for (const part of kept) {
    const options = part.options ? { providerOptions: part.options } : null;
    if (part.type === 'reasoning')
      parts.push({ type: 'reasoning', text: part.text ?? '', ...options });
    else if (part.type === 'text' && isSame) {
      const text = message.text.slice(at, (at += part.length ?? 0));
      parts.push({ type: 'text', text, ...options });
    } else if (part.type === 'call') parts.push(...callPart(message, part.call ?? -1, options));
  }
  if (message.text !== '' && !(isSame && texts.length > 0)) {
    const calls = kinds.indexOf('call');
    parts.splice(calls < 0 ? parts.length : calls, 0, { type: 'text', text: message.text });
  }
  const told = new Set(kept.map(({ call }) => call));
  for (const i of message.toolCalls.keys())
    if (!told.has(i)) parts.push(...callPart(message, i, null));
  return parts;
}

function keptParts(message: Message, provider: string): readonly KeptPart[] {
  const kept: unknown = message.metadata['aiSdk'];
  if (!isRecord(kept) || kept['provider'] !== provider || !Array.isArray(kept['parts'])) return [];
  return kept['parts'] as KeptPart[]; // written by the answer
}

function callPart({ toolCalls }: Message, index: number, options: object | null): object[] {
  const call = toolCalls[index];
  if (!call) return [];
  const { id, providerId, name, args } = call;
  return [
    { type: 'tool-call', toolCallId: providerId ?? id, toolName: name, input: args, ...options },
  ];
}
