import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { LLMock } from '@copilotkit/aimock';
import { createOpenAI as createOpenAIv2 } from 'ai-sdk-openai-v2';
import { AgentBuilder, type AgentEvent } from 'onward';
import type { AiSdkModel } from 'onward/drivers/ai-sdk';
import { mockTool } from 'onward/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createOpenAIv4 } from './setup/ai-sdk-v4.ts';

/** Token counts under the field names of every provider. */
const usage = {
  prompt_tokens: 20,
  completion_tokens: 5,
  input_tokens: 20,
  output_tokens: 5,
  promptTokenCount: 20,
  candidatesTokenCount: 5,
};

const mock = new LLMock({ port: 0, logLevel: 'silent' });
beforeAll(async () => {
  mock.on(
    { userMessage: 'How warm', hasToolResult: false },
    {
      usage,
      content: 'Let me look.',
      toolCalls: [
        { id: 'call_a', name: 'lookup', arguments: '{"city":"Paris"}' },
        { id: 'call_b', name: 'lookup', arguments: '{"city":"Zürich"}' },
      ],
    },
  );
  mock.on(
    { userMessage: 'How warm', hasToolResult: true },
    { usage, content: 'Paris 18°, Zürich 12°.' },
  );
  mock.on({ userMessage: 'Think' }, { content: 'Done.', reasoning: 'Hm, let me see.' });
  await mock.start();
});
afterAll(() => mock.stop());

const at = (path = '/v1'): { readonly apiKey: string; readonly baseURL: string } => ({
  apiKey: 'none',
  baseURL: `${mock.url}${path}`,
});

/** Models from the published packages, for each specification version. */
const models: readonly (readonly [string, string, () => AiSdkModel])[] = [
  ['v3', 'openai chat', () => createOpenAI(at()).chat('gpt-4o')],
  ['v3', 'openai responses', () => createOpenAI(at()).responses('gpt-4o')],
  ['v3', 'anthropic', () => createAnthropic(at())('claude-sonnet-4-5')],
  ['v3', 'google', () => createGoogleGenerativeAI(at('/v1beta'))('gemini-2.5-flash')],
  [
    'v3',
    'openai-compatible',
    () => createOpenAICompatible({ name: 'here', includeUsage: true, ...at() })('m'),
  ],
  ['v2', 'openai chat', () => createOpenAIv2(at()).chat('gpt-4o')],
  ['v4', 'openai chat', () => createOpenAIv4(at()).chat('gpt-4o')],
  ['v4', 'openai responses', () => createOpenAIv4(at()).responses('gpt-4o')],
];

describe.each(models)('specification %s, %s', (version, _name, make) => {
  it.each([['streamed'], ['whole']])('calls both tools and answers: %s', async (way) => {
    const model = make();
    expect(model.specificationVersion).toBe(version);
    const lookup = mockTool('lookup', (args: { city?: string }) => ({
      city: args.city,
      degrees: 18,
    }));
    const agent = AgentBuilder.base()
      .withModel(model)
      .withSystemPrompt('Be brief.')
      .withTools(lookup)
      .build();
    const events: AgentEvent[] = [];
    const state = await agent.run(
      'How warm is it?',
      way === 'streamed' ? { wiretap: (event) => events.push(event) } : {},
    );

    expect(state.status).toBe('completed');
    expect(state.output).toBe('Paris 18°, Zürich 12°.');
    expect(lookup.calls).toEqual([{ city: 'Paris' }, { city: 'Zürich' }]);
    expect(state.messages.pairingProblem()).toBeNull();
    expect(state.steps.at(0)).toMatchObject({ type: 'tool_calls', finishReason: 'tool_calls' });
    expect(state.messages.at(1)?.text).toBe('Let me look.');
    expect(state.steps.at(1)?.finishReason).toBe('stop');
    expect(state.usage).toMatchObject({ input: 40, output: 10, total: 50 });
    if (way !== 'streamed') return;
    const shown = events.map((event) => (event.type === 'StreamChunk' ? event.content : ''));
    expect(shown.join('')).toBe('Let me look.Paris 18°, Zürich 12°.');
    const args = events.map((event) => (event.type === 'ToolCallDelta' ? event.argsDelta : ''));
    expect(args.join('')).toBe('{"city":"Paris"}{"city":"Zürich"}');
  });

  it('records whether a provider error is retryable', async () => {
    mock.nextRequestError(429, { message: 'Slow down.', type: 'rate_limit_error' });
    const limited = await AgentBuilder.base().withModel(make()).build().run('How warm is it?');
    expect(limited.steps.at(0)?.errors[0]).toMatchObject({
      type: 'rate_limit',
      status: 429,
      retryable: true,
      retryAfterMs: 1000,
    });
    mock.nextRequestError(401, { message: 'invalid x-api-key', type: 'authentication_error' });
    const refused = await AgentBuilder.base().withModel(make()).build().run('How warm is it?');
    expect(refused.steps.at(0)?.errors[0]).toMatchObject({
      type: 'model',
      code: 'auth',
      retryable: false,
    });
  });
});
