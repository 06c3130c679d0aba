import { AgentError, show } from '../../errors/agent-error.ts';
import { isRecord } from '../../json.ts';

/** Any AI SDK language model. Only its shape counts, so no AI SDK package is needed here. */
export interface AiSdkModel {
  readonly specificationVersion: string;
  readonly provider: string;
  readonly modelId: string;
  doGenerate(options: never): PromiseLike<unknown>;
  doStream(options: never): PromiseLike<unknown>;
}

/** Versions of the specification that the driver reads. */
export const aiSdkVersions: readonly string[] = ['v2', 'v3', 'v4'];

/** Whether a value has the shape of an AI SDK language model, of any version. */
export const isAiSdkModel = (value: unknown): value is AiSdkModel =>
  isRecord(value) &&
  typeof value['doGenerate'] === 'function' &&
  typeof value['doStream'] === 'function';

/** Whether the driver supports the version of a model. */
export const isKnownVersion = ({ specificationVersion }: AiSdkModel): boolean =>
  aiSdkVersions.includes(specificationVersion);

/** Returns the names of a model; throws if the driver does not support its version. */
export function namesOfAiSdkModel(model: AiSdkModel): { name: string; model: string } {
  if (!isAiSdkModel(model) || !isKnownVersion(model))
    throw new AgentError(
      'invalid_option',
      `aiSdk() got ${show(isAiSdkModel(model) ? model.specificationVersion : model)}, expected a language model of specification ${aiSdkVersions.join(', ')}.`,
    );
  return { name: `${model.provider}:${model.modelId}`, model: model.modelId };
}

/** Whether it is Gemini: other models of Google Cloud have their own wire. */
export const isGoogle = (provider: string): boolean =>
  /google|vertex/.test(provider) && !provider.includes('anthropic');
