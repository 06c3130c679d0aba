import { AgentBuilder, AgentError, ErrorPolicy, type AgentEvent } from 'onward';
import { openai, type OpenAIOptions } from 'onward/drivers/openai';
import { mockTool } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { requestOf } from './setup/inference-request.ts';
import {
  broken,
  completion,
  delta,
  json,
  mute,
  serve,
  silent,
  sse,
  toolCall,
  type Loopback,
  type Reply,
} from './setup/loopback.ts';
import { pause, until } from './setup/sessions.ts';

const quick = { initialMs: 1, factor: 1, maxMs: 1, jitter: 0 };
const request = requestOf();

const builder = (server: Loopback, maxRetries: number, options: OpenAIOptions = {}): AgentBuilder =>
  AgentBuilder.base()
    .withModel(openai('m', { baseURL: server.url, ...options }))
    .withErrorPolicy(ErrorPolicy.retryAll(maxRetries).withBackoff(quick));

const reset: Reply = (response) => void response.destroy();
const busy = json({ error: { message: 'Rate limit reached' } }, 429);
const usage = { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 };

describe('D58: retries', () => {
  it.each<[string, Reply, string]>([
    ['429', busy, 'rate_limit'],
    ['500', json({ error: 'no' }, 500), 'model'],
    [
      '503 with an HTML page',
      json('<html><title>503 Service Unavailable</title></html>', 503),
      'model',
    ],
    ['503 that says overloaded', json({ error: { message: 'Overloaded.' } }, 503), 'rate_limit'],
    ['529', json({ error: { type: 'overloaded_error' } }, 529), 'rate_limit'],
    ['408', json({}, 408), 'timeout'],
    ['a reset connection', reset, 'timeout'],
    ['an error inside HTTP 200', json({ error: { code: 502, message: 'no' } }), 'model'],
    ['a body that cannot be read', json('<p>Welcome</p>'), 'validation'],
    ['an incomplete body', json('{"choices":[{"message":{"content":"a'), 'validation'],
  ])('%s: sends 1 + maxRetries requests, then stops', async (_what, reply, type) => {
    for (const maxRetries of [0, 2]) {
      const server = await serve(reply, reply, reply, reply, reply);
      const state = await builder(server, maxRetries).build().run('hi');
      expect(server.requests).toHaveLength(1 + maxRetries);
      expect(state.status).toBe('failed');
      expect(state.stopReason).toBe('retry_limit');
      expect(state.steps.toJSON().map(({ errors }) => errors[0]?.type)).toEqual(
        Array.from({ length: 1 + maxRetries }, () => type),
      );
    }
  });

  it.each<[string, Reply]>([
    ['an exceeded quota', json({ error: { code: 'insufficient_quota', message: 'quota' } }, 429)],
    ['a bad key', json({ error: { message: 'Incorrect API key' } }, 401)],
    ['a prompt that is too long', json({ error: { code: 'context_length_exceeded' } }, 400)],
    ['an unknown model', json({ error: { message: 'no such model' } }, 404)],
    ['a refusal', json(completion({ refusal: 'No.' }))],
  ])('does not retry %s', async (_what, reply) => {
    const server = await serve(reply, reply);
    const state = await builder(server, 5).build().run('hi');
    expect(server.requests).toHaveLength(1);
    expect(state.stopReason).toBe('error');
    expect(state.steps.at(-1)?.errors[0]?.retryable).toBe(false);
  });

  it('waits as long as the provider asks', async () => {
    const server = await serve(
      json({ error: 'slow' }, 429, { 'retry-after-ms': '80' }),
      json({ error: { message: 'Please try again in 60ms.' } }, 429),
      json(completion('at last')),
    );
    const before = performance.now();
    const state = await builder(server, 3).build().run('hi');
    expect(performance.now() - before).toBeGreaterThanOrEqual(135);
    expect(state.output).toBe('at last');
    expect(state.steps.toJSON().map(({ waitMs }) => waitMs)).toEqual([80, 60, undefined]);
  });
});

describe('an error in mid-stream', () => {
  const asking = sse(
    delta({ tool_calls: [{ index: 0, ...toolCall('lookup', { q: 1 }) }] }),
    delta({}, 'tool_calls', { usage }),
  );

  it.each<[string, Reply]>([
    [
      'an error chunk',
      sse(delta('Half '), delta('an ans'), { error: { code: 502, message: 'gone' } }),
    ],
    ['a broken connection', broken(delta('Half '), delta('an ans'))],
    [
      'a stream that ends early',
      (response) => void response.end(`data: ${JSON.stringify(delta('Half '))}\n\n`),
    ],
    ['a chunk that is not JSON', sse(delta('Half '), '{"choices":[{')],
  ])('D55, D56: %s retries only that step and discards the streamed text', async (_what, reply) => {
    const server = await serve(
      asking,
      reply,
      sse(delta('All '), delta('of it.'), delta({}, 'stop')),
    );
    const lookup = mockTool('lookup', 'found');
    const agent = builder(server, 3).withTools(lookup).build();
    const events: AgentEvent[] = [];
    const state = await agent.run('go', { wiretap: (event) => events.push(event) });

    expect(state.output).toBe('All of it.');
    expect(lookup.calls).toHaveLength(1);
    expect(server.requests).toHaveLength(3);
    expect(server.requests[2]?.body).toEqual(server.requests[1]?.body);
    expect(state.messages.pairingProblem()).toBeNull();
    const reported = events.flatMap((event): [number, number, string | null][] => {
      if (event.type === 'StreamChunk') return [[event.stepNumber, event.attempt, event.content]];
      if (event.type === 'StreamDiscarded') return [[event.stepNumber, event.attempt, null]];
      return [];
    });
    expect(reported.filter(([, , text]) => text === null)).toEqual([[2, 1, null]]);
    expect(reported.filter(([step]) => step === 3)).toEqual([
      [3, 2, 'All '],
      [3, 2, 'of it.'],
    ]);
    expect(state.steps.at(1)).toMatchObject({ type: 'error', attempt: 1 });
    expect(state.steps.at(2)).toMatchObject({ type: 'final', attempt: 2 });
  });

  it('D47: keeps the usage that arrived before the failure', async () => {
    const reply = sse(delta('a', null, { usage }), { error: { code: 502, message: 'gone' } });
    const server = await serve(reply);
    const agent = builder(server, 0).build();
    agent.on('StreamChunk', () => {});
    const state = await agent.run('hi');
    expect(state.status).toBe('failed');
    expect(state.usage.total).toBe(12);
  });

  it('the error contains the partial answer', async () => {
    const server = await serve(
      broken(delta('Half '), delta({ tool_calls: [{ index: 0, ...toolCall('x', '{"q"') }] })),
    );
    const driver = openai('m', { baseURL: server.url });
    const { signal } = new AbortController();
    const drain = async (): Promise<void> => {
      for await (const chunk of driver.stream?.(request, { signal }) ?? []) void chunk;
    };
    const error = await drain().catch((thrown: unknown) => thrown);
    expect(AgentError.is(error, 'model_call_failed') && error.details['partial']).toMatchObject({
      content: 'Half ',
      toolCalls: [{ id: 'call_1', name: 'x', argsRaw: '{"q"' }],
    });
  });

  it('D07: finish reason stop with a tool call still runs the call in a stream', async () => {
    const server = await serve(
      sse(delta({ tool_calls: [{ index: 0, ...toolCall('lookup') }] }), delta({}, 'stop')),
      sse(delta('done', 'stop')),
    );
    const lookup = mockTool('lookup');
    const agent = builder(server, 0).withTools(lookup).build();
    agent.on('StreamChunk', () => {});
    expect((await agent.run('go')).output).toBe('done');
    expect(lookup.calls).toHaveLength(1);
  });

  it.each<[string, string, string]>([
    ['truncated by the output limit', '{"q":"a', 'length'],
    ['truncated, with finish reason tool_calls', '{"q":"a', 'tool_calls'],
    ['repeated in one string', '{"q":"a"}{"q":"a"}', 'tool_calls'],
    ['complete, in a truncated answer', '{"q":"a"}', 'length'],
  ])('D62: arguments %s are never run, and the model gets an error', async (_what, args, word) => {
    const server = await serve(
      json(completion({ tool_calls: [toolCall('lookup', args)] }, word)),
      json(completion('sorry')),
    );
    const lookup = mockTool('lookup');
    const state = await builder(server, 3).withTools(lookup).build().run('go');
    expect(lookup.calls).toEqual([]);
    expect(state.steps.at(0)?.results[0]?.error).toMatchObject({ type: 'validation' });
    expect(server.requests[1]?.body['messages']).toMatchObject([
      {},
      {},
      { role: 'tool', content: expect.stringMatching(/truncated|not valid JSON/) as string },
    ]);
    expect(state.output).toBe('sorry');
  });
});

describe('aborting a request', () => {
  it.each<[string, Reply, boolean]>([
    ['before the status', mute, true],
    ['before the first word', silent(), true],
    ['in the middle', silent(delta('Half ', null, { usage }), delta('an answer')), true],
    ['before a whole answer', mute, false],
  ])(
    '%s closes the connection at once and keeps text and usage',
    async (where, reply, isStream) => {
      const server = await serve(reply);
      const agent = builder(server, 3).build();
      const controller = new AbortController();
      let shown = '';
      if (isStream) agent.on('StreamChunk', ({ content }) => (shown += content));
      const run = agent.run('hi', { signal: controller.signal });
      await until(() =>
        where === 'in the middle' ? shown === 'Half an answer' : server.requests.length === 1,
      );
      if (where === 'before the first word') await pause(20); // lets the status arrive
      controller.abort('enough');
      const state = await run;
      // happens at once: the idle timeouts are longer than the test timeout
      await server.requests[0]?.left;

      expect(state.stopReason).toBe('user_requested');
      expect(state.messages.at(-1)?.text).toBe(where === 'in the middle' ? 'Half an answer' : 'hi');
      expect(state.usage.total).toBe(where === 'in the middle' ? 12 : 0);
      expect(server.requests).toHaveLength(1);
    },
  );

  it('leaving the event stream closes the connection', async () => {
    const server = await serve(silent(delta('Half ')));
    const run = builder(server, 0).build().stream('hi');
    for await (const event of run) if (event.type === 'StreamChunk') break;
    await server.requests[0]?.left;
    expect((await run.state).stopReason).toBe('user_requested');
  });

  it('the deadline of the run closes the connection', async () => {
    const server = await serve(mute);
    const state = await builder(server, 0).withTimeout({ seconds: 0.05 }).build().run('hi');
    expect(state.stopReason).toBe('time_limit');
    await server.requests[0]?.left;
  });

  it('a run of many steps leaves no listener on its signal', async () => {
    const call = json(completion({ tool_calls: [toolCall('lookup')] }, 'tool_calls'));
    const server = await serve(...Array.from({ length: 15 }, () => call), json(completion('done')));
    const warnings: string[] = [];
    const note = (warning: Error): void => void warnings.push(warning.message);
    process.on('warning', note);
    const { signal } = new AbortController();
    const state = await builder(server, 0)
      .withTools(mockTool('lookup'))
      .build()
      .run('go', { signal });
    await pause(5);
    process.off('warning', note);
    expect(state.output).toBe('done');
    expect(warnings).toEqual([]);
  });
});

describe('idle timeouts', () => {
  it.each<[string, Reply, OpenAIOptions, boolean, RegExp]>([
    ['no status', mute, { firstTokenTimeoutMs: 400 }, true, /sent nothing for 400 ms/],
    [
      'no status without streaming',
      mute,
      { firstTokenTimeoutMs: 400 },
      false,
      /sent nothing for 400 ms/,
    ],
    ['only SSE comments', silent(), { firstTokenTimeoutMs: 400 }, true, /sent nothing for 400 ms/],
    [
      'no second chunk',
      silent(delta('Half ')),
      { idleTimeoutMs: 400 },
      true,
      /sent nothing more for 400 ms/,
    ],
    [
      'an incomplete body',
      (response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.write('{"choices":');
      },
      { idleTimeoutMs: 400 },
      false,
      /sent nothing more for 400 ms/,
    ],
  ])('retries after %s', async (_what, reply, options, isStream, message) => {
    // on a slow machine the retry may time out too
    const answer = isStream ? sse(delta('All.', 'stop')) : json(completion('All.'));
    const server = await serve(reply, answer, answer, answer);
    const agent = builder(server, 3, options).build();
    if (isStream) agent.on('StreamChunk', () => {});
    const state = await agent.run('hi');
    expect(state.steps.at(0)?.errors[0]).toMatchObject({
      type: 'timeout',
      code: 'idle_timeout',
      retryable: true,
    });
    expect(state.steps.at(0)?.errors[0]?.message).toMatch(message);
    expect(state.output).toBe('All.');
    await server.requests[0]?.left;
  });

  it('do not apply to a stream that keeps sending', async () => {
    const server = await serve(async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const text of 'abcdefgh') {
        response.write(
          text === 'd' ? ': still here\n\n' : `data: ${JSON.stringify(delta(text))}\n\n`,
        );
        await pause(180);
      }
      response.end('data: [DONE]\n\n');
    });
    const times = { idleTimeoutMs: 1_200, firstTokenTimeoutMs: 1_200 };
    const agent = builder(server, 0, times).build();
    agent.on('StreamChunk', () => {});
    expect((await agent.run('hi')).output).toBe('abcefgh');
  });

  it('do not apply while whitespace keeps the connection open', async () => {
    const server = await serve(async (response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      for (let i = 0; i < 4; i++) {
        response.write('\n');
        await pause(200);
      }
      response.end(JSON.stringify(completion('At last.')));
    });
    const agent = builder(server, 0, { idleTimeoutMs: 150 }).build();
    expect((await agent.run('hi')).output).toBe('At last.');
  });

  it('do not apply to a slow consumer', async () => {
    const server = await serve(sse(delta('a'), delta('b', 'stop')));
    const driver = openai('m', { baseURL: server.url, idleTimeoutMs: 150 });
    const { signal } = new AbortController();
    let text = '';
    for await (const chunk of driver.stream?.(request, { signal }) ?? []) {
      if (chunk.type !== 'content') continue;
      text += chunk.text;
      await pause(300);
    }
    expect(text).toBe('ab');
  });

  it('a refused connection is recorded as connection_failed', async () => {
    const server = await serve();
    await server.close();
    const state = await builder(server, 0).build().run('hi');
    expect(state.steps.at(0)?.errors[0]).toMatchObject({
      type: 'timeout',
      code: 'connection_failed',
      message: expect.stringContaining('ECONNREFUSED') as string,
    });
  });
});
