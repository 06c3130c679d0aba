import { systemClock } from '../../clock.ts';
import { AgentError, show } from '../../errors/agent-error.ts';
import { messageOf } from '../../errors/error-record.ts';
import { excerpt } from '../../errors/excerpt.ts';
import { isRecord } from '../../json.ts';
import { sentence } from '../../sentence.ts';
import type { InferenceDriver } from '../inference-driver.ts';
import type { ProviderPackage } from '../provider-packages.ts';
import { aiSdkError } from './ai-sdk-error.ts';
import { aiSdkVersions, isAiSdkModel, isKnownVersion } from './ai-sdk-model.ts';
import { aiSdk } from './ai-sdk.ts';

/** Creates the driver of a named model with the AI SDK package of its provider. */
export async function packageDriver(
  named: string,
  model: string,
  provider: ProviderPackage,
): Promise<InferenceDriver> {
  const { name } = provider;
  const { path, exports } = provider.other?.models.test(model)
    ? provider.other
    : { ...provider, path: '' };
  const module = await loaded(named, name, `${name}${path}`);
  const make = exports.map((key) => module[key]).find((value) => typeof value === 'function');
  const made: unknown = make ? modelOf(make as (id: string) => unknown, model) : undefined;
  if (!isAiSdkModel(made))
    throw unusable(
      named,
      name,
      make ? `makes ${show(made)}` : `exports no ${exports.join(' and no ')}`,
    );
  if (!isKnownVersion(made))
    throw unusable(named, name, `makes models of specification ${show(made.specificationVersion)}`);
  return aiSdk(made);
}

/** Loads a package that the bundle must not contain. A literal would make every bundler look for it. */
async function loaded(named: string, name: string, path: string): Promise<Record<string, unknown>> {
  try {
    const module: unknown = await import(/* @vite-ignore */ /* webpackIgnore: true */ path);
    return isRecord(module) ? module : {};
  } catch (cause) {
    const reason = isMissing(cause, name)
      ? 'is not installed'
      : `cannot be loaded: ${excerpt(messageOf(cause), 300)}`;
    throw new AgentError(
      'driver_missing',
      `The model ${show(named)} needs the package ${name}, which ${sentence(reason)} Run: npm install ${name}`,
      { cause },
    );
  }
}

/** Whether the package itself is missing, in the words of Node or of a bundler, and not a package that it needs. */
const isMissing = (error: unknown, name: string): boolean =>
  /^(?:Cannot find (?:package|module)|Could not resolve) ["'](@ai-sdk\/[\w-]+)/.exec(
    messageOf(error),
  )?.[1] === name;

/** Makes the model; a package may need a setting for that. */
function modelOf(make: (id: string) => unknown, model: string): unknown {
  try {
    return make(model);
  } catch (error) {
    throw aiSdkError(error, systemClock.now());
  }
}

const unusable = (named: string, name: string, seen: string): AgentError =>
  new AgentError(
    'invalid_option',
    `The model ${show(named)} cannot be used: the installed ${name} ${seen}, expected language models of specification ${aiSdkVersions.join(', ')}. Run: npm install ${name}@latest`,
  );
