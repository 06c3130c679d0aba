import { defineConfig } from 'rolldown';

/**
 * The sources are many small files, and loading each costs about a millisecond: what is imported together is shipped
 * together. Packages that only some need stay outside.
 */
export default defineConfig({
  input: {
    index: 'src/index.ts',
    'testing/index': 'src/testing/index.ts',
    'inference/drivers/openai': 'src/inference/drivers/openai.ts',
    'inference/drivers/ai-sdk': 'src/inference/drivers/ai-sdk.ts',
  },
  external: ['openai', 'eventsource-parser'],
  platform: 'neutral',
  resolve: { mainFields: ['module', 'main'] },
  output: {
    dir: 'dist',
    format: 'esm',
    sourcemap: true,
    chunkFileNames: 'chunks/[name]-[hash].js',
  },
});
