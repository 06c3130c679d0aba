import type { JsonObject } from '../../json.ts';
import type { InferenceRequest, ResponseFormat, ToolChoice } from '../inference-driver.ts';
import { aiSdkMarks } from './ai-sdk-marks.ts';
import { aiSdkPrompt, type ModelFacts } from './ai-sdk-prompt.ts';
import { toolPlace, type PromptCache } from './cache-marks.ts';
import { thinkingFor } from './foreign-calls.ts';
import { schemaNote } from './schema-note.ts';
import { strictSchema } from './strict-schema.ts';

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
  /** Which cache marks to send: `auto`, `on` or `off`. Default `auto`. */
  readonly promptCache?: PromptCache;
  /** Provider settings of the system prompt only, such as `{ anthropic: { cacheControl: { type: 'ephemeral' } } }`. */
  readonly systemOptions?: Readonly<Record<string, JsonObject>>;
  /**
   * Tools that the provider runs or defines, by name: `{ web_search: anthropic.tools.webSearch_20250305() }`. A tool of
   * the agent with the same name runs the calls of one that the provider only defines.
   */
  readonly providerTools?: Readonly<Record<string, AiSdkProviderTool>>;
  /** `low`, `medium`, `high` and so on, for models of specification v4; older ones use `providerOptions`. */
  readonly reasoning?: string;
}

/** A tool that the provider runs or defines, such as `anthropic.tools.webSearch_20250305()`. Only its shape counts. */
export interface AiSdkProviderTool {
  /** Id of the provider, such as `anthropic.web_search_20250305`. */
  readonly id?: string;
  readonly args?: unknown;
  /** Not used. Some packages declare no other field. */
  readonly inputSchema?: unknown;
}

/** Creates the options of `doGenerate` and `doStream`, which differ between specifications only in files. */
export function callOptions(
  asked: InferenceRequest,
  given: AiSdkSettings,
  about: ModelFacts,
  abortSignal: AbortSignal,
): object {
  const settings = thinkingFor(asked.messages, given, about);
  const { providerTools = {} } = settings;
  // names are unique: the provider's definition replaces that of the agent
  const tools = asked.tools.filter(({ name }) => !Object.hasOwn(providerTools, name));
  const request = withNote({ ...asked, tools }, about);
  const { toolChoice, responseFormat } = request;
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
  const own = ownTools(providerTools, about.version);
  const format = responseFormat && formatOf(responseFormat, about, settings.providerOptions);
  const options = Object.fromEntries(
    known.flatMap((key) => (rest[key] === undefined ? [] : [[key, rest[key]]])),
  );
  const { marks: wire = null } = about;
  const { providerOptions, systemOptions } = settings;
  const marks = aiSdkMarks(request, wire, providerOptions, systemOptions);
  const toolMark = (index: number): object | null => {
    const ttl = marks.get(toolPlace(index, tools.length));
    return wire && ttl ? { providerOptions: wire.options(ttl) } : null;
  };
  return {
    ...options,
    ...(stop ? { stopSequences: stop } : null),
    prompt: aiSdkPrompt(request, systemOptions, about, marks),
    abortSignal,
    ...(tools.length + own.length > 0
      ? {
          tools: [
            ...tools.map(({ name, description, parameters }, i) => ({
              type: 'function',
              name,
              description,
              inputSchema: parameters,
              ...toolMark(i),
              // the default of this API is strict, which makes every optional argument required
              ...(isResponses.test(about.provider) && about.version !== 'v2' && { strict: false }),
            })),
            ...own,
          ],
          toolChoice: choice(toolChoice),
        }
      : null),
    ...format,
  };
}

const isResponses = /^(?:openai|azure)[\w-]*\.responses/;

/** Names of the custom tools, whose input is a text. */
export const textToolsOf = (tools: AiSdkSettings['providerTools'] = {}): ReadonlySet<string> =>
  new Set(Object.keys(tools).filter((name) => tools[name]?.id?.endsWith('.custom')));

/** Adds the schema to the prompt if the package drops it; servers require the word JSON there too. */
function withNote(request: InferenceRequest, { dropsSchema }: ModelFacts): InferenceRequest {
  const { system, responseFormat } = request;
  if (!responseFormat || dropsSchema !== true) return request;
  return {
    ...request,
    system: [system, schemaNote(responseFormat.schema)].filter(Boolean).join('\n\n'),
  };
}

const ownTools = (
  tools: Readonly<Record<string, AiSdkProviderTool>>,
  version: string,
): readonly object[] =>
  Object.entries(tools).map(([name, { id = name, args = {} }]) => ({
    type: version === 'v2' ? 'provider-defined' : 'provider',
    id,
    name,
    args,
  }));

/** Closes the schema for strict mode, which packages request by default; otherwise turns strict mode off. */
function formatOf(
  { name, schema }: ResponseFormat,
  { provider, dropsSchema }: ModelFacts,
  providerOptions: AiSdkSettings['providerOptions'] = {},
): object {
  if (dropsSchema === true) return { responseFormat: { type: 'json', name } };
  const closed = strictSchema(schema);
  const responseFormat = { type: 'json', schema: closed ?? schema, name };
  if (closed) return { responseFormat };
  const options = Object.fromEntries(
    optionNames(provider).map((key) => [key, { strictJsonSchema: false, ...providerOptions[key] }]),
  );
  return { responseFormat, providerOptions: { ...providerOptions, ...options } };
}

/** Names under which a package reads its options: its own, and that of the package it is built on. */
function optionNames(provider: string): readonly string[] {
  const [name = ''] = provider.split('.');
  if (name === 'azure') return ['azure', 'openai'];
  return name === 'openai' ? [name] : [name, 'openaiCompatible'];
}

const choice = (toolChoice: ToolChoice): object =>
  typeof toolChoice === 'string'
    ? { type: toolChoice }
    : { type: 'tool', toolName: toolChoice.tool };
