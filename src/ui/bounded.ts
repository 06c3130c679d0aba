import { MOST_LEVELS, parseJson, type JsonValue } from '../json.ts';

/** What a screen takes of one value: more is cut, or not shown. */
export const MOST_CHARS = 1_000_000;
const MOST_VALUES = 50_000;

/** Whether a value is JSON that a screen can lay out: not nested too deep, not too large, and not within itself. */
export function isBounded(value: unknown): value is JsonValue {
  let values = MOST_VALUES;
  let chars = MOST_CHARS;
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

/** At most as many characters as a screen takes, and never half of one. */
export function boundedText(text: string): string {
  if (text.length <= MOST_CHARS) return text;
  const code = text.charCodeAt(MOST_CHARS - 1);
  return `${text.slice(0, code >= 0xd800 && code <= 0xdbff ? MOST_CHARS - 1 : MOST_CHARS)}…`;
}

/** The object or list that a text is; null for any other text, and for one that cannot be laid out. */
export function jsonIn(text: string): JsonValue | null {
  if (text.length > MOST_CHARS || !/^\s*[[{]/.test(text)) return null;
  const parsed = parseJson(text);
  return parsed.ok && isBounded(parsed.value) ? parsed.value : null;
}
