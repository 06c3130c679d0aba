/**
 * Part of `npm run build`. The sources are many small files, and loading each costs about a millisecond: what is
 * imported together is shipped together. Packages that only some need stay outside.
 */
import { copyFileSync, rmSync } from 'node:fs';
import { rolldown } from 'rolldown';

rmSync('dist/chunks', { recursive: true, force: true });
const bundle = await rolldown({
  input: {
    index: 'src/index.ts',
    'testing/index': 'src/testing/index.ts',
    'inference/drivers/openai': 'src/inference/drivers/openai.ts',
    'inference/drivers/ai-sdk': 'src/inference/drivers/ai-sdk.ts',
    'sessions/stores/memory': 'src/sessions/stores/memory.ts',
    'sessions/stores/sqlite': 'src/sessions/stores/sqlite.ts',
    'sessions/stores/postgres': 'src/sessions/stores/postgres.ts',
    'broadcasting/index': 'src/broadcasting/index.ts',
    'broadcasting/broadcasters/pusher': 'src/broadcasting/broadcasters/pusher.ts',
    'broadcasting/use-chat': 'src/broadcasting/use-chat.ts',
    'ui/index': 'src/ui/index.ts',
    'react/index': 'src/react/index.ts',
    'server/index': 'src/server/index.ts',
    'server/node': 'src/server/node.ts',
    'cli/config': 'src/cli/config.ts',
    'cli/main': 'src/cli/main.ts',
  },
  external: [
    'openai',
    'eventsource-parser',
    '@photostructure/sqlite',
    'pg',
    'pusher',
    'react',
    'react/jsx-runtime',
    'jiti',
    /^node:/,
  ],
  // for what the command line is made of; a test holds that the core asks Node for nothing
  platform: 'node',
  resolve: { mainFields: ['module', 'main'] },
  // 'use client' stays in the file, which is all it is for
  onLog: (level, log, next) => {
    if (log.code !== 'MODULE_LEVEL_DIRECTIVE') next(level, log);
  },
});
await bundle.write({
  dir: 'dist',
  format: 'esm',
  sourcemap: true,
  chunkFileNames: 'chunks/[name].js',
  // small modules that nearly every entry needs, in one file instead of ten
  codeSplitting: {
    groups: [
      {
        name: 'base',
        test: /src\/(?:(?:clock|json|ids)\.ts|errors\/|agent\/agent-status|continuation\/stop-reason|inference\/inference-error|sessions\/check-names|sessions\/stores\/store-errors|messages\/content-part)/,
      },
    ],
  },
});
await bundle.close();
copyFileSync('src/react/styles.css', 'dist/react/styles.css');
