import { existsSync, readFileSync } from 'node:fs';
import { createRequire, isBuiltin } from 'node:module';
import { join } from 'node:path';
import { parseJson, isRecord } from '../json.ts';

/** What this Node cannot do by itself, and what the project has for it. */
export interface InitNeeds {
  /** The ending of files that this Node reads as modules here. */
  readonly ending: 'ts' | 'mts' | 'mjs';
  /** Packages that the project needs beside onward, with their versions. */
  readonly packages: Readonly<Record<string, string>>;
  /** Of all it needs, what is not installed where the folder would look for it. */
  readonly missing: readonly string[];
}

/** Reads TypeScript from 22.18 on, has SQLite from 22.13 on. */
export interface NodeGifts {
  readonly typescript: boolean;
  readonly sqlite: boolean;
}

const giftsOfNode = (): NodeGifts => ({
  typescript: Boolean((process.features as { readonly typescript?: unknown }).typescript),
  sqlite: isBuiltin('node:sqlite'),
});

export function initNeeds(folder: string, gifts: NodeGifts = giftsOfNode()): InitNeeds {
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

/** Whether a plain `.ts` is a module: so says our package.json, and perhaps the one that is there. */
function isModuleFolder(folder: string): boolean {
  const file = join(folder, 'package.json');
  if (!existsSync(file)) return true;
  const read = parseJson(readFileSync(file, 'utf8'));
  return read.ok && isRecord(read.value) && read.value['type'] === 'module';
}
