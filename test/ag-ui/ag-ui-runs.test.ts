import { defineTool, ErrorPolicy } from 'onward';
import { mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { agUiOverHttp, ask, ofType, run, shown } from '../setup/ag-ui.ts';
import { quick } from '../setup/message-events.ts';
import { asTool } from '../setup/nested-agents.ts';
import { ann, builderWith, followingDriver, gate } from '../setup/sessions.ts';
import { script } from '../broadcasting/use-chat-run.ts';

const { toolCall, toolCalls, final, error, stream } = ScenarioStep;

describe('runs of an AG-UI client', () => {
  it('a conversation over several runs, with a tool, its arguments and its result in order', async () => {
    const driver = followingDriver(
      [toolCall('look', { article: 'lamp' }, 'Let me look.'), stream(['Seven ', 'pieces.'])],
      [final('Still seven.')],
    );
    const { agent, runtime } = await agUiOverHttp(
      builderWith(driver, mockTool('look', { pieces: 7 })).build(),
    );
    const client = agent('thread-1');
    const first = await ask(client, 'How many?');
    expect(first.error).toBeNull();
    expect(first.types.filter((type) => type !== 'STATE_DELTA')).toEqual([
      'RUN_STARTED',
      'STATE_SNAPSHOT',
      'STEP_STARTED',
      'TEXT_MESSAGE_START',
      'TEXT_MESSAGE_CONTENT',
      'TOOL_CALL_START',
      'TOOL_CALL_ARGS',
      'TOOL_CALL_ARGS',
      'TEXT_MESSAGE_END',
      'TOOL_CALL_END',
      'TOOL_CALL_RESULT',
      'STEP_FINISHED',
      'STEP_STARTED',
      'TEXT_MESSAGE_START',
      'TEXT_MESSAGE_CONTENT',
      'TEXT_MESSAGE_CONTENT',
      'TEXT_MESSAGE_END',
      'STEP_FINISHED',
      'RUN_FINISHED',
    ]);
    expect(first.events.at(-1)).toMatchObject({
      outcome: { type: 'success' },
      result: { text: 'Seven pieces.', status: 'completed', stop_reason: 'completed' },
      usage: [{ inputTokens: 20, outputTokens: 10, totalTokens: 30 }],
    });
    expect(client.state).toMatchObject({ onward: { status: 'completed', step_count: 2 } });
    const second = await ask(client, 'And now?');
    expect(second.error).toBeNull();
    expect(shown(client)).toEqual([
      ['user', 'How many?'],
      ['assistant', 'Let me look.', ['look', '{"article":"lamp"}']],
      ['tool', '{"pieces":7}'],
      ['assistant', 'Seven pieces.'],
      ['user', 'And now?'],
      ['assistant', 'Still seven.'],
    ]);
    // the server keeps the conversation: nothing that the client sent back is in it
    const { items } = await runtime.messages('thread-1', ann);
    expect(items.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'assistant',
      'user',
      'assistant',
    ]);
  });

  it('reasoning has its own messages before the text, and none without the option', async () => {
    const driver = () => followingDriver([final('Found it.', { reasoning: 'I should look.' })]);
    for (const includeReasoning of [true, false]) {
      const { agent } = await agUiOverHttp(builderWith(driver()).build(), { includeReasoning });
      const client = agent('thread-1');
      const seen = await ask(client, 'Look!');
      expect(seen.error).toBeNull();
      expect(seen.types.filter((type) => type.startsWith('REASONING'))).toEqual(
        includeReasoning
          ? [
              'REASONING_START',
              'REASONING_MESSAGE_START',
              'REASONING_MESSAGE_CONTENT',
              'REASONING_MESSAGE_END',
              'REASONING_END',
            ]
          : [],
      );
      expect(shown(client)).toEqual([
        ['user', 'Look!'],
        ...(includeReasoning ? [['reasoning', 'I should look.']] : []),
        ['assistant', 'Found it.'],
      ]);
    }
  });

  it('calls of one step belong to one message, and equal ids of later executions do not mix', async () => {
    const both = toolCalls([
      { name: 'look', args: { n: 1 }, id: 'x' },
      { name: 'look', args: { n: 2 }, id: 'y' },
    ]);
    const again = toolCall('look', { n: 3 });
    const { agent } = await agUiOverHttp(
      builderWith(
        followingDriver(
          [both, final('One.')],
          [{ ...again, calls: [{ ...again.calls[0]!, id: 'x' }] }, final('Two.')],
        ),
        mockTool('look', 'ok'),
      ).build(),
    );
    const client = agent('thread-1');
    expect((await ask(client, 'first')).error).toBeNull();
    expect((await ask(client, 'second')).error).toBeNull();
    expect(shown(client)).toEqual([
      ['user', 'first'],
      ['assistant', '', ['look', '{"n":1}'], ['look', '{"n":2}']],
      ['tool', 'ok'],
      ['tool', 'ok'],
      ['assistant', 'One.'],
      ['user', 'second'],
      ['assistant', '', ['look', '{"n":3}']],
      ['tool', 'ok'],
      ['assistant', 'Two.'],
    ]);
  });

  it('a nested agent is a subagent, and its events name it', async () => {
    const child = builderWith(
      followingDriver([toolCall('look', { n: 1 }), final('Nested answer.')]),
      mockTool('look', 'seen'),
    )
      .withName('helper')
      .build();
    const root = builderWith(
      followingDriver([toolCall('help', { input: 'please' }), final('Done.')]),
      asTool(child),
    ).build();
    const { agent } = await agUiOverHttp(root);
    const client = agent('thread-1');
    const seen = await ask(client, 'go');
    expect(seen.error).toBeNull();
    const [started] = ofType(seen, 'SUBAGENT_STARTED');
    const [helpCall] = ofType(seen, 'TOOL_CALL_START');
    expect(started).toMatchObject({
      name: 'helper',
      parentToolCallId: helpCall!['toolCallId'],
    });
    const id = started!['subagentRunId'];
    expect(ofType(seen, 'SUBAGENT_FINISHED')).toMatchObject([
      { subagentRunId: id, outcome: { type: 'success' } },
    ]);
    expect(
      seen.events
        .filter((event) => event['subagentRunId'] === id)
        .map(({ type }) => type)
        .filter((type) => /TEXT_MESSAGE_CONTENT|TOOL_CALL_(?:START|RESULT)/.test(type)),
    ).toEqual(['TOOL_CALL_START', 'TOOL_CALL_RESULT', 'TEXT_MESSAGE_CONTENT']);
  });

  it('a failed run is an error with its code, after what was said', async () => {
    const { agent } = await agUiOverHttp(
      builderWith(script(error('it broke'), final('not reached')))
        .withErrorPolicy(ErrorPolicy.stopOnAnyError())
        .build(),
    );
    const client = agent('thread-1');
    const errors: unknown[] = [];
    client.addMessage({ id: 'message-1', role: 'user', content: 'go' });
    const seen = await run(client, undefined, {
      onRunErrorEvent: ({ event }) => void errors.push(event),
    });
    expect(seen.types.at(-1)).toBe('RUN_ERROR');
    expect(errors).toMatchObject([{ code: 'error', message: expect.stringContaining('it broke') }]);
    expect(client.state).toMatchObject({ onward: { status: 'failed' } });
  });

  it('text of a failed attempt is ended and marked, and its replacement is another message', async () => {
    const { agent } = await agUiOverHttp(
      builderWith(script(error('lost', { chunks: ['Hal'] }), final('Hello.')))
        .withErrorPolicy(quick)
        .build(),
    );
    const client = agent('thread-1');
    const seen = await ask(client, 'greet me');
    expect(seen.error).toBeNull();
    expect(shown(client)).toEqual([
      ['user', 'greet me'],
      ['assistant', 'Hal'],
      ['assistant', 'Hello.'],
    ]);
    expect(ofType(seen, 'TEXT_MESSAGE_END')).toMatchObject([
      { metadata: { onward: { discarded: true } } },
      {},
    ]);
  });

  it('D48: a client that aborts leaves the run alone, comes back to it, and a stop elsewhere cancels it', async () => {
    const hold = gate();
    const wait = defineTool({
      name: 'wait',
      description: 'Waits.',
      parameters: { type: 'object', properties: {} },
      execute: async (_args, { signal }) => {
        await Promise.race([
          hold.passed,
          new Promise((resolve) => signal.addEventListener('abort', resolve)),
        ]);
        return 'waited';
      },
    });
    const { agent, runtime } = await agUiOverHttp(
      builderWith(
        followingDriver([toolCall('wait', {}, 'One moment.'), final('Done.')]),
        wait,
      ).build(),
    );
    const client = agent('thread-1');
    client.addMessage({ id: 'message-1', role: 'user', content: 'go' });
    await run(client, undefined, { onToolCallEndEvent: () => client.abortRun() });
    expect((await runtime.get('thread-1', ann)).status).toBe('in_progress');
    // another client, which has nothing, shows the thread and follows the run
    const other = agent('thread-1');
    const seen = await run(other, undefined, {
      onToolCallEndEvent: () => void runtime.stop('thread-1', ann),
    });
    expect(seen.error).toBeNull();
    expect(seen.types.slice(0, 3)).toEqual(['RUN_STARTED', 'STATE_SNAPSHOT', 'MESSAGES_SNAPSHOT']);
    expect(shown(other).slice(0, 2)).toEqual([
      ['user', 'go'],
      ['assistant', 'One moment.', ['wait', '{}']],
    ]);
    expect(seen.events.at(-1)).toMatchObject({ outcome: { type: 'cancelled' } });
    hold.open();
    // the first client had half of it: the snapshot replaces that
    const back = await run(client);
    expect(back.error).toBeNull();
    expect(shown(client)).toEqual(shown(other));
  });

  it('a message that is sent twice runs once, and shows its answer again', async () => {
    const { agent, runtime } = await agUiOverHttp(
      builderWith(followingDriver([final('Once.')])).build(),
    );
    for (let i = 0; i < 2; i += 1) {
      const client = agent('thread-1');
      const seen = await ask(client, 'only once', 'message-0001');
      expect(seen.error).toBeNull();
      expect(shown(client)).toEqual([
        ['user', 'only once'],
        ['assistant', 'Once.'],
      ]);
    }
    expect((await runtime.messages('thread-1', ann)).items).toHaveLength(2);
  });

  it('keeps the state of the client beside the facts of the session', async () => {
    const { agent } = await agUiOverHttp(builderWith(followingDriver([final('Ok.')])).build());
    const client = agent('thread-1');
    client.state = { draft: 'a', onward: 'forged' };
    await ask(client, 'go');
    expect(client.state).toMatchObject({ draft: 'a', onward: { status: 'completed' } });
  });
});
