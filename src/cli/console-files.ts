import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { staticFiles, type StaticFiles } from '../server/node.ts';

/** Folder next to this command in the package; from the sources, the output of the build. */
export const consoleFolder = (): string =>
  fileURLToPath(
    new URL(import.meta.url.endsWith('.ts') ? '../../dist/console' : '../console', import.meta.url),
  );

export const hasConsole = (folder: string): boolean => existsSync(join(folder, 'index.html'));

/** Serves the console's files, or a page that says what is missing: the API works without them. */
export function consoleFiles(folder: string): StaticFiles {
  if (hasConsole(folder)) return staticFiles(folder);
  return ({ method, url }) =>
    Promise.resolve(method === 'GET' && new URL(url).pathname === '/' ? missingPage() : null);
}

const missingPage = (): Response =>
  new Response(
    `<!doctype html><html lang="en"><meta charset="utf-8"><title>Onward</title>
<h1>The console is not built</h1>
<p>The server and its API at <code>/api</code> work. From the sources, build the console with <code>npm run build</code>,
then restart. An installed package contains the console: reinstall it.</p></html>`,
    {
      status: 503,
      headers: {
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': "default-src 'none'",
        'x-content-type-options': 'nosniff',
      },
    },
  );
