/** One token with the whitespace before it; only the beginning of a string. */
const TOKEN =
  /[ \t\r\n]*(?:([{}[\],:])|(")|(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null))/y;
/** A part of a string. Parts are matched one by one: a single expression for the whole could backtrack. */
const PIECE = /[^"\\\u0000-\u001f]+|\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4})/y; // oxlint-disable-line no-control-regex -- JSON refuses them in strings

type Next = 'value' | 'value or ]' | 'key' | 'key or }' | ':' | ', or ]' | ', or }' | 'the end';

/** Describes where a text stops being JSON. Not all engines report it, and those that do quote the text. */
export function jsonFault(text: string): string {
  const open: ('[' | '{')[] = [];
  let next: Next = 'value';
  const after = (): Next =>
    open.length === 0 ? 'the end' : open.at(-1) === '[' ? ', or ]' : ', or }';
  for (let at = 0, end = 0; ; at = end) {
    TOKEN.lastIndex = at;
    const match = TOKEN.exec(text);
    const [, sign, string, other] = match ?? [];
    end = string === undefined ? TOKEN.lastIndex : endOfString(text, TOKEN.lastIndex);
    if (!match || end < 0) return `expected ${next} at ${positionOf(text, at)}`;
    const isValue = next === 'value' || next === 'value or ]';
    if (isValue && (string !== undefined || other !== undefined)) next = after();
    else if (isValue && (sign === '[' || sign === '{')) {
      open.push(sign);
      next = sign === '[' ? 'value or ]' : 'key or }';
    } else if (string !== undefined && next.startsWith('key')) next = ':';
    else if (sign === ':' && next === ':') next = 'value';
    else if (sign === ',' && next.startsWith(',')) next = open.at(-1) === '[' ? 'value' : 'key';
    else if ((sign === ']' || sign === '}') && next.endsWith(`or ${sign}`)) {
      open.pop();
      next = after();
    } else return `expected ${next} at ${positionOf(text, at)}`;
  }
}

/** Returns the index after the closing quote; -1 if there is none, or an invalid character before it. */
function endOfString(text: string, from: number): number {
  for (PIECE.lastIndex = from; ;) {
    const at = PIECE.lastIndex;
    if (text[at] === '"') return at + 1;
    if (!PIECE.test(text)) return -1;
  }
}

/** Returns line and column of the first character after the whitespace. */
function positionOf(text: string, from: number): string {
  const at = from + (/^[ \t\r\n]*/.exec(text.slice(from))?.[0].length ?? 0);
  const before = text.slice(0, at);
  const column = at - before.lastIndexOf('\n');
  const where = `line ${before.split('\n').length}, column ${column}`;
  return at >= text.length ? `${where}, where the body ends` : where;
}
