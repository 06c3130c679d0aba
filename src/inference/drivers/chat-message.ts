import { isRecord, jsonText, parseJson } from '../../json.ts';
import type { FinishReason, InferredToolCall } from '../inference-driver.ts';

/** Text, reasoning and refusal of a message or a delta, wherever the provider put them. */
export interface Spoken {
  readonly text: string;
  readonly reasoning: string;
  readonly refusal: string;
}

/** Where reasoning may lie as a text beside the content; providers repeat it, so the first counts. */
const reasoningKeys = ['reasoning_content', 'reasoning', 'reasoning_text', 'thinking'] as const;

/** `content` is a string, null, a list of typed parts, or an empty object; reasoning has other homes. */
export function spokenIn(message: Record<string, unknown>): Spoken {
  const { content } = message;
  const refusal = string(message['refusal']);
  const reasoning = reasoningIn(message);
  if (typeof content === 'string') return { text: content, reasoning, refusal };
  const said = { text: '', reasoning, refusal };
  for (const part of Array.isArray(content) ? (content as unknown[]) : [content]) {
    const type = isRecord(part) ? part['type'] : 'text';
    if (type === 'thinking' || type === 'reasoning') said.reasoning += partText(part);
    else if (type === 'refusal' && isRecord(part)) said.refusal += string(part['refusal']);
    else said.text += partText(part);
  }
  return said;
}

function reasoningIn(message: Record<string, unknown>): string {
  for (const key of reasoningKeys) {
    const text = message[key];
    if (typeof text === 'string' && text !== '') return text;
  }
  const details = message['reasoning_details'];
  return Array.isArray(details) ? details.map(partText).join('') : '';
}

function partText(part: unknown): string {
  if (typeof part === 'string') return part;
  if (!isRecord(part)) return '';
  const { thinking } = part;
  if (Array.isArray(thinking)) return thinking.map(partText).join('');
  return string(part['text']) || string(thinking) || string(part['summary']);
}

export const string = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Some servers send the arguments as an object instead of its text. */
export const argumentText = (value: unknown): string =>
  isRecord(value) ? (jsonText(value) ?? '') : string(value);

/** Arguments as an object where they are one; the text is kept where they are not. */
export function readCall(
  id: string,
  name: string,
  argsRaw: string,
  cutOff: boolean,
): InferredToolCall {
  const call = { id: id || null, name, argsRaw };
  if (argsRaw.trim() === '') return cutOff ? call : { ...call, args: {} };
  const parsed = parseJson(argsRaw);
  return parsed.ok && isRecord(parsed.value) ? { ...call, args: parsed.value } : call;
}

const words: ReadonlyMap<string, FinishReason> = new Map([
  ['length', 'length'],
  ['max_tokens', 'length'],
  ['max_output_tokens', 'length'],
  ['max_length', 'length'],
  ['model_length', 'length'],
  ['content_filter', 'content_filter'],
  ['safety', 'content_filter'],
  ['sensitive', 'content_filter'],
  ['recitation', 'content_filter'],
  ['prohibited_content', 'content_filter'],
  ['blocklist', 'content_filter'],
  ['error', 'error'],
  // the provider gave up in the middle of the answer: Zhipu, DeepSeek
  ['network_error', 'error'],
  ['insufficient_system_resource', 'error'],
]);

/** The provider's word in ours; calls mean `tool_calls` unless the turn was cut off. */
export function finishReasonOf(word: string | null, hasCalls: boolean): FinishReason {
  const known = word === null ? undefined : words.get(word.toLowerCase().replaceAll('-', '_'));
  return known ?? (hasCalls ? 'tool_calls' : 'stop');
}
