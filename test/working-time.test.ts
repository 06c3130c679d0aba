import { AgentBuilder, AgentState, ErrorPolicy } from 'onward';
import { DeterministicDriver, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { stored } from './setup/states.ts';
import { during, HOUR, setUp, START } from './setup/time.ts';

const { toolCall, toolCalls, final, error } = ScenarioStep;

describe('working time', () => {
  it('is the sum of step durations and waits, for the execution and the session', async () => {
    const { builder, clock } = setUp([
      toolCall('work5'),
      error({ type: 'rate_limit', message: '429', retryAfterMs: 4_000 }, { delayMs: 1_000 }),
      toolCall('work5', {}, '', { delayMs: 500 }),
      final('done', { delayMs: 250 }),
    ]);
    const agent = builder.withErrorPolicy(ErrorPolicy.retryAll()).build();
    const state = await during(clock, HOUR, agent.run('go'));
    expect([...state.steps].map((s) => s.durationMs)).toEqual([5_000, 1_000, 5_500, 250]);
    const sum = [...state.steps].reduce((ms, s) => ms + s.durationMs + (s.waitedMs ?? 0), 0);
    expect(sum).toBe(15_750);
    expect(state.execution.cumulativeSeconds).toBe(15.75);
    expect(state.info.cumulativeExecutionSeconds).toBe(15.75);
  });

  it('is 8 s after 5 s of work, an hour of pause and 3 s of work', async () => {
    for (const between of [(s: AgentState) => s, stored]) {
      const { builder, clock } = setUp([
        toolCalls([{ name: 'work5' }, { name: 'work3' }]),
        final('done'),
      ]);
      const agent = builder.build();
      const paused = await during(clock, 5_000, agent.run('go'));
      expect(paused.status).toBe('paused');
      expect(paused.execution.cumulativeSeconds).toBe(5);
      clock.jump(HOUR);
      const state = await during(
        clock,
        3_000,
        agent.resume(between(paused), { approvals: { call_2: { approve: true } } }),
      );
      expect(state.output).toBe('done');
      expect(state.execution.cumulativeSeconds).toBe(8);
      expect(state.info.cumulativeExecutionSeconds).toBe(8);
      expect(state.steps.at(0)?.durationMs).toBe(8_000);
      expect(Date.parse(state.executionStartedAt!)).toBe(Date.parse(START) + 5_000 + HOUR);
    }
  });

  it('starts at 0 in a new execution and continues in the session', async () => {
    const { builder, clock } = setUp([
      toolCall('work5'),
      final('a'),
      toolCall('work5'),
      final('b'),
    ]);
    const agent = builder.build();
    const first = await during(clock, 5_000, agent.run('go'));
    const second = await during(clock, 5_000, agent.run(first.withUserMessage('again')));
    expect(second.execution.cumulativeSeconds).toBe(5);
    expect(second.info.cumulativeExecutionSeconds).toBe(10);
  });

  it('addExecutionTime counts for both', () => {
    const state = AgentState.empty().addExecutionTime(2.5).addExecutionTime(1);
    expect(state.execution.cumulativeSeconds).toBe(3.5);
    expect(state.info.cumulativeExecutionSeconds).toBe(3.5);
  });

  it.each([-1, Number.NaN, Number.POSITIVE_INFINITY])(
    'addExecutionTime rejects %d seconds',
    (seconds) => {
      expect(() => AgentState.empty().addExecutionTime(seconds)).toThrow('addExecutionTime');
    },
  );

  it('loads as 0 if an old release stored a negative value', async () => {
    const { builder, clock } = setUp([
      toolCalls([{ name: 'work5' }, { name: 'work3' }]),
      final('done'),
    ]);
    const agent = builder.build();
    const json = JSON.parse(JSON.stringify(await during(clock, 5_000, agent.run('go'))));
    json.info.cumulativeExecutionSeconds = -3_600;
    json.execution.cumulativeSeconds = -3_600;
    json.unfinishedStep.durationMs = -3_600_000;
    const old = AgentState.from(json);
    expect(old.execution.cumulativeSeconds).toBe(0);
    const run = agent.resume(old, { approvals: { call_2: { approve: true } } });
    const state = await during(clock, 3_000, run);
    expect(state.execution.cumulativeSeconds).toBe(3);
    expect(state.info.cumulativeExecutionSeconds).toBe(3);
    expect(state.steps.at(0)?.durationMs).toBe(3_000);
  });

  it('loads as 0 from old documents without the fields', async () => {
    const { builder, clock } = setUp([final('a'), toolCall('work5'), final('b')]);
    const agent = builder.build();
    const json = JSON.parse(JSON.stringify(await agent.run('go'))) as {
      info: Record<string, unknown>;
      execution: Record<string, unknown>;
    };
    delete json.info['cumulativeExecutionSeconds'];
    delete json.execution['cumulativeSeconds'];
    const old = AgentState.from(json as never);
    expect(old.info.cumulativeExecutionSeconds).toBe(0);
    expect(old.execution.cumulativeSeconds).toBe(0);
    const next = await during(clock, 5_000, agent.run(old.withUserMessage('again')));
    expect(next.info.cumulativeExecutionSeconds).toBe(5);
  });

  it('of a nested agent counts once, in the step of its parent', async () => {
    const { builder, clock } = setUp([toolCall('work5'), final('child done')]);
    const child = builder.withName('child').build();
    const parent = AgentBuilder.base()
      .withDriver(
        DeterministicDriver.fromSteps(toolCall('child', { input: 'do it' }), final('done')),
      )
      .withTools(child.asTool({ name: 'child', description: 'Does it.' }))
      .withClock(clock)
      .build();
    const state = await during(clock, 5_000, parent.run('go'));
    expect(state.output).toBe('done');
    expect(state.execution.cumulativeSeconds).toBe(5);
  });
});
