import { AgentError, show } from '../errors/agent-error.ts';
import { safeEnd } from '../errors/excerpt.ts';
import { bytesOf, describedText, fileFacts, isRaster } from '../file-facts.ts';
import { isRecord, toJsonValue } from '../json.ts';
import type { ContentPart, FilePart, ImagePart } from '../messages/content-part.ts';
import { dataUrl, sourceOf, typeOfBytes } from '../messages/media-type.ts';
import { partFacts } from '../messages/part-facts.ts';
import { bytesText } from '../number-text.ts';
import { recordedValue, resultText, type ToolResult } from './tool-result.ts';

/** Most parts of one result. */
const MOST_PARTS = 32;
/** Most bytes of the images and files of one result together. */
const MOST_BYTES = 5_000_000;
/** Most characters of an address, and of a file name. */
const MOST_URL = 8_192;
const MOST_NAME = 255;
const UNKNOWN = 'application/octet-stream';

/** Bytes as base64, as a data URL or as they are, or an address. Onward never fetches addresses. */
interface Source {
  readonly data?: string | Uint8Array;
  readonly url?: string;
  /** Needed only if the bytes do not show it. */
  readonly mediaType?: string;
}

/** A part of a result: text, a JSON value, an image or a file. */
export type ToolContentPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'json'; readonly value: unknown }
  | ({ readonly type: 'image' } & Source)
  | ({ readonly type: 'file'; readonly filename?: string } & Source);

/** A result of several parts, made by {@link toolContent}. As JSON it is a text that describes images and files. */
export interface ToolContent {
  readonly parts: readonly ContentPart[];
  toJSON(): string;
}

/** Marks a result, also one that another copy of this package made. JSON has no symbols, so none can be forged. */
const mark = Symbol.for('onward.toolContent');

/**
 * Creates a result of several parts, for `execute` to return. Throws for parts that providers reject, so that they do
 * not enter the conversation.
 */
export function toolContent(parts: readonly ToolContentPart[]): ToolContent {
  if (!Array.isArray(parts) || parts.length === 0 || parts.length > MOST_PARTS)
    throw refused(`it got ${show(parts)}`, `a list of 1 to ${MOST_PARTS} parts`);
  const read = parts.map((part: unknown, i) => readPart(part, `part ${i + 1}`));
  const bytes = read.reduce((sum, part) => sum + sizeOf(part), 0);
  if (bytes > MOST_BYTES) throw tooLarge('its images and files have', bytes);
  const content = { parts: Object.freeze(read), toJSON: () => describedText(read) };
  return Object.freeze(Object.defineProperty(content, mark, { value: true }));
}

/** Whether a tool returned parts. */
export const isToolContent = (value: unknown): value is ToolContent =>
  isRecord(value) &&
  (value as { [mark]?: unknown })[mark] === true &&
  Array.isArray(value['parts']);

/** The parts of a result: `files` lists images and files without their bytes. */
export type ResultParts = Pick<ToolResult, 'content' | 'files'>;

/** Converts a returned value for the state. Texts of parts share `maxChars`, and are truncated with a note. */
export function recordedResult(
  returned: unknown,
  maxChars: number,
): ResultParts & ReturnType<typeof recordedValue> {
  if (!isToolContent(returned)) return recordedValue(returned, maxChars);
  const { parts } = returned;
  const total = parts.reduce((sum, part) => sum + (part.type === 'text' ? part.text.length : 0), 0);
  const cut = total > maxChars;
  const content = cut ? truncated(parts, maxChars, total) : parts;
  const value = describedText(content);
  const files = content.flatMap((part) => (part.type === 'text' ? [] : [partFacts(part)]));
  return files.length === 0 ? { value, cut } : { value, content, files, cut };
}

function truncated(
  parts: readonly ContentPart[],
  maxChars: number,
  total: number,
): readonly ContentPart[] {
  let left = maxChars;
  let kept = 0;
  const short = parts.flatMap((part): readonly ContentPart[] => {
    if (part.type !== 'text') return [part];
    if (left === 0) return [];
    const text =
      part.text.length <= left ? part.text : part.text.slice(0, safeEnd(part.text, left));
    left = text.length < part.text.length ? 0 : left - text.length;
    kept += text.length;
    return [{ type: 'text', text }];
  });
  return [...short, { type: 'text', text: `… [cut: ${kept} of ${total} characters shown]` }];
}

function readPart(part: unknown, at: string): ContentPart {
  if (!isRecord(part)) throw refused(`${at} is ${show(part)}`, 'an object with a type');
  const { type, text, value } = part;
  if (type === 'json') return { type: 'text', text: resultText(toJsonValue(value)) };
  if (type === 'image' || type === 'file') return readMedia(type, part, `${at} (${type})`);
  if (type !== 'text') throw refused(`${at} has type ${show(type)}`, 'text, json, image or file');
  if (typeof text !== 'string') throw refused(`${at} has text ${show(text)}`, 'a string');
  return { type, text };
}

function readMedia(
  type: 'image' | 'file',
  part: Record<string, unknown>,
  at: string,
): ImagePart | FilePart {
  const { data, url, mediaType, filename } = part;
  if ((data === undefined) === (url === undefined))
    throw refused(
      `${at} has ${data === undefined ? 'no data and no url' : 'data and a url'}`,
      'one of them',
    );
  const given = mediaType === undefined ? undefined : readMediaType(mediaType, at);
  const name =
    type === 'file' && filename !== undefined ? { filename: readFilename(filename, at) } : null;
  if (url !== undefined && typeof url !== 'string')
    throw refused(`${at} has url ${show(url)}`, 'a string');
  if (url !== undefined && url.length > 2 * MOST_BYTES) throw tooLarge(`${at} has`, bytesOf(url));
  const inline = dataUrl(url);
  if (url !== undefined && inline === undefined)
    return withType({
      type,
      url: readAddress(url, at),
      ...(given && { mediaType: given }),
      ...name,
    });
  const bytes = inline ? inline.data : data;
  const base64 = readData(bytes, at);
  const header = inline?.mediaType === undefined ? undefined : readMediaType(inline.mediaType, at);
  const { filename: named } = name ?? {};
  const byName = named && sourceOf({ type: 'file', url: '', filename: named }).mediaType;
  const claimed = [given, header, byName].find((known) => known && known !== UNKNOWN);
  return { type, data: base64, mediaType: checkedType(type, base64, claimed, at), ...name };
}

/** Adds the type that the name or the address of a part shows, if any. */
function withType(part: ImagePart | FilePart): ImagePart | FilePart {
  const { mediaType } = fileFacts({ ...part, mediaType: sourceOf(part).mediaType });
  return mediaType === undefined ? part : { ...part, mediaType };
}

/** Returns the type that the bytes show, else the given one. A wrong one would make providers reject the conversation. */
function checkedType(
  type: 'image' | 'file',
  data: string,
  given: string | undefined,
  at: string,
): string {
  const seen = typeOfBytes(data);
  if (seen !== undefined) {
    if (type === 'file' || seen.startsWith('image/')) return seen;
    throw refused(`${at} holds ${seen}`, 'an image, or a part of type "file"');
  }
  if (given !== undefined && (isRaster(given) || given === 'application/pdf'))
    throw refused(
      `${at} has mediaType ${given}, and its data is something else`,
      'data of that type',
    );
  if (type === 'file') return given ?? UNKNOWN;
  if (given?.startsWith('image/') && !given.endsWith('*')) return given;
  throw refused(`${at} holds no known image format`, 'PNG, JPEG, GIF or WebP');
}

function readData(data: unknown, at: string): string {
  if (data instanceof Uint8Array) {
    if (data.length > MOST_BYTES) throw tooLarge(`${at} has`, data.length);
    if (data.length === 0) throw refused(`${at} has no bytes`, 'at least one');
    return base64Of(data);
  }
  if (typeof data !== 'string')
    throw refused(`${at} has data ${show(data)}`, 'base64 or a Uint8Array');
  // line ends are common, and the bound must hold before anything is copied
  if (data.length > 2 * MOST_BYTES) throw tooLarge(`${at} has`, bytesOf(data));
  const text = /\s/.test(data) ? data.replaceAll(/\s+/g, '') : data;
  const plain = /[-_]/.test(text) ? text.replaceAll('-', '+').replaceAll('_', '/') : text;
  const end = plain.indexOf('=');
  const body = end === -1 ? plain : plain.slice(0, end);
  const isBase64 =
    body !== '' &&
    body.length % 4 !== 1 &&
    !/[^A-Za-z0-9+/]/.test(body) &&
    (end === -1 || (/^={1,2}$/.test(plain.slice(end)) && plain.length % 4 === 0));
  if (!isBase64) throw refused(`${at} has data that is not base64`, 'base64 or a Uint8Array');
  return body + '='.repeat((4 - (body.length % 4)) % 4);
}

function base64Of(bytes: Uint8Array): string {
  const pieces: string[] = [];
  // a call takes a limited number of arguments, and three bytes are four characters
  for (let at = 0; at < bytes.length; at += 24_576)
    pieces.push(btoa(String.fromCharCode(...bytes.subarray(at, at + 24_576))));
  return pieces.join('');
}

function readAddress(url: string, at: string): string {
  const isWeb =
    url.length <= MOST_URL && URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
  if (!isWeb)
    throw refused(
      `${at} has url ${show(url)}`,
      `an address that begins with https:// or http://, of at most ${MOST_URL} characters, or a data URL`,
    );
  return new URL(url).href;
}

function readMediaType(mediaType: unknown, at: string): string {
  const [name = ''] = typeof mediaType === 'string' ? mediaType.split(';', 1) : [];
  if (
    name.length > 127 ||
    !/^[\w.+-]+\/(?:[\w.+-]+|\*)$/.test(name) ||
    hasControls(String(mediaType))
  )
    throw refused(`${at} has mediaType ${show(mediaType)}`, 'a type such as "image/png"');
  return name.toLowerCase();
}

function readFilename(filename: unknown, at: string): string {
  const isName =
    typeof filename === 'string' &&
    filename !== '' &&
    filename.length <= MOST_NAME &&
    !hasControls(filename);
  if (isName) return filename;
  throw refused(
    `${at} has filename ${show(filename)}`,
    `1 to ${MOST_NAME} characters without control characters`,
  );
}

const hasControls = (text: string): boolean => /\p{Cc}/u.test(text);

const sizeOf = (part: ContentPart): number =>
  part.type === 'text' || part.data === undefined ? 0 : bytesOf(part.data);

const tooLarge = (seen: string, bytes: number): AgentError =>
  refused(
    `${seen} ${bytesText(bytes)}`,
    `at most ${bytesText(MOST_BYTES)}. Send a smaller version, or an address`,
  );

const refused = (seen: string, expected: string): AgentError =>
  new AgentError('invalid_option', `toolContent: ${seen}, expected ${expected}.`, {
    details: { option: 'toolContent' },
  });
