import { createContext, runInContext } from 'node:vm';
import { rolldown, type OutputChunk } from 'rolldown';
import { expect, it, vi } from 'vitest';

vi.setConfig({ testTimeout: 60_000 });

/** Globals that browsers and edge runtimes share, without those of Node. */
const webGlobals = {
  crypto,
  performance,
  AbortController,
  AbortSignal,
  setTimeout,
  clearTimeout,
  setInterval,
  clearInterval,
  queueMicrotask,
  TextEncoder,
  btoa,
  atob,
  console,
  URL,
};
/** Additional globals for servers and clients. */
const fetchGlobals = {
  fetch,
  Request,
  Response,
  Headers,
  ReadableStream,
  TransformStream,
  TextDecoder,
  URLSearchParams,
};

/** Bundles the sources or the built package into one file for a browser. */
async function bundled(input: string, conditionNames: string[]): Promise<OutputChunk> {
  const bundle = await rolldown({
    input,
    resolve: { conditionNames },
    platform: 'browser',
    external: [/^node:/, 'openai'],
  });
  const { output } = await bundle.generate({ format: 'iife', name: 'edge' });
  await bundle.close();
  const [chunk] = output;
  expect(chunk.imports).toEqual([]);
  expect(chunk.code).not.toMatch(/\b(?:require|process|Buffer)(?:\.\w|\()/);
  return chunk;
}

it('the core runs without Node, bundled and with web globals only', async () => {
  const { code } = await bundled('test/setup/edge-entry.ts', ['onward-source', 'import']);
  const context = createContext({ ...webGlobals });
  runInContext(code, context);
  const said = (await runInContext('edge.main()', context)) as string;
  expect(said).toBe('completed: 3');
  const kept = (await runInContext('edge.sessions()', context)) as string;
  expect(kept).toBe('completed: paid, 21 events, 1 listed');
});

it('the built package serves requests without Node', async () => {
  const { code } = await bundled('test/package/programs/browser.ts', ['import']);
  const context = createContext({ ...webGlobals, ...fetchGlobals });
  runInContext(code, context);
  const said = (await runInContext('edge.answer()', context)) as string;
  expect(said).toBe('201 completed text/event-stream; charset=utf-8 idle function function');
});

it('the core contains only these modules, and none for servers, UIs or tests', async () => {
  const { moduleIds } = await bundled('src/index.ts', ['onward-source', 'import']);
  const modules = moduleIds.map((id) => /\/src\/([a-z-]+)\//.exec(id)?.[1] ?? null);
  expect([...new Set(modules.filter((module) => module !== null))].toSorted()).toEqual([
    'agent',
    'continuation',
    'errors',
    'events',
    'inference',
    'messages',
    'serialization',
    'sessions',
    'tools',
  ]);
});
