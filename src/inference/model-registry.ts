import { AgentError, show } from '../errors/agent-error.ts';
import { aiSdk, isAiSdkModel, type AiSdkModel } from './drivers/ai-sdk.ts';
import type { OpenAIOptions } from './drivers/openai.ts';
import type { InferenceChunk, InferenceDriver } from './inference-driver.ts';

/** A driver, a language model of the AI SDK, or a name such as `openai:gpt-5`. */
export type ModelInput = InferenceDriver | AiSdkModel | string;

/** Makes a model from the part of the name behind the colon. */
export type ModelFactory = (model: string) => InferenceDriver | AiSdkModel;

export interface ModelRegistry {
  resolve(name: string): InferenceDriver;
}

/** Providers that speak Chat Completions, with the variable that holds their key; those on one's own machine need none. */
const presets: Readonly<Record<string, OpenAIOptions>> = {
  openai: {},
  groq: { baseURL: 'https://api.groq.com/openai/v1', apiKeyVariable: 'GROQ_API_KEY' },
  deepseek: {
    baseURL: 'https://api.deepseek.com/v1',
    apiKeyVariable: 'DEEPSEEK_API_KEY',
    responseFormatMode: 'json_object',
  },
  mistral: { baseURL: 'https://api.mistral.ai/v1', apiKeyVariable: 'MISTRAL_API_KEY' },
  xai: { baseURL: 'https://api.x.ai/v1', apiKeyVariable: 'XAI_API_KEY' },
  together: { baseURL: 'https://api.together.xyz/v1', apiKeyVariable: 'TOGETHER_API_KEY' },
  fireworks: {
    baseURL: 'https://api.fireworks.ai/inference/v1',
    apiKeyVariable: 'FIREWORKS_API_KEY',
  },
  openrouter: { baseURL: 'https://openrouter.ai/api/v1', apiKeyVariable: 'OPENROUTER_API_KEY' },
  ollama: { baseURL: 'http://127.0.0.1:11434/v1' },
  lmstudio: { baseURL: 'http://127.0.0.1:1234/v1' },
  vllm: { baseURL: 'http://127.0.0.1:8000/v1' },
  llamacpp: { baseURL: 'http://127.0.0.1:8080/v1' },
};

/** Models by name: the known providers, and your own under their prefix. */
export function createModelRegistry(
  own: Readonly<Record<string, ModelFactory>> = {},
): ModelRegistry {
  return {
    resolve(name): InferenceDriver {
      const [, prefix = '', model = ''] = /^([^:]+):(.+)$/s.exec(name) ?? [];
      if (model !== '') {
        if (Object.hasOwn(own, prefix)) return driverOf((own[prefix] as ModelFactory)(model)); // it has it
        const preset = Object.hasOwn(presets, prefix) ? presets[prefix] : undefined;
        if (preset) return lazyOpenai(model, preset, name);
      }
      const known = [...new Set([...Object.keys(own), ...Object.keys(presets)])].join(', ');
      throw new AgentError(
        'invalid_option',
        `There is no model "${name}". Expected <provider>:<model> with a provider of: ${known}. ` +
          'Add others with createModelRegistry({ prefix: (model) => driver }).',
      );
    },
  };
}

const defaultRegistry = createModelRegistry();

/** The driver behind anything that names a model. */
export function driverOf(
  model: ModelInput,
  registry: ModelRegistry = defaultRegistry,
): InferenceDriver {
  if (typeof model === 'string') return registry.resolve(model);
  if (isAiSdkModel(model)) return aiSdk(model);
  if (typeof model?.infer === 'function') return model;
  throw new AgentError(
    'driver_missing',
    `An agent needs a model: a driver with infer(), an AI SDK language model, or a name such as "openai:gpt-5". It got ${show(model)}.`,
  );
}

/** Loads the driver with the first call, so that a name costs nothing until it is used. */
function lazyOpenai(model: string, options: OpenAIOptions, name: string): InferenceDriver {
  let loaded: Promise<InferenceDriver> | undefined;
  const load = (): Promise<InferenceDriver> =>
    (loaded ??= import('./drivers/openai.ts').then(({ openai }) => openai(model, options)));
  return {
    name,
    model,
    infer: async (request, given) => (await load()).infer(request, given),
    stream: (request, given) => ({
      [Symbol.asyncIterator]: () => {
        let inner: AsyncIterator<InferenceChunk> | undefined;
        const open = async (): Promise<AsyncIterator<InferenceChunk>> => {
          const chunks = (await load()).stream?.(request, given) ?? noChunks();
          return (inner = chunks[Symbol.asyncIterator]());
        };
        return {
          next: async () => (inner ?? (await open())).next(),
          return: async () => inner?.return?.() ?? { done: true, value: undefined },
        };
      },
    }),
  };
}

async function* noChunks(): AsyncGenerator<InferenceChunk> {}
