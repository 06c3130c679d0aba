import type { UIMessageChunk } from 'ai';
import {
  AgentBuilder,
  AgentState,
  ErrorPolicy,
  modelCallFailed,
  type AgentEvent,
  type EventOf,
  type InferenceDriver,
} from 'onward';
import {
  uiMessageResponse,
  uiMessageStream,
  type UiMessageChunk,
} from 'onward/broadcasting/use-chat';
import { DeterministicDriver, mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, expectTypeOf, it, vi } from 'vitest';
import { builderWith, pause } from '../setup/sessions.ts';
import { all, chunksIn, readBy, shown } from './use-chat-setup.ts';

const { toolCall, toolCalls, final, stream, error } = ScenarioStep;

const script = (...steps: readonly ScenarioStep[]) => DeterministicDriver.fromSteps(...steps);

const chunksOfRun = (builder: AgentBuilder): Promise<UiMessageChunk[]> =>
  all(uiMessageStream(builder.build().stream('go'), { messageId: 'm1' }));

const typesOf = (chunks: readonly UiMessageChunk[]): string[] => chunks.map(({ type }) => type);

const readRun = async (builder: AgentBuilder) => readBy(await chunksOfRun(builder));

describe('a run as a UI message stream', () => {
  it('has the chunks of version 1, in the order of the client', async () => {
    const chunks = await chunksOfRun(
      builderWith(
        script(toolCall('look', { q: 1 }, 'Let me look.'), stream(['Found ', 'it.'])),
        mockTool('look', { n: 7 }),
      ),
    );
    expect(typesOf(chunks)).toEqual([
      'start',
      'data-onward-status',
      'start-step',
      'text-start',
      'text-delta',
      'tool-input-start',
      'tool-input-delta',
      'tool-input-delta',
      'text-end',
      'tool-input-available',
      'tool-output-available',
      'finish-step',
      'start-step',
      'text-start',
      'text-delta',
      'text-delta',
      'text-end',
      'finish-step',
      'data-onward-status',
      'message-metadata',
      'finish',
    ]);
    const { message, errors } = await readBy(chunks);
    expect(errors).toEqual([]);
    expect(message).toMatchObject({ id: 'm1', role: 'assistant' });
    expect(shown(message)).toEqual([
      { type: 'step-start' },
      { type: 'text', text: 'Let me look.', state: 'done' },
      {
        type: 'tool-look',
        toolCallId: 'call_1',
        state: 'output-available',
        input: { q: 1 },
        output: { n: 7 },
      },
      { type: 'step-start' },
      { type: 'text', text: 'Found it.', state: 'done' },
    ]);
    expect(message.metadata).toMatchObject({
      status: 'completed',
      stopReason: 'completed',
      stepCount: 2,
      usage: { inputTokens: 20, outputTokens: 10, totalTokens: 30 },
    });
    expect(message.metadata?.executionId).toMatch(/\w+/);
  });

  it('is what the types of the AI SDK say', () => {
    expectTypeOf<UiMessageChunk>().toExtend<UIMessageChunk>();
  });

  it('the id of the message is the same whenever the run is read', async () => {
    const heard: AgentEvent[] = [];
    const agent = builderWith(script(final('done'))).build();
    await agent.run(AgentState.empty().withUserMessage('go'), { wiretap: (e) => heard.push(e) });
    const again = async function* () {
      yield* heard;
    };
    const [first] = await all(uiMessageStream(again()));
    const [second] = await all(uiMessageStream(again()));
    const asked = heard.find((e): e is EventOf<'MessageAdded'> => e.type === 'MessageAdded')!;
    expect(first).toMatchObject({ type: 'start', messageId: `${asked.messageId}_answer` });
    expect(second).toEqual(first);
  });

  it('D66: arguments grow on the screen before the call is made', async () => {
    const chunks = await chunksOfRun(
      builderWith(script(toolCall('look', { city: 'Bern' }), final('ok')), mockTool('look')),
    );
    const half = chunks.slice(0, chunks.findIndex(({ type }) => type === 'tool-input-delta') + 1);
    const { message } = await readBy(half);
    expect(message.parts.at(-1)).toMatchObject({ type: 'tool-look', state: 'input-streaming' });
  });
});

describe('tools that do not do what was hoped', () => {
  it('one that throws, one that does not exist and one with arguments that do not fit', async () => {
    const calls = [
      { name: 'pay', args: { sum: 1 } },
      { name: 'nothing', args: {} },
      { name: 'pay', argsRaw: '{"sum": ' },
    ];
    const { message, errors } = await readRun(
      builderWith(
        script(toolCalls(calls), final('Sorry.')),
        mockTool('pay', new Error('the card was refused')),
      ).withErrorPolicy(ErrorPolicy.ignoreToolErrors()),
    );
    expect(errors).toEqual([]);
    const parts = shown(message) as Record<string, unknown>[];
    expect(parts[1]).toMatchObject({
      state: 'output-error',
      input: { sum: 1 },
      errorText: 'the card was refused',
    });
    expect(parts[2]).toMatchObject({ type: 'tool-nothing', state: 'output-error' });
    expect(parts[2]!['errorText']).toContain('There is no tool "nothing"');
    expect(parts[3]).toMatchObject({ type: 'tool-pay', state: 'output-error' });
    expect(parts.at(-1)).toMatchObject({ text: 'Sorry.' });
  });

  it('a call that was still arriving when the answer broke off is marked, and the run goes on', async () => {
    const answers = script(toolCall('look', { q: 1 }), final('done'));
    let calls = 0;
    const driver: InferenceDriver = {
      ...answers,
      async *stream(request, options) {
        calls += 1;
        if (calls > 1) return yield* script(final('done')).stream(request, options);
        yield { type: 'tool_call', index: 0, id: 'c1', name: 'look', argsDelta: '{"q"' };
        throw modelCallFailed({ type: 'timeout', code: 'cut', message: 'the line broke' });
      },
    };
    const chunks = await chunksOfRun(
      builderWith(driver, mockTool('look')).withErrorPolicy(
        ErrorPolicy.retryAll().withBackoff({ initialMs: 1, maxMs: 1 }),
      ),
    );
    const { message } = await readBy(chunks);
    expect(message.parts[1]).toMatchObject({
      type: 'tool-look',
      state: 'output-error',
      toolMetadata: { onward: { discarded: true } },
    });
    expect(shown(message)).toEqual([
      { type: 'step-start' },
      { type: 'text', text: 'done', state: 'done' },
    ]);
  });
});

describe('D56: text of a failed attempt', () => {
  const build = () =>
    builderWith(
      script(
        error(
          { type: 'rate_limit', message: 'slow down', retryAfterMs: 5 },
          { chunks: ['He', 'l'] },
        ),
        stream(['Hello ', 'world']),
      ),
    ).withErrorPolicy(ErrorPolicy.retryAll());

  it('is ended and marked, never mixed with what follows; the retry is one step', async () => {
    const chunks = await chunksOfRun(build());
    const { message, errors } = await readBy(chunks);
    expect(errors).toEqual([]);
    expect(message.parts).toMatchObject([
      { type: 'step-start' },
      {
        type: 'text',
        text: 'Hel',
        state: 'done',
        providerMetadata: { onward: { discarded: true } },
      },
      { type: 'text', text: 'Hello world', state: 'done' },
    ]);
    expect(message.parts[2]).not.toHaveProperty('providerMetadata.onward');
    expect(chunks).toContainEqual({
      type: 'data-onward-retry',
      data: { step: 1, attempt: 1, wait_ms: 5, message: 'slow down' },
      transient: true,
    });
  });

  it('a text that a hook has changed takes the place of what was streamed', async () => {
    const { message } = await readRun(
      builderWith(script(stream(['my secret', ' plan']))).withHooks({
        name: 'polite',
        aroundModelCall: async (request, next) => ({ ...(await next(request)), content: 'No.' }),
      }),
    );
    expect(shown(message)).toEqual([
      { type: 'step-start' },
      { type: 'text', text: 'No.', state: 'done' },
    ]);
    expect(message.parts[1]).toMatchObject({ providerMetadata: { onward: { discarded: true } } });
  });

  it('a chunk that was missed leaves no hole: the rest comes with the whole text', async () => {
    const heard: AgentEvent[] = [];
    const agent = builderWith(script(stream(['a', 'b', 'c', 'd']))).build();
    await agent.run('go', { wiretap: (e) => heard.push(e) });
    const lossy = async function* () {
      for (const event of heard)
        if (!(event.type === 'StreamChunk' && event.content === 'b')) yield event;
    };
    const chunks = await all(uiMessageStream(lossy()));
    expect(chunks.flatMap((c) => (c.type === 'text-delta' ? [c.delta] : []))).toEqual(['a', 'bcd']);
    const late = async function* () {
      yield* heard.slice(0, -1);
      yield* heard.filter(({ type }) => type === 'StreamChunk');
      yield* heard.slice(-1);
    };
    const behind = async function* () {
      const chunks = heard.filter(({ type }) => type === 'StreamChunk');
      for (const event of heard)
        if (event.type === 'AgentStepCompleted') yield* [...chunks, event];
        else if (event.type !== 'StreamChunk') yield event;
    };
    const stale = await readBy(await all(uiMessageStream(behind())));
    expect(shown(stale.message)).toEqual([
      { type: 'step-start' },
      { type: 'text', text: 'abcd', state: 'done' },
    ]);
    const { message } = await readBy(await all(uiMessageStream(late())));
    expect(shown(message).at(-1)).toMatchObject({ text: 'abcd' });
    expect(message.parts).toHaveLength(2);
  });
});

describe('events that come twice', () => {
  it('D64: change nothing', async () => {
    const agent = builderWith(
      script(
        toolCalls([{ name: 'look' }, { name: 'fail' }, { name: 'none' }, { name: 'pay' }], 'Hm.'),
        stream(['The ', 'end.']),
      ),
      mockTool('look', { n: 7 }),
      mockTool('fail', new Error('it broke')),
      mockTool('pay', 'paid', { needsApproval: true }),
    )
      .withErrorPolicy(ErrorPolicy.ignoreToolErrors())
      .build();
    const heard: AgentEvent[] = [];
    const wiretap = (event: AgentEvent): void => void heard.push(event);
    const paused = await agent.run('go', { wiretap });
    const [call] = paused.pendingApprovals;
    await agent.resume(paused, { approvals: { [call!.callId]: { approve: true } }, wiretap });
    const once = async function* () {
      yield* heard;
    };
    const twice = async function* () {
      for (const event of heard) yield* [event, event];
    };
    const plain = await readBy(await all(uiMessageStream(once())));
    const doubled = await readBy(await all(uiMessageStream(twice())));
    expect(doubled).toEqual(plain);
    expect(shown(plain.message)).toHaveLength(8);
    const count = async (events: AsyncIterable<AgentEvent>, type: string) =>
      typesOf(await all(uiMessageStream(events))).filter((one) => one === type).length;
    expect(await count(twice(), 'tool-approval-request')).toBe(1);
    expect(await count(twice(), 'tool-input-available')).toBe(3);
  });
});

describe('how it ends', () => {
  it('D02: a limit says why, and what would let it go on', async () => {
    const chunks = await chunksOfRun(
      builderWith(script(toolCall('look')), mockTool('look')).withMaxSteps(1),
    );
    const { message, errors } = await readBy(chunks);
    expect(errors).toEqual([]);
    const stop = message.parts.find((part) => part.type === 'data-onward-stop');
    expect(stop).toMatchObject({
      id: 'onward-stop',
      data: {
        status: 'stopped',
        stop_reason: 'steps_limit',
        resolved_by: 'StepsLimit',
        step_count: 1,
      },
    });
    expect(stop?.data.message).toContain('limit of steps');
    expect(stop?.data.remedy?.text).toContain('withMaxSteps');
    expect(chunks.at(-1)).toEqual({ type: 'finish', finishReason: 'other' });
  });

  it('a failure is an error of the client, behind everything else', async () => {
    const chunks = await chunksOfRun(builderWith(script(error('the model is away'))));
    expect(typesOf(chunks).slice(-4)).toEqual([
      'data-onward-status',
      'message-metadata',
      'finish',
      'error',
    ]);
    const { message, errors } = await readBy(chunks);
    expect(errors).toHaveLength(1);
    expect(errors[0]).toContain('the model is away');
    expect(message.parts.at(-1)).toMatchObject({
      type: 'data-onward-stop',
      data: { status: 'failed', stop_reason: 'error' },
    });
  });

  it('a stop of the user is an abort, and keeps the text', async () => {
    const abort = new AbortController();
    const agent = builderWith(
      script({ ...stream(['one ', 'two']), extras: { hangs: true } }),
    ).build();
    const events = agent.stream('go', {
      signal: abort.signal,
      wiretap: (e) => {
        if (e.type === 'StreamChunk' && e.content === 'two') abort.abort('enough');
      },
    });
    const chunks = await all(uiMessageStream(events));
    expect(typesOf(chunks)).not.toContain('finish');
    expect(chunks.at(-1)).toMatchObject({ type: 'abort' });
    const { message } = await readBy(chunks);
    expect(shown(message)).toMatchObject([
      { type: 'step-start' },
      { type: 'text', text: 'one two' },
      { type: 'data-onward-stop', data: { status: 'cancelled', stop_reason: 'user_requested' } },
    ]);
  });

  it('the words of the model for an answer that broke off are mapped', async () => {
    const chunks = await chunksOfRun(
      builderWith(script(final('half', { finishReason: 'length' }))).withFinishReasons('length'),
    );
    expect(chunks.at(-1)).toEqual({ type: 'finish', finishReason: 'length' });
  });

  it('a source that breaks is an error without its secrets', async () => {
    const seen: unknown[] = [];
    const broken = async function* (): AsyncGenerator<AgentEvent> {
      yield* [];
      throw new Error('postgres://ann:secret@db failed');
    };
    const chunks = await all(uiMessageStream(broken(), { onError: (e) => seen.push(e) }));
    expect(chunks).toEqual([
      { type: 'error', errorText: 'The run cannot be followed any more. Load the chat again.' },
    ]);
    expect(seen).toHaveLength(1);
  });

  it('leaving the stream leaves the run', async () => {
    const agent = builderWith(script({ ...stream(['one']), extras: { hangs: true } })).build();
    const events = agent.stream('go');
    const reader = uiMessageStream(events).getReader();
    await reader.read();
    await reader.cancel();
    expect((await events.result).stopReason).toBe('user_requested');
  });
});

describe('nested agents', () => {
  const inner = () =>
    builderWith(
      script(toolCall('deep', {}, 'Inner thoughts.'), stream(['Inner ', 'answer.'])),
      mockTool('deep'),
    )
      .withName('inner')
      .build()
      .asTool({ name: 'help', description: 'Helps.' });

  it('what they say and do is not said by the parent', async () => {
    const chunks = await chunksOfRun(
      builderWith(script(toolCall('help', { input: 'x' }), stream(['Outer.'])), inner()),
    );
    const { message } = await readBy(chunks);
    expect(shown(message)).toEqual([
      { type: 'step-start' },
      {
        type: 'tool-help',
        toolCallId: 'call_1',
        state: 'output-available',
        input: { input: 'x' },
        output: 'Inner answer.',
      },
      { type: 'step-start' },
      { type: 'text', text: 'Outer.', state: 'done' },
    ]);
    expect(typesOf(chunks).filter((type) => type === 'finish')).toHaveLength(1);
  });
});

describe('the response', () => {
  const one = async function* (): AsyncGenerator<UiMessageChunk> {
    yield { type: 'start-step' };
  };

  it('is server-sent events as the transport reads them', async () => {
    const response = uiMessageResponse(one(), { headers: { 'x-mine': 'yes' } });
    expect(response.headers.get('x-mine')).toBe('yes');
    expect(response.headers.get('cache-control')).toContain('no-cache');
    expect(await response.clone().text()).toBe('data: {"type":"start-step"}\n\ndata: [DONE]\n\n');
    expect(await chunksIn(response)).toEqual([{ type: 'start-step' }]);
  });

  it('says that it is still there', async () => {
    const slow = async function* (): AsyncGenerator<UiMessageChunk> {
      await pause(40);
      yield { type: 'start-step' };
    };
    const text = await uiMessageResponse(slow(), { heartbeatMs: 10 }).text();
    expect(text).toMatch(/^(: still here\n\n)+data: \{"type":"start-step"\}\n\n/);
  });

  it('a source that throws breaks it, and leaves no clock behind', async () => {
    const broken = async function* (): AsyncGenerator<UiMessageChunk> {
      yield { type: 'start-step' };
      throw new Error('gone');
    };
    const clear = vi.spyOn(globalThis, 'clearInterval');
    await expect(uiMessageResponse(broken()).text()).rejects.toThrow('gone');
    expect(clear).toHaveBeenCalledOnce();
    clear.mockRestore();
  });
});
