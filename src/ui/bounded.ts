import { MOST_LEVELS, parseJson, type JsonValue } from '../json.ts';

/** Limits of one value in the view: longer text is truncated, a larger value is not shown. */
export const MAX_CHARS = 1_000_000;
const MAX_VALUES = 50_000;

/** Whether a value is JSON that the view can show: not too deep, not too large, and not cyclic. */
export function isBounded(value: unknown): value is JsonValue {
  let values = MAX_VALUES;
  let chars = MAX_CHARS;
  const fits = (one: unknown, depth: number): boolean => {
    if (typeof one === 'string') return (chars -= one.length) >= 0;
    if (one === null || one === undefined || typeof one === 'boolean' || typeof one === 'number')
      return true;
    if (typeof one !== 'object' || depth === MOST_LEVELS) return false;
    const list = Array.isArray(one);
    const keys = list ? null : Object.keys(one);
    const items: readonly unknown[] = list ? one : Object.values(one);
    if ((values -= items.length) < 0) return false;
    if (keys && (chars -= keys.reduce((sum, key) => sum + key.length, 0)) < 0) return false;
    return items.every((item) => fits(item, depth + 1));
  };
  return fits(value, 0);
}

/** Truncates a text to the limit without splitting a character. */
export function boundedText(text: string): string {
  if (text.length <= MAX_CHARS) return text;
  const code = text.charCodeAt(MAX_CHARS - 1);
  return `${text.slice(0, code >= 0xd800 && code <= 0xdbff ? MAX_CHARS - 1 : MAX_CHARS)}…`;
}

/** Parses a text that is a JSON object or list within the limits; null for any other text. */
export function jsonIn(text: string): JsonValue | null {
  if (text.length > MAX_CHARS || !/^\s*[[{]/.test(text)) return null;
  const parsed = parseJson(text);
  return parsed.ok && isBounded(parsed.value) ? parsed.value : null;
}
