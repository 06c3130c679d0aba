import { afterEach, describe, expect, it, vi } from 'vitest';
import { requestOf } from '../../test/setup/inference-request.ts';
import { delta, json, serve } from '../../test/setup/loopback.ts';
import { response, said, streamed } from '../../test/setup/responses-samples.ts';
import { openai } from './drivers/openai.ts';
import type { InferenceDriver } from './inference-driver.ts';
import { createModelRegistry, driverOf } from './model-registry.ts';

const request = requestOf();
const { signal } = new AbortController();
const fake: InferenceDriver = {
  name: 'fake',
  infer: async () => ({ content: 'a', toolCalls: [], finishReason: 'stop', usage: null }),
};

afterEach(() => {
  vi.unstubAllEnvs();
});

describe('models by name', () => {
  it.each([
    'openai:gpt-5',
    'groq:llama-3.3-70b-versatile',
    'deepseek:deepseek-chat',
    'mistral:mistral-small-latest',
    'xai:grok-4',
    'together:meta-llama/Llama-4-Maverick',
    'openrouter:deepseek/deepseek-r1:free',
    'ollama:gpt-oss:120b',
    'lmstudio:m',
    'vllm:m',
    'llamacpp:m',
    'anthropic:claude-haiku-4-5',
    'google:gemini-2.5-flash',
    'bedrock:us.anthropic.claude-sonnet-5-v1:0',
    'vertex:gemini-2.5-pro',
  ])('%s loads nothing until it is used', (name) => {
    const driver = driverOf(name);
    expect(driver.name).toBe(name);
    expect(driver.model).toBe(name.slice(name.indexOf(':') + 1));
  });

  it.each([
    'gpt-5',
    'openai/gpt-5',
    'openai:',
    ':gpt-5',
    'unknown:gpt-5',
    '',
    'constructor:x',
    'toString:x',
    '__proto__:x',
  ])('rejects "%s" with the known providers', (name) => {
    expect(() => createModelRegistry({ mine: () => fake }).resolve(name)).toThrow(
      /^There is no model ".*"\. (?:Did you mean "openai:gpt-5"\? )?Expected <provider>:<model> with a provider of: mine, openai, groq, .*, anthropic, google, bedrock, vertex\. .*createModelRegistry/,
    );
  });

  it.each([
    ['antropic:claude-haiku-4-5', 'anthropic:claude-haiku-4-5', 'a typo'],
    ['OpenAI:gpt-5', 'openai:gpt-5', 'another case'],
    ['anthropic/claude-haiku-4-5', 'anthropic:claude-haiku-4-5', 'a slash'],
    ['claude-haiku-4-5', 'anthropic:claude-haiku-4-5', 'no provider'],
    ['gemini:gemini-2.5-pro', 'google:gemini-2.5-pro', 'the name of the models'],
    ['aws:anthropic.claude-sonnet-5', 'bedrock:anthropic.claude-sonnet-5', 'the name of the cloud'],
    ['mine2:small', 'mine:small', 'a custom prefix'],
  ])('suggests for "%s" the name "%s": %s', (name, near, _why) => {
    expect(() => createModelRegistry({ mine: () => fake }).resolve(name)).toThrow(
      `There is no model "${name}". Did you mean "${near}"? Expected`,
    );
  });

  it.each(['acme:small', 'small', 'constructor-x', `${'x'.repeat(100_000)}:m`])(
    'suggests nothing for a name that is near to none',
    (name) => {
      expect(() => createModelRegistry().resolve(name)).toThrow(
        /^There is no model "[^"]{0,81}"\. Expected/,
      );
    },
  );

  it('custom prefixes take precedence, and get the rest of the name', () => {
    const asked: string[] = [];
    const registry = createModelRegistry({
      openai: (model) => {
        asked.push(model);
        return fake;
      },
    });
    expect(registry.resolve('openai:a:b')).toBe(fake);
    expect(asked).toEqual(['a:b']);
  });

  it('reports a missing key with the first call', async () => {
    vi.stubEnv('GROQ_API_KEY', '');
    await expect(driverOf('groq:m').infer(request, { signal })).rejects.toThrow(/GROQ_API_KEY/);
  });

  it('rejects anything that is not a model', () => {
    expect(() => driverOf({ a: 1 } as never)).toThrow(
      /driver with infer\(\), an AI SDK language model/,
    );
    expect(() => driverOf(undefined as never)).toThrow(/An agent needs a model/);
  });

  it('a named model streams and answers like its driver', async () => {
    vi.stubEnv('OPENAI_API_KEY', 'sk-test-00000000000000000000');
    const server = await serve(streamed(response([said('ab')])), json(response([said('c')])));
    const real = globalThis.fetch;
    vi.stubGlobal('fetch', (_input: unknown, init?: RequestInit) =>
      real(`${server.url}/responses`, init),
    );
    const driver = driverOf('openai:gpt-5');
    const texts: string[] = [];
    for await (const chunk of driver.stream?.(request, { signal }) ?? [])
      if (chunk.type === 'content') texts.push(chunk.text);
    expect(texts).toEqual(['ab']);
    expect((await driver.infer(request, { signal })).content).toBe('c');
    vi.unstubAllGlobals();
  });

  it("leaving a named stream closes the driver's stream", async () => {
    const server = await serve((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`data: ${JSON.stringify(delta('a'))}\n\n`);
    });
    const registry = createModelRegistry({
      here: (model) => openai(model, { baseURL: server.url }),
    });
    for await (const chunk of registry.resolve('here:m').stream?.(request, { signal }) ?? [])
      if (chunk.type === 'content') break;
    await server.requests[0]?.left;
  });
});
