import { existsSync, readdirSync, statSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { AgentError } from '../errors/agent-error.ts';
import { messageOf } from '../errors/error-record.ts';
import type { EvalDefinition } from '../evals/index.ts';
import { isRecord } from '../json.ts';
import { loadModule } from './load-module.ts';
import { usageError } from './usage-error.ts';

const evalFile = /\.eval\.(?:ts|mts|js|mjs)$/;
/** Folders without files of the project. */
const skipped = new Set(['node_modules', 'dist', 'build', 'coverage']);
const MAX_FILES = 1_000;
const MAX_DEPTH = 12;

/** A suite with the file that exports it. */
export interface FoundEval {
  readonly file: string;
  readonly definition: EvalDefinition;
}

/** Finds and loads the evals of files and folders, or of suites by name. Without names: all below the folder. */
export async function findEvals(
  cwd: string,
  names: readonly string[],
): Promise<readonly FoundEval[]> {
  const paths = names.filter((name) => existsSync(resolve(cwd, name)));
  const suites = names.filter((name) => !paths.includes(name));
  const roots = suites.length > 0 || paths.length === 0 ? ['.', ...paths] : paths;
  const files = [...new Set(roots.flatMap((root) => filesOf(resolve(cwd, root))))];
  if (files.length === 0)
    throw usageError(
      `There is no eval in ${roots.length === 1 && roots[0] !== '.' ? roots[0] : cwd}. ` +
        'Name it like leads.eval.ts, with: export default defineEval({ ... })',
    );
  const found: FoundEval[] = [];
  for (const file of files) found.push(...(await evalsIn(file)));
  const chosen =
    suites.length === 0
      ? found
      : found.filter(
          ({ file, definition }) =>
            suites.includes(definition.name) ||
            paths.some((path) => isWithin(resolve(cwd, path), file)),
        );
  const known = found.map(({ definition }) => definition.name);
  const unknown = suites.find((name) => !known.includes(name));
  if (unknown !== undefined)
    throw usageError(
      `There is no file and no suite ${JSON.stringify(unknown)}. Suites here: ${known.join(', ')}.`,
    );
  const twice = chosen.find(
    ({ definition: { name } }) => known.indexOf(name) !== known.lastIndexOf(name),
  );
  if (twice)
    throw usageError(
      `Two evals have the name ${JSON.stringify(twice.definition.name)}; one is in ${twice.file}. Rename one.`,
    );
  return chosen;
}

const isWithin = (folder: string, file: string): boolean =>
  folder === file || !relative(folder, file).startsWith('..');

/** A named file may have any name; in a folder only eval files count. */
function filesOf(path: string): readonly string[] {
  if (statSync(path).isFile()) return [path];
  const files: string[] = [];
  const visit = (folder: string, depth: number): void => {
    for (const entry of readdirSync(folder, { withFileTypes: true }).toSorted((a, b) =>
      a.name < b.name ? -1 : 1,
    )) {
      if (files.length >= MAX_FILES) return;
      const inner = join(folder, entry.name);
      if (entry.isFile() && evalFile.test(entry.name)) files.push(inner);
      else if (entry.isDirectory() && depth < MAX_DEPTH && isProject(entry.name))
        visit(inner, depth + 1);
    }
  };
  visit(path, 0);
  return files;
}

const isProject = (name: string): boolean => !name.startsWith('.') && !skipped.has(name);

async function evalsIn(file: string): Promise<readonly FoundEval[]> {
  const loaded = await loadModule(file).catch((error: unknown) => {
    if (AgentError.is(error, 'package_missing')) throw error;
    throw new AgentError('invalid_option', `${file} could not be loaded: ${messageOf(error)}`, {
      cause: error,
      details: { file },
    });
  });
  const exported = isRecord(loaded) ? loaded['default'] : undefined;
  const list: readonly unknown[] = Array.isArray(exported) ? exported : [exported];
  if (list.length === 0 || !list.every(isDefinition))
    throw usageError(`${file} exports no eval. Add: export default defineEval({ ... })`);
  return list.map((definition) => ({ file, definition }));
}

/** By its fields, because the file may load another copy of the library. */
const isDefinition = (value: unknown): value is EvalDefinition =>
  isRecord(value) && value['kind'] === 'onward.eval' && isRecord(value['harness']);
