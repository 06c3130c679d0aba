import { pathToFileURL } from 'node:url';
import { AgentError } from '../errors/agent-error.ts';

/** What Node says when it cannot read a TypeScript file as it is. */
const untypedNode = new Set(['ERR_UNKNOWN_FILE_EXTENSION', 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX']);

/**
 * A module of the user's. Node reads it where it can, from 22.18 TypeScript too, so that it shares the packages that
 * are loaded here; older versions read TypeScript through jiti.
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
      `${file} is TypeScript, which this Node (${process.version}) does not read by itself. ` +
        'Run: npm install --save-dev jiti, or use Node 22.18 or newer, or name the file onward.config.mjs.',
      { cause, details: { file, package: 'jiti' } },
    );
  });
  // no copy of it is left elsewhere on the disk
  return jiti.createJiti(import.meta.url, { fsCache: false, moduleCache: false }).import(file);
}
