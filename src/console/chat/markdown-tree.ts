import MarkdownIt, { type Token } from 'markdown-it';
import remend from 'remend';
import { safeHref } from '../../react/safe-href.ts';

/** A node of a parsed text, as data: the renderer can only produce what it knows. */
export interface MarkdownNode {
  readonly type: string;
  readonly token: Token;
  readonly children: readonly MarkdownNode[];
  /** Source lines of the node; empty inside another node. */
  readonly raw: string;
}

const parser = new MarkdownIt({ html: false, linkify: true, breaks: true });
/** Maximum nesting; markdown-it drops deeper content. */
const maxNesting = 100;
parser.set({ maxNesting: maxNesting });
parser.validateLink = (target) => safeHref(target) !== null;
// a word with a dot is not an address
parser.linkify.set({ fuzzyLink: false, fuzzyEmail: false });

/** Parses a text into nodes. Any text is valid: unknown syntax is a paragraph. */
export function readMarkdown(text: string, isStreaming: boolean = false): readonly MarkdownNode[] {
  const source = isStreaming ? completed(text) : text;
  const tokens = parser.parse(source, {});
  const isWhole = tokens.every(({ level }) => level < maxNesting - 1);
  return treeOf(isWhole ? tokens : parser.parseInline(source, {}), source.split('\n'));
}

/** Builds a tree from markdown-it's opening and closing tokens. */
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

/** Completes an unfinished text: closes open marks and hides a mark that has just started. */
function completed(text: string): string {
  // code stays unchanged, and an open fence ends with the text
  const fences = text.match(/^ {0,3}(?:`{3}|~{3})/gm)?.length ?? 0;
  if (fences % 2 === 1) return text;
  const shown = text
    .replace(/(?:^|\n)(?:#{1,6}|[-*+>|]|\d{1,3}[.)]?|[-*_]{2}|`{1,2})[^\S\n]?$/, '')
    .replace(/(?<![\w`*])(?:\*{1,2}|`{1,2}|~~|__?|!?\[)$/, '')
    .replace(/!?\[([^[\]\n]{0,500})\]$/, '$1'); // its address is not complete
  return withTableHead(remend(shown, { katex: false, htmlTags: false, linkMode: 'text-only' }));
}

/** Completes a table head before the line below it has arrived. */
function withTableHead(text: string): string {
  const [whole = '', head = ''] = /(?<=^|\n\n)(\|[^\n]{1,1000}\|)(?:\n[|: -]*)?$/.exec(text) ?? [];
  if (head === '') return text;
  return `${text.slice(0, -whole.length)}${head}\n${'|-'.repeat(head.split('|').length - 2)}|`;
}
