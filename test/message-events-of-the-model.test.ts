import { AgentState, type AgentEvent } from 'onward';
import { DeterministicDriver, fakeClock, mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { builder, driven, Received, quick, spoken } from './setup/message-events.ts';

const { toolCall, toolCalls, final, stream, error } = ScenarioStep;

describe('MessageAdded: assistant messages', () => {
  it('the event is the same with and without streaming', async () => {
    const listened = async (streams: boolean): Promise<object[]> => {
      const driver = DeterministicDriver.fromSteps(stream(['Hel', 'lo.']));
      const agent = driven(driver).withClock(fakeClock()).build();
      const events: AgentEvent[] = [];
      agent.on('MessageAdded', (event) => events.push(event));
      if (streams) agent.on('StreamChunk', () => {});
      const start = AgentState.empty({ agentId: 'a' }).withUserMessage('Hi', { id: 'msg_1' });
      const state = await agent.run(start, { executionId: 'e' });
      expect(driver.requests[0]?.streamed).toBe(streams);
      expect(events).toMatchObject(spoken(state));
      return events.map((event) => ({ ...event, messageId: '' }));
    };
    expect(await listened(true)).toEqual(await listened(false));
  });

  it('the id and text match those of the chunks', async () => {
    const received = new Received();
    await builder(stream(['Hel', 'lo.']))
      .build()
      .run('Hi', received.options);
    const [, answer] = received.of('MessageAdded');
    const chunks = received.of('StreamChunk');
    expect(new Set(chunks.map((e) => e.messageId))).toEqual(new Set([answer?.messageId]));
    expect(chunks.map((e) => e.content).join('')).toBe(answer?.content);
    expect(received.types.indexOf('StreamChunk')).toBeLessThan(
      received.types.lastIndexOf('MessageAdded'),
    );
  });

  it.each([
    ['a call that runs', [{ name: 'stock' }]],
    ['several calls that run', [{ name: 'stock' }, { name: 'stock' }]],
    ['a call that is rejected', [{ name: 'nope' }]],
    ['a call that needs approval next to one that runs', [{ name: 'pay' }, { name: 'stock' }]],
    ['a call that needs approval', [{ name: 'pay' }]],
  ])('text next to tool calls is emitted before them: %s', async (_name, calls) => {
    const received = new Received();
    const agent = builder(toolCalls(calls, 'I will look.'), 'Done.')
      .withTools(mockTool('stock', 7), mockTool('pay', 'ok', { needsApproval: () => true }))
      .withErrorPolicy(quick)
      .build();
    const state = await agent.run('Lamps?', received.options);
    const reported = received.events.findIndex(
      (e) => e.type === 'MessageAdded' && e.stepNumber === 1,
    );
    const called = received.types.findIndex((type) =>
      /^Tool(CallStarted|CallCompleted|ApprovalRequested)$/.test(type),
    );
    expect(reported).toBeGreaterThan(0);
    expect(reported).toBeLessThan(called);
    const texts = ['0 user: Lamps?', '1 assistant: I will look.', '2 assistant: Done.'];
    expect(received.reported).toEqual(state.status === 'paused' ? texts.slice(0, 2) : texts);
    expect(received.of('MessageAdded')).toMatchObject(spoken(state));
  });

  it.each(['', '   ', '\n\t'])('blank text (%j) emits no event', async (text) => {
    const received = new Received();
    const agent = builder(toolCall('stock', {}, text), final(text))
      .withTools(mockTool('stock', 7))
      .build();
    const state = await agent.run('Lamps?', received.options);
    expect(state.status).toBe('completed');
    expect(received.reported).toEqual(['0 user: Lamps?']);
    expect(received.of('AgentFinished')).toMatchObject([{ outputText: text }]);
  });

  it('leaked tool arguments emit no event', async () => {
    const received = new Received();
    const leak = { name: 'stock', args: { article: 'lamp' } };
    const text = JSON.stringify({ name: 'stock', arguments: leak.args });
    const agent = builder(toolCalls([leak], text), 'Done.')
      .withTools(mockTool('stock', 7))
      .build();
    const state = await agent.run('Lamps?', received.options);
    expect(state.steps.at(0)?.notes).toEqual(['contentLeakDropped']);
    expect(received.reported).toEqual(['0 user: Lamps?', '2 assistant: Done.']);
  });

  it('D55, D56: emits no text of a failed call, and the text of the retry once', async () => {
    const received = new Received();
    const agent = builder(error('broken', { chunks: ['Let me'] }), stream(['All ', 'good.']))
      .withErrorPolicy(quick)
      .build();
    const state = await agent.run('go', received.options);
    expect(received.reported).toEqual(['0 user: go', '2 assistant: All good.']);
    expect(received.of('MessageAdded')).toMatchObject(spoken(state));
    expect(received.of('StreamDiscarded')).toHaveLength(1);
  });

  it('a hook that calls the model twice emits only the stored message', async () => {
    const received = new Received();
    const agent = builder('First.', 'Second.')
      .withHooks({
        name: 'twice',
        aroundModelCall: async (request, next) => {
          await next(request);
          const answer = await next(request);
          return { ...answer, content: `${answer.content} And more.` };
        },
      })
      .build();
    await agent.run('go', received.options);
    expect(received.reported).toEqual(['0 user: go', '1 assistant: Second. And more.']);
  });

  it('D45: emits the text of an aborted answer as it is stored', async () => {
    const stop = new AbortController();
    const received = new Received();
    const agent = driven(
      DeterministicDriver.create([{ ...stream(['One ', 'two ']), extras: { hangs: true } }]),
    ).build();
    agent.on('StreamChunk', ({ index }) => index === 1 && stop.abort());
    const state = await agent.run('Count.', { ...received.options, signal: stop.signal });
    expect(state.stopReason).toBe('user_requested');
    expect(received.reported).toEqual(['0 user: Count.', '1 assistant: One two ']);
    expect(received.of('MessageAdded')).toMatchObject(spoken(state));
  });

  it('emits a refusal before its failure', async () => {
    const received = new Received();
    const agent = builder(final('', { refusal: 'I cannot help with that.' })).build();
    const state = await agent.run('Break in.', received.options);
    expect(state.status).toBe('failed');
    expect(received.reported).toEqual([
      '0 user: Break in.',
      '1 assistant: I cannot help with that.',
    ]);
    expect(received.types.lastIndexOf('MessageAdded')).toBeLessThan(
      received.types.indexOf('StepFailed'),
    );
    expect(received.of('AgentFailed')).toMatchObject([{ outputText: 'I cannot help with that.' }]);
  });

  it('emits an answer once if a step hook throws after it', async () => {
    const received = new Received();
    const agent = builder('Hello.')
      .withHooks({
        name: 'spoils',
        aroundStep: async (input, next) => {
          await next(input);
          throw new Error('no');
        },
      })
      .build();
    const state = await agent.run('Hi', received.options);
    expect(received.reported).toEqual(['0 user: Hi', '1 assistant: Hello.']);
    expect(received.of('MessageAdded')).toMatchObject(spoken(state));
  });
});
