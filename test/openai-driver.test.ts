import { AgentBuilder, AgentError, createModelRegistry, ErrorPolicy } from 'onward';
import type { InferenceDriver, InferenceChunk, InferenceResponse } from 'onward/drivers';
import { openai, type OpenAIOptions } from 'onward/drivers/openai';
import { mockTool } from 'onward/testing';
import { AzureOpenAI, OpenAI } from 'openai';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { requestOf } from './setup/inference-request.ts';
import { z } from 'zod';
import { completion, delta, json, serve, sse, toolCall, type Reply } from './setup/loopback.ts';

const request = requestOf();

const { signal } = new AbortController();
const ask = (driver: InferenceDriver): Promise<InferenceResponse> =>
  driver.infer(request, { signal });

async function streamed(driver: InferenceDriver): Promise<readonly InferenceChunk[]> {
  const chunks: InferenceChunk[] = [];
  for await (const chunk of driver.stream?.(request, { signal }) ?? []) chunks.push(chunk);
  return chunks;
}

const failed = (work: Promise<unknown>): Promise<AgentError> =>
  work.then(
    () => expect.fail('it should have failed'),
    (error: unknown) => error as AgentError,
  );

beforeEach(() => {
  vi.stubEnv('OPENAI_API_KEY', 'sk-of-openai-itself-000000');
});
afterEach(() => {
  vi.unstubAllEnvs();
});

describe('a run over HTTP', () => {
  it.each([
    ['not streamed', false],
    ['streamed', true],
  ])('calls the tool and answers: %s', async (_way, isStream) => {
    const call = toolCall('lookup', { city: 'Paris' }, 'call_7');
    const usage = { prompt_tokens: 20, completion_tokens: 3, total_tokens: 23 };
    const server = await serve(
      isStream
        ? sse(delta({ tool_calls: [{ index: 0, ...call }] }), delta({}, 'tool_calls', { usage }))
        : json(completion({ tool_calls: [call] }, 'tool_calls', { usage })),
      isStream
        ? sse(delta('18 '), delta('degrees'), delta({}, 'stop', { usage }))
        : json(completion('18 degrees', 'stop', { usage })),
    );
    const lookup = mockTool('lookup', { degrees: 18 });
    const agent = AgentBuilder.base()
      .withModel(openai('m', { baseURL: server.url }))
      .withSystemPrompt('Be brief.')
      .withTools(lookup)
      .build();
    const shown: string[] = [];
    if (isStream) agent.on('StreamChunk', ({ content }) => shown.push(content));
    const state = await agent.run('How warm is Paris?');

    expect(state.output).toBe('18 degrees');
    expect(lookup.calls).toEqual([{ city: 'Paris' }]);
    expect(server.requests).toHaveLength(2);
    expect(server.requests[0]?.path).toBe('/v1/chat/completions');
    expect(server.requests[1]?.body).toMatchObject({
      model: 'm',
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'How warm is Paris?' },
        { role: 'assistant', content: null, tool_calls: [call] },
        { role: 'tool', tool_call_id: 'call_7', content: '{"degrees":18}' },
      ],
      tools: [{ type: 'function', function: { name: 'lookup' } }],
    });
    expect(state.usage.total).toBe(46);
    expect(shown.join('')).toBe(isStream ? '18 degrees' : '');
  });

  it('sends a response format as a JSON Schema and returns a validated value', async () => {
    const server = await serve(json(completion('{"degrees":18}')));
    const state = await AgentBuilder.base()
      .withModel(openai('m', { baseURL: server.url }))
      .withResponseFormat(z.object({ degrees: z.number() }))
      .build()
      .run('How warm is Paris?');
    expect(state.output).toEqual({ degrees: 18 });
    expect(server.requests[0]?.body['response_format']).toMatchObject({
      type: 'json_schema',
      json_schema: { strict: true, schema: { required: ['degrees'] } },
    });
  });

  it('sends the same request for a registry name, a model and a driver', async () => {
    const reply: Reply = json(completion('a'));
    const server = await serve(reply, reply, reply);
    const local = (model: string): InferenceDriver => openai(model, { baseURL: server.url });
    const registry = createModelRegistry({ here: local });
    const base = AgentBuilder.base();
    for (const builder of [
      base.withModel('here:m', { registry }),
      base.withModel(local('m')),
      base.withDriver(local('m')),
    ])
      expect((await builder.build().run('hi')).output).toBe('a');
    const [first, ...others] = server.requests.map(({ body }) => body);
    for (const body of others) expect(body).toEqual(first);
  });

  it('sends the tool call id of the provider, even if the recorded id differs', async () => {
    const twice = completion({ tool_calls: [toolCall('lookup', {}, '0')] }, 'tool_calls');
    const server = await serve(json(twice), json(twice), json(completion('done')));
    const agent = AgentBuilder.base()
      .withModel(openai('m', { baseURL: server.url }))
      .withTools(mockTool('lookup'))
      .build();
    const state = await agent.run('go');
    const ids = state.steps.toJSON().flatMap(({ toolCalls }) => toolCalls.map(({ id }) => id));
    expect(new Set(ids).size).toBe(2);
    expect(server.requests[2]?.body['messages']).toMatchObject([
      {},
      { tool_calls: [{ id: '0' }] },
      { tool_call_id: '0' },
      { tool_calls: [{ id: '0' }] },
      { tool_call_id: '0' },
    ]);
  });

  it('sends reasoning back to a server that expects it', async () => {
    const reasoned = { reasoning_content: 'Hm.', tool_calls: [toolCall('lookup')] };
    const server = await serve(json(completion(reasoned, 'tool_calls')), json(completion('done')));
    const agent = AgentBuilder.base()
      .withModel(openai('m', { baseURL: server.url }))
      .withTools(mockTool('lookup'))
      .build();
    await agent.run('go');
    expect(server.requests[1]?.body['messages']).toMatchObject([
      {},
      { role: 'assistant', reasoning_content: 'Hm.' },
      {},
    ]);
  });
});

describe('API keys and base URLs', () => {
  const authorization = async (options: OpenAIOptions): Promise<unknown> => {
    const server = await serve(json(completion('a')));
    await ask(openai('m', { baseURL: server.url, ...options }));
    return server.requests[0]?.headers.authorization;
  };

  it('sends the given key, trimmed', async () => {
    expect(await authorization({ apiKey: ' secret-key\n' })).toBe('Bearer secret-key');
  });

  it('reads the key from the named environment variable', async () => {
    vi.stubEnv('HERE_KEY', 'key-of-here');
    expect(await authorization({ apiKeyVariable: 'HERE_KEY' })).toBe('Bearer key-of-here');
  });

  it('never sends the key, organization or project of OpenAI to another server', async () => {
    vi.stubEnv('OPENAI_ORG_ID', 'org-1');
    vi.stubEnv('OPENAI_PROJECT_ID', 'proj-1');
    vi.stubEnv('OPENAI_ADMIN_KEY', 'sk-admin-0000000000000000');
    vi.stubEnv('OPENAI_BASE_URL', 'http://127.0.0.1:9/v1');
    const server = await serve(json(completion('a')));
    await ask(openai('m', { baseURL: server.url }));
    const headers = JSON.stringify(server.requests[0]?.headers);
    expect(headers).not.toMatch(/authorization|sk-|org-1|proj-1/);
  });

  it('sends the OpenAI key to OpenAI and ignores OPENAI_BASE_URL', async () => {
    vi.stubEnv('OPENAI_BASE_URL', 'http://127.0.0.1:9/v1');
    const seen: [string, string | null][] = [];
    const fetch: typeof globalThis.fetch = async (input, init) => {
      seen.push([String(input), new Headers(init?.headers).get('authorization')]);
      return Response.json(completion('a'));
    };
    await ask(openai('m', { fetch, api: 'chat' }));
    await failed(ask(openai('m', { fetch })));
    const key = 'Bearer sk-of-openai-itself-000000';
    expect(seen).toEqual([
      ['https://api.openai.com/v1/chat/completions', key],
      ['https://api.openai.com/v1/responses', key],
    ]);
  });

  it.each([
    'http://api.openai.com/v1',
    'https://api.openai.com.example.org/v1',
    'https://example.org/api.openai.com',
    'https://me.openai.azure.com/openai/v1',
  ])('does not send the OpenAI key to %s', async (baseURL) => {
    let headers = new Headers();
    const fetch: typeof globalThis.fetch = async (_input, init) => {
      headers = new Headers(init?.headers);
      return Response.json(completion('a'));
    };
    await ask(openai('m', { baseURL, fetch, api: 'chat' }));
    expect(headers.get('authorization')).toBeNull();
  });

  it('names the variable to set if there is no key', async () => {
    vi.stubEnv('OPENAI_API_KEY', '');
    const error = await failed(AgentBuilder.base().withModel('openai:gpt-5').build().run('hi'));
    expect(error.code).toBe('invalid_option');
    expect(error.message).toContain('OPENAI_API_KEY');
    vi.stubEnv('OPENAI_API_KEY', 'sk-later-0000000000000000000');
    const fetch = async (): Promise<Response> => Response.json(completion('a'));
    const driver = openai('m', { fetch, api: 'chat' });
    expect((await ask(driver)).content).toBe('a');
  });

  it('works once the key is set later', async () => {
    vi.stubEnv('OPENAI_API_KEY', '');
    const driver = openai('m', {
      api: 'chat',
      fetch: async () => Response.json(completion('a')),
    });
    expect((await failed(ask(driver))).code).toBe('invalid_option');
    vi.stubEnv('OPENAI_API_KEY', 'sk-later-0000000000000000000');
    expect((await ask(driver)).content).toBe('a');
  });

  it('sends custom headers', async () => {
    const server = await serve(json(completion('a')));
    await ask(
      openai('m', {
        baseURL: server.url,
        headers: { 'x-title': 'Onward', Authorization: 'Basic abc' },
      }),
    );
    expect(server.requests[0]?.headers).toMatchObject({
      'x-title': 'Onward',
      authorization: 'Basic abc',
    });
  });

  it('does not follow a redirect, so that key and conversation stay private', async () => {
    const other = await serve(json(completion('a')));
    const server = await serve((response) => {
      response.writeHead(307, { location: `${other.url}/chat/completions?token=abc` }).end();
    });
    const error = await failed(ask(openai('m', { baseURL: server.url, apiKey: 'secret-key' })));
    expect(error.details['report']).toMatchObject({
      code: 'redirected',
      status: 307,
      retryable: false,
    });
    expect(error.message).not.toContain('token');
    expect(other.requests).toEqual([]);
  });

  it.each<[string | undefined, string]>([
    [undefined, 'https://api.openai.com/v1/responses'],
    ['https://eu.api.openai.com/v1', 'https://eu.api.openai.com/v1/responses'],
    ['https://me.openai.azure.com/openai/v1/', 'https://me.openai.azure.com/openai/v1/responses'],
    ['https://me.openai.azure.com/openai', 'https://me.openai.azure.com/openai/chat/completions'],
    ['https://notopenai.com/v1', 'https://notopenai.com/v1/chat/completions'],
    ['https://a.example/openai/v1', 'https://a.example/openai/v1/chat/completions'],
  ])('chooses the API by the base URL %s', async (baseURL, expected) => {
    let url = '';
    const fetch: typeof globalThis.fetch = async (input) => {
      url = String(input);
      return Response.json({});
    };
    await failed(ask(openai('m', { apiKey: 'k', fetch, ...(baseURL && { baseURL }) })));
    expect(url).toBe(expected);
  });

  it.each<[string, () => unknown, RegExp]>([
    ['an empty model name', () => openai(''), /the name of a model/],
    ['an invalid base URL', () => openai('m', { baseURL: 'localhost' }), /baseURL/],
    ['a timeout of 0', () => openai('m', { firstTokenTimeoutMs: 0 }), /firstTokenTimeoutMs/],
    [
      'a timeout given as a string',
      () => openai('m', { idleTimeoutMs: '1' as never }),
      /idleTimeoutMs/,
    ],
  ])('rejects %s at once', (_what, make, message) => {
    expect(make).toThrow(message);
  });
});

describe('secrets in errors', () => {
  const apiKey = 'gsk-my-very-own-key';

  it.each<[string, Reply]>([
    ['in a message', json({ error: { message: `Incorrect API key provided: ${apiKey}.` } }, 401)],
    ['in an HTML page', json(`<html><title>No access with ${apiKey}</title></html>`, 403)],
    ['in a stream', sse({ error: { message: `bad key ${apiKey}` } })],
  ])('redacts the key that a provider repeats %s', async (_where, reply) => {
    const server = await serve(reply, reply);
    const driver = openai('m', { baseURL: server.url, apiKey });
    for (const work of [ask(driver), streamed(driver)]) {
      const error = await failed(work);
      expect(`${error.message} ${JSON.stringify(error.details)} ${error.stack}`).not.toContain(
        apiKey,
      );
      expect(error.message).toContain('[redacted]');
    }
  });

  it('redacts a secret header', async () => {
    const server = await serve(json({ error: `no: ${apiKey}` }, 400));
    const driver = openai('m', { baseURL: server.url, headers: { 'api-key': apiKey } });
    expect((await failed(ask(driver))).message).toBe('no: [redacted]');
  });

  it('rejects a key with a line break without showing it', async () => {
    const error = await failed(
      ask(openai('m', { apiKey: `${apiKey}\nx`, baseURL: 'http://127.0.0.1:9' })),
    );
    expect(error.code).toBe('invalid_option');
    expect(error.message).not.toContain(apiKey);
  });

  it('does not store the key in the state', async () => {
    const server = await serve(json({ error: { message: `Incorrect API key: ${apiKey}` } }, 401));
    const state = await AgentBuilder.base()
      .withModel(openai('m', { baseURL: server.url, apiKey }))
      .withErrorPolicy(ErrorPolicy.retryAll(3))
      .build()
      .run('hi');
    expect(state.status).toBe('failed');
    expect(server.requests).toHaveLength(1);
    expect(JSON.stringify(state)).not.toContain(apiKey);
  });
});

describe('custom clients', () => {
  it('Azure: the client sets deployment, version and key; the driver reads its errors', async () => {
    const server = await serve(
      json(completion('a')),
      json({ statusCode: 429, message: 'Rate limit is exceeded. Try again in 6 seconds.' }, 429),
    );
    const client = new AzureOpenAI({
      endpoint: server.url.replace('/v1', ''),
      apiKey: 'azure-key-00000000',
      apiVersion: '2024-10-21',
    });
    const driver = openai('my-deployment', { client });
    expect((await ask(driver)).content).toBe('a');
    const [first] = server.requests;
    expect(first?.path).toBe(
      '/openai/deployments/my-deployment/chat/completions?api-version=2024-10-21',
    );
    expect(first?.headers['api-key']).toBe('azure-key-00000000');
    const error = await failed(ask(driver));
    expect(error.details['report']).toMatchObject({ type: 'rate_limit', retryAfterMs: 6000 });
    expect(server.requests).toHaveLength(2);
  });

  it('disables the retries of the client', async () => {
    const server = await serve(json({ error: 'busy' }, 500));
    const client = new OpenAI({ baseURL: server.url, apiKey: 'x', maxRetries: 4 });
    await failed(ask(openai('m', { client })));
    expect(server.requests).toHaveLength(1);
  });

  it('records the error of a client that cannot be copied', async () => {
    const create = (): unknown => ({
      asResponse: async () => {
        throw Object.assign(new Error('429 slow'), {
          status: 429,
          headers: new Headers({ 'retry-after': '2' }),
          error: { message: 'slow' },
        });
      },
    });
    const client = {
      baseURL: 'http://x/v1',
      chat: { completions: { create } },
    } as unknown as OpenAI;
    const error = await failed(ask(openai('m', { client })));
    expect(error.details['report']).toMatchObject({
      type: 'rate_limit',
      message: 'slow',
      retryAfterMs: 2000,
    });
  });
});
