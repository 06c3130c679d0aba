import { AgentBuilder, defineTool } from 'onward';
import { DeterministicDriver, fakeClock, mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { takesAnotherTurn } from './setup/states.ts';
import { agentWith, tool } from './setup/tools.ts';

const { toolCall, toolCalls, final } = ScenarioStep;

describe('D53: a hung tool', () => {
  it('ends at its timeout with a timeout result, and the run continues', async () => {
    const clock = fakeClock();
    let signal: AbortSignal | undefined;
    const hung = defineTool({
      name: 'hung',
      description: 'Hangs.',
      timeoutMs: 5000,
      execute: (_args, context) => {
        ({ signal } = context);
        return new Promise(() => {});
      },
    });
    const quick = mockTool('quick', 'fast');
    const driver = DeterministicDriver.fromSteps(
      toolCalls([{ name: 'hung' }, { name: 'quick' }]),
      final('done'),
    );
    const running = agentWith(driver, hung, quick).withClock(clock).build().run('go');
    await clock.advance(4999);
    expect(driver.requests).toHaveLength(1);
    await clock.advance(1);
    const state = await running;
    expect(state.output).toBe('done');
    const [first, second] = state.steps.at(0)!.results;
    expect(first).toMatchObject({
      kind: 'timeout',
      durationMs: 5000,
      error: { type: 'timeout', code: 'tool_timeout', toolName: 'hung' },
    });
    expect(first?.error?.message).toBe('Tool "hung" took longer than its 5000 ms.');
    expect(second).toMatchObject({ kind: 'ok', value: 'fast' });
    expect(signal?.aborted).toBe(true);
    expect(clock.pendingTimers).toBe(0);
    await takesAnotherTurn(state);
  });

  it('times out after 60 seconds by default', async () => {
    const clock = fakeClock();
    const driver = DeterministicDriver.fromSteps(toolCall('hung'), final('done'));
    const hung = tool('hung', () => new Promise(() => {}));
    const running = agentWith(driver, hung).withClock(clock).build().run('go');
    await clock.advance(60_000);
    const state = await running;
    expect(state.steps.at(0)!.results[0]).toMatchObject({ kind: 'timeout', durationMs: 60_000 });
    expect(state.output).toBe('done');
  });

  it('stops the run with the default error policy', async () => {
    const clock = fakeClock();
    const agent = AgentBuilder.base()
      .withDriver(DeterministicDriver.fromSteps(toolCall('hung')))
      .withTools(tool('hung', () => new Promise(() => {})))
      .withClock(clock)
      .build();
    const running = agent.run('go');
    await clock.advance(60_000);
    const state = await running;
    expect(state.status).toBe('failed');
    expect(state.stopReason).toBe('error');
    expect(state.lastContinuationOutcome?.decisive?.context).toMatchObject({
      errorType: 'timeout',
      toolName: 'hung',
    });
    await takesAnotherTurn(state);
  });
});
