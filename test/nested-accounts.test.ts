import { AgentBuilder, type Tool } from 'onward';
import { DeterministicDriver, fakeClock, mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { ask, asTool, builder, firstResult, rootOf } from './setup/nested-agents.ts';
import { takesAnotherTurn } from './setup/states.ts';

const { toolCall, final } = ScenarioStep;

describe('totals of nested agents', () => {
  it('usage and cost of the child count once for the parent', async () => {
    const child = builder(
      'helper',
      [
        toolCall('look', {}, '', { usage: { input: 100, output: 10 }, cost: 0.5 }),
        final('helped', { usage: { input: 200, output: 20 }, cost: 0.25 }),
      ],
      mockTool('look'),
    ).build();
    const root = builder(
      'root',
      [
        toolCall('help', ask, '', { usage: { input: 1, output: 1 }, cost: 1 }),
        final('done', { usage: { input: 2, output: 2 }, cost: 2 }),
      ],
      asTool(child),
    ).build();
    const state = await root.run('go');
    expect(state.steps.at(0)!.usage).toMatchObject({ input: 301, output: 31, total: 332 });
    expect(state.steps.at(0)!.cost).toBe(1.75);
    expect(state.usage.total).toBe(336);
    expect(state.cost).toBe(3.75);
    expect(state.info.usage.total).toBe(336);
    expect(state.execution.stepCount).toBe(2);
  });

  it('a limit of the parent counts the usage of the child', async () => {
    const child = builder('helper', [final('helped', { usage: { total: 1000 } })]).build();
    const root = builder('root', [toolCall('help', ask)], asTool(child))
      .withMaxTokens(500)
      .build();
    const state = await root.run('go');
    expect(state).toMatchObject({ status: 'stopped', stopReason: 'token_limit' });
    expect(state.usage.total).toBe(1015);
    await takesAnotherTurn(state);
  });

  it('usage of a failed child counts', async () => {
    const child = builder(
      'helper',
      [toolCall('look'), ScenarioStep.error('gone', { usage: { total: 7 } })],
      mockTool('look'),
    ).build();
    const state = await rootOf(child).run('go');
    expect(state.usage.total).toBe(15 + 15 + 7 + 15);
  });

  it('time counts once, in the step of the parent', async () => {
    const clock = fakeClock();
    const slow = (ms: number, step: ScenarioStep): ScenarioStep => ({
      ...step,
      extras: { delayMs: ms },
    });
    const timed = (name: string, steps: readonly ScenarioStep[], ...tools: readonly Tool[]) =>
      AgentBuilder.base()
        .withName(name)
        .withDriver(DeterministicDriver.create(steps, { clock }))
        .withTools(...tools)
        .withClock(clock);
    const child = timed(
      'helper',
      [slow(2000, toolCall('look')), slow(3000, final('helped'))],
      mockTool('look'),
    );
    const root = timed(
      'root',
      [slow(1000, toolCall('help', ask)), slow(500, final('done'))],
      asTool(child.build()),
    ).build();
    const running = root.run('go');
    await clock.advance(6500);
    const state = await running;
    expect(state.output).toBe('done');
    expect(state.steps.at(0)!.durationMs).toBe(6000);
    expect(firstResult(state).durationMs).toBe(5000);
    expect(state.execution.cumulativeSeconds).toBe(6.5);
  });

  it.each<[string, (b: AgentBuilder) => AgentBuilder]>([
    ['withTimeout', (b) => b.withTimeout({ seconds: 1 })],
    ['withCumulativeTimeout', (b) => b.withCumulativeTimeout({ seconds: 1 })],
    ['the tool timeout', (b) => b],
  ])('the child has no timeout: %s does not apply to it', async (_case, limit) => {
    const clock = fakeClock();
    const delayed = (step: ScenarioStep): ScenarioStep => ({
      ...step,
      extras: { delayMs: 90_000 },
    });
    const child = limit(
      AgentBuilder.base()
        .withName('helper')
        .withDriver(
          DeterministicDriver.create([delayed(toolCall('look')), delayed(final('helped'))], {
            clock,
          }),
        )
        .withTools(mockTool('look'))
        .withClock(clock),
    ).build();
    const root = builder('root', [toolCall('help', ask), final('done')], asTool(child))
      .withClock(clock)
      .build();
    const running = root.run('go');
    await clock.advance(180_000);
    const state = await running;
    expect(firstResult(state)).toMatchObject({ kind: 'ok', value: 'helped' });
    expect(state.output).toBe('done');
  });

  it('the deadline of the root applies to the child', async () => {
    const clock = fakeClock();
    const child = builder('helper', [final('', { hangs: true })])
      .withClock(clock)
      .build();
    const root = builder('root', [toolCall('help', ask)], asTool(child))
      .withTimeout({ seconds: 10 })
      .withClock(clock)
      .build();
    const running = root.run('go');
    await clock.advance(10_000);
    const state = await running;
    expect(state).toMatchObject({ status: 'stopped', stopReason: 'time_limit' });
    expect(firstResult(state)).toMatchObject({ kind: 'timeout' });
    expect(clock.pendingTimers).toBe(0);
    await takesAnotherTurn(state);
  });
});
