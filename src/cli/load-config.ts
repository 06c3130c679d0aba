import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { AgentError } from '../errors/agent-error.ts';
import { messageOf } from '../errors/error-record.ts';
import { isRecord } from '../json.ts';
import { checkedConfig } from './check-config.ts';
import type { OnwardConfig } from './config.ts';
import { loadModule } from './load-module.ts';
import { usageError } from './usage-error.ts';

export interface LoadedConfig {
  readonly config: OnwardConfig;
  readonly file: string;
  /** Folder of relative paths in the config, and of `.onward`. */
  readonly folder: string;
}

const names = ['ts', 'mts', 'js', 'mjs'].map((ending) => `onward.config.${ending}`);

/** Loads the config of this folder, or a named one; null if there is none. */
export async function loadConfig(cwd: string, named?: string): Promise<LoadedConfig | null> {
  const file = findConfig(cwd, named);
  if (file === null) return null;
  if (!existsSync(file))
    throw usageError(
      `There is no config file ${file}. Choose another with --config, or run: onward init`,
    );
  const loaded = await loadModule(file).catch((error: unknown) => {
    if (AgentError.is(error, 'package_missing')) throw error;
    throw new AgentError('invalid_option', `${file} could not be loaded: ${messageOf(error)}`, {
      cause: error,
      details: { file },
    });
  });
  return { config: checkedConfig(configIn(loaded), file), file, folder: dirname(file) };
}

/** Returns the path of the config file of this folder, or of a named one; null if there is none. */
export const findConfig = (cwd: string, named?: string): string | null =>
  named === undefined ? found(cwd) : resolve(cwd, named);

const found = (cwd: string): string | null =>
  names.map((name) => join(cwd, name)).find((file) => existsSync(file)) ?? null;

/** Returns the default export, or an export named `config`. */
function configIn(loaded: unknown): unknown {
  if (!isRecord(loaded)) return loaded;
  return loaded['default'] ?? loaded['config'];
}
