export interface TextPart {
  readonly type: 'text';
  readonly text: string;
}

/** An image by address, or inline as base64 `data` with its media type. */
export interface ImagePart {
  readonly type: 'image';
  readonly url?: string;
  readonly data?: string;
  readonly mediaType?: string;
}

/** A file by address, or inline as base64 `data` with its media type. */
export interface FilePart {
  readonly type: 'file';
  readonly url?: string;
  readonly data?: string;
  readonly mediaType?: string;
  readonly filename?: string;
}

export type ContentPart = TextPart | ImagePart | FilePart;
export type MessageContent = string | readonly ContentPart[];

/** Only the words: images and files have none. */
export function textOf(content: MessageContent): string {
  if (typeof content === 'string') return content;
  return content.map((part) => (part.type === 'text' ? part.text : '')).join('');
}
