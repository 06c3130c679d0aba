import { isRecord, parseJson, type JsonObject } from '../../json.ts';
import type { ContentPart } from '../../messages/content-part.ts';
import type { Message } from '../../messages/message.ts';
import type { InferenceRequest, ToolChoice } from '../inference-driver.ts';

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
}

export interface ModelFacts {
  readonly provider: string;
  readonly version: string;
}

/** What an answer's metadata keeps for the provider that gave it: signed reasoning, marks on calls. */
export interface KeptForProvider {
  readonly provider: string;
  readonly reasoning: readonly { readonly text: string; readonly providerOptions?: JsonObject }[];
  readonly calls: Readonly<Record<string, JsonObject>>;
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
  ] as const;
  const given = Object.fromEntries(
    known.flatMap((key) => (rest[key] === undefined ? [] : [[key, rest[key]]])),
  );
  return {
    ...given,
    ...(stop ? { stopSequences: stop } : null),
    prompt: prompt(request, about),
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

function prompt({ system, messages }: InferenceRequest, about: ModelFacts): object[] {
  const out: object[] = [];
  if (system) out.push({ role: 'system', content: system });
  let calls: ReadonlyMap<string, { readonly id: string; readonly name: string }> = new Map();
  let results: object[] | null = null;
  for (const message of messages) {
    if (message.isTool()) {
      const call = calls.get(message.toolCallId ?? '');
      // results of one answer belong into one message
      if (results === null) out.push({ role: 'tool', content: (results = []) });
      results.push({
        type: 'tool-result',
        toolCallId: call?.id ?? message.toolCallId,
        toolName: call?.name ?? message.name ?? 'tool',
        output: outputOf(message.text),
      });
      continue;
    }
    results = null;
    if (message.toolCalls.length > 0)
      calls = new Map(
        message.toolCalls.map(({ id, providerId, name }) => [id, { id: providerId ?? id, name }]),
      );
    out.push(promptMessage(message, about));
  }
  return out;
}

function promptMessage(message: Message, about: ModelFacts): object {
  const { content } = message;
  if (message.isSystem()) return { role: 'system', content: message.text };
  if (message.isAssistant()) return { role: 'assistant', content: assistantParts(message, about) };
  const parts = typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content;
  return { role: 'user', content: parts.map((part) => promptPart(part, about)) };
}

function assistantParts(message: Message, { provider }: ModelFacts): object[] {
  const kept = message.metadata['aiSdk'] as unknown as KeptForProvider | undefined; // written by the answer
  const own = kept?.provider === provider ? kept : undefined;
  const parts: object[] = (own?.reasoning ?? []).map((part) => ({ type: 'reasoning', ...part }));
  if (message.text !== '') parts.push({ type: 'text', text: message.text });
  for (const { id, providerId, name, args } of message.toolCalls) {
    const wireId = providerId ?? id;
    const providerOptions = own?.calls[wireId];
    parts.push({
      type: 'tool-call',
      toolCallId: wireId,
      toolName: name,
      input: args,
      ...(providerOptions ? { providerOptions } : null),
    });
  }
  return parts;
}

function promptPart(part: ContentPart, { version }: ModelFacts): object {
  if (part.type === 'text') return part;
  const mediaType =
    part.mediaType ?? (part.type === 'image' ? 'image/*' : 'application/octet-stream');
  const filename = part.type === 'file' && part.filename ? { filename: part.filename } : null;
  const url = part.url === undefined ? null : new URL(part.url);
  const plain = url ?? part.data ?? '';
  const wrapped = url ? { type: 'url', url } : { type: 'data', data: part.data ?? '' };
  return { type: 'file', data: version === 'v4' ? wrapped : plain, mediaType, ...filename };
}

/** Results that are JSON go as JSON; everything else is text. */
function outputOf(text: string): object {
  const parsed = text.startsWith('{') || text.startsWith('[') ? parseJson(text) : null;
  return parsed?.ok && (isRecord(parsed.value) || Array.isArray(parsed.value))
    ? { type: 'json', value: parsed.value }
    : { type: 'text', value: text };
}
