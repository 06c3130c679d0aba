import type { InferenceDriver } from '../inference/inference-driver.ts';

/** Names of providers in the semantic conventions, by the name before the colon of a model. */
const PROVIDERS: ReadonlyMap<string, string> = new Map([
  ['azure', 'azure.ai.openai'],
  ['bedrock', 'aws.bedrock'],
  ['google', 'gcp.gemini'],
  ['vertex', 'gcp.vertex_ai'],
  ['mistral', 'mistral_ai'],
  ['xai', 'x_ai'],
]);

/** The provider and the model of a driver, for attributes. */
export function modelNames({ name, model }: InferenceDriver): {
  readonly provider: string;
  readonly model: string;
} {
  const colon = name.indexOf(':');
  const prefix = colon === -1 ? name : name.slice(0, colon);
  return {
    provider: PROVIDERS.get(prefix) ?? prefix,
    model: model ?? (colon === -1 ? name : name.slice(colon + 1)),
  };
}
