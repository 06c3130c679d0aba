import { show } from '../../errors/agent-error.ts';
import { isVector } from '../../file-facts.ts';
import { isRecord, type JsonObject } from '../../json.ts';
import { isBlank, spokenParts, type ContentPart } from '../../messages/content-part.ts';
import type { Message } from '../../messages/message.ts';
import type { ToolCall } from '../../messages/tool-call.ts';
import type { InferenceRequest } from '../inference-driver.ts';
import { modelCallFailed } from '../inference-error.ts';
import { markedSystem, type AiSdkMarkWire } from './ai-sdk-marks.ts';
import { assistantParts } from './ai-sdk-parts.ts';
import { resultOutput } from './ai-sdk-result.ts';
import type { CacheMarks } from './cache-marks.ts';
import { leftOut, noVector, sourceOf } from '../../messages/media-type.ts';
import { acceptedIds, wireIds, wireName } from './wire-ids.ts';

export interface ModelFacts {
  readonly provider: string;
  readonly version: string;
  /** Family of the model, and the account: only the same ones get state back. */
  readonly family?: string;
  readonly account?: string;
  /** How to send cache marks; absent or null if the provider gets none. */
  readonly marks?: AiSdkMarkWire | null;
  /** Names of the custom tools, whose input is a text. */
  readonly textTools?: ReadonlySet<string>;
  /** Whether the package drops the schema of a response format. */
  readonly dropsSchema?: boolean;
  /** Addresses that the provider fetches by itself, by media type; absent if the package does not say. */
  readonly supportedUrls?: Readonly<Record<string, readonly RegExp[]>>;
}

/** Converts the conversation to a prompt of the AI SDK. Blank texts are omitted, because providers reject them. */
export function aiSdkPrompt(
  { system, messages }: InferenceRequest,
  systemOptions: Readonly<Record<string, JsonObject>> | undefined,
  about: ModelFacts,
  marks: CacheMarks,
): object[] {
  const out: object[] = [];
  const wire = about.marks ?? null;
  const options = markedSystem(marks, wire, systemOptions);
  if (system && !isBlank(system))
    out.push({ role: 'system', content: system, ...(options && { providerOptions: options }) });
  /** Returns the mark of a message, which packages put on its last part. */
  const mark = (place: number): object | null => {
    const ttl = marks.get(place);
    return wire && ttl ? { providerOptions: wire.options(ttl) } : null;
  };
  const accepted = acceptedIds(about.provider, about.family);
  let ids: ReadonlyMap<string, string> = new Map();
  let calls: readonly ToolCall[] = [];
  let results: { readonly role: 'tool'; readonly content: object[] } | null = null;
  let isFirst = true;
  const last = messages.last();
  for (const [i, message] of [...messages].entries()) {
    if (message.isTool()) {
      const id = message.toolCallId ?? '';
      const call = calls.find((known) => known.id === id);
      // results of one answer belong in one message
      if (results === null) out.push((results = { role: 'tool', content: [] }));
      results.content.push({
        type: 'tool-result',
        toolCallId: ids.get(id) ?? id,
        toolName: wireName(call?.via ?? call?.name ?? message.name ?? 'tool'),
        output: resultOutput(message, about),
      });
      const marked = mark(i);
      // a mark is at the end of a message; packages join the next one
      if (marked) {
        Object.assign(results, marked);
        results = null;
      }
      continue;
    }
    if (message.isAssistant()) {
      if (message.toolCalls.length > 0) {
        calls = message.toolCalls;
        ids = wireIds(calls, accepted);
      }
      const content = assistantParts(
        message,
        about,
        ids,
        messages.at(i + 1)?.isAssistant() ?? true,
      );
      if (content.length === 0) continue;
      out.push({ role: 'assistant', content, ...mark(i) });
    } else {
      // a provider rejects the last one, and the next turn omits it
      if (isBlank(message.content) && message !== last) continue;
      isFirst &&= message.isSystem();
      out.push({ ...promptMessage(message, about, isFirst), ...mark(i) });
    }
    results = null;
  }
  return out;
}

function promptMessage(message: Message, about: ModelFacts, isFirst: boolean): object {
  if (message.isSystem())
    return isFirst || !systemFirst.test(about.provider)
      ? { role: 'system', content: message.text }
      : { role: 'user', content: [{ type: 'text', text: `<system>\n${message.text}\n</system>` }] };
  return {
    role: 'user',
    content: spokenParts(message.content).map((part) => promptPart(part, about)),
  };
}

/** Packages that reject a system message after another message. */
const systemFirst = /anthropic|google|vertex|bedrock/;

/** Packages that throw for images by an address that they do not list. */
const needsBytes = /^amazon-bedrock/;

function promptPart(part: ContentPart, about: ModelFacts): object {
  if (part.type === 'text') return part;
  const { data, url: address = '', mediaType } = sourceOf(part);
  if (isVector(mediaType)) return { type: 'text', text: leftOut(part, noVector) };
  const isV4 = about.version === 'v4';
  const filename = part.type === 'file' && part.filename ? { filename: part.filename } : null;
  // the packages expect bytes, also for data URLs
  if (data !== undefined)
    return { type: 'file', data: isV4 ? { type: 'data', data } : data, mediaType, ...filename };
  const url = addressOf(address);
  // most packages send images by any address, and throw for other files
  const isStrict = needsBytes.test(about.provider);
  const known = isStrict ? (about.supportedUrls ?? {}) : about.supportedUrls;
  if ((isStrict || !mediaType.startsWith('image/')) && !isSupported(known, mediaType, url.href))
    return { type: 'text', text: leftOut(part, 'this provider accepts no such file by address') };
  return { type: 'file', data: isV4 ? { type: 'url', url } : url, mediaType, ...filename };
}

function isSupported(known: ModelFacts['supportedUrls'], mediaType: string, url: string): boolean {
  if (known === undefined) return true;
  return Object.entries(known).some(
    ([pattern, addresses]) =>
      (pattern === '*' ||
        pattern === '*/*' ||
        pattern === mediaType ||
        (pattern.endsWith('/*') && mediaType.startsWith(pattern.slice(0, -1)))) &&
      addresses.some((address) => address.test(url)),
  );
}

function addressOf(url: string): URL {
  if (URL.canParse(url)) return new URL(url);
  throw modelCallFailed({
    type: 'model',
    code: 'invalid_request',
    message: `The url of a part is ${show(url)}, expected a URL such as https://….`,
    retryable: false,
  });
}

/** Returns what a package says about addresses; undefined if it says nothing that can be read. */
export async function supportedUrlsOf(model: object): Promise<ModelFacts['supportedUrls']> {
  const urls: unknown = await (model as { readonly supportedUrls?: unknown }).supportedUrls;
  if (!isRecord(urls)) return undefined;
  const isList = (list: unknown): boolean =>
    Array.isArray(list) && list.every((item) => item instanceof RegExp);
  return Object.values(urls).every(isList)
    ? (urls as NonNullable<ModelFacts['supportedUrls']>) // checked
    : undefined;
}
