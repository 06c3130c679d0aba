import { isRecord, jsonText, parseJson } from '../../json.ts';
import type { ImagePart } from '../../messages/content-part.ts';
import { dataUrl } from '../../messages/media-type.ts';
import type { InferredToolCall } from '../inference-driver.ts';
import type { ReasoningParts } from './reasoning-parts.ts';

/** Text, reasoning and refusal of a message or a delta, from any field that providers use. */
export interface Spoken {
  readonly text: string;
  readonly reasoning: string;
  readonly refusal: string;
}

/**
 * Reads a message or a delta, and appends its reasoning to `parts`. `content` is a string, null, a list of typed parts,
 * or an empty object; reasoning has other fields.
 */
export function spokenIn(message: Record<string, unknown>, parts: ReasoningParts): Spoken {
  const { content } = message;
  const refusal = string(message['refusal']);
  const reasoning = reasoningIn(message, parts);
  if (typeof content === 'string') {
    if (content !== '') parts.endPart();
    return { text: content, reasoning, refusal };
  }
  const said = { text: '', reasoning, refusal };
  for (const part of Array.isArray(content) ? (content as unknown[]) : [content]) {
    const type = isRecord(part) ? part['type'] : 'text';
    const text = partText(part);
    if (type === 'thinking' || type === 'reasoning') said.reasoning += parts.add(type, text);
    else if (type === 'refusal' && isRecord(part)) said.refusal += string(part['refusal']);
    else {
      said.text += text;
      // streamed pieces look like parts too: only text between them separates parts
      if (text !== '') parts.endPart();
    }
  }
  return said;
}

/** Reads reasoning from its fields. A text field has no parts, and may be sent back unchanged; details are indexed. */
function reasoningIn(message: Record<string, unknown>, parts: ReasoningParts): string {
  // providers repeat it, so the first one wins
  const text =
    string(message['reasoning_content']) ||
    string(message['reasoning']) ||
    string(message['reasoning_text']) ||
    string(message['thinking']);
  if (text !== '') return parts.add(null, text);
  const details = message['reasoning_details'];
  if (!Array.isArray(details)) return '';
  const indexOf = (one: unknown): unknown => (isRecord(one) ? (one['index'] ?? null) : null);
  return details.map((one: unknown) => parts.add(indexOf(one), partText(one))).join('');
}

/** Returns the addresses of images in a message or a delta, beside its text (OpenRouter) or among its parts. */
export function imagesIn({ images, content }: Record<string, unknown>): string[] {
  if (images === undefined && !Array.isArray(content)) return noImages;
  return [images, content].flatMap((list) => (Array.isArray(list) ? list : [])).flatMap(addressIn);
}

const noImages: string[] = [];

function addressIn(part: unknown): string[] {
  const given = isRecord(part) ? part['image_url'] : undefined;
  const url = isRecord(given) ? given['url'] : given;
  return typeof url === 'string' && /^(?:data:image\/|https?:)/i.test(url) ? [url] : [];
}

/** Returns images as parts of a message. Their addresses are never fetched. */
export const imageParts = (urls: Iterable<string>): ImagePart[] =>
  [...urls].map((url) => ({ type: 'image', ...(dataUrl(url) ?? { url }) }));

/** Maximum nesting of parts inside of parts. */
const MAX_PART_LEVELS = 8;

function partText(part: unknown, levels: number = MAX_PART_LEVELS): string {
  if (typeof part === 'string') return part;
  if (!isRecord(part) || levels === 0) return '';
  const { thinking } = part;
  if (Array.isArray(thinking))
    return thinking.map((inner: unknown) => partText(inner, levels - 1)).join('');
  return string(part['text']) || string(thinking) || string(part['summary']);
}

export const string = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Returns arguments as text; some servers send an object. */
export const argumentText = (value: unknown): string =>
  isRecord(value) ? (jsonText(value) ?? '') : string(value);

/** Returns arguments as an object if they are one; otherwise keeps the text. */
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
