import type { JsonObject } from '../../json.ts';
import type { InferenceRequest, ResponseFormat } from '../inference-driver.ts';
import { isGoogle } from './ai-sdk-model.ts';
import type { ModelFacts } from './ai-sdk-prompt.ts';
import type { AiSdkSettings } from './ai-sdk-request.ts';
import { providerSchema, rootSchema } from './provider-schema.ts';
import { schemaNote } from './schema-note.ts';
import { isRecursive } from './schema-refs.ts';
import { strictSchema } from './strict-schema.ts';

/** How a response format is sent. */
export interface SentFormat {
  /** Text to add to the system prompt; null if the wire takes the schema. */
  readonly note: string | null;
  /** Fields of the call options. */
  readonly options: object | null;
}

/** Decides how to send a response format: by the wire of the provider, or as a text where it refuses the schema. */
export function sentFormat(
  { responseFormat, tools }: InferenceRequest,
  settings: AiSdkSettings,
  about: ModelFacts,
): SentFormat {
  if (!responseFormat) return { note: null, options: null };
  const { name, schema } = responseFormat;
  const note = schemaNote(schema);
  const json = { responseFormat: { type: 'json', name } };
  // servers without schemas require the word JSON in the prompt
  if (about.dropsSchema === true) return { note, options: json };
  if (isGoogle(about.provider)) {
    const { providerTools = {} } = settings;
    const hasTools = tools.length + Object.keys(providerTools).length > 0;
    // before version 3, Gemini refuses JSON beside tools
    if (hasTools && oldGemini.test(about.family ?? '')) return { note, options: null };
    if (isRecursive(schema)) return { note, options: json };
  }
  return { note: null, options: wireFormat(responseFormat, about, settings.providerOptions) };
}

const oldGemini = /gemini-(?:1|2)\b/;

/** Closes the schema for strict mode, which packages request by default; otherwise turns strict mode off. */
function wireFormat(
  { name, schema }: ResponseFormat,
  { provider }: ModelFacts,
  providerOptions: AiSdkSettings['providerOptions'] = {},
): object {
  const closed = strictSchema(schema);
  if (closed) return { responseFormat: { type: 'json', schema: closed, name } };
  const options = Object.fromEntries(
    optionNames(provider).map((key) => [key, { strictJsonSchema: false, ...providerOptions[key] }]),
  );
  return {
    responseFormat: { type: 'json', schema: wireSchema(schema, provider), name },
    providerOptions: { ...providerOptions, ...options },
  };
}

/** Returns a schema as the package of a provider accepts it. */
export const wireSchema = (schema: JsonObject, provider: string): JsonObject =>
  isGoogle(provider) ? rootSchema(schema) : providerSchema(schema);

/** Names under which a package reads its options: its own, and that of the package it is built on. */
function optionNames(provider: string): readonly string[] {
  const [name = ''] = provider.split('.');
  if (name === 'azure') return ['azure', 'openai'];
  return name === 'openai' ? [name] : [name, 'openaiCompatible'];
}
