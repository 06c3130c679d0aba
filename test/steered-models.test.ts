import { AgentBuilder, createAgent, ErrorPolicy, type InferenceDriver } from 'onward';
import { DeterministicDriver, mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { fails, requestsOf, scripted, story, withModels } from './setup/fallback.ts';

const { toolCall } = ScenarioStep;
const named = (name: string, ...steps: readonly ScenarioStep[]): DeterministicDriver =>
  DeterministicDriver.create(steps, { name });
const quick = ErrorPolicy.retryAll(2).withBackoff({ initialMs: 0 });

describe('a model that prepareStep chooses', () => {
  it('comes before the models of the agent, which are its fallback', async () => {
    const models = scripted([['from the first'], []]);
    const chosen = named('chosen', fails('quota'));
    const state = await withModels(models)
      .withPrepareStep(() => ({ model: chosen }))
      .build()
      .run('go');
    expect(story(state)).toEqual(['error chosen -> openai:gpt-5', 'final openai:gpt-5']);
    expect(state.steps.at(0)?.steering).toEqual({ model: 'chosen' });
    // the fallback took the place of the chosen model
    expect(state.steps.at(1)).not.toHaveProperty('steering');
    expect(requestsOf(models)).toEqual([1, 0]);
  });

  it('that failed is not called again at once, though it is chosen at each step', async () => {
    const models = scripted([[toolCall('look'), 'done'], []]);
    const chosen = named('chosen', fails('quota'));
    const state = await withModels(models)
      .withTools(mockTool('look'))
      .withPrepareStep(() => ({ model: chosen }))
      .build()
      .run('go');
    expect(state.output).toBe('done');
    expect(requestsOf([chosen, ...models])).toEqual([1, 2, 0]);
  });

  it('without fallback models it is retried as the policy says, and never replaced', async () => {
    const own = named('own');
    const chosen = named('chosen', fails('server'), fails('server'), fails('server'));
    const state = await AgentBuilder.base()
      .withModel(own)
      .withErrorPolicy(quick)
      .withPrepareStep(() => ({ model: chosen }))
      .build()
      .run('go');
    expect(story(state)).toEqual(['error chosen', 'error chosen', 'error chosen']);
    expect(state).toMatchObject({ status: 'failed', stopReason: 'retry_limit' });
    expect(requestsOf([own, chosen])).toEqual([0, 3]);
  });

  it('choosing another model for each attempt gives no further retries', async () => {
    const many = () => Array.from({ length: 9 }, () => fails('server'));
    const models = scripted([many(), many()]);
    const chosen = Array.from({ length: 9 }, (_, i) => named(`m${i}`, ...many()));
    const agents = [
      withModels(models.slice(0, 1)).withPrepareStep(({ attempt }) => ({ model: chosen[attempt] })),
      withModels(models.slice(0, 1)).withPrepareStep(({ attempt }) =>
        attempt % 2 === 0 ? { model: chosen[attempt] } : undefined,
      ),
      withModels(models).withPrepareStep(({ attempt }) => ({ model: chosen[attempt] })),
      withModels(models).withPrepareStep(({ attempt }) =>
        attempt % 2 === 0 ? { model: chosen[attempt] } : undefined,
      ),
    ];
    for (const agent of agents) {
      const state = await agent.withErrorPolicy(quick).build().run('go');
      expect(state.status).toBe('failed');
      expect(state.stepCount).toBeLessThanOrEqual(9);
    }
  });

  it('an answer keeps later steps free to choose again', async () => {
    const own = named('own', toolCall('look'), ScenarioStep.final('done'));
    const small = named('small', toolCall('look'));
    const state = await AgentBuilder.base()
      .withModel(own)
      .withTools(mockTool('look'))
      .withPrepareStep(({ stepNumber }) => (stepNumber === 2 ? { model: small } : undefined))
      .build()
      .run('go');
    expect(state.steps.toJSON().map(({ model }) => model)).toEqual([undefined, 'small', undefined]);
  });

  it('one of the agent itself keeps its id; a foreign one with the same name gets another', async () => {
    const models = scripted([['one'], ['two']]);
    const twin: InferenceDriver = named('openai:gpt-5', ScenarioStep.final('twin'));
    const ran = async (model: InferenceDriver | string) =>
      (
        await withModels(models)
          .withPrepareStep(() => ({ model }))
          .build()
          .run('go')
      ).steps.at(0)?.model;
    expect(await ran(models[1]!)).toBe('anthropic:claude');
    expect(await ran('openai:gpt-5')).toBe('openai:gpt-5');
    expect(await ran(twin)).toBe('openai:gpt-5#2');
    expect(requestsOf(models)).toEqual([1, 1]);
  });

  it('a prepareStep that fails is not a failure of a model: no fallback', async () => {
    const models = scripted([[], []]);
    const state = await withModels(models)
      .withPrepareStep(() => {
        throw new Error('no table');
      })
      .build()
      .run('go');
    expect(state.status).toBe('failed');
    expect(state.steps.at(0)).not.toHaveProperty('fallback');
    expect(requestsOf(models)).toEqual([0, 0]);
  });

  it('its price is the one of its name', async () => {
    const usage = { input: 1_000_000, output: 0, total: 1_000_000 };
    const chosen = DeterministicDriver.create([ScenarioStep.final('done', { usage })], {
      name: 'cheap',
      model: 'cheap',
    });
    const agent = createAgent({
      model: named('own'),
      prices: { cheap: { input: 2, output: 2 } },
      prepareStep: () => ({ model: chosen }),
    });
    expect((await agent.run('go')).cost).toBe(2);
  });
});
