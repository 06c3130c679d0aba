import { existsSync, readFileSync } from 'node:fs';
import { createRequire, isBuiltin } from 'node:module';
import { join } from 'node:path';
import { parseJson, isRecord } from '../json.ts';

/** Features that this Node lacks, and what the project has for them. */
export interface InitNeeds {
  /** Extension of files that this Node reads as modules here. */
  readonly ending: 'ts' | 'mts' | 'mjs';
  /** Packages that the project needs in addition to onward, with their versions. */
  readonly packages: Readonly<Record<string, string>>;
  /** Those of them that the folder cannot resolve. */
  readonly missing: readonly string[];
}

/** Node features: TypeScript from 22.18, SQLite from 22.13. */
export interface NodeGifts {
  readonly typescript: boolean;
  readonly sqlite: boolean;
}

const nodeFeatures = (): NodeGifts => ({
  typescript: Boolean((process.features as { readonly typescript?: unknown }).typescript),
  sqlite: isBuiltin('node:sqlite'),
});

export function initNeeds(folder: string, gifts: NodeGifts = nodeFeatures()): InitNeeds {
  const require = createRequire(join(folder, 'package.json'));
  const has = (name: string): boolean => {
    try {
      require.resolve(name);
      return true;
    } catch {
      return false;
    }
  };
  const isTypeScript = gifts.typescript || has('jiti');
  const packages = {
    ...(!gifts.sqlite && { '@photostructure/sqlite': '^1.2.1' }),
    ...(isTypeScript && !gifts.typescript && { jiti: '^2.7.0' }),
  };
  return {
    ending: isTypeScript ? (isModuleFolder(folder) ? 'ts' : 'mts') : 'mjs',
    packages,
    missing: ['onward', ...Object.keys(packages)].filter((name) => !has(name)),
  };
}

/** Whether a plain `.ts` is a module, by our package.json or an existing one. */
function isModuleFolder(folder: string): boolean {
  const file = join(folder, 'package.json');
  if (!existsSync(file)) return true;
  const read = parseJson(readFileSync(file, 'utf8'));
  return read.ok && isRecord(read.value) && read.value['type'] === 'module';
}
