import { gzipSync } from 'node:zlib';
import { rolldown, type OutputChunk } from 'rolldown';
import { describe, expect, it, vi } from 'vitest';

vi.setConfig({ testTimeout: 60_000 });

interface Bundled {
  readonly kilobytes: number;
  readonly gzipped: number;
  readonly code: string;
  readonly imports: readonly string[];
}

/** Bundles this import for browsers, minified and without peers. */
async function bundled(code: string): Promise<Bundled> {
  const bundle = await rolldown({
    input: 'entry',
    platform: 'browser',
    resolve: { conditionNames: ['import'] },
    external: [/^node:/, /^react(?:$|\/)/, 'openai'],
    logLevel: 'silent',
    plugins: [
      {
        name: 'entry',
        resolveId: (id) => (id === 'entry' ? `${process.cwd()}/entry.js` : null),
        load: (id) => (id.endsWith('/entry.js') ? code : null),
      },
    ],
  });
  const { output } = await bundle.generate({ format: 'esm', minify: true });
  await bundle.close();
  const chunks = output.filter((file) => file.type === 'chunk');
  const loaded = new Set<OutputChunk>();
  const load = (chunk: OutputChunk | undefined): void => {
    if (chunk === undefined || loaded.has(chunk)) return;
    loaded.add(chunk);
    for (const name of chunk.imports) load(chunks.find(({ fileName }) => fileName === name));
  };
  load(chunks.find(({ isEntry }) => isEntry));
  const own = new Set(chunks.map(({ fileName }) => fileName));
  const all = [...loaded];
  const sum = (size: (text: string) => number): number =>
    all.reduce((total, chunk) => total + size(chunk.code) / 1000, 0);
  return {
    kilobytes: sum((text) => Buffer.byteLength(text)),
    gzipped: sum((text) => gzipSync(text, { level: 9 }).length),
    code: all.map((chunk) => chunk.code).join('\n'),
    imports: all.flatMap((chunk) => chunk.imports).filter((name) => !own.has(name)),
  };
}

/** Gzipped kilobytes: the figures in `docs/performance.md` with a small margin. */
const budgets = [
  ['an agent with a tool', "export { createAgent, defineTool } from 'onward'", 89],
  ['onward', "export * from 'onward'", 142],
  ['onward/ui', "export * from 'onward/ui'", 27],
  ['onward/react', "export * from 'onward/react'", 38],
  ['onward/server', "export * from 'onward/server'", 97],
  ['onward/broadcasting', "export * from 'onward/broadcasting'", 30],
] as const;

describe('bundled for a browser', () => {
  for (const [name, code, budget] of budgets)
    it(`${name} stays within its size and needs no Node`, async ({ annotate }) => {
      const { kilobytes, gzipped, imports, code: text } = await bundled(code);
      await annotate(`${kilobytes.toFixed(1)} KB, ${gzipped.toFixed(1)} KB gzipped`);
      expect(gzipped).toBeLessThan(budget);
      // a budget that is far too large would catch nothing
      expect(gzipped).toBeGreaterThan(budget * 0.8);
      expect(imports.filter((path) => !path.startsWith('react'))).toEqual([]);
      expect(text).not.toMatch(/\brequire\(|["']node:/);
    });
});
