import { gzipSync } from 'node:zlib';
import { rolldown } from 'rolldown';
import { expect, it } from 'vitest';

/** Exports of the reducer and helpers that need no source. */
const reducer = `
export { newUiState, reduceEnvelope, reduceRefill, skipGap, reconcile, toUiMessages, stopText,
  withUserMessage, acceptUserMessage, withoutUserMessage, shouldRenderAssistantContent,
  isToolCallMessage, isToolResultMessage, hasToolError } from './src/ui/index.ts';
`;

async function bundled(entry: string) {
  const bundle = await rolldown({
    input: 'entry',
    platform: 'browser',
    external: [/^node:/],
    plugins: [
      {
        name: 'entry',
        resolveId: (id) => (id === 'entry' ? `${process.cwd()}/entry.ts` : null),
        load: (id) => (id.endsWith('/entry.ts') ? entry : null),
      },
    ],
  });
  const { output } = await bundle.generate({ format: 'esm', minify: true });
  await bundle.close();
  return output[0];
}

it('onward/ui needs neither Node nor another package', async () => {
  const { code, imports } = await bundled("export * from './src/ui/index.ts';");
  expect(imports).toEqual([]);
  expect(code).not.toMatch(/\b(require|process|Buffer)\b\s*[.(]/);
});

it('the reducer is small and imports only the list of statuses and texts of other modules', async () => {
  const { code, moduleIds } = await bundled(reducer);
  const files = moduleIds.flatMap((id) => /\/src\/(.+)\.ts$/.exec(id)?.[1] ?? []);
  const isOther = (file: string): boolean => file.includes('/') && !file.startsWith('ui/');
  expect(files.filter(isOther)).toEqual([
    'tools/progress-text',
    'continuation/grants',
    'continuation/grant-text',
    'continuation/model-failure',
    'agent/broadcast-status',
    'events/compaction-text',
    'messages/content-part',
  ]);
  const bytes = gzipSync(code).length;
  expect(bytes, `${code.length} bytes, ${bytes} gzipped`).toBeLessThan(15_700);
});
