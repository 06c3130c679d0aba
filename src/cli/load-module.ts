import { pathToFileURL } from 'node:url';
import { AgentError } from '../errors/agent-error.ts';

/** Error codes of a Node that cannot read a TypeScript file. */
const untypedNode = new Set(['ERR_UNKNOWN_FILE_EXTENSION', 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX']);

/**
 * Loads a module of the user. Node loads it if it can (TypeScript from 22.18), so that it shares the packages that
 * are loaded here; older versions load TypeScript through jiti.
 */
export async function loadModule(file: string): Promise<unknown> {
  try {
    return await import(/* @vite-ignore */ pathToFileURL(file).href);
  } catch (error) {
    if (!untypedNode.has(String((error as { code?: unknown } | null)?.code))) throw error;
    return await importTypeScript(file, error);
  }
}

async function importTypeScript(file: string, cause: unknown): Promise<unknown> {
  const jiti = await import('jiti').catch(() => {
    throw new AgentError(
      'package_missing',
      `${file} is TypeScript, which this Node (${process.version}) cannot read. ` +
        'Run: npm install --save-dev jiti, or use Node 22.18 or later, or rename the file to onward.config.mjs.',
      { cause, details: { file, package: 'jiti' } },
    );
  });
  // leave no cached copy on the disk
  return jiti.createJiti(import.meta.url, { fsCache: false, moduleCache: false }).import(file);
}
