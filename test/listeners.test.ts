import {
  createRedactor,
  ErrorPolicy,
  logEvents,
  type AgentEvent,
  type AgentEventType,
  type AgentState,
} from 'onward';
import { DeterministicDriver, fakeClock, mockTool, ScenarioStep } from 'onward/testing';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { args, at, builder, types } from './setup/events.ts';

describe('listening', () => {
  const script = () =>
    DeterministicDriver.fromSteps(ScenarioStep.toolCall('stock', args), ScenarioStep.final('7.'));

  it('`on`, `wiretap` and the wiretap of one run hear what they asked for, until they leave', async () => {
    const agent = builder(DeterministicDriver.fromResponses('one', 'two', 'three')).build();
    const heard: string[] = [];
    const leave = agent.on('AgentFinished', ({ stepCount }) => heard.push(`on ${stepCount}`));
    const untap = agent.wiretap(({ type }) => type === 'AgentFinished' && heard.push('tap'));
    await agent.run('a', { wiretap: ({ type }) => type === 'AgentFinished' && heard.push('run') });
    expect(heard).toEqual(['on 1', 'tap', 'run']);
    leave();
    await agent.run('b');
    expect(heard).toEqual(['on 1', 'tap', 'run', 'tap']);
    untap();
    await agent.run('c');
    expect(heard).toHaveLength(4);
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

  it('a driver that cannot stream still shows its text as one chunk', async () => {
    const { stream: _none, ...driver } = DeterministicDriver.fromResponses('Hello.');
    const agent = builder(driver).build();
    const chunks: string[] = [];
    agent.on('StreamChunk', ({ content }) => chunks.push(content));
    await agent.run('go');
    expect(chunks).toEqual(['Hello.']);
  });

  it('no event is made, redacted or dated without a listener', async () => {
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

  it('the same run, listened to or not, ends in the same state', async () => {
    const shape = (state: AgentState): unknown =>
      JSON.parse(
        JSON.stringify({ ...state.toJSON(), agentId: '', execution: null, executionStartedAt: '' })
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
  const reports = vi.spyOn(console, 'error');
  const unhandled = vi.fn();

  beforeEach(() => {
    reports.mockReset().mockImplementation(() => {});
    unhandled.mockReset();
    process.on('unhandledRejection', unhandled);
  });
  afterEach(() => {
    process.off('unhandledRejection', unhandled);
  });

  const failing: [string, () => unknown][] = [
    [
      'throws',
      () => {
        throw new Error('listener broke');
      },
    ],
    [
      'rejects',
      async () => {
        throw new Error('listener broke');
      },
    ],
  ];

  it.each(failing)('and %s on every event changes nothing and is reported', async (_how, fail) => {
    const make = () =>
      builder(DeterministicDriver.fromSteps(ScenarioStep.toolCall('stock', args), '7.'))
        .withTools(mockTool('stock', 7))
        .build();
    const agent = make();
    const heard: AgentEvent[] = [];
    agent.wiretap(fail);
    agent.on('AgentFinished', fail);
    agent.wiretap((event) => heard.push(event));
    const state = await agent.run('go', { wiretap: fail });
    const stream = make().stream('go', { wiretap: fail });
    for await (const event of stream) expect(event.executionId).not.toBe('');
    await new Promise((resolve) => setTimeout(resolve, 0));
    expect(state).toMatchObject({ status: 'completed', output: '7.' });
    expect(await stream.state).toMatchObject({ status: 'completed', output: '7.' });
    expect(types(heard).at(-1)).toBe('AgentFinished');
    expect(reports).toHaveBeenCalledTimes(heard.length * 3 + 1);
    expect(unhandled).not.toHaveBeenCalled();
  });
});

describe('logging a run', () => {
  it('gives a log the shape pino wants: levels, fields, one line for a person, no deltas', async () => {
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
