import { describe, expect, it } from 'vitest';
import { Messages } from '../messages/messages.ts';
import type { InferenceChunk, InferenceDriver, InferenceRequest } from './inference-driver.ts';
import { lazyDriver } from './lazy-driver.ts';
import { driverOf } from './model-registry.ts';

const request: InferenceRequest = {
  system: null,
  messages: Messages.from([{ role: 'user', content: 'hi' }]),
  tools: [],
  toolChoice: 'auto',
  responseFormat: null,
};
const { signal } = new AbortController();
const answer = { content: 'a', toolCalls: [], finishReason: 'stop', usage: null } as const;
const names = { name: 'fake:m', model: 'm' };

async function textsOf(driver: InferenceDriver): Promise<readonly string[]> {
  const texts: string[] = [];
  for await (const chunk of driver.stream?.(request, { signal }) ?? [])
    if (chunk.type === 'content') texts.push(chunk.text);
  return texts;
}

describe('a driver that is loaded on demand', () => {
  it('is loaded once, with the first call', async () => {
    let loads = 0;
    const driver = lazyDriver(names, async () => {
      loads += 1;
      return { ...names, infer: async () => answer };
    });
    expect({ ...driver, loads }).toMatchObject({ name: 'fake:m', model: 'm', loads: 0 });
    const calls = [driver.infer(request, { signal }), driver.infer(request, { signal })];
    expect(await Promise.all(calls)).toEqual([answer, answer]);
    expect(loads).toBe(1);
  });

  it('is loaded again after loading failed', async () => {
    let loads = 0;
    const driver = lazyDriver(names, async () => {
      loads += 1;
      if (loads === 1) throw new Error('no such file');
      return { ...names, infer: async () => answer };
    });
    await expect(driver.infer(request, { signal })).rejects.toThrow('no such file');
    expect(await driver.infer(request, { signal })).toBe(answer);
  });

  it('streams the chunks of the driver, and nothing if that does not stream', async () => {
    async function* stream(): AsyncGenerator<InferenceChunk> {
      yield { type: 'content', text: 'a' };
      yield { type: 'content', text: 'b' };
    }
    const infer = async () => answer;
    expect(await textsOf(lazyDriver(names, async () => ({ ...names, infer, stream })))).toEqual([
      'a',
      'b',
    ]);
    expect(await textsOf(lazyDriver(names, async () => ({ ...names, infer })))).toEqual([]);
  });

  it('is not loaded for a stream that is closed before it is read', async () => {
    let loads = 0;
    const driver = lazyDriver(names, async () => {
      loads += 1;
      return { ...names, infer: async () => answer };
    });
    const reading = driver.stream?.(request, { signal })[Symbol.asyncIterator]();
    expect(await reading?.return?.()).toEqual({ done: true, value: undefined });
    expect(loads).toBe(0);
  });
});

describe('a model of the AI SDK', () => {
  const model = {
    specificationVersion: 'v3',
    provider: 'theirs',
    modelId: 'm-1',
    doGenerate: async () => ({
      content: [{ type: 'text', text: 'hello' }],
      finishReason: 'stop',
      usage: {},
      warnings: [],
    }),
    doStream: async () => ({}),
  };

  it('has its names immediately, and answers through its driver', async () => {
    const driver = driverOf(model);
    expect(driver).toMatchObject({ name: 'theirs:m-1', model: 'm-1' });
    expect(await driver.infer(request, { signal })).toMatchObject({ content: 'hello' });
  });

  it('is rejected immediately if its specification is not supported', () => {
    expect(() => driverOf({ ...model, specificationVersion: 'v9' })).toThrow(
      /aiSdk\(\) got "v9", expected a language model of specification v2, v3, v4/,
    );
  });
});
