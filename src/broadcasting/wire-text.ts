const ELLIPSIS = '…';
/** Characters that JSON escapes in a string. */
// oxlint-disable-next-line no-control-regex -- JSON escapes control characters
const ESCAPED = /["\\\u0000-\u001f\ud800-\udfff]/;
/** Depth at which nested values are truncated; it also ends a cyclic value. */
const MAX_DEPTH = 32;

/** Shortens a text to at most `max` characters, ellipsis included. Never splits a surrogate pair. */
export const clip = (text: string, max: number): string =>
  text.length <= max ? text : text.slice(0, endBefore(text, Math.max(0, max - 1))) + ELLIPSIS;

export function endBefore(text: string, end: number): number {
  const code = text.charCodeAt(end - 1);
  return code >= 0xd800 && code <= 0xdbff ? end - 1 : end;
}

/** Writes a value as JSON, truncated after `max` characters. */
export function jsonText(value: unknown, max: number): string {
  return write(value, '', max, 0) ?? 'null';
}

/** Returns null for what JSON omits. */
function write(value: unknown, before: string, max: number, depth: number): string | null {
  switch (typeof value) {
    case 'string':
      return before + quoted(value, max - before.length);
    case 'number':
      return before + (Number.isFinite(value) ? String(value) : 'null');
    case 'boolean':
      return before + String(value);
    case 'object':
      if (value === null) return `${before}null`;
      if (depth === MAX_DEPTH) return before + ELLIPSIS;
      return Array.isArray(value)
        ? writeList(value, before, max, depth + 1)
        : writeObject(value as Record<string, unknown>, before, max, depth + 1);
    default:
      return null;
  }
}

function writeList(list: readonly unknown[], before: string, max: number, depth: number): string {
  let text = `${before}[`;
  for (let i = 0; i < list.length && text.length <= max; i++) {
    if (i > 0) text += ',';
    text = write(list[i], text, max, depth) ?? `${text}null`;
  }
  return `${text}]`;
}

function writeObject(
  object: Record<string, unknown>,
  before: string,
  max: number,
  depth: number,
): string {
  let text = `${before}{`;
  let isFirst = true;
  for (const key of Object.keys(object)) {
    if (text.length > max) break;
    const name = `${text}${isFirst ? '' : ','}${quoted(key, max)}:`;
    const more = write(object[key], name, max, depth);
    if (more === null) continue;
    text = more;
    isFirst = false;
  }
  return `${text}}`;
}

/** Reads a string only as far as `left` allows. */
function quoted(text: string, left: number): string {
  const shown = text.length > left ? text.slice(0, Math.max(0, left) + 1) : text;
  return ESCAPED.test(shown) ? JSON.stringify(shown) : `"${shown}"`;
}
