import MarkdownIt, { type Token } from 'markdown-it';
import remend from 'remend';

/** A part of a text with what is in it, as data: what draws it can make nothing of it but what it knows. */
export interface MarkdownNode {
  readonly type: string;
  readonly token: Token;
  readonly children: readonly MarkdownNode[];
  /** The lines it was read from; empty within another part. */
  readonly raw: string;
}

/** Links lead to pages and letter boxes, nowhere else; null is drawn as plain text. */
export function safeHref(target: string): string | null {
  if (!/^(?:https?:\/\/|mailto:)/i.test(target)) return null;
  try {
    return new URL(target).href;
  } catch {
    return null;
  }
}

const parser = new MarkdownIt({ html: false, linkify: true, breaks: true });
/** What lies deeper than anybody writes, markdown-it leaves out. */
const deepest = 100;
parser.set({ maxNesting: deepest });
parser.validateLink = (target) => safeHref(target) !== null;
// a word with a dot in it is no address
parser.linkify.set({ fuzzyLink: false, fuzzyEmail: false });

/** The parts of a text, top to bottom. There is no wrong text: what fits no part is a paragraph. */
export function readMarkdown(text: string, isStreaming: boolean = false): readonly MarkdownNode[] {
  const source = isStreaming ? finished(text) : text;
  const tokens = parser.parse(source, {});
  const isWhole = tokens.every(({ level }) => level < deepest - 1);
  return treeOf(isWhole ? tokens : parser.parseInline(source, {}), source.split('\n'));
}

/** markdown-it tells where a part opens and where it closes; drawing needs what is in between. */
function treeOf(tokens: readonly Token[], lines: readonly string[]): readonly MarkdownNode[] {
  const top: MarkdownNode[] = [];
  const open: MarkdownNode[][] = [top];
  for (const token of tokens) {
    if (token.nesting < 0) {
      open.pop();
      continue;
    }
    const children: MarkdownNode[] = token.children ? [...treeOf(token.children, [])] : [];
    const raw = open.length === 1 ? lines.slice(...(token.map ?? [0, 0])).join('\n') : '';
    open.at(-1)?.push({ type: token.type.replace(/_open$/, ''), token, children, raw });
    if (token.nesting > 0) open.push(children);
  }
  return top;
}

/** A text that is still being written: what is open is closed, what has just begun is not shown yet. */
function finished(text: string): string {
  // code is shown as it is, and one that is open ends with the text
  const fences = text.match(/^ {0,3}(?:`{3}|~{3})/gm)?.length ?? 0;
  if (fences % 2 === 1) return text;
  const shown = text
    .replace(/(?:^|\n)(?:#{1,6}|[-*+>|]|\d{1,3}[.)]?|[-*_]{2}|`{1,2})[^\S\n]?$/, '')
    .replace(/(?<![\w`*])(?:\*{1,2}|`{1,2}|~~|__?|!?\[)$/, '')
    .replace(/!?\[([^[\]\n]{0,500})\]$/, '$1'); // its address is still to come
  return withTableHead(remend(shown, { katex: false, htmlTags: false, linkMode: 'text-only' }));
}

/** The head of a table is one before the line below it has come. */
function withTableHead(text: string): string {
  const [whole = '', head = ''] = /(?<=^|\n\n)(\|[^\n]{1,1000}\|)(?:\n[|: -]*)?$/.exec(text) ?? [];
  if (head === '') return text;
  return `${text.slice(0, -whole.length)}${head}\n${'|-'.repeat(head.split('|').length - 2)}|`;
}
