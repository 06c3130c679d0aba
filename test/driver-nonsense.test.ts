import { AgentBuilder, ErrorPolicy, type InferenceDriver } from 'onward';
import { DeterministicDriver, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { takesAnotherTurn } from './setup/states.ts';

const { final } = ScenarioStep;

describe('invalid driver responses', () => {
  it.each<[string, unknown]>([
    ['undefined', undefined],
    ['a string', 'Hello'],
    ['no list of tool calls', { content: 'Hi' }],
    ['content that is not a string', { content: 5, toolCalls: [] }],
    ['a tool call without a name', { content: '', toolCalls: [{ args: {} }] }],
  ])('%s is recorded as a validation error', async (_case, response) => {
    const driver: InferenceDriver = { name: 'odd', infer: async () => response as never };
    const agent = AgentBuilder.base().withDriver(driver).build();
    const state = await agent.run('go');
    expect(state).toMatchObject({ status: 'failed', stopReason: 'error' });
    expect(state.steps.at(0)).toMatchObject({
      type: 'error',
      errors: [{ type: 'validation', code: 'bad_response' }],
    });
    expect(state.steps.at(0)!.errors[0]?.message).toMatch(/cannot be read: .*, expected/);
    expect(state.messages.length).toBe(1);
    await takesAnotherTurn(state);
  });

  it('invalid numbers do not corrupt the totals', async () => {
    const answer = { content: 'Hi', toolCalls: [], finishReason: 'stop' };
    const usage = { input: 'many', output: Number.NaN };
    const driver: InferenceDriver = {
      name: 'odd',
      infer: async () => ({ ...answer, usage, cost: Number.NaN }) as never,
    };
    const state = await AgentBuilder.base().withDriver(driver).build().run('go');
    expect(state.output).toBe('Hi');
    expect(state.usage.total).toBe(0);
    expect(state.cost).toBeNull();
  });

  it('a refusal is stored once as the assistant message and is not retried', async () => {
    const driver = DeterministicDriver.fromSteps(final('', { refusal: 'I cannot help.' }));
    const state = await AgentBuilder.base()
      .withDriver(driver)
      .withErrorPolicy(ErrorPolicy.retryAll(3))
      .build()
      .run('go');
    expect(driver.requests).toHaveLength(1);
    expect(state).toMatchObject({ status: 'failed', stopReason: 'error' });
    expect(state.steps.at(0)!.errors[0]).toMatchObject({
      type: 'model',
      code: 'refusal',
      retryable: false,
    });
    expect(state.messages.toJSON().map(({ role, content }) => [role, content])).toEqual([
      ['user', 'go'],
      ['assistant', 'I cannot help.'],
    ]);
    await takesAnotherTurn(state);
  });
});
