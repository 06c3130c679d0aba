import type { JsonObject, JsonValue } from '../../json.ts';
import type { ContentPart } from '../../messages/content-part.ts';
import type { Message } from '../../messages/message.ts';
import type { ToolCall } from '../../messages/tool-call.ts';
import type { InferenceRequest, ToolChoice } from '../inference-driver.ts';

/** How to ask; everything is optional and left to the provider's default. */
export interface ChatSettings {
  readonly temperature?: number;
  readonly topP?: number;
  readonly maxOutputTokens?: number;
  readonly stop?: readonly string[];
  readonly seed?: number;
  readonly parallelToolCalls?: boolean;
  /** `minimal`, `low`, `medium`, `high`, as far as the model knows the word. */
  readonly reasoningEffort?: string;
  /** Groups requests that share a beginning, so that they meet the same prompt cache. */
  readonly promptCacheKey?: string;
  /** Whether the response format has to be followed strictly. Default true. */
  readonly strictSchema?: boolean;
  /** Sent as they are, over anything above: for fields of one provider. */
  readonly extraBody?: JsonObject;
}

/** Names that differ between OpenAI itself and servers that speak its language. */
export interface ChatDialect {
  readonly maxTokensField: 'max_tokens' | 'max_completion_tokens';
  readonly developerRole: 'developer' | 'system';
}

/** The body of a Chat Completions request. */
export function chatBody(
  model: string,
  request: InferenceRequest,
  settings: ChatSettings,
  dialect: ChatDialect,
  stream: boolean,
): JsonObject {
  const { tools, toolChoice, responseFormat } = request;
  const body: Record<string, JsonValue> = { model, messages: wireMessages(request, dialect) };
  if (tools.length > 0) {
    body['tools'] = tools.map(({ name, description, parameters }) => ({
      type: 'function',
      function: { name, description, parameters },
    }));
    if (toolChoice !== 'auto') body['tool_choice'] = wireChoice(toolChoice);
    if (settings.parallelToolCalls !== undefined)
      body['parallel_tool_calls'] = settings.parallelToolCalls;
  }
  if (responseFormat)
    body['response_format'] = {
      type: 'json_schema',
      json_schema: {
        name: responseFormat.name,
        schema: responseFormat.schema,
        strict: settings.strictSchema ?? true,
      },
    };
  if (settings.temperature !== undefined) body['temperature'] = settings.temperature;
  if (settings.topP !== undefined) body['top_p'] = settings.topP;
  if (settings.maxOutputTokens !== undefined)
    body[dialect.maxTokensField] = settings.maxOutputTokens;
  if (settings.stop !== undefined) body['stop'] = settings.stop;
  if (settings.seed !== undefined) body['seed'] = settings.seed;
  if (settings.reasoningEffort !== undefined) body['reasoning_effort'] = settings.reasoningEffort;
  if (settings.promptCacheKey !== undefined) body['prompt_cache_key'] = settings.promptCacheKey;
  if (stream) {
    body['stream'] = true;
    body['stream_options'] = { include_usage: true };
  }
  return { ...body, ...settings.extraBody };
}

const wireChoice = (choice: ToolChoice): JsonValue =>
  typeof choice === 'string' ? choice : { type: 'function', function: { name: choice.tool } };

function wireMessages({ system, messages }: InferenceRequest, dialect: ChatDialect): JsonValue[] {
  const wire: JsonValue[] = [];
  if (system) wire.push({ role: 'system', content: system });
  let ids: ReadonlyMap<string, string> = new Map();
  for (const message of messages) {
    if (message.toolCalls.length > 0) ids = wireIds(message.toolCalls);
    wire.push(wireMessage(message, ids, dialect));
  }
  return wire;
}

function wireMessage(
  message: Message,
  ids: ReadonlyMap<string, string>,
  dialect: ChatDialect,
): JsonValue {
  const { role, content, toolCalls, toolCallId } = message;
  if (role === 'tool') {
    const id = toolCallId ?? '';
    return { role, tool_call_id: ids.get(id) ?? id, content: message.text };
  }
  if (toolCalls.length > 0)
    return {
      role,
      content: message.text === '' ? null : message.text,
      tool_calls: toolCalls.map((call) => ({
        id: ids.get(call.id) ?? call.id,
        type: 'function',
        function: { name: call.name, arguments: JSON.stringify(call.args) },
      })),
    };
  return {
    role: role === 'developer' ? dialect.developerRole : role,
    content: typeof content === 'string' ? content : content.map(wirePart),
  };
}

/** The provider's own ids, unless it gave one id to two calls. */
function wireIds(calls: readonly ToolCall[]): ReadonlyMap<string, string> {
  const given = calls.map(({ id, providerId }) => providerId ?? id);
  return new Map(
    calls.map(({ id }, i) => {
      const wire = given[i] ?? id;
      return [id, given.indexOf(wire) === i ? wire : id];
    }),
  );
}

function wirePart(part: ContentPart): JsonValue {
  if (part.type === 'text') return { type: 'text', text: part.text };
  const url =
    part.url ?? `data:${part.mediaType ?? 'application/octet-stream'};base64,${part.data ?? ''}`;
  if (part.type === 'image') return { type: 'image_url', image_url: { url } };
  return { type: 'file', file: { filename: part.filename ?? 'file', file_data: url } };
}
