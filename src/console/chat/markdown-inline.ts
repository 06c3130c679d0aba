/** A piece of a line, as data: what draws it can make nothing of it but these. */
export type Inline =
  | { readonly kind: 'text' | 'code'; readonly text: string }
  | { readonly kind: 'break' }
  | { readonly kind: 'strong' | 'em' | 'del'; readonly parts: readonly Inline[] }
  | { readonly kind: 'link'; readonly href: string; readonly parts: readonly Inline[] };

/** Deeper than this is no text that a person wrote. */
const maxDepth = 6;
const maxFence = 8;

/** Links lead to pages and letter boxes, nowhere else; null is drawn as plain text. */
export function safeHref(target: string): string | null {
  if (!/^(?:https?:\/\/|mailto:)/i.test(target)) return null;
  try {
    const { protocol, href } = new URL(target);
    return protocol === 'https:' || protocol === 'http:' || protocol === 'mailto:' ? href : null;
  } catch {
    return null;
  }
}

const link =
  /!?\[((?:[^[\]\n]|\[[^[\]\n]{0,200}\]){0,500})\]\(\s*<?([^\s<>()]{0,2000}(?:\([^\s<>()]{0,500}\)[^\s<>()]{0,500}){0,4})>?(?:\s+(?:"[^"\n]{0,200}"|'[^'\n]{0,200}'))?\s*\)/y;
/** Bounded: one that cannot be read is not looked through again from each place in it. */
const address = /https?:\/\/[^\s<>"'`]{1,2000}/iy;
const emphasis = [
  ['**', 'strong'],
  ['__', 'strong'],
  ['~~', 'del'],
  ['*', 'em'],
  ['_', 'em'],
] as const;

/** One pass over the text: what has no end is looked for once and then never again. */
export function parseInline(text: string, depth: number = 0): readonly Inline[] {
  const parts: Inline[] = [];
  const endless = new Set<string>();
  let plain = '';
  let at = 0;
  const push = (part: Inline, next: number): void => {
    if (plain !== '') parts.push({ kind: 'text', text: plain });
    plain = '';
    parts.push(part);
    at = next;
  };
  while (at < text.length) {
    const char = text[at] ?? '';
    if (char === '\n') push({ kind: 'break' }, at + 1);
    else if (char === '\\' && /[!-/:-@[-`{-~]/.test(text[at + 1] ?? '')) {
      plain += text[at + 1] ?? '';
      at += 2;
    } else {
      const found = depth < maxDepth && marks.has(char) ? special(text, at, depth, endless) : null;
      if (found) push(found.part, found.next);
      else {
        plain += char;
        at += 1;
      }
    }
  }
  if (plain !== '') parts.push({ kind: 'text', text: plain });
  return parts;
}

const marks: ReadonlySet<string> = new Set('`*_~[!hH');

interface Found {
  readonly part: Inline;
  readonly next: number;
}

function special(text: string, at: number, depth: number, endless: Set<string>): Found | null {
  const char = text[at] ?? '';
  if (char === '`') return codeAt(text, at, endless);
  if (char === '[' || char === '!') return linkAt(text, at, depth);
  if (char === 'h' || char === 'H') return addressAt(text, at);
  for (const [mark, kind] of emphasis) {
    if (!text.startsWith(mark, at) || endless.has(mark)) continue;
    const found = emphasisAt(text, at, mark, kind, depth, endless);
    if (found) return found;
  }
  return null;
}

function codeAt(text: string, at: number, endless: Set<string>): Found | null {
  // the middle of a longer run is not the beginning of one
  if (text[at - 1] === '`') return null;
  let size = 1;
  while (size <= maxFence && text[at + size] === '`') size++;
  const fence = '`'.repeat(size);
  if (size > maxFence || endless.has(fence)) return null;
  let end = text.indexOf(fence, at + size);
  while (end >= 0 && text[end + size] === '`') {
    while (text[end] === '`') end++;
    end = text.indexOf(fence, end);
  }
  if (end < 0) {
    endless.add(fence);
    return null;
  }
  const inner = text.slice(at + size, end).replaceAll('\n', ' ');
  const isPadded = inner.startsWith(' ') && inner.endsWith(' ') && inner.trim() !== '';
  const shown = isPadded ? inner.slice(1, -1) : inner;
  return { part: { kind: 'code', text: shown }, next: end + size };
}

function linkAt(text: string, at: number, depth: number): Found | null {
  link.lastIndex = at;
  const match = link.exec(text);
  if (!match) return null;
  const [whole, label = '', target = ''] = match;
  const href = safeHref(target);
  // a picture is a link to it: loading it would tell its server who reads
  const parts = parseInline(label === '' ? target : label, depth + 1).filter(
    ({ kind }) => kind !== 'link',
  );
  const next = at + whole.length;
  return href === null
    ? { part: { kind: 'text', text: whole }, next }
    : { part: { kind: 'link', href, parts }, next };
}

function addressAt(text: string, at: number): Found | null {
  if (at > 0 && /[\p{L}\p{N}_/]/u.test(text[at - 1] ?? '')) return null;
  address.lastIndex = at;
  const [seen] = address.exec(text) ?? [];
  if (seen === undefined) return null;
  let length = seen.length;
  while (length > 0 && '.,;:!?*_~)]'.includes(seen[length - 1] ?? '')) length--;
  const trimmed = seen.slice(0, length);
  // a closing bracket belongs to the address if it was opened in it
  const shown = trimmed.includes('(') && seen[trimmed.length] === ')' ? `${trimmed})` : trimmed;
  const href = safeHref(shown);
  return href === null
    ? null
    : {
        part: { kind: 'link', href, parts: [{ kind: 'text', text: shown }] },
        next: at + shown.length,
      };
}

function emphasisAt(
  text: string,
  at: number,
  mark: string,
  kind: 'strong' | 'em' | 'del',
  depth: number,
  endless: Set<string>,
): Found | null {
  const from = at + mark.length;
  if (/^\s?$/.test(text[from] ?? '')) return null;
  // names_like_this are no emphasis
  const isWordy = mark[0] === '_';
  if (isWordy && isWord(text[at - 1])) return null;
  let end = from;
  for (;;) {
    end = text.indexOf(mark, end);
    if (end < 0) {
      endless.add(mark);
      return null;
    }
    if (mark.length === 1 && text[end + 1] === mark) {
      end += 2;
      continue;
    }
    while (mark.length === 2 && text[end + 2] === mark[0]) end++;
    const isEnd = end > from && !/\s/.test(text[end - 1] ?? ' ');
    if (isEnd && !(isWordy && isWord(text[end + mark.length]))) break;
    end += mark.length;
  }
  const parts = parseInline(text.slice(from, end), depth + 1);
  return { part: { kind, parts }, next: end + mark.length };
}

const isWord = (char: string | undefined): boolean =>
  char !== undefined && /[\p{L}\p{N}_]/u.test(char);

/** How far from the end half a link can begin. */
const reach = 2_600;

/** A line that is still being written: what is open is closed, what has just begun is not shown yet. */
export function mended(text: string): string {
  const end = Math.max(0, text.length - reach);
  const tail = text
    .slice(end)
    .replace(/!?\[([^[\]\n]{0,500})\]\([^)\n]{0,2000}$/, '$1')
    .replace(/!?\[([^[\]\n]{0,500})\]?$/, '$1')
    .replace(/(?<![\w`*])(?:\*{1,2}|`{1,2}|~~|__?)$/, '');
  const open = text.slice(0, end) + tail;
  const codes = open.replaceAll(/`[^`\n]*`/g, '');
  if (codes.includes('`')) return `${open}\``;
  const marks = codes.split('**').length - 1;
  return marks % 2 === 1 ? `${open.replace(/\*$/, '').trimEnd()}**` : open;
}
