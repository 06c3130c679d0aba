import { createRequire } from 'node:module';
import { driverOf } from '../inference/model-registry.ts';
import { AgentError } from '../errors/agent-error.ts';
import type { CliIo } from './cli-io.ts';

/** Which model the demo agent runs on. */
export interface DemoModel {
  /** Null: the scripted stand-in that comes with the demo. */
  readonly model: string | null;
  /** What a person should know about it; null where there is nothing to say. */
  readonly note: string | null;
}

const DEFAULT_MODEL = 'openai:gpt-5-mini';
const INSTALL = 'The openai package is not installed. Run: npm install openai';

/** ONWARD_MODEL names any model; with OPENAI_API_KEY alone it is a small one of OpenAI's. */
export function chooseDemoModel(
  { env }: Pick<CliIo, 'env'>,
  hasOpenai: boolean = isInstalled('openai'),
): DemoModel {
  const named = env['ONWARD_MODEL']?.trim();
  if (named) {
    driverOf(named); // refuses a name that it does not know, and says which it does
    if (!hasOpenai) throw new AgentError('package_missing', `ONWARD_MODEL is ${named}. ${INSTALL}`);
    return { model: named, note: null };
  }
  if (!env['OPENAI_API_KEY']?.trim())
    return { model: null, note: 'no key found, set OPENAI_API_KEY for a live one' };
  return hasOpenai ? { model: DEFAULT_MODEL, note: null } : { model: null, note: INSTALL };
}

function isInstalled(name: string): boolean {
  try {
    createRequire(import.meta.url).resolve(name);
    return true;
  } catch {
    return false;
  }
}
