import { isRecord } from '../json.ts';

export interface TextPart {
  readonly type: 'text';
  readonly text: string;
}

/** An image by URL, or inline as base64 `data` with its media type. */
export interface ImagePart {
  readonly type: 'image';
  readonly url?: string;
  readonly data?: string;
  readonly mediaType?: string;
}

/** A file by URL, or inline as base64 `data` with its media type. */
export interface FilePart {
  readonly type: 'file';
  readonly url?: string;
  readonly data?: string;
  readonly mediaType?: string;
  readonly filename?: string;
}

export type ContentPart = TextPart | ImagePart | FilePart;
export type MessageContent = string | readonly ContentPart[];

/** Whether a value of a document is a part. */
export const isPart = (part: unknown): part is ContentPart =>
  isRecord(part) &&
  (part['type'] === 'text'
    ? typeof part['text'] === 'string'
    : part['type'] === 'image' || part['type'] === 'file');

/** Returns the text only: images and files have none. */
export function textOf(content: MessageContent): string {
  if (typeof content === 'string') return content;
  return content.map((part) => (part.type === 'text' ? part.text : '')).join('');
}

/** Whether a content has no part but white space, which providers reject. */
export const isBlank = (content: MessageContent): boolean =>
  typeof content === 'string'
    ? content.trim() === ''
    : content.every((part) => part.type === 'text' && part.text.trim() === '');

/** Returns the parts of a content without blank texts, unless there is nothing else. */
export function spokenParts(content: MessageContent): readonly ContentPart[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  const parts = content.filter((part) => part.type !== 'text' || !isBlank(part.text));
  return parts.length > 0 ? parts : content.slice(0, 1);
}
