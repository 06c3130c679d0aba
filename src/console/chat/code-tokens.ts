/** What a piece of code is: `''` for everything without a color. */
export type TokenKind = '' | 'comment' | 'string' | 'number' | 'keyword' | 'name' | 'tag';

export interface CodeToken {
  readonly kind: TokenKind;
  readonly text: string;
}

interface Language {
  readonly keywords: ReadonlySet<string>;
  /** Alternatives of one expression, each with a named group. None of them backtracks, or looks ahead. */
  readonly pattern: RegExp;
}

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '));

const script =
  'as async await break case catch class const continue default delete do else enum export extends false finally for from function if implements import in instanceof interface let new null of private protected public readonly return static super switch this throw true try type typeof undefined var void while yield';
const python =
  'and as assert async await break case class continue def del elif else except False finally for from global if import in is lambda match None nonlocal not or pass raise return self True try while with yield';
const systems =
  'abstract and as async await bool boolean break case catch char class const continue default defer do double else enum extends extern false final finally float fn for func go goto if impl implements import in int interface internal let long loop match mod module mut namespace new nil null override package private protected pub public range return self short static string struct super switch this throw throws trait true try type union unsafe use using var void where while yield';
const sql =
  'add all alter and as asc begin between by case check commit constraint create cross default delete desc distinct drop else end exists false foreign from full group having if in index inner insert into is join key left like limit not null offset on or order outer primary references returning right rollback select set table then true union unique update using values view when where with';
const shell =
  'case do done elif else esac exit export fi for function if in local return set then unset until while';

const slashes = '//[^\\n]*|/\\*[^*]*(?:\\*(?!/)[^*]*)*(?:\\*/|$)';
const hash = '#[^\\n]*';
const quoted = `"(?:[^"\\\\\\n]|\\\\.)*"?|'(?:[^'\\\\\\n]|\\\\.)*'?`;
const ticked = '`(?:[^`\\\\]|\\\\[^])*`?';
const number = '\\b\\d[\\w.]*';
const word = '[A-Za-z_$][\\w$]*';

const language = (keywords: string, comment: string, string: string): Language => ({
  keywords: words(keywords),
  pattern: new RegExp(
    `(?<comment>${comment})|(?<string>${string})|(?<number>${number})|(?<word>${word})`,
    'g',
  ),
});

const js = language(script, slashes, `${quoted}|${ticked}`);
const py = language(python, hash, quoted);
const c = language(systems, slashes, `${quoted}|${ticked}`);
const sh = language(shell, hash, quoted);
const query = language(sql, `--[^\\n]*|/\\*[^*]*(?:\\*(?!/)[^*]*)*(?:\\*/|$)`, quoted);
const data = language('true false null yes no on off', hash, quoted);
const json = language('true false null', slashes, quoted);
const markup: Language = {
  keywords: new Set(),
  pattern:
    /(?<comment><!--[^-]*(?:-(?!->)[^-]*)*(?:-->|$))|(?<tag><\/?[A-Za-z][\w:-]*|\/?>)|(?<string>"[^"\n]*"?)/g,
};
const style: Language = {
  keywords: new Set(),
  pattern:
    /(?<comment>\/\*[^*]*(?:\*(?!\/)[^*]*)*(?:\*\/|$))|(?<string>"[^"\n]*"?|'[^'\n]*'?)|(?<number>#[\da-f]{3,8}\b|\b\d[\w.%]*)|(?<name>-{0,2}[a-z_][\w-]*)/gi,
};

const languages: Readonly<Record<string, Language>> = {
  ...Object.fromEntries(
    ['js', 'jsx', 'ts', 'tsx', 'javascript', 'typescript', 'mjs'].map((name) => [name, js]),
  ),
  ...Object.fromEntries(['py', 'python', 'rb', 'ruby'].map((name) => [name, py])),
  ...Object.fromEntries(
    [
      'c',
      'cpp',
      'cs',
      'csharp',
      'dart',
      'go',
      'java',
      'kotlin',
      'kt',
      'php',
      'rs',
      'rust',
      'scala',
      'swift',
      'zig',
    ].map((name) => [name, c]),
  ),
  ...Object.fromEntries(
    ['sh', 'bash', 'zsh', 'shell', 'console', 'dockerfile'].map((name) => [name, sh]),
  ),
  ...Object.fromEntries(['yaml', 'yml', 'toml', 'ini'].map((name) => [name, data])),
  ...Object.fromEntries(['html', 'xml', 'svg', 'vue'].map((name) => [name, markup])),
  ...Object.fromEntries(['css', 'scss', 'less'].map((name) => [name, style])),
  json,
  jsonc: json,
  json5: json,
  sql: query,
};

/** Longest code that gets colors. */
const MAX_CHARACTERS = 50_000;

/** Splits code into pieces with their kind, in time linear in its length; null for an unknown language. */
export function codeTokens(text: string, name: string): readonly CodeToken[] | null {
  const known = name.toLowerCase();
  const found = Object.hasOwn(languages, known) ? languages[known] : undefined;
  if (!found || text.length > MAX_CHARACTERS) return null;
  const tokens: CodeToken[] = [];
  const push = (kind: TokenKind, piece: string): void => {
    const last = tokens.at(-1);
    if (piece === '') return;
    if (last?.kind === kind) tokens[tokens.length - 1] = { kind, text: last.text + piece };
    else tokens.push({ kind, text: piece });
  };
  let end = 0;
  for (const match of text.matchAll(found.pattern)) {
    push('', text.slice(end, match.index));
    end = match.index + match[0].length;
    push(kindOf(match, text, end, found), match[0]);
  }
  push('', text.slice(end));
  return tokens;
}

function kindOf(
  { groups = {} }: RegExpExecArray,
  text: string,
  end: number,
  { keywords }: Language,
): TokenKind {
  const { comment, string, number: digits, tag, word: name, name: property } = groups;
  if (comment !== undefined) return 'comment';
  const isKey = (): boolean => /^\s{0,9}:/.test(text.slice(end, end + 10));
  // a quoted name before a colon is a key
  if (string !== undefined) return isKey() ? 'name' : 'string';
  if (digits !== undefined) return 'number';
  if (tag !== undefined) return 'tag';
  if (property !== undefined) return isKey() ? 'name' : '';
  if (name === undefined) return '';
  if (keywords.has(name) || (keywords === query.keywords && keywords.has(name.toLowerCase())))
    return 'keyword';
  return text[end] === '(' ? 'name' : '';
}
