import { bytesText, counted } from './number-text.ts';

/** An image or a file without its bytes: for records, events and views. */
export interface FileFacts {
  readonly type: 'image' | 'file';
  /** Absent if it is not known. */
  readonly mediaType?: string;
  readonly filename?: string;
  /** Address of a part that was not given as bytes. Never fetched. */
  readonly url?: string;
  readonly bytes?: number;
}

/** A part of a message, of which only images and files are read. */
interface AnyPart {
  readonly type: 'text' | 'image' | 'file';
  readonly text?: string;
  readonly data?: string;
  readonly url?: string;
  readonly mediaType?: string;
  readonly filename?: string;
}

/** Describes an image or a file from its fields. */
export function fileFacts({ type, data, url, mediaType, filename }: AnyPart): FileFacts {
  const [, header] = /^data:([\w.+-]+\/[\w.+-]+)?[^,]*,/i.exec(url ?? '') ?? [url];
  const isInline = /^data:/i.test(url ?? '');
  const known = [mediaType, isInline ? header : undefined].find(isKnownType);
  const bytes = isInline ? bytesOf((url ?? '').replace(/^[^,]*,/, '')) : bytesOf(data ?? '');
  return {
    type: type === 'image' ? 'image' : 'file',
    ...(known !== undefined && { mediaType: known }),
    ...(filename !== undefined && { filename }),
    ...(url === undefined || isInline ? { bytes } : { url }),
  };
}

/** Whether a media type says what a part is. */
const isKnownType = (mediaType: string | undefined): boolean =>
  mediaType !== undefined && !/\/\*$|\/octet-stream$/.test(mediaType);

/** Number of bytes of base64. */
export const bytesOf = (data: string): number =>
  Math.floor((data.length * 3) / 4) - (data.endsWith('==') ? 2 : data.endsWith('=') ? 1 : 0);

/** Image formats that every provider with vision reads, and that views show: no vector graphics, which may hold scripts. */
export const isRaster = (mediaType: string): boolean =>
  /^image\/(?:png|jpeg|gif|webp)$/.test(mediaType);

/** Whether it is a vector graphic, which no provider reads. */
export const isVector = (mediaType: string): boolean => mediaType === 'image/svg+xml';

/** Describes an image or a file: `Image (image/png, 5.1 KB)`, `File "a.pdf" at https://…`. */
export function fileText({ type, mediaType, filename, url, bytes }: FileFacts): string {
  const name = filename === undefined ? '' : ` "${filename}"`;
  const size = bytes === undefined ? null : bytesText(bytes);
  const facts = [mediaType, size].filter(Boolean).join(', ');
  const where = url === undefined ? '' : ` at ${url}`;
  return `${type === 'image' ? 'Image' : 'File'}${name}${facts && ` (${facts})`}${where}`;
}

/** Formats how many images and files there are: "1 image, 2 files"; empty for none. */
export function filesText(files: readonly Pick<FileFacts, 'type'>[] = []): string {
  const images = files.filter(({ type }) => type === 'image').length;
  const others = files.length - images;
  return [images > 0 && counted(images, 'image'), others > 0 && counted(others, 'file')]
    .filter(Boolean)
    .join(', ');
}

/** Returns content as text: its texts, and in place of an image or a file a note in brackets. */
export const describedText = (content: string | readonly AnyPart[]): string =>
  typeof content === 'string'
    ? content
    : content
        .map((part) =>
          part.type === 'text' ? (part.text ?? '') : `[${fileText(fileFacts(part))}]`,
        )
        .join('\n');
