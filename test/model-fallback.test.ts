import {
  AgentBuilder,
  AgentState,
  createAgent,
  createModelRegistry,
  ErrorPolicy,
  SlimAgentStateSerializer,
  SlimSerializationConfig,
} from 'onward';
import { DeterministicDriver, fakeClock, mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { fails, reader, requestsOf, scripted, story, withModels } from './setup/fallback.ts';

const { toolCall, error } = ScenarioStep;
const quick = ErrorPolicy.retryAll(1).withBackoff({ initialMs: 0 });

describe('an agent with fallback models', () => {
  it('D84: continues with the next model at the first step, under the default policy', async () => {
    const models = scripted([[fails('overloaded')], ['Hello.']]);
    const state = await withModels(models).build().run('hi');
    expect(state).toMatchObject({ status: 'completed', output: 'Hello.' });
    expect(story(state)).toEqual([
      'error openai:gpt-5 -> anthropic:claude',
      'final anthropic:claude',
    ]);
    const evaluation = state.steps.at(0)?.outcome?.evaluationFor('ErrorPolicyCriterion');
    expect(evaluation).toMatchObject({
      decision: 'allow',
      reason: 'openai:gpt-5 was overloaded, continued with anthropic:claude',
      facts: {
        kind: 'error',
        handling: 'fallback',
        model: 'openai:gpt-5',
        fallback: 'anthropic:claude',
      },
    });
    expect(state.steps.at(0)?.outcome?.explanation().headline).toBe(
      'Continued with anthropic:claude because openai:gpt-5 was overloaded.',
    );
  });

  it('D84: continues with the next model after tools have run, and stays with it', async () => {
    const models = scripted([
      [toolCall('look'), fails('quota')],
      [toolCall('look'), toolCall('look'), 'Done.'],
    ]);
    const look = mockTool('look', 'seen');
    const state = await withModels(models).withTools(look).build().run('go');
    expect(story(state)).toEqual([
      'tool_calls openai:gpt-5',
      'error openai:gpt-5 -> anthropic:claude',
      'tool_calls anthropic:claude',
      'tool_calls anthropic:claude',
      'final anthropic:claude',
    ]);
    expect(look.calls).toHaveLength(3);
    expect(models[1]?.requests[0]?.messageCount).toBe(3);
    expect(state.messages.pairingProblem()).toBeNull();
  });

  it('D84: discards the text of a model that fails in the middle of a stream once', async () => {
    const models = scripted([[fails('server', { chunks: ['Half an', ' ans'] })], ['A whole one.']]);
    const { wiretap, events, text } = reader();
    const state = await withModels(models).build().run('go', { wiretap });
    expect(text()).toBe('A whole one.');
    expect(events.filter(({ type }) => type === 'StreamDiscarded')).toHaveLength(1);
    expect(state.messages.length).toBe(2);
  });

  it('retries a model before it continues with the next one, and counts failures per model', async () => {
    const models = scripted([
      [fails('server'), fails('server')],
      [fails('server'), toolCall('look'), fails('server'), 'Done.'],
    ]);
    const agent = withModels(models).withErrorPolicy(quick).withTools(mockTool('look', 1)).build();
    const state = await agent.run('go');
    expect(state).toMatchObject({ status: 'completed', output: 'Done.' });
    expect(story(state)).toEqual([
      'error openai:gpt-5',
      'error openai:gpt-5 -> anthropic:claude',
      'error anthropic:claude',
      'tool_calls anthropic:claude',
      'error anthropic:claude',
      'final anthropic:claude',
    ]);
  });

  it('does not wait before the call of the next model', async () => {
    const clock = fakeClock();
    const models = scripted([[fails('longOverload')], ['Hello.']]);
    const agent = withModels(models)
      .withErrorPolicy(ErrorPolicy.production())
      .withClock(clock)
      .build();
    const state = await agent.run('hi');
    expect(state.output).toBe('Hello.');
    expect(state.steps.at(0)).not.toHaveProperty('waitMs');
    expect(state.execution.cumulativeSeconds).toBe(0);
  });

  it.each(['notFound', 'quota', 'longOverload'] as const)(
    'continues at once on %s, although retries are left',
    async (failure) => {
      const models = scripted([[fails(failure)], ['Hello.']]);
      const agent = withModels(models).withErrorPolicy(ErrorPolicy.production()).build();
      const state = await agent.run('hi');
      expect(story(state)).toEqual([
        'error openai:gpt-5 -> anthropic:claude',
        'final anthropic:claude',
      ]);
    },
  );

  it.each(['refusal', 'contentFilter', 'badRequest', 'contextLength'] as const)(
    'stops on %s without another request',
    async (failure) => {
      const models = scripted([[fails(failure)], ['never']]);
      const state = await withModels(models).build().run('hi');
      expect(state).toMatchObject({ status: 'failed', stopReason: 'error' });
      expect(requestsOf(models)).toEqual([1, 0]);
      expect(state.steps.at(0)).not.toHaveProperty('fallback');
    },
  );

  it('stops on an answer that the content filter blocked without another request', async () => {
    const filtered = ScenarioStep.final('', { finishReason: 'content_filter' });
    const models = scripted([[filtered], ['never']]);
    const state = await withModels(models).build().run('hi');
    expect(state.stopReason).toBe('finish_reason');
    expect(requestsOf(models)).toEqual([1, 0]);
  });

  it('names the failure of each model when all have failed', async () => {
    const models = scripted([[fails('quota')], [fails('overloaded')], [error('Out of luck')]]);
    const state = await withModels(models).build().run('hi');
    expect(state).toMatchObject({ status: 'failed', stopReason: 'error' });
    const outcome = state.lastContinuationOutcome;
    expect(outcome?.decisive?.reason).toBe(
      'all 3 models failed: openai:gpt-5 has no quota left; anthropic:claude was overloaded; ' +
        'google:gemini failed (Out of luck)',
    );
    expect(outcome?.explanation()).toMatchObject({
      headline: 'Failed because all 3 of its models failed.',
      detail:
        'The failures were: openai:gpt-5 has no quota left; anthropic:claude was overloaded; ' +
        'google:gemini failed (Out of luck).',
    });
  });

  it('shortens a long message where steps repeat it', async () => {
    const models = scripted([[error('x'.repeat(5_000))], [error('y'.repeat(5_000))]]);
    const state = await withModels(models).build().run('hi');
    const lengths = state.steps.at(-1)?.failedModels?.map(({ message }) => message.length);
    expect(lengths).toEqual([300, 300]);
    expect(state.steps.at(0)?.errors[0]?.message).toHaveLength(5_000);
  });

  it('tries every model again after a grant', async () => {
    const models = scripted([
      [fails('overloaded'), fails('overloaded')],
      [fails('server'), 'Hello.'],
    ]);
    const agent = withModels(models).build();
    const failed = await agent.run('hi');
    const [action] = failed.lastContinuationOutcome?.explanation().actions ?? [];
    expect(action?.kind).toBe('grant');
    const state = await agent.resume(failed, { grant: { retries: 1 } });
    expect(state.output).toBe('Hello.');
    expect(story(state).slice(2)).toEqual([
      'error openai:gpt-5 -> anthropic:claude',
      'final anthropic:claude',
    ]);
  });

  it('uses the price of the model that answered', async () => {
    const usage = { usage: { input: 1_000_000, output: 0, total: 1_000_000 } };
    const make = (name: string, step: ScenarioStep) =>
      DeterministicDriver.create([step], { name, model: name });
    const state = await AgentBuilder.base()
      .withModel(make('dear', error({ code: 'server', message: 'x' }, usage)))
      .withFallback(make('cheap', ScenarioStep.final('Hello.', usage)))
      .withPrices({ dear: { input: 8, output: 8 }, cheap: { input: 1, output: 1 } })
      .build()
      .run('hi');
    expect(state.steps.toJSON().map(({ cost }) => cost)).toEqual([8, 1]);
    expect(state.cost).toBe(9);
  });

  it('createAgent takes names, which its registry resolves', async () => {
    const [a, b] = scripted([[fails('notFound')], ['Hello.']]);
    const models = createModelRegistry({ mine: (name) => (name === 'a' ? a! : b!) });
    const agent = createAgent({ model: 'mine:a', fallback: ['mine:b'], models });
    expect((await agent.run('hi')).output).toBe('Hello.');
    expect(agent.describe()).toMatchObject({
      driver: 'openai:gpt-5',
      fallback: ['anthropic:claude'],
    });
  });

  it('the registry of withModel resolves the names of withFallback', async () => {
    const [a, b] = scripted([[fails('notFound')], ['Hello.']]);
    const registry = createModelRegistry({ mine: (name) => (name === 'a' ? a! : b!) });
    const agent = AgentBuilder.base().withModel('mine:a', { registry }).withFallback('mine:b');
    expect((await agent.build().run('hi')).output).toBe('Hello.');
  });

  it('distinguishes models with the same name', async () => {
    const same = [fails('quota'), 'Hello.'].map((step) => DeterministicDriver.fromSteps(step));
    const state = await withModels(same).build().run('hi');
    expect(story(state)).toEqual([
      'error deterministic -> deterministic#2',
      'final deterministic#2',
    ]);
  });

  it('an agent without fallback models stores no model', async () => {
    const state = await withModels(scripted([[fails('server')]]))
      .build()
      .run('hi');
    expect(state.steps.at(0)).not.toHaveProperty('model');
    expect(state.steps.at(0)).not.toHaveProperty('failedModels');
  });

  it('a nested agent continues with its own fallback model', async () => {
    const inner = scripted([[fails('overloaded')], ['42']]);
    const child = withModels(inner).withName('expert').build();
    const ask = child.asTool({ name: 'ask', description: 'Asks the expert.' });
    const parent = AgentBuilder.base()
      .withModel(DeterministicDriver.fromSteps(toolCall('ask', { input: 'what?' }), 'It is 42.'))
      .withTools(ask)
      .build();
    const { wiretap, events } = reader();
    const state = await parent.run('what?', { wiretap });
    expect(state.output).toBe('It is 42.');
    const change = events.find(({ type }) => type === 'ModelFallback');
    expect(change).toMatchObject({
      parentAgentId: state.agentId,
      from: 'openai:gpt-5',
      to: 'anthropic:claude',
    });
  });

  it('emits ModelFallback once per change, and not if the run stops', async () => {
    const clock = fakeClock();
    const slow = ScenarioStep.error({ code: 'server', message: 'x' }, { delayMs: 2_000 });
    const models = scripted([[slow], ['never']], clock);
    const { wiretap, events } = reader();
    const run = withModels(models)
      .withTimeout({ seconds: 1 })
      .withClock(clock)
      .build()
      .run('hi', { wiretap });
    await clock.advance(5_000);
    expect((await run).stopReason).toBe('time_limit');
    expect(events.some(({ type }) => type === 'ModelFallback')).toBe(false);
  });
});

describe('a resume of a run with fallback models', () => {
  const revived = (state: AgentState): AgentState =>
    AgentState.from(JSON.parse(JSON.stringify(state)));

  it('continues with the model that the failed step names', async () => {
    const [a, b] = scripted([[fails('overloaded')], []]);
    const left = withModels([a!, b!]).build();
    let state = AgentState.empty().withUserMessage('hi');
    for await (const next of left.iterate(state)) {
      state = next;
      break;
    }
    expect(story(state)).toEqual(['error openai:gpt-5 -> anthropic:claude']);
    const other = scripted([['never'], ['Hello.']]);
    const done = await withModels(other).build().resume(revived(state));
    expect(done.output).toBe('Hello.');
    expect(requestsOf(other)).toEqual([0, 1]);
  });

  it('continues with the model that answered before an approval', async () => {
    const act = mockTool('act', 'done', { needsApproval: true });
    const first = scripted([[fails('overloaded')], [toolCall('act')]]);
    const paused = await withModels(first).withTools(act).build().run('go');
    expect(paused.unfinishedStep?.model).toBe('anthropic:claude');
    const other = scripted([['never'], ['Done.']]);
    const state = await withModels(other)
      .withTools(act)
      .build()
      .resume(revived(paused), { approvals: { call_1: { approve: true } } });
    expect(state.output).toBe('Done.');
    expect(requestsOf(other)).toEqual([0, 1]);
  });

  it.each(['standard', 'full'] as const)('continues from a slim state (%s)', async (config) => {
    const slim = new SlimAgentStateSerializer(SlimSerializationConfig[config]());
    const first = scripted([[fails('overloaded')], [fails('server')], []]);
    let state = AgentState.empty().withUserMessage('hi');
    for await (const next of withModels(first).build().iterate(state)) {
      state = next;
      if (state.stepCount === 2) break;
    }
    const stored = JSON.parse(JSON.stringify(slim.serialize(state))) as object;
    const other = scripted([['never'], ['never'], [fails('server')]]);
    const done = await withModels(other).build().resume(slim.deserialize(stored));
    expect(requestsOf(other)).toEqual([0, 0, 1]);
    expect(done.lastContinuationOutcome?.decisive?.reason).toBe(
      'all 3 models failed: openai:gpt-5 was overloaded; anthropic:claude had a server error; ' +
        'google:gemini had a server error',
    );
  });

  it('begins with the first model if the agent no longer has the stored one', async () => {
    const act = mockTool('act', 'done', { needsApproval: true });
    const first = scripted([[fails('overloaded')], [toolCall('act')]]);
    const paused = await withModels(first).withTools(act).build().run('go');
    const [only] = scripted([['Done.']]);
    const agent = AgentBuilder.base().withModel(only!).withTools(act).build();
    const state = await agent.resume(revived(paused), {
      approvals: { call_1: { approve: true } },
    });
    expect(state.output).toBe('Done.');
    expect(state.steps.at(1)?.model).toBe('anthropic:claude');
  });
});
