export interface Fence {
  readonly language: string;
  readonly code: string;
  /** Line of the opening fence, from 1. */
  readonly line: number;
  /** The text of the comment `<!-- model: … -->` right above, if there is one. */
  readonly model: string | null;
  /** The fence that follows with nothing but space between, if one does. */
  readonly next: Pick<Fence, 'language' | 'code'> | null;
}

const fence = /^( *)```(.*)$/;

/** The code blocks of a page, in order. */
export function fencesOf(text: string): readonly Fence[] {
  return parts(text).flatMap((part, i, all) => {
    if (part.language === null) return [];
    const between = all[i + 1];
    const behind = between?.code.trim() === '' ? all[i + 2] : between;
    const next = behind?.language ? { language: behind.language, code: behind.code } : null;
    const model = /<!-- model: (.*?) -->\s*$/s.exec(all[i - 1]?.code ?? '')?.[1] ?? null;
    return [{ language: part.language, code: part.code, line: part.line, model, next }];
  });
}

/** A page without its code blocks. */
export const proseOf = (text: string): string =>
  parts(text)
    .filter(({ language }) => language === null)
    .map(({ code }) => code)
    .join('\n');

interface Part {
  readonly language: string | null;
  readonly code: string;
  readonly line: number;
}

function parts(text: string): readonly Part[] {
  const found: Part[] = [];
  let lines: string[] = [];
  let open: { readonly language: string; readonly indent: number; readonly line: number } | null =
    null;
  const close = (language: string | null, line: number): void => {
    found.push({ language, code: lines.map((each) => `${each}\n`).join(''), line });
    lines = [];
  };
  for (const [i, each] of text.split('\n').entries()) {
    const mark = fence.exec(each);
    const [, indent = '', language = ''] = mark ?? [];
    if (mark === null) lines.push(open === null ? each : each.slice(open.indent));
    else if (open === null) {
      close(null, i + 1);
      open = { language: language.trim(), indent: indent.length, line: i + 1 };
    } else {
      close(open.language, open.line);
      open = null;
    }
  }
  if (open !== null) throw new Error(`The code block of line ${open.line} is never closed.`);
  close(null, 0);
  return found;
}

/** What headings are reached by, as code hosts make it of their text; a second one of the same text gets `-1`. */
export function anchorsOf(text: string): readonly string[] {
  const counts = new Map<string, number>();
  return [...proseOf(text).matchAll(/^#+ +(.+)$/gm)].map(([, heading = '']) =>
    countedAnchor(heading, counts),
  );
}

export function countedAnchor(heading: string, counts: Map<string, number>): string {
  const anchor = heading
    .replaceAll(/\]\([^)]*\)/g, '')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\p{M}_ -]/gu, '')
    .trim()
    .replaceAll(' ', '-');
  const count = counts.get(anchor) ?? 0;
  counts.set(anchor, count + 1);
  return count === 0 ? anchor : `${anchor}-${count}`;
}

/** Where links and images of a page lead, as they are written. */
export const linksOf = (text: string): readonly string[] =>
  [
    ...proseOf(text)
      .replaceAll(/`[^`\n]*`/g, '')
      .matchAll(/\]\(([^)\s]+)(?:\s+"[^"]*")?\)|\b(?:src|href)="([^"]+)"/g),
  ].map(([, link, attribute]) => link ?? attribute ?? '');
