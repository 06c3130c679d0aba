import { createRedactor, ErrorPolicy, logEvents, type AgentEvent, type AgentState } from 'onward';
import { DeterministicDriver, fakeClock, mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it, vi } from 'vitest';
import type { AgentEventType } from '../src/events/agent-event.ts';
import { args, at, builder, types } from './setup/events.ts';
import { failingListeners, rejectionsReported, watchFailures } from './setup/failing-listeners.ts';

const script = () =>
  DeterministicDriver.fromSteps(ScenarioStep.toolCall('stock', args), ScenarioStep.final('7.'));

describe('event listeners', () => {
  it('`on`, `wiretap` and the wiretap of a run receive events until they unsubscribe', async () => {
    const agent = builder(DeterministicDriver.fromResponses('one', 'two', 'three')).build();
    const received: string[] = [];
    const leave = agent.on('AgentFinished', ({ stepCount }) => received.push(`on ${stepCount}`));
    const untap = agent.wiretap(({ type }) => type === 'AgentFinished' && received.push('tap'));
    await agent.run('a', {
      wiretap: ({ type }) => type === 'AgentFinished' && received.push('run'),
    });
    expect(received).toEqual(['on 1', 'tap', 'run']);
    leave();
    await agent.run('b');
    expect(received).toEqual(['on 1', 'tap', 'run', 'tap']);
    untap();
    await agent.run('c');
    expect(received).toHaveLength(4);
  });

  it('the driver streams only while chunks or deltas have a listener', async () => {
    const streamed = async (type: AgentEventType | null): Promise<boolean[]> => {
      const driver = script();
      const agent = builder(driver).withTools(mockTool('stock', 7)).build();
      if (type) agent.on(type, () => {});
      await agent.run('go');
      return driver.requests.map((request) => request.streamed);
    };
    expect(await streamed(null)).toEqual([false, false]);
    expect(await streamed('AgentFinished')).toEqual([false, false]);
    expect(await streamed('ToolCallStarted')).toEqual([false, false]);
    expect(await streamed('StreamChunk')).toEqual([true, true]);
    expect(await streamed('ToolCallDelta')).toEqual([true, true]);
  });

  it('a driver that cannot stream emits its text as one chunk', async () => {
    const { stream: _none, ...driver } = DeterministicDriver.fromResponses('Hello.');
    const agent = builder(driver).build();
    const chunks: string[] = [];
    agent.on('StreamChunk', ({ content }) => chunks.push(content));
    await agent.run('go');
    expect(chunks).toEqual(['Hello.']);
  });

  it('a listener added in mid-answer gets text, reasoning and arguments from the start', async () => {
    const usage = { input: 1, output: 1, total: 2 };
    const call = { index: 0, id: 'c1', name: 'stock' };
    const received: string[] = [];
    let turn = 0;
    const listen = (): void => {
      agent.on('StreamChunk', ({ content, offset }) => received.push(`${offset} ${content}`));
      agent.on('ReasoningDelta', ({ content, offset }) => received.push(`${offset} ${content}`));
    };
    const agent = builder({
      name: 'slow',
      infer: () => Promise.reject(new Error('it streams')),
      async *stream() {
        if (++turn === 2) {
          const response = { content: '7.', toolCalls: [], finishReason: 'stop', usage } as const;
          return yield { type: 'done', response };
        }
        leave();
        yield { type: 'reasoning', text: 'I should ' };
        yield { type: 'content', text: 'Let me ' };
        yield { type: 'tool_call', ...call, argsDelta: '{"sku":"A-1",' };
        listen();
        yield { type: 'reasoning', text: 'look ' };
        yield { type: 'content', text: 'look ' };
        yield { type: 'reasoning', text: 'there.' };
        yield { type: 'content', text: 'there.' };
        agent.on('ToolCallDelta', ({ argsDelta, offset }) =>
          received.push(`${offset} ${argsDelta}`),
        );
        yield { type: 'tool_call', ...call, argsDelta: '"count":2}' };
        const toolCalls = [{ id: 'c1', name: 'stock', args: { sku: 'A-1', count: 2 } }];
        const response = { content: 'Let me look there.', toolCalls, usage } as const;
        const reasoning = 'I should look there.';
        yield { type: 'done', response: { ...response, finishReason: 'tool_calls', reasoning } };
      },
    })
      .withTools(mockTool('stock', 7))
      .build();
    // a first listener, removed later, makes the driver stream
    const leave = agent.on('ToolCallDelta', () => {});
    await agent.run('go');
    expect(received.slice(0, -1)).toEqual([
      '0 I should look ',
      '0 Let me look ',
      '14 there.',
      '12 there.',
      '0 {"sku":"A-1","count":2}',
    ]);
  });

  it('no event is built, redacted or dated without a listener', async () => {
    const base = createRedactor();
    const looked = vi.fn();
    const redactor = {
      ...base,
      value: <T>(value: T): T => {
        looked();
        return base.value(value);
      },
    };
    const clock = fakeClock(at);
    const now = vi.spyOn(clock, 'monotonic');
    const measure = async (type: AgentEventType | null): Promise<[number, number]> => {
      const agent = builder(script())
        .withTools(mockTool('stock', 7))
        .withRedactor(redactor)
        .withClock(clock)
        .build();
      if (type) agent.on(type, () => {});
      looked.mockClear();
      now.mockClear();
      await agent.run('go');
      return [looked.mock.calls.length, now.mock.calls.length];
    };
    const [silentLooks, silentTimes] = await measure(null);
    expect(silentLooks).toBe(0);
    expect(await measure('AgentPaused')).toEqual([0, silentTimes]);
    expect(await measure('TokenUsageReported')).toEqual([0, silentTimes + 2]);
    expect(await measure('AgentFinished')).toEqual([1, silentTimes + 1]);
    expect(await measure('MessageAdded')).toEqual([2, silentTimes + 2]);
    expect(await measure('ToolCallStarted')).toEqual([1, silentTimes + 1]);
  });

  it('a run ends in the same state with and without listeners', async () => {
    const shape = (state: AgentState): unknown =>
      JSON.parse(
        JSON.stringify(
          { ...state.toJSON(), agentId: '', execution: null, executionStartedAt: '' },
          // only a streamed call has a first token
          (key, value: unknown) => (key === 'modelCall' ? undefined : value),
        )
          .replaceAll(/(?:msg|stp)_\w+/g, 'id')
          .replaceAll(state.execution.id, 'execution'),
      );
    const agent = () => builder(script()).withTools(mockTool('stock', 7)).build();
    const silent = await agent().run('go');
    const loud = await agent().run('go', { wiretap: () => {} });
    expect(shape(loud)).toEqual(shape(silent));
  });
});

describe('a listener that fails', () => {
  it.each(failingListeners)('and %s on every event changes nothing', async (_how, fail) => {
    const { reports, unhandled } = watchFailures();
    const make = () => builder(script()).withTools(mockTool('stock', 7)).build();
    const agent = make();
    const received: AgentEvent[] = [];
    agent.wiretap(fail);
    agent.on('AgentFinished', fail);
    agent.wiretap((event) => received.push(event));
    const state = await agent.run('go', { wiretap: fail });
    const stream = make().stream('go', { wiretap: fail });
    for await (const event of stream) expect(event.executionId).not.toBe('');
    await rejectionsReported();
    expect(state).toMatchObject({ status: 'completed', output: '7.' });
    expect(await stream.state).toMatchObject({ status: 'completed', output: '7.' });
    expect(types(received).at(-1)).toBe('AgentFinished');
    expect(reports).toHaveBeenCalledTimes(received.length * 3 + 1);
    expect(unhandled).not.toHaveBeenCalled();
  });
});

describe('logging a run', () => {
  it('calls a pino-like logger with levels, fields and one readable line, without deltas', async () => {
    const lines: [string, object, string][] = [];
    const to =
      (level: string) =>
      (fields: object, message: string): void => {
        lines.push([level, fields, message]);
      };
    const logger = { debug: to('debug'), info: to('info'), warn: to('warn'), error: to('error') };
    const agent = builder(
      DeterministicDriver.fromSteps(
        ScenarioStep.toolCall('stock', args),
        ScenarioStep.toolCall('stock', args),
        ScenarioStep.stream(['7', '.']),
      ),
    )
      .withTools(mockTool('stock', [new Error('offline'), 7]))
      .withErrorPolicy(ErrorPolicy.retryToolErrors())
      .build();
    agent.wiretap(logEvents(logger));
    await agent.run('go');
    const id = /^Agent \[[0-9a-f]{8}\] /;
    expect(lines.map(([level, , message]) => `${level} ${message.replace(id, '')}`)).toEqual([
      'info started (shop, 1 message)',
      'debug user message, 2 characters',
      'info step 0: CONTINUE (requested by ToolCallPresenceCheck)',
      'debug step 1: started',
      'debug stock call_1: started',
      'warn stock call_1: failed (offline) in 0 ms',
      'debug used 15 tokens',
      'debug step 1: completed in 0 ms (tool_calls)',
      'info step 1: CONTINUE (requested by ToolCallPresenceCheck)',
      'debug is in_progress after 1 step',
      'debug step 2: started',
      'debug stock call_2: started',
      'debug stock call_2: ok in 0 ms',
      'debug used 15 tokens',
      'debug step 2: completed in 0 ms (tool_calls)',
      'info step 2: CONTINUE (requested by ToolCallPresenceCheck)',
      'debug is in_progress after 2 steps',
      'debug step 3: started',
      'debug step 3: assistant message, 2 characters',
      'debug used 15 tokens',
      'debug step 3: completed in 0 ms (stop)',
      'info step 3: STOP (completed)',
      'debug is completed after 3 steps',
      'info finished: completed (completed) after 3 steps',
    ]);
    for (const [, fields] of lines) expect(() => JSON.stringify(fields)).not.toThrow();
    expect(lines.at(-1)![1]).toMatchObject({
      type: 'AgentFinished',
      outcome: { shouldContinue: false, stopReason: 'completed' },
    });
  });
});
