import { AgentError, show } from '../errors/agent-error.ts';
import { isAiSdkModel, namesOfAiSdkModel, type AiSdkModel } from './drivers/ai-sdk-model.ts';
import type { OpenAIOptions } from './drivers/openai.ts';
import type { InferenceDriver } from './inference-driver.ts';
import { own } from '../json.ts';
import { nearName } from '../near-name.ts';
import { lazyDriver } from './lazy-driver.ts';
import { providerPackages, type ProviderPackage } from './provider-packages.ts';

/** A driver, an AI SDK language model, or a name such as `openai:gpt-5`. */
export type ModelInput = InferenceDriver | AiSdkModel | string;

/** Creates a model from the part of the name after the colon. */
export type ModelFactory = (model: string) => InferenceDriver | AiSdkModel;

export interface ModelRegistry {
  resolve(name: string): InferenceDriver;
}

/** Providers with Chat Completions, and the environment variable of their key; local servers need none. */
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

/** Creates a registry of model names: the known providers, and your own prefixes. */
export function createModelRegistry(
  factories: Readonly<Record<string, ModelFactory>> = {},
): ModelRegistry {
  return {
    resolve(name): InferenceDriver {
      const [prefix, model] = parts(name);
      if (model !== '') {
        const factory = own(factories, prefix);
        if (factory) return driverOf(factory(model));
        const preset = own(presets, prefix);
        if (preset) return openaiDriver(name, model, preset);
        const provider = own(providerPackages, prefix);
        if (provider) return packageDriver(name, model, provider);
      }
      throw unknownModel(name, [
        ...new Set([
          ...Object.keys(factories),
          ...Object.keys(presets),
          ...Object.keys(providerPackages),
        ]),
      ]);
    },
  };
}

/** Returns the package that the model of a name needs; null if the name is not of a known provider. */
export function packageOfModel(name: string): string | null {
  const [prefix] = parts(name);
  if (own(presets, prefix)) return 'openai';
  return own(providerPackages, prefix)?.name ?? null;
}

/** Splits `provider:model`. */
function parts(name: string): readonly [string, string] {
  const [, prefix = '', model = ''] = /^([^:]+):(.+)$/s.exec(name) ?? [];
  return [prefix, model];
}

/** Words with which people begin a name, and the provider that they mean. */
const synonyms: Readonly<Record<string, string>> = {
  aws: 'bedrock',
  'amazon-bedrock': 'bedrock',
  'google-vertex': 'vertex',
  claude: 'anthropic',
  gemini: 'google',
  gpt: 'openai',
  grok: 'xai',
};

function unknownModel(name: string, known: readonly string[]): AgentError {
  const meant = meantBy(name, known);
  return new AgentError(
    'invalid_option',
    `There is no model ${show(name)}. ${meant === null ? '' : `Did you mean ${show(meant)}? `}` +
      `Expected <provider>:<model> with a provider of: ${known.join(', ')}. ` +
      'Add others with createModelRegistry({ prefix: (model) => driver }).',
  );
}

/** Returns the name that was probably meant: `antropic:m`, `anthropic/m` and `claude-m` are near to one. */
function meantBy(name: string, known: readonly string[]): string | null {
  const [, first = '', rest = ''] = /^([^:/]+)[:/](.+)$/s.exec(name) ?? [];
  const near = own(synonyms, first) ?? nearName(first, known);
  if (rest !== '' && near !== null && near !== undefined) return `${near}:${rest}`;
  const family = own(synonyms, /^[a-z]+(?=-)/.exec(name)?.[0] ?? '');
  return family === undefined ? null : `${family}:${name}`;
}

const defaultRegistry = createModelRegistry();

/** Whether a value is a driver, an AI SDK model or a name. */
export const isModelInput = (value: unknown): value is ModelInput =>
  typeof value === 'string' ||
  isAiSdkModel(value) ||
  typeof (value as Partial<InferenceDriver> | null | undefined)?.infer === 'function';

/** Returns the driver of a model. */
export function driverOf(
  model: ModelInput,
  registry: ModelRegistry = defaultRegistry,
): InferenceDriver {
  if (typeof model === 'string') return registry.resolve(model);
  if (isAiSdkModel(model)) return aiSdkDriver(model);
  if (typeof model?.infer === 'function') return model;
  throw new AgentError(
    'driver_missing',
    `An agent needs a model: a driver with infer(), an AI SDK language model, or a name such as "openai:gpt-5". It got ${show(model)}.`,
  );
}

const openaiDriver = (name: string, model: string, options: OpenAIOptions): InferenceDriver =>
  lazyDriver({ name, model }, async () => {
    const { openai } = await import('./drivers/openai.ts');
    return openai(model, options);
  });

const packageDriver = (name: string, model: string, provider: ProviderPackage): InferenceDriver =>
  lazyDriver({ name, model }, async () => {
    const module = await import('./drivers/ai-sdk-package.ts');
    return module.packageDriver(name, model, provider);
  });

const aiSdkDriver = (model: AiSdkModel): InferenceDriver =>
  lazyDriver(namesOfAiSdkModel(model), async () => {
    const { aiSdk } = await import('./drivers/ai-sdk.ts');
    return aiSdk(model);
  });
