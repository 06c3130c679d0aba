/** A part of a text, as data. Text of parts that hold words is read by `parseInline`. */
export type Block = { readonly raw: string } & (
  | { readonly kind: 'paragraph'; readonly text: string }
  | { readonly kind: 'heading'; readonly level: number; readonly text: string }
  | { readonly kind: 'code'; readonly language: string; readonly text: string }
  | { readonly kind: 'quote'; readonly blocks: readonly Block[] }
  | {
      readonly kind: 'list';
      readonly start: number | null;
      readonly items: readonly (readonly Block[])[];
    }
  | {
      readonly kind: 'table';
      readonly head: readonly string[];
      readonly align: readonly Align[];
      readonly rows: readonly (readonly string[])[];
    }
  | { readonly kind: 'rule' }
);

export type Align = 'left' | 'right' | 'center' | null;

const maxDepth = 6;
const fence = /^ {0,3}(`{3,}|~{3,})\s*([\w+#.-]*)/;
const heading = /^ {0,3}(#{1,6})\s+(\S.*)?$/;
const rule = /^ {0,3}(?:(?:-\s*){3,}|(?:\*\s*){3,}|(?:_\s*){3,})$/;
const item = /^( {0,12})([-*+]|\d{1,9}[.)])(?:\s+|$)(.*)$/;
const delimiter = /^\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?$/;
const quoted = /^ {0,3}> ?/;

/** The parts of a text, top to bottom. What fits no part is a paragraph: there is no wrong text. */
export function parseBlocks(text: string): readonly Block[] {
  return blocksOf(text.replaceAll(/\r\n?/g, '\n').replaceAll('\t', '    ').split('\n'), 0);
}

function blocksOf(lines: readonly string[], depth: number): readonly Block[] {
  const blocks: Block[] = [];
  let at = 0;
  while (at < lines.length) {
    if (isBlank(lines[at])) {
      at += 1;
      continue;
    }
    const [block, next] = blockAt(lines, at, depth);
    blocks.push(block);
    at = Math.max(next, at + 1);
  }
  return blocks;
}

const isBlank = (line: string | undefined): boolean => line === undefined || line.trim() === '';

function blockAt(lines: readonly string[], at: number, depth: number): [Block, number] {
  const line = lines[at] ?? '';
  const rawTo = (end: number): string => lines.slice(at, end).join('\n');
  const opened = fence.exec(line);
  if (opened) return codeAt(lines, at, opened[1] ?? '', opened[2] ?? '');
  const title = heading.exec(line);
  if (title)
    return [
      { kind: 'heading', level: title[1]?.length ?? 1, text: titleOf(title[2] ?? ''), raw: line },
      at + 1,
    ];
  if (rule.test(line)) return [{ kind: 'rule', raw: line }, at + 1];
  if (quoted.test(line) && depth < maxDepth) {
    let end = at;
    while (end < lines.length && quoted.test(lines[end] ?? '')) end++;
    const inner = lines.slice(at, end).map((one) => one.replace(quoted, ''));
    return [{ kind: 'quote', blocks: blocksOf(inner, depth + 1), raw: rawTo(end) }, end];
  }
  if (isTable(lines, at)) return tableAt(lines, at);
  if (item.test(line) && depth < maxDepth) return listAt(lines, at, depth);
  let end = at + 1;
  while (end < lines.length && !isBlank(lines[end]) && !beginsPart(lines, end)) end++;
  const text = rawTo(end).trim();
  const lean = text.split('\n').map((each) => each.trim());
  return [{ kind: 'paragraph', text: lean.join('\n'), raw: text }, end];
}

/** Without the marks that may close it. */
const titleOf = (text: string): string => text.trimEnd().replace(/\s#+$/, '').trimEnd();

/** What ends a paragraph without a blank line. */
function beginsPart(lines: readonly string[], at: number): boolean {
  const line = lines[at] ?? '';
  return (
    fence.test(line) ||
    heading.test(line) ||
    rule.test(line) ||
    quoted.test(line) ||
    /^ {0,12}(?:[-*+]|1[.)])\s/.test(line) ||
    isTable(lines, at)
  );
}

function codeAt(
  lines: readonly string[],
  at: number,
  mark: string,
  language: string,
): [Block, number] {
  let end = at + 1;
  while (end < lines.length && !isFenceEnd(lines[end] ?? '', mark)) end++;
  const indent = /^ */.exec(lines[at] ?? '')?.[0].length ?? 0;
  const text = lines
    .slice(at + 1, end)
    .map((line) => line.replace(new RegExp(`^ {0,${indent}}`), ''))
    .join('\n');
  return [
    { kind: 'code', language, text, raw: lines.slice(at, end + 1).join('\n') },
    Math.min(end + 1, lines.length),
  ];
}

const isFenceEnd = (line: string, mark: string): boolean => {
  const text = line.trim();
  return text.length >= mark.length && text === (mark[0] ?? '').repeat(text.length);
};

function listAt(lines: readonly string[], at: number, depth: number): [Block, number] {
  const first = item.exec(lines[at] ?? '');
  const indent = first?.[1]?.length ?? 0;
  const isOrdered = /\d/.test(first?.[2] ?? '');
  const items: string[][] = [];
  let width = 2;
  let end = at;
  for (; end < lines.length; end++) {
    const line = lines[end] ?? '';
    const found = item.exec(line);
    const depthHere = /^ */.exec(line)?.[0].length ?? 0;
    const isSibling = found && depthHere < indent + width && !rule.test(line);
    if (isSibling) {
      if (/\d/.test(found[2] ?? '') !== isOrdered || depthHere < indent) break;
      width = (found[2]?.length ?? 1) + 1;
      items.push([found[3] ?? '']);
    } else if (isBlank(line)) {
      const next = lines[end + 1] ?? '';
      if (isBlank(next) || !(/^ {2,}/.test(next) || item.test(next))) break;
      items.at(-1)?.push('');
    } else if (depthHere > indent || !(lines[end - 1] === '' || beginsPart(lines, end)))
      items.at(-1)?.push(line.slice(Math.min(depthHere, indent + width)));
    else break;
  }
  const start = isOrdered ? Number.parseInt(first?.[2] ?? '1', 10) : null;
  const block: Block = {
    kind: 'list',
    start,
    items: items.map((own) => blocksOf(own, depth + 1)),
    raw: lines.slice(at, end).join('\n'),
  };
  return [block, end];
}

const isTable = (lines: readonly string[], at: number): boolean => {
  const [head = '', below = ''] = [lines[at], lines[at + 1]];
  if (!head.includes('|') || !/^ {0,3}[|:-]/.test(below)) return false;
  if (!delimiter.test(below.trim())) return false;
  return cellsOf(head).length === cellsOf(below).length;
};

function tableAt(lines: readonly string[], at: number): [Block, number] {
  const head = cellsOf(lines[at] ?? '');
  const align = cellsOf(lines[at + 1] ?? '').map(alignOf);
  let end = at + 2;
  while (end < lines.length && (lines[end] ?? '').includes('|')) end++;
  const rows = lines.slice(at + 2, end).map((line) => {
    const cells = cellsOf(line);
    return head.map((_, place) => cells[place] ?? '');
  });
  return [{ kind: 'table', head, align, rows, raw: lines.slice(at, end).join('\n') }, end];
}

/** Bars inside code or behind a backslash are part of a cell. */
export function cellsOf(line: string): readonly string[] {
  const text = line
    .trim()
    .replace(/^\|/, '')
    .replace(/(?<!\\)\|$/, '');
  const cells = text.match(/(?:\\.|`[^`]*`|[^|])+|(?<=\|)(?=\|)/g) ?? [''];
  return cells.map((cell) => cell.trim().replaceAll(String.raw`\|`, '|'));
}

const alignOf = (cell: string): Align =>
  cell.endsWith(':')
    ? cell.startsWith(':')
      ? 'center'
      : 'right'
    : cell.startsWith(':')
      ? 'left'
      : null;
