import { AgentBuilder } from 'onward';
import { DeterministicDriver, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { during, setUp } from './setup/time.ts';

const { toolCall, final } = ScenarioStep;

describe('D54: the budget note', () => {
  it('shows the model before each step how much of each limit is used', async () => {
    const { builder, clock, driver } = setUp([
      toolCall('work5', {}, '', { usage: { input: 100, output: 20 }, cost: 0.01 }),
      final('done'),
    ]);
    const agent = builder
      .withSystemPrompt('You help.')
      .withMaxSteps(8)
      .withMaxTokens(1_000)
      .withMaxCost(0.5)
      .withTimeout({ seconds: 60 })
      .withBudgetNote()
      .build();
    const state = await during(clock, 5_000, agent.run('go'));
    expect(driver.requests.map((r) => [r.system, r.messages.last()!.text])).toEqual([
      [
        'You help.',
        'Budget used so far: 0 of 8 steps; 0 of 1000 tokens; 0 of 0.5 cost units; 0 of 60 seconds. Plan your work so that you finish within it.',
      ],
      [
        'You help.',
        'Budget used so far: 1 of 8 steps; 120 of 1000 tokens; 0.01 of 0.5 cost units; 5 of 60 seconds. Plan your work so that you finish within it.',
      ],
    ]);
    expect(JSON.stringify(state)).not.toContain('Budget used');
  });

  it('is not added by default', async () => {
    const { builder, driver } = setUp([final('done')]);
    await builder.withSystemPrompt('You help.').build().run('go');
    expect(driver.requests[0]?.messages.last()!.text).toBe('go');
  });

  it('is empty without limits', async () => {
    const driver = DeterministicDriver.fromResponses('done');
    await AgentBuilder.new().withDriver(driver).withBudgetNote().build().run('go');
    expect(driver.requests[0]?.messageCount).toBe(1);
  });

  it('includes granted budget', async () => {
    const { builder, driver } = setUp([toolCall('quick'), final('done')]);
    const agent = builder.withMaxSteps(1).withBudgetNote().build();
    await agent.resume(await agent.run('go'), { grant: { steps: 4 } });
    expect(driver.requests[1]?.messages.last()!.text).toContain('1 of 5 steps');
  });
});
