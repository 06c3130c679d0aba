import {
  AgentState,
  ErrorPolicy,
  sessionTimeLimit,
  type AgentBuilder,
  type AgentStateJSON,
} from 'onward';
import { ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { stored } from './setup/states.ts';
import { during, HOUR, setUp, START } from './setup/time.ts';

const { toolCall, toolCalls, final, error } = ScenarioStep;

const DAY = 24 * HOUR;
const WEEK = 7 * DAY;

const timeEvaluation = (state: AgentState) =>
  state.lastContinuationOutcome?.evaluationFor('ExecutionTimeLimit');

describe('session, execution and working time', () => {
  it('a new execution has its own start time and no time used', async () => {
    const { builder, clock } = setUp([final('hi', { delayMs: 2_000 })]);
    const session = AgentState.empty({ now: clock.now() });
    clock.jump(HOUR);
    const state = await during(clock, 2_000, builder.build().run(session.withUserMessage('hi')));
    expect(state.info.startedAt).toBe(START);
    expect(state.executionStartedAt).toBe('2026-01-16T13:00:00.000Z');
    expect(state.execution.startedAt).toBe('2026-01-16T13:00:00.000Z');
    expect(state.execution.cumulativeSeconds).toBe(2);
    expect(timeEvaluation(state)?.context).toEqual({ used: 2, limit: 300 });
  });

  it.each<[string, number]>([
    ['a minute', 60_000],
    ['a day', DAY],
    ['a week', WEEK],
  ])('a second turn after %s starts fresh and does not time out', async (_span, ms) => {
    for (const between of [(s: AgentState) => s, stored]) {
      const { builder, clock } = setUp([final('one'), toolCall('quick'), final('two')]);
      const agent = builder.withTimeout({ seconds: 30 }).build();
      const first = await agent.run('hi');
      clock.jump(ms);
      const second = await agent.run(between(first).withUserMessage('again'));
      expect(second).toMatchObject({ status: 'completed', output: 'two' });
      expect(timeEvaluation(second)?.context).toEqual({ used: 0, limit: 30 });
      expect(Date.parse(second.executionStartedAt!)).toBe(clock.now());
      expect(second.info.startedAt).toBe(START);
    }
  });

  it('executionStartedAt is serialized for debugging and never restored', async () => {
    const { builder } = setUp([final('one'), final('two')]);
    const agent = builder.build();
    const state = await agent.run('hi');
    const json = JSON.parse(JSON.stringify(state)) as AgentStateJSON;
    expect(json.executionStartedAt).toBe(START);
    const restored = AgentState.from(json);
    expect(restored.executionStartedAt).toBeNull();
    expect((await agent.run(restored.withUserMessage('next'))).executionStartedAt).toBe(START);
  });

  it('an open execution restored a week later has its full time limit', async () => {
    const { builder, clock } = setUp([toolCall('quick'), toolCall('quick'), final('done')]);
    const agent = builder.withTimeout({ seconds: 30 }).build();
    const open = await agent.nextStep('go');
    clock.jump(WEEK);
    const resumed = await agent.resume(stored(open));
    expect(resumed).toMatchObject({ status: 'completed', output: 'done' });
    expect(timeEvaluation(resumed)?.context).toEqual({ used: 0, limit: 30 });
  });

  it('the first nextStep of a restored state starts the wall clock, and later ones do not', async () => {
    const { builder, clock, driver } = setUp(Array(5).fill(toolCall('quick')));
    const agent = builder.withTimeout({ seconds: 30 }).build();
    let state = await agent.nextStep('go');
    clock.jump(DAY);
    const dayLater = new Date(clock.now()).toISOString();
    state = await agent.nextStep(stored(state));
    expect(state.executionStartedAt).toBe(dayLater);
    clock.jump(20_000);
    state = await agent.nextStep(state);
    expect(state).toMatchObject({ status: 'in_progress', executionStartedAt: dayLater });
    clock.jump(15_000);
    state = await agent.nextStep(state);
    expect(state).toMatchObject({ status: 'stopped', stopReason: 'time_limit' });
    expect(timeEvaluation(state)?.context).toEqual({ used: 35, limit: 30 });
    expect(state.steps.at(-1)).toMatchObject({ type: 'cut', durationMs: 0 });
    expect(driver.requests.length).toBe(3);
  });

  it('startedAt does not change with turns, pauses, grants or serialization', async () => {
    const { builder, clock } = setUp([
      toolCall('work3'),
      ...Array<ScenarioStep>(2).fill(toolCall('quick')),
      final('done'),
      final('next'),
    ]);
    const agent = builder.withMaxSteps(2).build();
    let state = await agent.run('go');
    const seen = [state.info.startedAt];
    clock.jump(HOUR);
    state = await during(
      clock,
      3_000,
      agent.resume(stored(state), { approvals: { call_1: { approve: true } } }),
    );
    seen.push(state.info.startedAt);
    expect(state.stopReason).toBe('steps_limit');
    clock.jump(DAY);
    state = await agent.resume(state, { grant: { steps: 5 } });
    seen.push(state.info.startedAt);
    state = await agent.run(stored(state).withUserMessage('next'));
    seen.push(state.info.startedAt);
    expect(seen).toEqual([START, START, START, START]);
  });
});

describe('time limits', () => {
  it('default to 300 seconds of wall clock time', () => {
    const { builder } = setUp([]);
    expect(builder.build().describe().limits).toMatchObject({ ExecutionTimeLimit: 300 });
  });

  it('withCumulativeTimeout and withTimeout replace each other', () => {
    const { builder } = setUp([]);
    const cumulative = builder.withCumulativeTimeout({ seconds: 60 });
    expect(cumulative.build().describe().limits).toEqual({
      StepsLimit: 20,
      CumulativeExecutionTimeLimit: 60,
    });
    expect(cumulative.withTimeout({ seconds: 90 }).build().describe().limits).toEqual({
      StepsLimit: 20,
      ExecutionTimeLimit: 90,
    });
  });

  it.each<[string, (b: AgentBuilder, limit: never) => AgentBuilder]>([
    ['withTimeout', (b, limit) => b.withTimeout(limit)],
    ['withCumulativeTimeout', (b, limit) => b.withCumulativeTimeout(limit)],
  ])('%s rejects invalid times', (_method, set) => {
    const { builder } = setUp([]);
    for (const limit of [{ seconds: 0 }, { seconds: -5 }, { seconds: Number.NaN }, {}, 300, null])
      expect(() => set(builder, limit as never)).toThrowError(
        expect.objectContaining({ code: 'invalid_option' }),
      );
  });

  it('a pause uses no working time and restarts the wall clock', async () => {
    for (const limit of ['withTimeout', 'withCumulativeTimeout'] as const) {
      const { builder, clock } = setUp([
        toolCalls([{ name: 'work5' }, { name: 'work3' }]),
        final('done'),
      ]);
      const agent = builder[limit]({ seconds: 8.5 }).build();
      const paused = await during(clock, 5_000, agent.run('go'));
      clock.jump(HOUR);
      const state = await during(
        clock,
        3_000,
        agent.resume(paused, { approvals: { call_2: { approve: true } } }),
      );
      expect(state.stopReason).toBe('completed');
      expect(state.lastContinuationOutcome?.evaluations[1]?.context).toEqual(
        limit === 'withTimeout' ? { used: 3, limit: 8.5 } : { used: 8, limit: 8.5 },
      );
    }
  });

  it('sessionTimeLimit counts the time of all turns', async () => {
    const { builder, clock } = setUp([toolCall('work5'), final('a'), toolCall('work5')]);
    const agent = builder.addContinuationCriteria(sessionTimeLimit({ seconds: 10 })).build();
    const first = await during(clock, 5_000, agent.run('go'));
    expect(first.stopReason).toBe('completed');
    clock.jump(WEEK);
    const second = await during(clock, 5_000, agent.run(first.withUserMessage('again')));
    expect(second.lastContinuationOutcome).toMatchObject({
      stopReason: 'time_limit',
      resolvedBy: 'SessionTimeLimit',
    });
  });
});

describe('time limits and retry waits', () => {
  const waits = (retryAfterMs: number) => [
    toolCall('work5'),
    error({ type: 'rate_limit', message: '429', retryAfterMs }),
    final('done'),
  ];

  it.each<[string, (b: AgentBuilder) => AgentBuilder, string]>([
    ['wall clock', (b) => b.withTimeout({ seconds: 30 }), 'ExecutionTimeLimit'],
    [
      'working time',
      (b) => b.withCumulativeTimeout({ seconds: 30 }),
      'CumulativeExecutionTimeLimit',
    ],
  ])('%s: does not start a wait that would reach the limit', async (_which, limited, name) => {
    const { builder, clock, driver } = setUp(waits(25_000));
    const agent = limited(builder).withErrorPolicy(ErrorPolicy.retryAll()).build();
    const state = await during(clock, 5_000, agent.run('go'));
    expect(driver.requests.length).toBe(2);
    expect(state).toMatchObject({ status: 'stopped', stopReason: 'time_limit' });
    expect(state.lastContinuationOutcome?.decisive).toMatchObject({
      criterion: name,
      context: { used: 5, limit: 30, waitMs: 25_000 },
    });
    expect(state.steps.at(-1)).toMatchObject({ type: 'error', waitMs: 25_000 });
  });

  it('waits if the limit is not reached', async () => {
    const { builder, clock } = setUp(waits(24_999));
    const agent = builder
      .withTimeout({ seconds: 30 })
      .withErrorPolicy(ErrorPolicy.retryAll())
      .build();
    const state = await during(clock, 29_999, agent.run('go'));
    expect(state).toMatchObject({ status: 'completed', output: 'done' });
    expect(state.execution.cumulativeSeconds).toBe(29.999);
  });
});
