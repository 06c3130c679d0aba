import { createContext, runInContext } from 'node:vm';
import { rolldown } from 'rolldown';
import { expect, it } from 'vitest';

it('the auth endpoint runs without Node', async () => {
  const bundle = await rolldown({
    input: 'test/setup/pusher-edge-entry.ts',
    resolve: { conditionNames: ['onward-source', 'import'] },
    platform: 'browser',
    external: [/^node:/, 'pusher'],
  });
  const { output } = await bundle.generate({ format: 'iife', name: 'edge' });
  await bundle.close();
  const [{ code }] = output;
  expect(code).not.toMatch(/\b(require|process|Buffer)\b\s*[.(]/);
  const context = createContext({
    crypto,
    TextEncoder,
    TextDecoder,
    URLSearchParams,
    Request,
    Response,
  });
  runInContext(code, context);
  expect(JSON.parse((await runInContext('edge.main()', context)) as string)).toEqual({
    auth: 'test-key:2f0c329f14cd75176c9442e0fb3dfcee7887feaa3eefdbca043a48c85180aefa',
  });
});
