import { createContext, runInContext } from 'node:vm';
import { rolldown } from 'rolldown';
import { expect, it } from 'vitest';

/** What a browser and an edge runtime both have, and nothing of Node. */
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

it('the core runs where there is no Node: bundled, with web globals alone', async () => {
  const bundle = await rolldown({
    input: 'test/setup/edge-entry.ts',
    resolve: { conditionNames: ['onward-source', 'import'] },
    platform: 'browser',
    external: [/^node:/, 'openai'],
  });
  const { output } = await bundle.generate({ format: 'iife', name: 'edge' });
  await bundle.close();
  const [{ code, imports }] = output;
  expect(imports).toEqual([]);
  expect(code).not.toMatch(/\b(require|process|Buffer)\b\s*[.(]/);

  const context = createContext({ ...webGlobals });
  runInContext(code, context);
  const said = (await runInContext('edge.main()', context)) as string;
  expect(said).toBe('completed: 3');
  const kept = (await runInContext('edge.sessions()', context)) as string;
  expect(kept).toBe('completed: paid, 21 events, 1 listed');
});
