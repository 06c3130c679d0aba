import type { JsonObject } from '../../json.ts';
import { wellFormed } from '../../well-formed.ts';
import type { InferenceRequest, ToolChoice } from '../inference-driver.ts';
import { sentFormat, wireSchema } from './ai-sdk-format.ts';
import { aiSdkMarks } from './ai-sdk-marks.ts';
import { aiSdkPrompt, type ModelFacts } from './ai-sdk-prompt.ts';
import { toolPlace, type PromptCache } from './cache-marks.ts';
import { thinkingFor } from './foreign-calls.ts';

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
  const format = sentFormat(asked, settings, about);
  const system = [asked.system, format.note].filter(Boolean).join('\n\n');
  const request = { ...asked, tools, ...(format.note !== null && { system }) };
  const { toolChoice } = request;
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
    prompt: wellFormed(aiSdkPrompt(request, systemOptions, about, marks)),
    abortSignal,
    ...(tools.length + own.length > 0
      ? {
          tools: [
            ...tools.map(({ name, description, parameters }, i) => ({
              type: 'function',
              name,
              description: wellFormed(description),
              inputSchema: wireSchema(parameters, about.provider),
              ...toolMark(i),
              // the default of this API is strict, which makes every optional argument required
              ...(isResponses.test(about.provider) && about.version !== 'v2' && { strict: false }),
            })),
            ...own,
          ],
          toolChoice: choice(toolChoice),
        }
      : null),
    ...format.options,
  };
}

const isResponses = /^(?:openai|azure)[\w-]*\.responses/;

/** Names of the custom tools, whose input is a text. */
export const textToolsOf = (tools: AiSdkSettings['providerTools'] = {}): ReadonlySet<string> =>
  new Set(Object.keys(tools).filter((name) => tools[name]?.id?.endsWith('.custom')));

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

const choice = (toolChoice: ToolChoice): object =>
  typeof toolChoice === 'string'
    ? { type: toolChoice }
    : { type: 'tool', toolName: toolChoice.tool };
