import type { FilePart, ImagePart } from './content-part.ts';

/** First bytes of known formats, as text in which `.` is any byte. */
const signatures: readonly (readonly [start: RegExp, mediaType: string])[] = [
  [/^\x89PNG/, 'image/png'],
  [/^\xff\xd8\xff/, 'image/jpeg'],
  [/^GIF8/, 'image/gif'],
  [/^RIFF.{4}WEBP/s, 'image/webp'],
  [/^.{4}ftypavi[fs]/s, 'image/avif'],
  [/^.{4}ftyp(?:hei[cs]|mif1)/s, 'image/heic'],
  [/^(?:II\*\0|MM\0\*)/, 'image/tiff'],
  [/^%PDF-/, 'application/pdf'],
  [/^RIFF.{4}WAVE/s, 'audio/wav'],
  [/^(?:ID3|\xff[\xe2\xe3\xf2\xf3\xfa\xfb])/, 'audio/mpeg'],
  [/^OggS/, 'audio/ogg'],
  [/^fLaC/, 'audio/flac'],
];

const extensions: Readonly<Record<string, string>> = {
  avif: 'image/avif',
  csv: 'text/csv',
  flac: 'audio/flac',
  gif: 'image/gif',
  heic: 'image/heic',
  htm: 'text/html',
  html: 'text/html',
  jpeg: 'image/jpeg',
  jpg: 'image/jpeg',
  json: 'application/json',
  md: 'text/markdown',
  mp3: 'audio/mpeg',
  mp4: 'video/mp4',
  ogg: 'audio/ogg',
  pdf: 'application/pdf',
  png: 'image/png',
  svg: 'image/svg+xml',
  txt: 'text/plain',
  wav: 'audio/wav',
  webp: 'image/webp',
};

/** A part's bytes as base64, or its address; a data URL counts as bytes. */
export interface PartSource {
  readonly data?: string;
  readonly url?: string;
  readonly mediaType: string;
}

/** Returns the source of a part. Its address is never fetched. */
export function sourceOf(part: ImagePart | FilePart): PartSource {
  const inline = dataUrl(part.url);
  const data = inline?.data ?? (part.url === undefined ? (part.data ?? '') : undefined);
  if (data !== undefined) return { data, mediaType: typeOf(part, data, inline?.mediaType) };
  return { url: part.url ?? '', mediaType: typeOf(part, '', undefined) };
}

/** Returns the media type of a part: by its bytes, its field, the header of its data URL, or its name. */
function typeOf(part: ImagePart | FilePart, data: string, header: string | undefined): string {
  const { type, url } = part;
  const given = [part.mediaType, header].find(isSpecific)?.toLowerCase();
  // providers compare the bytes with the type, so the bytes win
  const seen = typeOfBytes(data);
  if (seen !== undefined) return seen;
  if (given !== undefined) return given;
  const name = type === 'file' ? (part.filename ?? '') : '';
  const named = typeOfName(name) ?? typeOfName(pathOf(url ?? ''));
  if (named !== undefined && (type === 'file' || named.startsWith('image/'))) return named;
  if (type === 'file') return 'application/octet-stream';
  // some packages accept an image of any type by its address
  return data === '' && url !== undefined ? 'image/*' : 'image/png';
}

const isSpecific = (mediaType: string | undefined): boolean =>
  mediaType !== undefined &&
  /^[\w.+-]+\/[\w.+-]+/.test(mediaType) &&
  mediaType !== 'application/octet-stream';

/** Returns the media type that the first bytes show; undefined for an unknown format. */
export function typeOfBytes(base64: string): string | undefined {
  const start = base64.slice(0, 24).replaceAll(/[^\w+/]/g, '');
  if (start.length < 6) return undefined;
  const bytes = atob(start.slice(0, start.length - (start.length % 4)) || 'AAAA');
  return signatures.find(([signature]) => signature.test(bytes))?.[1];
}

function typeOfName(name: string): string | undefined {
  const [, extension = ''] = /\.(\w{1,5})$/.exec(name) ?? [];
  const known = extension.toLowerCase();
  return Object.hasOwn(extensions, known) ? extensions[known] : undefined;
}

const pathOf = (url: string): string => (URL.canParse(url) ? new URL(url).pathname : '');

/** Splits a data URL; undefined for an address. */
export function dataUrl(url: string | undefined): { data: string; mediaType?: string } | undefined {
  if (url === undefined || !/^data:/i.test(url)) return undefined;
  const comma = url.indexOf(',');
  if (comma < 0) return { data: '' };
  const [mediaType = '', ...more] = url.slice(5, comma).split(';');
  const isBase64 = more.some((word) => word.trim().toLowerCase() === 'base64');
  const body = url.slice(comma + 1);
  return { data: isBase64 ? body : encoded(body), ...(mediaType && { mediaType }) };
}

function encoded(text: string): string {
  let plain = text;
  try {
    plain = decodeURIComponent(text);
  } catch {
    // sent as it is
  }
  const bytes = new TextEncoder().encode(plain);
  let binary = '';
  // a call takes a limited number of arguments
  for (let at = 0; at < bytes.length; at += 8_192)
    binary += String.fromCharCode(...bytes.subarray(at, at + 8_192));
  return btoa(binary);
}

/** Why a vector graphic is left out: every provider rejects the request, and each later one that repeats it. */
export const noVector = 'models read no vector graphics';

/** Describes a part that a wire does not accept, for the text that replaces it. */
export function leftOut(part: ImagePart | FilePart, why: string): string {
  const { data, url, mediaType } = sourceOf(part);
  const name = part.type === 'file' && part.filename ? ` "${part.filename}"` : '';
  const what = /\/\*$|octet-stream$/.test(mediaType) ? '' : ` (${mediaType})`;
  const where = data === undefined ? ` at ${url ?? ''}` : '';
  return `[${part.type === 'image' ? 'Image' : 'File'}${name}${what}${where} left out: ${why}.]`;
}
