import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { AgentBuilder, AgentState, ErrorPolicy, Message } from 'onward';
import { aiSdk, isAiSdkModel, type AiSdkModel, type AiSdkOptions } from 'onward/drivers/ai-sdk';
import { mockTool } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createOpenAIv4, isReleasedV4 } from './setup/ai-sdk-v4.ts';
import {
  completion,
  delta,
  json,
  mute,
  serve,
  silent,
  sse,
  toolCall,
  type Reply,
} from './setup/loopback.ts';

const anthropicAt = (baseURL: string): AiSdkModel =>
  createAnthropic({ apiKey: 'none', baseURL })('claude');
const googleAt = (baseURL: string): AiSdkModel =>
  createGoogleGenerativeAI({ apiKey: 'none', baseURL })('gemini');
const responsesAt = (baseURL: string): AiSdkModel =>
  createOpenAI({ apiKey: 'none', baseURL }).responses('gpt-5');
const chatAt = (baseURL: string): AiSdkModel =>
  createOpenAI({ apiKey: 'none', baseURL }).chat('gpt-4o');

const message = (stop_reason: string, ...content: readonly object[]): Reply =>
  json({
    type: 'message',
    id: 'msg_1',
    role: 'assistant',
    model: 'claude',
    content,
    stop_reason,
    stop_sequence: null,
    usage: {
      input_tokens: 10,
      output_tokens: 5,
      cache_read_input_tokens: 90,
      cache_creation_input_tokens: 0,
    },
  });

describe('provider data is sent back unchanged', () => {
  it('Anthropic: thinking blocks with signatures, in the order of the answer', async () => {
    const server = await serve(
      message(
        'tool_use',
        { type: 'thinking', thinking: 'Hm.', signature: 'sig-1' },
        { type: 'redacted_thinking', data: 'secret' },
        { type: 'text', text: 'Let me look.' },
        { type: 'tool_use', id: 'toolu_1', name: 'lookup', input: { q: 1 } },
      ),
      message('end_turn', { type: 'text', text: 'Done.' }),
    );
    const agent = AgentBuilder.base()
      .withModel(anthropicAt(server.url))
      .withTools(mockTool('lookup', 'found'))
      .build();
    const state = await agent.run('go');
    expect(state.output).toBe('Done.');
    expect(server.requests[1]?.body['messages']).toMatchObject([
      { role: 'user' },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'Hm.', signature: 'sig-1' },
          { type: 'redacted_thinking', data: 'secret' },
          { type: 'text', text: 'Let me look.' },
          { type: 'tool_use', id: 'toolu_1', name: 'lookup', input: { q: 1 } },
        ],
      },
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'found' }],
      },
    ]);
    expect(state.messages.at(1)?.metadata['reasoning']).toBe('Hm.');
  });

  it('Gemini: the signature of a tool call, after a JSON round trip', async () => {
    const answer = (...parts: readonly object[]): Reply =>
      json({ candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP' }] });
    const server = await serve(
      answer({ functionCall: { name: 'lookup', args: { q: 1 } }, thoughtSignature: 'sig-2' }),
      answer({ text: 'Done.' }),
    );
    const agent = AgentBuilder.base()
      .withModel(googleAt(server.url))
      .withTools(mockTool('lookup', 'found', { needsApproval: true }))
      .build();
    const paused = await agent.run('go');
    const restored = AgentState.from(JSON.parse(JSON.stringify(paused)));
    const id = restored.pendingApprovals[0]?.callId ?? '';
    const state = await agent.resume(restored, { approvals: { [id]: { approve: true } } });
    expect(state.output).toBe('Done.');
    expect(server.requests[1]?.body['contents']).toMatchObject([
      { role: 'user' },
      { role: 'model', parts: [{ functionCall: { name: 'lookup' }, thoughtSignature: 'sig-2' }] },
      { role: 'user', parts: [{ functionResponse: { name: 'lookup' } }] },
    ]);
  });

  it('OpenAI Responses: items by their ids', async () => {
    const response = (...output: readonly object[]): Reply =>
      json({
        id: 'resp_1',
        object: 'response',
        created_at: 1,
        model: 'gpt-5',
        status: 'completed',
        output,
        usage: {
          input_tokens: 100,
          input_tokens_details: { cached_tokens: 80 },
          output_tokens: 20,
          output_tokens_details: { reasoning_tokens: 15 },
          total_tokens: 120,
        },
      });
    const server = await serve(
      response(
        { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'Hm.' }] },
        {
          type: 'function_call',
          id: 'fc_1',
          call_id: 'call_1',
          name: 'lookup',
          arguments: '{}',
          status: 'completed',
        },
      ),
      response({
        type: 'message',
        id: 'msg_1',
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text: 'Done.', annotations: [] }],
      }),
    );
    const agent = AgentBuilder.base()
      .withModel(responsesAt(server.url))
      .withTools(mockTool('lookup', 'found'))
      .build();
    const state = await agent.run('go');
    expect(state.output).toBe('Done.');
    expect(server.requests[1]?.body['input']).toMatchObject([
      { role: 'user' },
      { type: 'item_reference', id: 'rs_1' },
      { type: 'function_call', call_id: 'call_1', name: 'lookup' },
      { type: 'function_call_output', call_id: 'call_1', output: 'found' },
    ]);
    expect(state.steps.at(0)?.usage).toEqual({
      input: 100,
      output: 20,
      total: 120,
      cachedInput: 80,
      reasoning: 15,
    });
  });

  it('does not send reasoning to another provider', async () => {
    const thinking = { type: 'thinking', thinking: 'Hm.', signature: 'sig-1' };
    const first = await serve(message('end_turn', thinking, { type: 'text', text: 'Hello.' }));
    const second = await serve(json(completion('Done.')));
    const started = await AgentBuilder.base().withModel(anthropicAt(first.url)).build().run('hi');
    const agent = AgentBuilder.base().withModel(chatAt(second.url)).build();
    expect((await agent.run(started.withUserMessage('more'))).output).toBe('Done.');
    expect(second.requests[0]?.body['messages']).toEqual([
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: 'Hello.' },
      { role: 'user', content: 'more' },
    ]);
  });

  it('counts cached tokens as input', async () => {
    const server = await serve(message('end_turn', { type: 'text', text: 'Hello.' }));
    const state = await AgentBuilder.base().withModel(anthropicAt(server.url)).build().run('hi');
    expect(state.usage).toMatchObject({ input: 100, output: 5, cachedInput: 90 });
  });
});

describe('requests to the provider', () => {
  it('contain settings, provider options, headers and cache control', async () => {
    const server = await serve(message('end_turn', { type: 'text', text: 'Hello.' }));
    const options: AiSdkOptions = {
      headers: { 'x-title': 'Onward' },
      temperature: 0.5,
      topK: 4,
      maxOutputTokens: 2000,
      stop: ['END'],
      providerOptions: { anthropic: { metadata: { userId: 'u1' } } },
      systemOptions: { anthropic: { cacheControl: { type: 'ephemeral' } } },
    };
    await AgentBuilder.base()
      .withModel(aiSdk(anthropicAt(server.url), options))
      .withSystemPrompt('Be brief.')
      .build()
      .run('hi');
    const [sent] = server.requests;
    expect(sent?.headers['x-title']).toBe('Onward');
    expect(sent?.body).toMatchObject({
      temperature: 0.5,
      top_k: 4,
      max_tokens: 2000,
      stop_sequences: ['END'],
      metadata: { user_id: 'u1' },
      system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
    });
  });

  it('contain the tool choice, the response format and the v4 reasoning effort', async () => {
    const server = await serve(json(completion('{"a":1}')));
    const model = createOpenAIv4({ apiKey: 'none', baseURL: server.url }).chat('gpt-5');
    const agent = AgentBuilder.base()
      .withModel(aiSdk(model, { reasoning: 'low' }))
      .withTools(mockTool('lookup'))
      .withToolChoice({ tool: 'lookup' })
      .withResponseFormat(z.object({ a: z.number() }))
      .build();
    await agent.run('What is it?');
    expect(server.requests[0]?.body).toMatchObject({
      reasoning_effort: 'low',
      tool_choice: { type: 'function', function: { name: 'lookup' } },
      response_format: { type: 'json_schema' },
    });
  });

  // src/inference/drivers/ai-sdk-request.test.ts checks the v4 format on every Node version
  it.each([
    ['v3', createOpenAI] as const,
    ...(isReleasedV4 ? [['v4', createOpenAIv4] as const] : []),
  ])('contain images (%s)', async (_version, create) => {
    const server = await serve(json(completion('A lamp.')));
    const model = create({ apiKey: 'none', baseURL: server.url }).chat('gpt-5');
    const state = AgentState.empty().withMessages(
      Message.user([
        { type: 'text', text: 'What is it?' },
        { type: 'image', data: '/9j/4AAQ' },
        { type: 'image', url: 'https://example.org/a.png' },
      ]),
    );
    await AgentBuilder.base().withModel(aiSdk(model)).build().run(state);
    expect(server.requests[0]?.body['messages']).toMatchObject([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is it?' },
          { type: 'image_url', image_url: { url: 'data:image/jpeg;base64,/9j/4AAQ' } },
          { type: 'image_url', image_url: { url: 'https://example.org/a.png' } },
        ],
      },
    ]);
  });

  it('contain a system message from the middle of the history', async () => {
    const server = await serve(message('end_turn', { type: 'text', text: 'Hello.' }));
    const state = AgentState.empty().withMessages(
      Message.user('hi'),
      Message.assistant('Hello.'),
      Message.developer('The user is on a phone.'),
      Message.user('more'),
    );
    const done = await AgentBuilder.base().withModel(anthropicAt(server.url)).build().run(state);
    expect(done.status).toBe('completed');
    expect(JSON.stringify(server.requests[0]?.body)).toContain('The user is on a phone.');
  });
});

describe('provider failures', () => {
  const run = async (model: AiSdkModel, options: AiSdkOptions = {}, isStream = true) => {
    const agent = AgentBuilder.base().withModel(aiSdk(model, options)).build();
    if (isStream) agent.on('StreamChunk', () => {});
    return agent.run('hi');
  };

  it.each<[string, Reply, boolean, Record<string, unknown>]>([
    [
      'an error chunk in a stream',
      sse(delta('a'), { error: { message: 'The server had an error', type: 'server_error' } }),
      true,
      { type: 'model' },
    ],
    [
      'a chunk that is not JSON',
      sse(delta('a'), '{"choices":[{'),
      true,
      { type: 'validation', code: 'unreadable_body' },
    ],
    [
      'a body that is not an answer',
      json({ hello: 'world' }),
      false,
      { type: 'validation', code: 'unreadable_body' },
    ],
    [
      'an HTML page',
      json('<html><title>502 Bad Gateway</title></html>', 502),
      false,
      { type: 'model', code: 'server', status: 502 },
    ],
    [
      'an error inside HTTP 200',
      json({ error: { message: 'slow', code: 429 } }),
      false,
      { type: 'rate_limit' },
    ],
    [
      'a reset connection',
      (response) => void response.destroy(),
      false,
      { type: 'timeout', code: 'connection_failed' },
    ],
  ])('records one error for %s', async (_what, reply, isStream, record) => {
    const server = await serve(reply);
    const state = await run(chatAt(server.url), {}, isStream);
    expect(state.status).toBe('failed');
    expect(state.steps.at(0)?.errors[0]).toMatchObject(record);
    expect(server.requests).toHaveLength(1);
    expect(state.messages.pairingProblem()).toBeNull();
  });

  it.each<[string, Reply, AiSdkOptions, boolean]>([
    ['no status', mute, { firstTokenTimeoutMs: 40 }, true],
    ['no status without streaming', mute, { firstTokenTimeoutMs: 40 }, false],
    ['only SSE comments', silent(), { firstTokenTimeoutMs: 40 }, true],
    ['no second chunk', silent(delta('a')), { idleTimeoutMs: 40 }, true],
  ])('times out and closes the connection: %s', async (_what, reply, options, isStream) => {
    const server = await serve(reply);
    const state = await run(chatAt(server.url), options, isStream);
    expect(state.steps.at(0)?.errors[0]).toMatchObject({ type: 'timeout', code: 'idle_timeout' });
    await server.requests[0]?.left;
  });

  it('cancelling closes the connection at once and keeps the streamed text', async () => {
    const server = await serve(silent(delta('Half an answer')));
    const stream = AgentBuilder.base().withModel(chatAt(server.url)).build().stream('hi');
    for await (const event of stream) if (event.type === 'StreamChunk') break;
    await server.requests[0]?.left;
    const state = await stream.state;
    expect(state.stopReason).toBe('user_requested');
    expect(state.messages.at(-1)?.text).toBe('Half an answer');
  });

  it('D62: reports an incomplete tool call and never runs it', async () => {
    const server = await serve(
      sse(
        delta({ tool_calls: [{ index: 0, ...toolCall('lookup', '{"q":"a') }] }),
        delta({}, 'tool_calls'),
      ),
      sse(delta('sorry', 'stop')),
    );
    const lookup = mockTool('lookup');
    const agent = AgentBuilder.base()
      .withModel(chatAt(server.url))
      .withTools(lookup)
      .withErrorPolicy(ErrorPolicy.retryToolErrors(2))
      .build();
    agent.on('StreamChunk', () => {});
    const state = await agent.run('go');
    expect(lookup.calls).toEqual([]);
    expect(state.steps.at(0)?.errors[0]?.type).toBe('validation');
    expect(state.output).toBe('sorry');
  });

  it.each<[string, unknown, RegExp]>([
    [
      'an unknown specification version',
      { specificationVersion: 'v9', doGenerate() {}, doStream() {} },
      /"v9", expected .* v2, v3, v4/,
    ],
    ['an object that is not a model', { a: 1 }, /expected a language model/],
    ['undefined', undefined, /expected a language model/],
  ])('rejects %s at once', (_what, model, words) => {
    expect(() => aiSdk(model as AiSdkModel)).toThrow(words);
  });

  it('isAiSdkModel recognizes a model by its shape', () => {
    expect(isAiSdkModel(chatAt('http://127.0.0.1:9'))).toBe(true);
    expect(isAiSdkModel({ infer() {} })).toBe(false);
  });
});
