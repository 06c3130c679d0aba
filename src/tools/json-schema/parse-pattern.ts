/** A regular expression as a tree; `source` is text that the engine reads as one character. */
export type PatternNode =
  | { readonly kind: 'one'; readonly source: string }
  | { readonly kind: 'all'; readonly items: readonly PatternNode[] }
  | { readonly kind: 'any'; readonly items: readonly PatternNode[] }
  | {
      readonly kind: 'repeat';
      readonly item: PatternNode;
      readonly least: number;
      readonly most: number;
    }
  | { readonly kind: 'edge'; readonly of: '^' | '$' | '\\b' | '\\B' }
  | {
      readonly kind: 'look';
      readonly item: PatternNode;
      readonly isBehind: boolean;
      readonly isNegative: boolean;
    };

const TOKEN = /* @__PURE__ */ new RegExp(
  [
    String.raw`\(\?<?[=!]|\(\?<[^>]*>|\(\?:|\(\?|[()|]`,
    String.raw`\[(?:\\[^]|[^\]\\])*\]`,
    String.raw`\\u\{[0-9a-f]+\}|\\ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2}|\\u[0-9a-f]{4}`,
    String.raw`\\x[0-9a-f]{2}|\\c[a-z]|\\p\{[^}]*\}|\\k<[^>]*>|\\[1-9][0-9]*|\\[^]`,
    String.raw`(?:[*+?]|\{[0-9]+(?:,[0-9]*)?\})\??`,
    '[^]',
  ].join('|'),
  'giu',
);

/**
 * Parses a pattern that the engine accepts with the flag `u`. Returns a string if it cannot be checked in linear
 * time.
 */
export function parsePattern(source: string): PatternNode | string {
  const tokens = source.match(TOKEN) ?? [];
  let at = 0;
  let problem: string | null = null;

  const choice = (): PatternNode => {
    const items = [sequence()];
    while (tokens[at] === '|') {
      at += 1;
      items.push(sequence());
    }
    return items.length === 1 && items[0] ? items[0] : { kind: 'any', items };
  };
  const sequence = (): PatternNode => {
    const items: PatternNode[] = [];
    for (let token = tokens[at]; token !== undefined; token = tokens[at]) {
      if (token === '|' || token === ')') break;
      at += 1;
      items.push(repeated(term(token)));
    }
    return { kind: 'all', items };
  };
  const group = (): PatternNode => {
    const inner = choice();
    at += 1; // the bracket
    return inner;
  };
  const term = (token: string): PatternNode => {
    if (token === '^' || token === '$' || token === '\\b' || token === '\\B')
      return { kind: 'edge', of: token };
    if (/^\(\?<?[=!]$/.test(token))
      return {
        kind: 'look',
        isBehind: token.includes('<'),
        isNegative: token.endsWith('!'),
        item: group(),
      };
    if (token === '(?') problem = 'it changes flags inside of the pattern';
    if (token.startsWith('(')) return group();
    if (/^\\(?:[1-9]|k<)/.test(token)) problem = `it refers back with ${token}`;
    return { kind: 'one', source: token };
  };
  const repeated = (item: PatternNode): PatternNode => {
    const times = /^(?:([*+?])|\{(\d+)(,?)(\d*)\})\??$/.exec(tokens[at] ?? '');
    if (times === null) return item;
    at += 1;
    const [, sign, from = '', comma, to] = times;
    if (sign !== undefined)
      return {
        kind: 'repeat',
        item,
        least: sign === '+' ? 1 : 0,
        most: sign === '?' ? 1 : Infinity,
      };
    const least = Number(from);
    const most = to ? Number(to) : comma ? Infinity : least;
    return { kind: 'repeat', item, least, most };
  };

  const tree = choice();
  return problem ?? tree;
}
