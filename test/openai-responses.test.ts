import { AgentBuilder, defineTool, type Message, Messages } from 'onward';
import type { InferenceResponse } from 'onward/drivers';
import { openai, type OpenAIOptions } from 'onward/drivers/openai';
import { mockTool } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { requestOf } from './setup/inference-request.ts';
import { completion, json, serve, sse } from './setup/loopback.ts';
import {
  called,
  reasoning,
  response,
  said,
  streamed,
  type Json,
} from './setup/responses-samples.ts';

const { signal } = new AbortController();

const driver = (url: string, more: OpenAIOptions = {}): ReturnType<typeof openai> =>
  openai('gpt-5', { baseURL: url, api: 'responses', ...more });

const inferred = async (body: Json, more: OpenAIOptions = {}): Promise<InferenceResponse> => {
  const server = await serve(json(body));
  return driver(server.url, more).infer(requestOf(), { signal });
};

describe('requests of a loop', () => {
  const book = defineTool({
    name: 'book',
    description: 'Books a trip.',
    parameters: z.object({ city: z.string() }),
    needsApproval: true,
    execute: () => 'ok',
  });
  const answers = [
    response([
      reasoning(1, 'Two cities.'),
      said('Checking.', { phase: 'commentary' }),
      called('call_1', 'lookup', { city: 'Paris' }),
      called('call_2', 'lookup', { city: 'Rome' }),
    ]),
    response([reasoning(2, 'One more.'), called('call_3', 'book', { city: 'Rome' })]),
    response([said('Booked.')]),
  ];
  const tool = (name: string): Json => ({
    type: 'function',
    name,
    description: expect.any(String) as unknown,
    parameters: expect.any(Object) as unknown,
    strict: false,
  });
  const golden = {
    model: 'gpt-5',
    instructions: 'Be brief.',
    input: [
      { role: 'user', content: 'Where is it warm?' },
      {
        type: 'reasoning',
        summary: [{ type: 'summary_text', text: 'Two cities.' }],
        encrypted_content: 'secret 1',
      },
      { type: 'message', role: 'assistant', content: 'Checking.', phase: 'commentary' },
      { type: 'function_call', call_id: 'call_1', name: 'lookup', arguments: '{"city":"Paris"}' },
      { type: 'function_call', call_id: 'call_2', name: 'lookup', arguments: '{"city":"Rome"}' },
      { type: 'function_call_output', call_id: 'call_1', output: '{"degrees":18}' },
      { type: 'function_call_output', call_id: 'call_2', output: '{"degrees":18}' },
      {
        type: 'reasoning',
        summary: [{ type: 'summary_text', text: 'One more.' }],
        encrypted_content: 'secret 2',
      },
      { type: 'function_call', call_id: 'call_3', name: 'book', arguments: '{"city":"Rome"}' },
      { type: 'function_call_output', call_id: 'call_3', output: 'ok' },
    ],
    store: false,
    include: ['reasoning.encrypted_content'],
    tools: [tool('lookup'), tool('book')],
    reasoning: { effort: 'low', summary: 'auto' },
  };

  it.each([
    ['whole', false],
    ['streamed', true],
  ])(
    'send reasoning, parallel calls and results back, over an approval in another process: %s',
    async (_way, isStream) => {
      const replies = answers.map((answer) => (isStream ? streamed(answer) : json(answer)));
      const server = await serve(...replies);
      const options = { reasoningEffort: 'low', reasoningSummary: 'auto' } as const;
      const build = () => {
        const agent = AgentBuilder.base()
          .withModel(driver(server.url, options))
          .withSystemPrompt('Be brief.')
          .withTools(mockTool('lookup', { degrees: 18 }), book)
          .build();
        const seen = { text: '', reasoning: '' };
        if (isStream) {
          agent.on('StreamChunk', ({ content }) => (seen.text += content));
          agent.on('ReasoningDelta', ({ content }) => (seen.reasoning += content));
        }
        return { agent, seen };
      };
      const first = build();
      const paused = await first.agent.run('Where is it warm?');
      expect(paused.status).toBe('paused');
      const stored = JSON.stringify(paused);
      const second = build();
      const state = await second.agent.resume(JSON.parse(stored), {
        approvals: { call_3: { approve: true } },
      });
      expect(state.output).toBe('Booked.');
      expect(state.usage).toMatchObject({ input: 60, output: 18, cachedInput: 24, reasoning: 12 });
      expect(server.requests.map(({ path }) => path)).toEqual(Array(3).fill('/v1/responses'));
      const body = { ...golden, ...(isStream && { stream: true }) };
      expect(server.requests[2]?.body).toEqual(body);
      expect(server.requests[1]?.body).toEqual({ ...body, input: golden.input.slice(0, 7) });
      expect(server.requests[0]?.body).toEqual({ ...body, input: golden.input.slice(0, 1) });
      if (!isStream) return;
      expect(first.seen).toEqual({ text: 'Checking.', reasoning: 'Two cities.One more.' });
      expect(second.seen.text).toBe('Booked.');
    },
  );
});

describe('state of other APIs, servers and models', () => {
  const history = async (url: string): Promise<Parameters<typeof Message.from>[0][]> => {
    const server = await serve(
      json(response([reasoning(1, 'Hm.'), said('A.'), called('c1', 'x')])),
    );
    const made = await driver(server.url).infer(requestOf(), { signal });
    const metadata = JSON.parse(JSON.stringify(made.metadata).replaceAll(server.url, url)) as never;
    return [
      { role: 'user', content: 'go' },
      {
        role: 'assistant',
        content: 'A.',
        toolCalls: [{ id: 'c1', name: 'x', args: {} }],
        metadata,
      },
      { role: 'tool', content: 'ok', toolCallId: 'c1' },
    ];
  };
  const plain = [
    { role: 'user', content: 'go' },
    { role: 'assistant', content: 'A.' },
    { type: 'function_call', call_id: 'c1', name: 'x', arguments: '{}' },
    { type: 'function_call_output', call_id: 'c1', output: 'ok' },
  ];

  it.each<[string, string, boolean, boolean]>([
    ['the same server and model', 'gpt-5', true, true],
    ['a dated name of the model', 'gpt-5-2025-08-07', true, true],
    ['another model', 'gpt-4o', true, false],
    ['another server', 'gpt-5', false, false],
  ])('%s', async (_what, model, isSame, isOwn) => {
    const server = await serve(json(response([said('b')])));
    const messages = Messages.from(await history(isSame ? server.url : 'http://other/v1'));
    const target = openai(model, { baseURL: server.url, api: 'responses' });
    await target.infer(requestOf({ messages }), { signal });
    const { input } = server.requests[0]?.body ?? {};
    if (isOwn) expect(input).toMatchObject([{}, { encrypted_content: 'secret 1' }, {}, {}, {}]);
    else expect(input).toEqual(plain);
  });

  it('goes to chat as text and calls', async () => {
    const server = await serve(json(completion('b')));
    const messages = Messages.from(await history(server.url));
    await openai('gpt-5', { baseURL: server.url }).infer(requestOf({ messages }), { signal });
    expect(server.requests[0]?.body['messages']).toEqual([
      { role: 'user', content: 'go' },
      {
        role: 'assistant',
        content: 'A.',
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'x', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'c1', content: 'ok' },
    ]);
  });

  it('of chat goes to Responses as plain items without ids', async () => {
    const server = await serve(json(response([said('b')])));
    const [user, assistant, result] = await history(server.url);
    const metadata = {
      reasoning: 'Hm.',
      chat: { server: server.url, reasoningField: 'reasoning_content' },
    };
    const messages = Messages.from([user!, { ...assistant!, metadata }, result!]);
    await driver(server.url).infer(requestOf({ messages }), { signal });
    expect(server.requests[0]?.body['input']).toEqual(plain);
  });

  it('is left out if the message has changed', async () => {
    const server = await serve(json(response([said('b')])));
    const [user, assistant, result] = await history(server.url);
    const messages = Messages.from([user!, { ...assistant!, content: 'Other.' }, result!]);
    await driver(server.url).infer(requestOf({ messages }), { signal });
    const { input } = server.requests[0]?.body ?? {};
    expect(input).toEqual(plain.with(1, { role: 'assistant', content: 'Other.' }));
  });
});

describe('built-in tools', () => {
  const search = {
    id: 'ws_1',
    type: 'web_search_call',
    status: 'completed',
    action: { query: 'a' },
  };
  const code = { id: 'ci_1', type: 'code_interpreter_call', code: '1', outputs: [{ logs: '1' }] };

  it('are sent, and their calls and results go back in order', async () => {
    const first = response([reasoning(1, 'Hm.'), search, code, said('Found.'), called('c1', 'x')]);
    const server = await serve(json(first), json(response([said('Done.')])));
    const builtInTools = [
      { type: 'web_search' },
      { type: 'code_interpreter', container: { type: 'auto' } },
    ] as const;
    const state = await AgentBuilder.base()
      .withModel(driver(server.url, { builtInTools }))
      .withTools(mockTool('x', 'ok'))
      .build()
      .run('go');
    expect(state.output).toBe('Done.');
    const [, { body }] = server.requests as [unknown, { body: Json }];
    expect(body['tools']).toMatchObject([{ name: 'x' }, ...builtInTools]);
    expect(body['include']).toEqual([
      'reasoning.encrypted_content',
      'web_search_call.action.sources',
      'code_interpreter_call.outputs',
    ]);
    const { id: _id, ...sent } = search;
    expect((body['input'] as Json[]).slice(2, 5)).toEqual([
      sent,
      code,
      { type: 'message', role: 'assistant', content: 'Found.' },
    ]);
  });

  it('fail with a clear error if an MCP server requires an approval', async () => {
    const asked = { type: 'mcp_approval_request', id: 'm1', name: 'delete', server_label: 'files' };
    await expect(inferred(response([asked]))).rejects.toMatchObject({
      details: { report: { code: 'mcp_approval_required', retryable: false } },
    });
  });
});

describe('answers', () => {
  it.each<[string, Json, Partial<InferenceResponse>]>([
    [
      'a refusal',
      response([said('', { content: [{ type: 'refusal', refusal: 'No.' }] })]),
      { refusal: 'No.', content: '' },
    ],
    [
      'the output limit',
      response([said('a')], {
        status: 'incomplete',
        incomplete_details: { reason: 'max_output_tokens' },
      }),
      { finishReason: 'length', content: 'a' },
    ],
    [
      'the content filter',
      response([said('a')], {
        status: 'incomplete',
        incomplete_details: { reason: 'content_filter' },
      }),
      { finishReason: 'content_filter' },
    ],
    [
      'an unknown reason',
      response([said('a')], { status: 'incomplete', incomplete_details: { reason: 'other' } }),
      { finishReason: 'length' },
    ],
    [
      'reasoning alone',
      response([reasoning(1, 'Hm.')]),
      { reasoning: 'Hm.', content: '', finishReason: 'stop' },
    ],
    [
      'a custom tool call',
      response([{ type: 'custom_tool_call', call_id: 'c', name: 'x', input: 'a b' }]),
      { toolCalls: [{ id: 'c', name: 'x', args: { input: 'a b' }, argsRaw: '{"input":"a b"}' }] },
    ],
  ])('%s', async (_what, body, expected) => {
    const read = await inferred(body);
    expect(read).toMatchObject(expected);
    if (read.toolCalls.length === 0) expect(read.metadata).toBeUndefined();
  });

  it.each<[string, Json, Json]>([
    [
      'a failure',
      response([], { status: 'failed', error: { code: 'rate_limit_exceeded', message: 'slow' } }),
      { type: 'rate_limit', code: 'rate_limit', message: 'slow' },
    ],
    [
      'a cancelled response',
      response([], { status: 'cancelled' }),
      { type: 'timeout', code: 'cancelled' },
    ],
    [
      'a background response',
      response([], { status: 'queued' }),
      { code: 'unreadable_body', retryable: false },
    ],
    ['a body of another API', completion('a'), { code: 'unreadable_body' }],
  ])('%s is an error', async (_what, body, report) => {
    await expect(inferred(body)).rejects.toMatchObject({ details: { report } });
  });

  it('a failed stream keeps its code and the partial text', async () => {
    const error = { code: 'server_error', message: 'no' };
    const server = await serve(
      sse(
        { type: 'response.output_text.delta', output_index: 0, delta: 'Hel' },
        { type: 'response.failed', response: { status: 'failed', error } },
      ),
    );
    const chunks = driver(server.url).stream?.(requestOf(), { signal }) ?? [];
    await expect(collect(chunks)).rejects.toMatchObject({
      details: { report: { code: 'server', message: 'no' }, partial: { content: 'Hel' } },
    });
  });
});

async function collect(chunks: AsyncIterable<unknown> | Iterable<unknown>): Promise<void> {
  for await (const _chunk of chunks);
}

describe('settings', () => {
  it('sends images, files, a strict format, a tool choice and limits', async () => {
    const server = await serve(json(response([said('{}')])));
    const messages = Messages.from([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'See' },
          { type: 'image', data: 'iVBORw0KGgo=' },
          { type: 'file', url: 'https://a.example/b.pdf' },
          { type: 'file', data: 'JVBERi0=', filename: 'c.pdf' },
        ],
      },
    ]);
    const schema = z.toJSONSchema(z.object({ a: z.string() })) as never;
    await openai('gpt-4o', {
      baseURL: server.url,
      api: 'responses',
      maxOutputTokens: 9,
      parallelToolCalls: false,
    }).infer(
      requestOf({
        messages,
        tools: [{ name: 'x', description: 'd', parameters: {} }],
        toolChoice: { tool: 'x' },
        responseFormat: { name: 'out', schema },
      }),
      { signal },
    );
    const { body } = server.requests[0]!;
    expect(body).toMatchObject({
      input: [
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'See' },
            { type: 'input_image', image_url: 'data:image/png;base64,iVBORw0KGgo=' },
            { type: 'input_file', file_url: 'https://a.example/b.pdf' },
            {
              type: 'input_file',
              filename: 'c.pdf',
              file_data: 'data:application/pdf;base64,JVBERi0=',
            },
          ],
        },
      ],
      text: { format: { type: 'json_schema', name: 'out', strict: true } },
      tool_choice: { type: 'function', name: 'x' },
      max_output_tokens: 9,
      parallel_tool_calls: false,
    });
    expect(body).not.toHaveProperty('include');
  });

  it.each<[OpenAIOptions, RegExp]>([
    [{ api: 'responses', stop: ['a'] }, /stop got .* api: 'chat'/],
    [{ api: 'responses', seed: 1 }, /seed got 1/],
    [{ api: 'chat', builtInTools: [] }, /builtInTools got .* api: 'responses'/],
    [{ api: 'other' as never }, /api got "other"/],
  ])('rejects %j', (options, message) => {
    expect(() => openai('m', options)).toThrow(message);
  });
});
