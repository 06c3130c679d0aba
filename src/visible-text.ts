/**
 * Characters that are invisible, move the cursor or change the direction of text: control characters, bidirectional and
 * zero-width marks, fillers, variation selectors, tags, line separators, lone surrogates, the blank Braille cell.
 */
const HIDDEN =
  '[\\p{Cc}\\p{Cs}\\p{Zl}\\p{Zp}\\p{Default_Ignorable_Code_Point}\\ufff9-\\ufffb\\u2800]';
const UNSEEN = /* @__PURE__ */ new RegExp(HIDDEN, 'u');
const EACH_UNSEEN = /* @__PURE__ */ new RegExp(HIDDEN, 'gu');
const PICTURE = '\\p{Extended_Pictographic}\\p{Emoji_Modifier}?\\ufe0f?';
/** An emoji as a whole, with joiners between its pictures and one selector after each; or a hidden character. */
const EMOJI_OR_UNSEEN = /* @__PURE__ */ new RegExp(
  `(${PICTURE}(?:\\u200d${PICTURE})*|[0-9#*]\\ufe0f\\u20e3)|${HIDDEN}`,
  'gu',
);
/** Spaces that look like an ordinary one. */
const SPACES = /[^\P{Zs} ]/gu;

const SHORT: ReadonlyMap<string, string> = new Map([
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
]);

/** Makes foreign text safe for one line of a log, a terminal or a view: escapes hidden characters as `\u202e`. */
export const visibleText = (text: string): string => shown(text, () => false);

/** Makes foreign text of several lines safe: keeps line ends and tabs. */
export const visibleLines = (text: string): string =>
  shown(text, (char, next) => char === '\n' || char === '\t' || (char === '\r' && next === '\n'));

/**
 * Makes a streamed piece of an answer safe. Keeps joiners and selectors, which shape letters and emoji, because a piece
 * may start with one. Keeps a carriage return at its end, because the line feed may follow in the next piece.
 */
export const visibleProse = (text: string): string =>
  shown(text, (char, next) =>
    char === '\r' ? next === '\n' || next === '' : '\n\t\u200c\u200d\ufe0e\ufe0f'.includes(char),
  );

/** Makes the name of an argument safe: also escapes backslashes and unusual spaces, and adds quotes if needed. */
export function visibleName(name: string): string {
  const seen = visibleText(name.replaceAll('\\', '\\\\')).replace(SPACES, escaped);
  return name === '' || name.trim() !== name ? `"${seen}"` : seen;
}

/** Writes hidden characters of a JSON text as JSON escapes, so that it parses to the same value. */
export const visibleJson = (json: string): string =>
  json.replace(EACH_UNSEEN, (char) => (char === '\n' ? char : unitsOf(char)));

/** Makes a value safe for log fields: texts keep their lines, names have one. Returns the same value if it is safe. */
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
