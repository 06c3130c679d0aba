import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { serveStatic } from '@hono/node-server/serve-static';
import type { MiddlewareHandler } from 'hono';
import { build } from 'vite';

/** Bundles the page, in about a second, and serves it. Yours does that once, when it is deployed. */
export async function builtPage(folder: URL): Promise<MiddlewareHandler> {
  const outDir = fileURLToPath(new URL('dist/', folder));
  await build({
    root: fileURLToPath(folder),
    configFile: false,
    logLevel: 'warn',
    plugins: [react()],
    build: { outDir, emptyOutDir: true, rolldownOptions: { checks: { pluginTimings: false } } },
  });
  return serveStatic({ root: outDir });
}
