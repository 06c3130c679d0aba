import { createRequire } from 'node:module';
import { driverOf, packageOfModel } from '../inference/model-registry.ts';
import { AgentError } from '../errors/agent-error.ts';
import { isRecord } from '../json.ts';
import type { CliIo } from './cli-io.ts';

/** The model of the demo agent. */
export interface DemoModel {
  /** Model; null means the demo's scripted model. */
  readonly model: string | null;
  /** A note for the user; null if there is none. */
  readonly note: string | null;
}

const DEFAULT_MODEL = 'openai:gpt-5-mini';
const installText = (name: string): string =>
  `The package ${name} is not installed. Run: npm install ${name}`;

/** Chooses the model: ONWARD_MODEL names any model; with only OPENAI_API_KEY it is a small one of OpenAI. */
export function chooseDemoModel(
  { env }: Pick<CliIo, 'env'>,
  hasPackage: (name: string) => boolean = isInstalled,
): DemoModel {
  const named = env['ONWARD_MODEL']?.trim();
  if (named) {
    driverOf(named); // refuses an unknown name and lists the known ones
    const needed = packageOfModel(named);
    if (needed !== null && !hasPackage(needed))
      throw new AgentError('package_missing', `ONWARD_MODEL is ${named}. ${installText(needed)}`);
    return { model: named, note: null };
  }
  if (!env['OPENAI_API_KEY']?.trim())
    return { model: null, note: 'no key found; set OPENAI_API_KEY to use a live one' };
  return hasPackage('openai')
    ? { model: DEFAULT_MODEL, note: null }
    : { model: null, note: installText('openai') };
}

function isInstalled(name: string): boolean {
  try {
    createRequire(import.meta.url).resolve(name);
    return true;
  } catch (error) {
    // a package that only `import` loads
    return isRecord(error) && error['code'] === 'ERR_PACKAGE_PATH_NOT_EXPORTED';
  }
}
