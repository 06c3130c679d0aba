import type { JsonObject, JsonValue } from '../../json.ts';
import type { InferenceRequest, ResponseFormat, ToolChoice } from '../inference-driver.ts';
import { cacheMarks, toolPlace, type PromptCache } from './cache-marks.ts';
import { markField } from './chat-marks.ts';
import { wireMessages, type ChatDialect } from './chat-wire.ts';
import { providerSchema } from './provider-schema.ts';
import { schemaNote } from './schema-note.ts';
import { strictSchema } from './strict-schema.ts';

/** Request settings; all are optional and default to the provider's. */
export interface ChatSettings {
  readonly temperature?: number;
  readonly topP?: number;
  readonly maxOutputTokens?: number;
  readonly stop?: readonly string[];
  readonly seed?: number;
  readonly parallelToolCalls?: boolean;
  /** How much to reason. Each model supports some of the values. */
  readonly reasoningEffort?:
    | 'none'
    | 'minimal'
    | 'low'
    | 'medium'
    | 'high'
    | 'xhigh'
    | 'max'
    | (string & {});
  /** Groups requests that share a prefix, so that they use the same prompt cache. */
  readonly promptCacheKey?: string;
  /**
   * Which cache marks to send: `auto`, `on` or `off`. Default `auto`, for models of Anthropic at OpenRouter. `on` is for
   * other servers with Chat Completions that accept `cache_control`.
   */
  readonly promptCache?: PromptCache;
  /** Whether the response format is strict. Default: if the schema allows it. */
  readonly strictSchema?: boolean;
  /**
   * How to request a response format: by schema, or, for servers that accept none, as any JSON with the schema in the
   * prompt.
   */
  readonly responseFormatMode?: 'json_schema' | 'json_object';
  /** Whether to request the usage of a stream. Default true; false for servers that reject `stream_options`. */
  readonly streamUsage?: boolean;
  /** Fields that are sent unchanged and win over all others, for one provider. */
  readonly extraBody?: JsonObject;
}

/** Creates the body of a Chat Completions request. */
export function chatBody(
  model: string,
  request: InferenceRequest,
  settings: ChatSettings,
  dialect: ChatDialect,
  isStream: boolean,
): JsonObject {
  const { tools, toolChoice, responseFormat } = request;
  const isLoose = settings.responseFormatMode === 'json_object';
  const note = responseFormat && isLoose ? schemaNote(responseFormat.schema) : null;
  const system = [request.system, note].filter(Boolean).join('\n\n') || null;
  const marks = cacheMarks({ ...request, system }, dialect.marks ?? null);
  const body: Record<string, JsonValue> = {
    model,
    messages: wireMessages(request, system, dialect, marks),
  };
  if (tools.length > 0) {
    body['tools'] = tools.map(({ name, description, parameters }, i) => ({
      type: 'function',
      function: { name, description, parameters: providerSchema(parameters) },
      ...markField(marks.get(toolPlace(i, tools.length))),
    }));
    if (toolChoice !== 'auto') body['tool_choice'] = wireChoice(toolChoice);
    if (settings.parallelToolCalls !== undefined)
      body['parallel_tool_calls'] = settings.parallelToolCalls;
  }
  if (responseFormat)
    body['response_format'] = isLoose
      ? { type: 'json_object' }
      : { type: 'json_schema', json_schema: wireFormat(responseFormat, settings.strictSchema) };
  const { maxOutputTokens, reasoningEffort, promptCacheKey, streamUsage = true } = settings;
  if (settings.temperature !== undefined) body['temperature'] = settings.temperature;
  if (settings.topP !== undefined) body['top_p'] = settings.topP;
  if (maxOutputTokens !== undefined) body[dialect.maxTokensField] = maxOutputTokens;
  if (settings.stop !== undefined) body['stop'] = settings.stop;
  if (settings.seed !== undefined) body['seed'] = settings.seed;
  if (reasoningEffort !== undefined) body['reasoning_effort'] = reasoningEffort;
  if (promptCacheKey !== undefined) body['prompt_cache_key'] = promptCacheKey;
  if (isStream) {
    body['stream'] = true;
    if (streamUsage) body['stream_options'] = { include_usage: true };
  }
  return { ...body, ...settings.extraBody };
}

function wireFormat({ name, schema }: ResponseFormat, isStrict?: boolean): JsonObject {
  const closed = isStrict === false ? null : strictSchema(schema);
  return { name, schema: closed ?? providerSchema(schema), strict: isStrict ?? closed !== null };
}

const wireChoice = (choice: ToolChoice): JsonValue =>
  typeof choice === 'string' ? choice : { type: 'function', function: { name: choice.tool } };
