import type { JsonObject, JsonValue } from '../../json.ts';
import { isBlank } from '../../messages/content-part.ts';
import type { InferenceRequest, ResponseFormat, ToolChoice } from '../inference-driver.ts';
import type { ChatSettings } from './chat-request.ts';
import type { BuiltInTool } from './openai-client.ts';
import { inputItems, type ResponsesDialect } from './responses-wire.ts';
import { providerSchema } from './provider-schema.ts';
import { schemaNote } from './schema-note.ts';
import { strictSchema } from './strict-schema.ts';

/** Request settings that only the Responses API has. */
export interface ResponsesSettings {
  /** How detailed a summary of the reasoning to return. Default: none. Some accounts need a verification. */
  readonly reasoningSummary?: 'auto' | 'concise' | 'detailed';
  /** Tools that the provider runs itself. Their calls and results are stored with the answer. */
  readonly builtInTools?: readonly BuiltInTool[];
}

/** Results to request for built-in tools, which the API leaves out by default. */
const resultsOf: Readonly<Record<string, string>> = {
  file_search: 'file_search_call.results',
  web_search: 'web_search_call.action.sources',
  code_interpreter: 'code_interpreter_call.outputs',
};

/** Creates the body of a Responses request. The provider stores nothing: reasoning returns encrypted. */
export function responsesBody(
  model: string,
  request: InferenceRequest,
  settings: ChatSettings & ResponsesSettings,
  dialect: ResponsesDialect,
  isStream: boolean,
): JsonObject {
  const { responseFormat } = request;
  const isLoose = settings.responseFormatMode === 'json_object';
  const note = responseFormat && isLoose ? schemaNote(responseFormat.schema) : null;
  const system = isBlank(request.system ?? '') ? null : request.system;
  const instructions = [system, note].filter((text) => text !== null).join('\n\n');
  const body: Record<string, JsonValue> = { model };
  if (instructions !== '') body['instructions'] = instructions;
  body['input'] = inputItems(request.messages, dialect);
  body['store'] = false;
  const include = includedBy(model, settings);
  if (include.length > 0) body['include'] = include;
  addTools(body, request, settings);
  if (responseFormat)
    body['text'] = {
      format: isLoose ? { type: 'json_object' } : wireFormat(responseFormat, settings.strictSchema),
    };
  const { reasoningEffort: effort, reasoningSummary: summary } = settings;
  if (effort !== undefined || summary !== undefined)
    body['reasoning'] = {
      ...(effort === undefined ? null : { effort }),
      ...(summary === undefined ? null : { summary }),
    };
  const { temperature, topP, maxOutputTokens, promptCacheKey } = settings;
  if (temperature !== undefined) body['temperature'] = temperature;
  if (topP !== undefined) body['top_p'] = topP;
  if (maxOutputTokens !== undefined) body['max_output_tokens'] = maxOutputTokens;
  if (promptCacheKey !== undefined) body['prompt_cache_key'] = promptCacheKey;
  if (isStream) body['stream'] = true;
  return { ...body, ...settings.extraBody };
}

function addTools(
  body: Record<string, JsonValue>,
  { tools, toolChoice }: InferenceRequest,
  { builtInTools = [], parallelToolCalls }: ChatSettings & ResponsesSettings,
): void {
  // a custom tool replaces the function of its name, because names are unique
  const custom = new Set(builtInTools.map((tool) => (tool.type === 'custom' ? tool.name : null)));
  const functions = tools.filter(({ name }) => !custom.has(name));
  const all: JsonValue[] = functions.map(({ name, description, parameters }) => ({
    type: 'function',
    name,
    description,
    parameters: providerSchema(parameters),
    // the default here is strict, which makes every optional argument required
    strict: false,
  }));
  all.push(...(builtInTools as unknown as readonly JsonObject[])); // plain data of the SDK's types
  if (all.length === 0) return;
  body['tools'] = all;
  if (toolChoice !== 'auto') body['tool_choice'] = wireChoice(toolChoice, custom);
  if (parallelToolCalls !== undefined) body['parallel_tool_calls'] = parallelToolCalls;
}

/** Returns what the answer must include: encrypted reasoning, which other models reject, and results of tools. */
function includedBy(model: string, settings: ChatSettings & ResponsesSettings): string[] {
  const { reasoningEffort, reasoningSummary, builtInTools = [] } = settings;
  const isReasoning =
    reasoningEffort !== undefined || reasoningSummary !== undefined || reasoningModel.test(model);
  const results = builtInTools.map(({ type }) => resultsOf[type]);
  return [...new Set([isReasoning ? 'reasoning.encrypted_content' : undefined, ...results])].filter(
    (name) => name !== undefined,
  );
}

const reasoningModel = /^(?:ft:)?(?:o\d|codex|gpt-(?:[5-9]|\d\d)(?!-chat))/;

function wireFormat({ name, schema }: ResponseFormat, isStrict?: boolean): JsonObject {
  const closed = isStrict === false ? null : strictSchema(schema);
  return {
    type: 'json_schema',
    name,
    schema: closed ?? providerSchema(schema),
    strict: isStrict ?? closed !== null,
  };
}

const wireChoice = (choice: ToolChoice, custom: ReadonlySet<string | null>): JsonValue =>
  typeof choice === 'string'
    ? choice
    : { type: custom.has(choice.tool) ? 'custom' : 'function', name: choice.tool };
