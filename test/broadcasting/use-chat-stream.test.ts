import type { UIMessageChunk } from 'ai';
import { AgentState, ErrorPolicy, type AgentEvent, type EventOf } from 'onward';
import { type InferenceDriver, modelCallFailed } from 'onward/drivers';
import { uiMessageStream, type UiMessageChunk } from 'onward/broadcasting/use-chat';
import { mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { builderWith } from '../setup/sessions.ts';
import { chunksOfRun, readRun, script, typesOf } from './use-chat-run.ts';
import { all, readBy, shown } from './use-chat-setup.ts';

const { toolCall, toolCalls, final, stream } = ScenarioStep;

describe('a run as a UI message stream', () => {
  it('has the chunks of version 1 in order', async () => {
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

  it('has the AI SDK types', () => {
    expectTypeOf<UiMessageChunk>().toExtend<UIMessageChunk>();
  });

  it('has the same message id each time the run is read', async () => {
    const received: AgentEvent[] = [];
    const agent = builderWith(script(final('done'))).build();
    await agent.run(AgentState.empty().withUserMessage('go'), { wiretap: (e) => received.push(e) });
    const again = async function* () {
      yield* received;
    };
    const [first] = await all(uiMessageStream(again()));
    const [second] = await all(uiMessageStream(again()));
    const asked = received.find((e): e is EventOf<'MessageAdded'> => e.type === 'MessageAdded')!;
    expect(first).toMatchObject({ type: 'start', messageId: `${asked.messageId}_answer` });
    expect(second).toEqual(first);
  });

  it('D66: streams arguments before the call', async () => {
    const chunks = await chunksOfRun(
      builderWith(script(toolCall('look', { city: 'Bern' }), final('ok')), mockTool('look')),
    );
    const half = chunks.slice(0, chunks.findIndex(({ type }) => type === 'tool-input-delta') + 1);
    const { message } = await readBy(half);
    expect(message.parts.at(-1)).toMatchObject({ type: 'tool-look', state: 'input-streaming' });
  });
});

describe('calls that fail', () => {
  it('are errors: a tool that throws, an unknown tool and invalid arguments', async () => {
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

  it('are marked if the response breaks off inside a call, and the run continues', async () => {
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

describe('nested agents', () => {
  const inner = () =>
    builderWith(
      script(toolCall('deep', {}, 'Inner thoughts.'), stream(['Inner ', 'answer.'])),
      mockTool('deep'),
    )
      .withName('inner')
      .build()
      .asTool({ name: 'help', description: 'Helps.' });

  it('do not add their text and calls to the message of the parent', async () => {
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
