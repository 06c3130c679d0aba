/**
 * What a reader cannot see, or what moves a cursor or turns the direction of text: control characters, bidirectional
 * and zero-width marks, fillers, variation selectors, tags, line separators, lone surrogates, the blank Braille cell.
 */
const UNSEEN = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\ufff9-\ufffb\u2800]/u;
const EACH_UNSEEN = new RegExp(UNSEEN.source, 'gu');
const PICTURE = '\\p{Extended_Pictographic}\\p{Emoji_Modifier}?\\ufe0f?';
/** Emoji are read as one sign: the joiners between pictures and one selector behind each stay. */
const EMOJI_OR_UNSEEN = new RegExp(
  `(${PICTURE}(?:\\u200d${PICTURE})*|[0-9#*]\\ufe0f\\u20e3)|${UNSEEN.source}`,
  'gu',
);
/** Spaces that look like a plain one. */
const SPACES = /[^\P{Zs} ]/gu;

const SHORT: ReadonlyMap<string, string> = new Map([
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
]);

/** Text of others in one line of a log, a terminal or a view: what cannot be seen is written as `\u202e`. */
export const visibleText = (text: string): string => shown(text, () => false);

/** The same over several lines: line ends and tabs stay. */
export const visibleLines = (text: string): string =>
  shown(text, (char, next) => char === '\n' || char === '\t' || (char === '\r' && next === '\n'));

/**
 * A piece of an answer that is printed as it comes. Joiners and selectors stay, for they shape letters and emoji and a
 * piece may begin with one; a carriage return at its end belongs to the line end that follows.
 */
export const visibleProse = (text: string): string =>
  shown(text, (char, next) =>
    char === '\r' ? next === '\n' || next === '' : '\n\t\u200c\u200d\ufe0e\ufe0f'.includes(char),
  );

/** The name of an argument: backslashes and unusual spaces are escaped too, and quotes show where it ends. */
export function visibleName(name: string): string {
  const seen = visibleText(name.replaceAll('\\', '\\\\')).replace(SPACES, escaped);
  return name === '' || name.trim() !== name ? `"${seen}"` : seen;
}

/** JSON text that reads as the same value: what cannot be seen is written in the escapes of JSON. */
export const visibleJson = (json: string): string =>
  json.replace(EACH_UNSEEN, (char) => (char === '\n' ? char : unitsOf(char)));

/** A value for the fields of a log: texts over several lines, names in one. The value itself where all can be seen. */
export function visibleValue(value: unknown, depth: number = 0): unknown {
  if (typeof value === 'string') return visibleLines(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth > 100) return '…';
  if (Array.isArray(value)) {
    const list = value.map((item) => visibleValue(item, depth + 1));
    return list.some((item, i) => item !== value[i]) ? list : value;
  }
  if (isJsonMaker(value)) {
    const plain = value.toJSON();
    const visible = visibleValue(plain, depth + 1);
    return visible === plain ? value : visible;
  }
  let isChanged = false;
  const entries = Object.entries(value).map(([key, inner]): [string, unknown] => {
    const entry: [string, unknown] = [visibleText(key), visibleValue(inner, depth + 1)];
    isChanged ||= entry[0] !== key || entry[1] !== inner;
    return entry;
  });
  return isChanged ? Object.fromEntries(entries) : value;
}

const isJsonMaker = (value: object): value is { toJSON(): unknown } =>
  'toJSON' in value && typeof value.toJSON === 'function';

function shown(text: string, stays: (char: string, next: string) => boolean): string {
  if (!UNSEEN.test(text)) return text;
  return text.replace(EMOJI_OR_UNSEEN, (found: string, emoji: string | undefined, at: number) =>
    emoji !== undefined || stays(found, text.charAt(at + found.length))
      ? found
      : (SHORT.get(found) ?? escaped(found)),
  );
}

const escaped = (char: string): string => {
  const code = char.codePointAt(0) ?? 0;
  const hex = code.toString(16).padStart(4, '0');
  return hex.length > 4 ? `\\u{${hex}}` : `\\u${hex}`;
};

const unitsOf = (char: string): string =>
  Array.from({ length: char.length }, (_, i) => escaped(char.charAt(i))).join('');
