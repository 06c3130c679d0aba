import { endBefore } from './wire-text.ts';

/** Of a request that carries an envelope: headers, also those of proxies, signature, and what is wrapped around it. */
const RESERVED_BYTES = 1_500;
/** Names, quotes and numbers of an envelope without its ids and payload. */
export const HEAD_BYTES = 260;
/** What one character can take at most. */
const WORST = 7;
const MAX_DEPTH = 32;

/** What the envelope itself may take of a request. */
export const envelopeBudget = (frameBytes: number): number =>
  frameBytes - Math.min(RESERVED_BYTES, frameBytes / 4);

/** Around an envelope in what a broadcaster counts: the name of its type, the channel, a few words. */
const WRAPPER_BYTES = 260;

/** The `frameBytes` of a config whose envelopes fit into what a broadcaster takes. */
export const frameFor = (takes: number): number => {
  const envelope = Math.max(1, takes - WRAPPER_BYTES);
  return Math.min(envelope + RESERVED_BYTES, envelope / 0.75);
};

/** Whether a value surely fits, by a quick look that never says yes wrongly. */
export const surelyFits = (value: unknown, bytes: number): boolean => left(value, bytes, 0) >= 0;

/** What is left of `bytes` when every character is counted as the worst; negative as soon as that is too much. */
function left(value: unknown, bytes: number, depth: number): number {
  if (typeof value === 'string') return bytes - value.length * WORST - 4;
  if (typeof value !== 'object' || value === null) return bytes - 25;
  if (depth === MAX_DEPTH) return -1;
  let rest = bytes - 2;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length && rest >= 0; i++) rest = left(value[i], rest - 1, depth + 1);
    return rest;
  }
  const object = value as Record<string, unknown>;
  for (const key in object) {
    if (rest < 0) break;
    rest = left(object[key], rest - key.length * WORST - 6, depth + 1);
  }
  return rest;
}

/** The bytes of a value as JSON inside of JSON, where a quote is written twice, and one inside a text four times. */
export function wireBytes(value: unknown, depth: number = 0): number {
  if (typeof value === 'string') return textBytes(value) + 4;
  if (typeof value !== 'object' || value === null) return shortBytes(value);
  if (depth === MAX_DEPTH) return Number.POSITIVE_INFINITY;
  let bytes = 2;
  if (Array.isArray(value)) for (const item of value) bytes += wireBytes(item, depth + 1) + 1;
  else {
    const object = value as Record<string, unknown>;
    for (const key in object) bytes += textBytes(key) + 6 + wireBytes(object[key], depth + 1);
  }
  return bytes;
}

/** Most are small numbers, yes or no; only large ones are worth a look. */
const shortBytes = (value: unknown): number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < 1e6
    ? 6
    : String(value).length;

function textBytes(text: string): number {
  let bytes = text.length;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code >= 0x20 && code < 0x80 && code !== 0x22 && code !== 0x5c) continue;
    bytes += charBytes(text, i) - 1;
    if (!isPair(text, i)) continue;
    bytes -= 1;
    i += 1;
  }
  return bytes;
}

/** The beginning of a text that takes at most `bytes`, with an ellipsis where something is missing. */
export function fitText(text: string, bytes: number): string {
  let used = 0;
  let end = 0;
  /** The last place that leaves room for the ellipsis. */
  let cut = 0;
  while (end < text.length) {
    const next = used + charBytes(text, end);
    if (next > bytes) return `${text.slice(0, endBefore(text, cut))}…`;
    end += isPair(text, end) ? 2 : 1;
    used = next;
    if (used <= bytes - 3) cut = end;
  }
  return text;
}

/** Pieces of a text that each take at most `bytes`. */
export function splitText(text: string, bytes: number): readonly string[] {
  const pieces: string[] = [];
  let start = 0;
  let used = 0;
  for (let i = 0; i < text.length;) {
    const more = charBytes(text, i);
    if (used + more > bytes && i > start) {
      pieces.push(text.slice(start, i));
      start = i;
      used = 0;
    }
    used += more;
    i += isPair(text, i) ? 2 : 1;
  }
  pieces.push(text.slice(start));
  return pieces;
}

const isPair = (text: string, i: number): boolean => (text.codePointAt(i) ?? 0) > 0xffff;

/** Of the character that begins at `i`, both halves of a pair together. */
function charBytes(text: string, i: number): number {
  const code = text.charCodeAt(i);
  if (code === 0x22 || code === 0x5c) return 4;
  if (code < 0x20)
    return code === 8 || code === 9 || code === 10 || code === 12 || code === 13 ? 3 : 7;
  if (code < 0x80) return 1;
  if (code < 0x800) return 2;
  if (code < 0xd800 || code > 0xdfff) return 3;
  return isPair(text, i) ? 4 : 7;
}
