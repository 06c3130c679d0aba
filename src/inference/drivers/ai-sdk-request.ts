import { show } from '../../errors/agent-error.ts';
import { isRecord, parseJson, type JsonObject } from '../../json.ts';
import type { ContentPart } from '../../messages/content-part.ts';
import type { Message } from '../../messages/message.ts';
import type { ToolCall } from '../../messages/tool-call.ts';
import type { InferenceRequest, ToolChoice } from '../inference-driver.ts';
import { modelCallFailed } from '../inference-error.ts';
import { assistantParts } from './ai-sdk-parts.ts';
import { mediaTypeOf } from './media-type.ts';
import { wireIds, wireName } from './wire-ids.ts';

export interface AiSdkSettings {
  readonly temperature?: number;
  readonly topP?: number;
  readonly topK?: number;
  readonly maxOutputTokens?: number;
  readonly stop?: readonly string[];
  readonly seed?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Settings of one provider, such as `{ anthropic: { thinking: … } }`. */
  readonly providerOptions?: Readonly<Record<string, JsonObject>>;
  /** The same for the system prompt alone, such as `{ anthropic: { cacheControl: { type: 'ephemeral' } } }`. */
  readonly systemOptions?: Readonly<Record<string, JsonObject>>;
  /** `low`, `medium`, `high` and so on, for models of specification v4; older ones take it in `providerOptions`. */
  readonly reasoning?: string;
}

export interface ModelFacts {
  readonly provider: string;
  readonly version: string;
}

/** The options of `doGenerate` and `doStream`, which are the same in every specification but for files. */
export function callOptions(
  request: InferenceRequest,
  settings: AiSdkSettings,
  about: ModelFacts,
  abortSignal: AbortSignal,
): object {
  const { tools, toolChoice, responseFormat } = request;
  const { stop, ...rest } = settings;
  const known = [
    'temperature',
    'topP',
    'topK',
    'maxOutputTokens',
    'seed',
    'headers',
    'providerOptions',
    'reasoning',
  ] as const;
  const given = Object.fromEntries(
    known.flatMap((key) => (rest[key] === undefined ? [] : [[key, rest[key]]])),
  );
  return {
    ...given,
    ...(stop ? { stopSequences: stop } : null),
    prompt: prompt(request, settings, about),
    abortSignal,
    ...(tools.length > 0
      ? {
          tools: tools.map(({ name, description, parameters }) => ({
            type: 'function',
            name,
            description,
            inputSchema: parameters,
          })),
          toolChoice: choice(toolChoice),
        }
      : null),
    ...(responseFormat
      ? {
          responseFormat: {
            type: 'json',
            schema: responseFormat.schema,
            name: responseFormat.name,
          },
        }
      : null),
  };
}

const choice = (toolChoice: ToolChoice): object =>
  typeof toolChoice === 'string'
    ? { type: toolChoice }
    : { type: 'tool', toolName: toolChoice.tool };

function prompt(
  { system, messages }: InferenceRequest,
  { systemOptions }: AiSdkSettings,
  about: ModelFacts,
): object[] {
  const out: object[] = [];
  const options = systemOptions ? { providerOptions: systemOptions } : null;
  if (system) out.push({ role: 'system', content: system, ...options });
  let ids: ReadonlyMap<string, string> = new Map();
  let calls: readonly ToolCall[] = [];
  let results: object[] | null = null;
  let isFirst = true;
  for (const message of messages) {
    if (message.isTool()) {
      const id = message.toolCallId ?? '';
      const call = calls.find((known) => known.id === id);
      // results of one answer belong into one message
      if (results === null) out.push({ role: 'tool', content: (results = []) });
      results.push({
        type: 'tool-result',
        toolCallId: ids.get(id) ?? id,
        toolName: wireName(call?.name ?? message.name ?? 'tool'),
        output: outputOf(message.text),
      });
      continue;
    }
    results = null;
    if (message.toolCalls.length > 0) {
      calls = message.toolCalls;
      ids = wireIds(calls);
    }
    // an answer without a word is refused by some, and tells nothing
    else if (message.isAssistant() && message.text === '') continue;
    isFirst &&= message.isSystem();
    out.push(promptMessage(message, ids, about, isFirst));
  }
  return out;
}

function promptMessage(
  message: Message,
  ids: ReadonlyMap<string, string>,
  about: ModelFacts,
  isFirst: boolean,
): object {
  const { content } = message;
  if (message.isSystem())
    return isFirst || !systemFirst.test(about.provider)
      ? { role: 'system', content: message.text }
      : { role: 'user', content: [{ type: 'text', text: `<system>\n${message.text}\n</system>` }] };
  if (message.isAssistant())
    return { role: 'assistant', content: assistantParts(message, about.provider, ids) };
  const parts = typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content;
  return { role: 'user', content: parts.map((part) => promptPart(part, about)) };
}

/** Packages that refuse a system message behind the first word of the conversation. */
const systemFirst = /anthropic|google|vertex|bedrock/;

function promptPart(part: ContentPart, { version }: ModelFacts): object {
  if (part.type === 'text') return part;
  const filename = part.type === 'file' && part.filename ? { filename: part.filename } : null;
  // the packages want bytes as bytes, also those that came as an address
  const [, inType, inData] = /^data:([^;,]+);base64,(.*)$/s.exec(part.url ?? '') ?? [];
  const data = inData ?? (part.url === undefined ? (part.data ?? '') : undefined);
  const mediaType = part.mediaType ?? inType;
  if (data !== undefined)
    return {
      type: 'file',
      data: version === 'v4' ? { type: 'data', data } : data,
      mediaType: mediaType ?? mediaTypeOf(part),
      ...filename,
    };
  const url = addressOf(part.url ?? '');
  return {
    type: 'file',
    data: version === 'v4' ? { type: 'url', url } : url,
    mediaType: mediaType ?? (part.type === 'image' ? 'image/*' : mediaTypeOf(part)),
    ...filename,
  };
}

function addressOf(url: string): URL {
  if (URL.canParse(url)) return new URL(url);
  throw modelCallFailed({
    type: 'model',
    code: 'invalid_request',
    message: `The url of a part is ${show(url)}, expected an address such as https://….`,
    retryable: false,
  });
}

/** Results that are JSON go as JSON; everything else is text. */
function outputOf(text: string): object {
  const parsed = text.startsWith('{') || text.startsWith('[') ? parseJson(text) : null;
  return parsed?.ok && (isRecord(parsed.value) || Array.isArray(parsed.value))
    ? { type: 'json', value: parsed.value }
    : { type: 'text', value: text };
}
