import { endBefore } from './wire-text.ts';

/** Bytes of a request around an envelope: headers (also those of proxies), signature and wrapping. */
const RESERVED_BYTES = 1_500;
/** Bytes of the names, quotes and numbers of an envelope, without its ids and payload. */
export const HEAD_BYTES = 260;
/** Maximum bytes of one character. */
const WORST = 7;
const MAX_DEPTH = 32;

/** Returns the bytes of a request that the envelope may use. */
export const envelopeBudget = (frameBytes: number): number =>
  frameBytes - Math.min(RESERVED_BYTES, frameBytes / 4);

/** Bytes that a broadcaster counts around an envelope: the type, the channel, a few more. */
const WRAPPER_BYTES = 260;

/** Returns the `frameBytes` of a config whose envelopes fit into the broadcaster's limit. */
export const frameFor = (takes: number): number => {
  const envelope = Math.max(1, takes - WRAPPER_BYTES);
  return Math.min(envelope + RESERVED_BYTES, envelope / 0.75);
};

/** Whether a value certainly fits, by a quick estimate. It may say no by mistake, never yes. */
export const surelyFits = (value: unknown, bytes: number): boolean => left(value, bytes, 0) >= 0;

/**
 * Returns what is left of `bytes` if every character is counted at its maximum; negative as soon as that is too much.
 */
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

/** Returns the bytes of a value as JSON inside JSON, which escapes a quote once, and a quote inside a text twice. */
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

/** Estimates small numbers and booleans; only large numbers are measured. */
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

/** Returns the beginning of a text within `bytes`, with an ellipsis if something is missing. */
export function fitText(text: string, bytes: number): string {
  let used = 0;
  let end = 0;
  /** Last index that leaves space for the ellipsis. */
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

/** Splits a text into pieces of at most `bytes` each. */
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

/** Returns the bytes of the character at `i`; a surrogate pair counts as one character. */
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
