import type { ContentPart, MessageContent } from '../messages/content-part.ts';

const ELLIPSIS = '…';

let graphemes: Intl.Segmenter | null = null;

/** Truncates a text to at most `max` code points plus an ellipsis, without splitting a character. */
export function truncateText(text: string, max: number | null): string {
  if (max === null || text.length <= max) return text;
  let end = 0;
  for (let points = 0; points < max && end < text.length; points++)
    end += (text.codePointAt(end) ?? 0) > 0xffff ? 2 : 1;
  if (end >= text.length) return text;
  return text.slice(0, characterStart(text, end)) + ELLIPSIS;
}

/** Start of the character that contains index `end`. */
function characterStart(text: string, end: number): number {
  graphemes ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  return graphemes.segment(text.slice(0, end + 64)).containing(end)?.index ?? end;
}

/** Truncates content. All text parts share one budget, and a note replaces an image or file that is too long. */
export function cutContent(content: MessageContent, max: number | null): MessageContent {
  return typeof content === 'string' ? truncateText(content, max) : cutParts(content, max);
}

/** Truncates parts like {@link cutContent}; returns the same list if nothing is too long. */
export function cutParts(
  content: readonly ContentPart[],
  max: number | null,
): readonly ContentPart[] {
  if (max === null) return content;
  let left = max;
  const parts = content.flatMap((part): readonly ContentPart[] => {
    if (part.type !== 'text') return [boundedMedia(part, max)];
    if (left === 0 && part.text !== '') return [];
    const text = truncateText(part.text, left);
    left -= Math.min(left, [...part.text].length);
    return [text === part.text ? part : { ...part, text }];
  });
  return parts.length === content.length && parts.every((part, i) => part === content[i])
    ? content
    : parts;
}

function boundedMedia(part: Exclude<ContentPart, { type: 'text' }>, max: number): ContentPart {
  const length = (part.data?.length ?? 0) + (part.url?.length ?? 0);
  if (length <= max) return part;
  const what = [part.type, part.mediaType].filter(Boolean).join(' ');
  return { type: 'text', text: `[${what} left out: ${length} characters]` };
}
