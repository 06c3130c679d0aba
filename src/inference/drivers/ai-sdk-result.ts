import { isRaster } from '../../file-facts.ts';
import { isRecord, parseJson } from '../../json.ts';
import type { ContentPart, FilePart, ImagePart } from '../../messages/content-part.ts';
import { isFailedResult } from '../../messages/failed-result.ts';
import type { Message } from '../../messages/message.ts';
import { isGoogle } from './ai-sdk-model.ts';
import type { ModelFacts } from './ai-sdk-prompt.ts';
import { leftOut, sourceOf } from '../../messages/media-type.ts';

/** Converts a tool message to the output of a result: parts where the wire takes them, else JSON or text. */
export function resultOutput(message: Message, about: ModelFacts): object {
  const { content } = message;
  // an error has only text in every package
  if (isFailedResult(message)) return { type: 'error-text', value: textFor(content, about) };
  const parts = typeof content === 'string' ? [] : content.map((part) => resultPart(part, about));
  if (!parts.some((part) => part['type'] !== 'text')) return plainOutput(textFor(content, about));
  return { type: 'content', value: joined(parts, about) };
}

/** Sends JSON results as JSON, and everything else as text. */
function plainOutput(text: string): object {
  const parsed = text.startsWith('{') || text.startsWith('[') ? parseJson(text) : null;
  return parsed?.ok && (isRecord(parsed.value) || Array.isArray(parsed.value))
    ? { type: 'json', value: parsed.value }
    : { type: 'text', value: text.trim() === '' ? '' : text };
}

function textFor(content: Message['content'], about: ModelFacts): string {
  if (typeof content === 'string') return content;
  return content
    .map((part) => (part.type === 'text' ? part.text : leftOut(part, whyNot(part, about))))
    .join('\n');
}

function resultPart(part: ContentPart, about: ModelFacts): Record<string, unknown> {
  if (part.type === 'text') return { type: 'text', text: part.text };
  const { data, url = '', mediaType } = sourceOf(part);
  if (!takes(part, about)) return { type: 'text', text: leftOut(part, whyNot(part, about)) };
  const filename = part.type === 'file' && part.filename ? { filename: part.filename } : null;
  if (about.version === 'v4')
    return {
      type: 'file',
      data: data === undefined ? { type: 'url', url: new URL(url) } : { type: 'data', data },
      mediaType,
      ...filename,
    };
  if (about.version === 'v2') return { type: 'media', data: data ?? '', mediaType };
  const kind = mediaType.startsWith('image/') ? 'image' : 'file';
  if (data === undefined)
    return { type: `${kind}-url`, url, ...(kind === 'file' ? { mediaType } : null) };
  return { type: `${kind}-data`, data, mediaType, ...filename };
}

/** Packages that send parts of results; the others would send them as text, base64 included. */
const takesParts = /anthropic|bedrock|google|vertex|responses/;
/** Packages that pass an address on. The others fetch it, and it may come from a user or the model. */
const takesAddress = /anthropic|^(?:openai|azure)[\w-]*\.responses/;

function takes(part: ImagePart | FilePart, { provider, version }: ModelFacts): boolean {
  if (!takesParts.test(provider)) return false;
  const { url, mediaType } = sourceOf(part);
  if (url !== undefined && (version === 'v2' || !takesAddress.test(provider) || !isWeb(url)))
    return false;
  if (mediaType.startsWith('image/')) return isReadable(mediaType, url, provider);
  // releases of this package throw for files, and its API rejects most names of files
  if (provider.includes('bedrock') && !provider.includes('anthropic')) return false;
  // the packages drop other files without a word
  if (mediaType === 'application/pdf' || isGoogle(provider)) return true;
  return /^(?:openai|azure)/.test(provider) && !/^(?:audio|video)\//.test(mediaType);
}

/** Whether a provider reads images of this type; others reject the whole request, and every later one with it. */
const isReadable = (mediaType: string, url: string | undefined, provider: string): boolean =>
  isRaster(mediaType) ||
  (url !== undefined && mediaType === 'image/*') ||
  (isGoogle(provider) && /^image\/hei[cf]$/.test(mediaType));

const isWeb = (url: string): boolean => URL.canParse(url) && /^https?:/.test(url);

const whyNot = (part: ImagePart | FilePart, { provider }: ModelFacts): string =>
  takesParts.test(provider) && sourceOf(part).url !== undefined
    ? 'this provider accepts no such part by address in a tool result'
    : 'this provider accepts no such part in a tool result';

/** Joins the texts for Gemini, which needs exactly one text for each result. */
function joined(parts: readonly Record<string, unknown>[], { provider }: ModelFacts): object[] {
  if (!isGoogle(provider))
    return parts.filter(({ type, text }) => type !== 'text' || String(text).trim() !== '');
  const texts = parts.flatMap(({ type, text }) => (type === 'text' ? [String(text)] : []));
  const text = texts.filter((each) => each.trim() !== '').join('\n') || 'See the attached parts.';
  return [{ type: 'text', text }, ...parts.filter(({ type }) => type !== 'text')];
}
