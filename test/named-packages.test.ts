import { AgentBuilder, createAgent, type AgentState } from 'onward';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { json, serve, sse, type Loopback } from './setup/loopback.ts';

const claude = {
  type: 'message',
  id: 'msg_1',
  role: 'assistant',
  model: 'claude-haiku-4-5-20251001',
  content: [{ type: 'text', text: 'Hello!' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 1_000_000, output_tokens: 100_000 },
};
const claudeStream = [
  { type: 'message_start', message: { ...claude, content: [], stop_reason: null } },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello!' } },
  { type: 'content_block_stop', index: 0 },
  {
    type: 'message_delta',
    delta: { stop_reason: 'end_turn', stop_sequence: null },
    usage: { output_tokens: 100_000 },
  },
  { type: 'message_stop' },
];
const gemini = {
  candidates: [{ content: { role: 'model', parts: [{ text: 'Hello!' }] }, finishReason: 'STOP' }],
  usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 },
};

let redirected: Loopback;
const real = globalThis.fetch;

/** Sends what goes to a provider to the server of the test, wherever the environment of a package points. */
function reroute(): void {
  vi.stubGlobal('fetch', (input: string, init?: RequestInit) => {
    const path = new URL(input).pathname.replace(/^.*?(?=\/(?:messages|models)\b)/, '');
    return real(`${redirected.url}${path}`, init);
  });
}

afterEach(() => {
  vi.unstubAllGlobals();
});

beforeAll(() => {
  vi.stubEnv('ANTHROPIC_API_KEY', 'key-of-anthropic');
  vi.stubEnv('GOOGLE_GENERATIVE_AI_API_KEY', 'key-of-google');
});
afterAll(() => {
  vi.unstubAllEnvs();
});

const failureOf = ({ steps }: AgentState) => steps.at(-1)?.errors[0];

describe('a named model of an AI SDK package', () => {
  it('anthropic: reads the key from the environment, and has its name and price', async () => {
    redirected = await serve(json(claude), sse(...claudeStream));
    reroute();
    const model = 'anthropic:claude-haiku-4-5';
    const agent = createAgent({ model, fallback: ['openai:gpt-5'] });
    const state = await agent.run('Say hello.');
    expect(state.output).toBe('Hello!');
    expect(state.steps.at(0)?.model).toBe(model);
    expect(state.execution?.cost).toBeCloseTo(1.5);

    const streamed = agent.stream('Say hello.');
    const texts: string[] = [];
    for await (const text of streamed.textStream) texts.push(text);
    expect(texts.join('')).toBe('Hello!');

    const [request] = redirected.requests;
    expect(request?.path).toBe('/v1/messages');
    expect(request?.headers['x-api-key']).toBe('key-of-anthropic');
    expect(request?.body['model']).toBe('claude-haiku-4-5');
  });

  it('google: reads the key from the environment', async () => {
    redirected = await serve(json(gemini));
    reroute();
    const agent = AgentBuilder.base().withModel('google:gemini-2.5-flash').build();
    const state = await agent.run('Say hello.');
    expect(state.output).toBe('Hello!');
    expect(state.execution?.cost).toBeCloseTo((10 * 0.3 + 5 * 2.5) / 1e6);
    const [request] = redirected.requests;
    expect(request?.path).toBe('/v1/models/gemini-2.5-flash:generateContent');
    expect(request?.headers['x-goog-api-key']).toBe('key-of-google');
  });

  it.each([
    ['anthropic:claude-haiku-4-5', 'ANTHROPIC_API_KEY'],
    ['google:gemini-2.5-flash', 'GOOGLE_GENERATIVE_AI_API_KEY'],
  ])('%s without its key fails like a rejected key, and names %s', async (model, variable) => {
    vi.stubEnv(variable, undefined);
    const state = await createAgent({ model }).run('Say hello.');
    vi.stubEnv(variable, 'a-key');
    expect(failureOf(state)).toMatchObject({ type: 'model', code: 'auth', retryable: false });
    expect(failureOf(state)?.message).toContain(variable);
  });

  it('the key is not in the error of a server that repeats it', async () => {
    vi.stubEnv('ANTHROPIC_API_KEY', 'sk-ant-api03-CANARY0000000000000000');
    const message = 'invalid x-api-key: sk-ant-api03-CANARY0000000000000000';
    redirected = await serve(
      json({ type: 'error', error: { type: 'authentication_error', message } }, 401),
    );
    reroute();
    const state = await createAgent({ model: 'anthropic:claude-haiku-4-5' }).run('Say hello.');
    vi.stubEnv('ANTHROPIC_API_KEY', 'key-of-anthropic');
    expect(failureOf(state)).toMatchObject({ code: 'auth', status: 401 });
    expect(JSON.stringify(state)).not.toContain('CANARY');
  });

  it.each([
    ['bedrock:us.anthropic.claude-sonnet-5-v1:0', '@ai-sdk/amazon-bedrock'],
    ['vertex:gemini-2.5-pro', '@ai-sdk/google-vertex'],
    ['vertex:claude-sonnet-4-5@20250929', '@ai-sdk/google-vertex'],
  ])('%s without its package is rejected with the package to install', async (model, name) => {
    const agent = createAgent({ model });
    await expect(agent.run('Say hello.')).rejects.toMatchObject({
      code: 'driver_missing',
      message: `The model "${model}" needs the package ${name}, which is not installed. Run: npm install ${name}`,
    });
  });
});
