/**
 * Part of `npm run build`. The sources are many small files, and loading each costs about a millisecond: what is
 * imported together is shipped together. Packages that only some need stay outside.
 */
import { rolldown } from 'rolldown';

const bundle = await rolldown({
  input: {
    index: 'src/index.ts',
    'testing/index': 'src/testing/index.ts',
    'inference/drivers/openai': 'src/inference/drivers/openai.ts',
    'inference/drivers/ai-sdk': 'src/inference/drivers/ai-sdk.ts',
    'sessions/stores/memory': 'src/sessions/stores/memory.ts',
    'sessions/stores/sqlite': 'src/sessions/stores/sqlite.ts',
    'sessions/stores/postgres': 'src/sessions/stores/postgres.ts',
  },
  external: ['openai', 'eventsource-parser', '@photostructure/sqlite', 'pg', /^node:/],
  platform: 'neutral',
  resolve: { mainFields: ['module', 'main'] },
});
await bundle.write({
  dir: 'dist',
  format: 'esm',
  sourcemap: true,
  chunkFileNames: 'chunks/[name].js',
});
await bundle.close();
