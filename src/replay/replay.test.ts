import {
  AgentBuilder,
  AgentState,
  defineTool,
  ErrorPolicy,
  SlimAgentStateSerializer,
  type AgentStateJSON,
  type ContinuationCriterion,
} from 'onward';
import { modelCallFailed, type InferenceDriver } from 'onward/drivers';
import { fakeClock } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { replay } from './replay.ts';

/** A model that calls `look` some times and then answers. Each call takes 100 tokens, $0.10 and 10 s. */
function looking(calls: number, clock = fakeClock()) {
  let n = 0;
  const driver: InferenceDriver = {
    name: 'lab',
    async infer() {
      n += 1;
      clock.jump(10_000);
      const usage = { input: 90, output: 10, total: 100, cachedInput: 0, reasoning: 0 };
      if (n > calls)
        return { content: 'done', toolCalls: [], finishReason: 'stop', usage, cost: 0.1 };
      const toolCalls = [{ id: `c${n}`, name: 'look', args: { n } }];
      return { content: '', toolCalls, finishReason: 'tool_calls', usage, cost: 0.1 };
    },
  };
  const look = defineTool({
    name: 'look',
    description: 'Looks.',
    parameters: { type: 'object' },
    execute: () => `found ${n}`,
  });
  return AgentBuilder.base().withDriver(driver).withClock(clock).withTools(look);
}

const json = (state: AgentState): AgentStateJSON =>
  JSON.parse(JSON.stringify(state)) as AgentStateJSON;

/** A record as the release before wrote it: without runs, policy and times of outcomes. */
function older(state: AgentState): AgentStateJSON {
  const document = json(state);
  const { runs: _, ...execution } = document.execution;
  const steps = document.steps.map(({ policy: _policy, outcome, ...step }) => {
    if (outcome === null) return { ...step, outcome };
    const { at: _at, ...rest } = outcome;
    return { ...step, outcome: rest };
  });
  return { ...document, execution, steps };
}

describe('replay', () => {
  it('repeats the recorded decisions without changes', async () => {
    const state = await looking(3).build().run('go');
    const result = replay(state);
    expect(result).toMatchObject({
      executionId: state.execution.id,
      change: 'same',
      firstDifference: null,
      difference: null,
      stopsAt: 4,
      saved: { steps: 0, tokens: 0, cost: 0, seconds: 0 },
      incomplete: [],
    });
    for (const { recorded, replayed } of result.steps) expect(replayed).toEqual(recorded);
  });

  it.each([
    [
      { maxSteps: 2 },
      2,
      'steps_limit',
      'cut_short',
      { steps: 2, tokens: 200, cost: 0.2, seconds: 20 },
    ],
    [
      { maxTokens: 250 },
      3,
      'token_limit',
      'cut_short',
      { steps: 1, tokens: 100, cost: 0.1, seconds: 10 },
    ],
    [{ maxCost: 0.1 }, 1, 'guard', 'cut_short', { steps: 3, tokens: 300, seconds: 30 }],
    // interrupted in the third step
    [{ seconds: 25 }, 3, 'time_limit', 'cut_short', { steps: 1, tokens: 100, seconds: 10 }],
    // interrupted in its last step, which had ended as completed
    [{ seconds: 35 }, 4, 'time_limit', 'cut_short', { steps: 0, tokens: 0, seconds: 0 }],
    [{ maxSteps: 4 }, 4, 'completed', 'same', { steps: 0 }],
    [{ maxSteps: null, maxCost: null }, 4, 'completed', 'same', { steps: 0 }],
  ] as const)('%j stops at step %i: %s', async (limits, stopsAt, stopReason, change, saved) => {
    const result = replay(json(await looking(3).build().run('go')), { limits });
    expect(result).toMatchObject({ change, stopsAt, saved, incomplete: [] });
    const last = result.steps.findLast(({ replayed }) => replayed !== null);
    expect(last).toMatchObject({ number: stopsAt, replayed: { stopReason } });
  });

  it('knows nothing behind the stop that another limit would not have made', async () => {
    const state = await looking(5).withMaxSteps(2).build().run('go');
    expect(state.stopReason).toBe('steps_limit');
    const result = replay(state, { limits: { maxSteps: 4 } });
    expect(result).toMatchObject({
      change: 'further',
      firstDifference: 2,
      stopsAt: null,
      saved: { steps: 0, tokens: 0 },
    });
    expect(result.steps[1]).toMatchObject({
      recorded: { stopReason: 'steps_limit' },
      replayed: { shouldContinue: true },
    });
  });

  it('gives the recorded grants at the same place, and starts the wall clock with each run', async () => {
    const clock = fakeClock();
    const agent = looking(5, clock).withMaxSteps(2).withTimeout({ seconds: 45 }).build();
    const stopped = await agent.run('go');
    clock.jump(3_600_000);
    const state = await agent.resume(json(stopped), { grant: { steps: 4 }, by: 'ana' });
    expect(state.status).toBe('completed');
    expect(state.execution.runs).toMatchObject([
      { afterStep: 0, outcome: { status: 'stopped', stopReason: 'steps_limit' } },
      { afterStep: 2, by: 'ana', grant: { steps: 4 }, isReopened: true },
    ]);
    expect(replay(state)).toMatchObject({ change: 'same', stopsAt: 6, incomplete: [] });
    // 2 + 4 granted; the base of 1 stops a step earlier, where it was not granted yet
    expect(replay(state, { limits: { maxSteps: 1 } })).toMatchObject({ stopsAt: 1 });
    // 40 s of the second run
    expect(replay(state, { limits: { seconds: 39 } })).toMatchObject({
      change: 'cut_short',
      stopsAt: 6,
      difference: 'interrupted',
    });
    expect(replay(state, { limits: { seconds: 41 } })).toMatchObject({ change: 'same' });
  });

  it('lets a landing step land earlier, and not where the limit is further', async () => {
    const state = await looking(9).withMaxSteps(4).withSoftLanding().build().run('go');
    expect(state.currentStep).toMatchObject({ number: 4, softLanding: 'StepsLimit' });
    expect(replay(state)).toMatchObject({ change: 'same', incomplete: [] });
    expect(replay(state, { limits: { maxSteps: 3 } })).toMatchObject({
      change: 'earlier',
      firstDifference: 3,
      difference: 'soft_landing',
      stopsAt: 3,
      saved: { steps: 1, tokens: 100 },
    });
    expect(replay(state, { limits: { maxSteps: 8 } })).toMatchObject({
      change: 'further',
      firstDifference: 4,
      difference: 'soft_landing',
      stopsAt: null,
    });
  });

  it('stops where a stricter error policy stops, and continues where a milder one retries', async () => {
    const clock = fakeClock();
    let calls = 0;
    const driver: InferenceDriver = {
      name: 'shaky',
      async infer() {
        calls += 1;
        const usage = { input: 1, output: 1, total: 2, cachedInput: 0, reasoning: 0 };
        if (calls < 3)
          throw modelCallFailed({
            type: 'model',
            code: 'server',
            message: 'down',
            retryable: true,
          });
        return { content: 'done', toolCalls: [], finishReason: 'stop', usage };
      },
    };
    const build = (policy: ErrorPolicy) =>
      AgentBuilder.base().withDriver(driver).withClock(clock).withErrorPolicy(policy).build();
    const retried = await build(ErrorPolicy.retryAll().withBackoff({ initialMs: 0 })).run('go');
    expect(retried.status).toBe('completed');
    expect(replay(retried)).toMatchObject({ change: 'same', incomplete: [] });
    expect(replay(retried, { errorPolicy: ErrorPolicy.retryAll(1) })).toMatchObject({
      change: 'cut_short',
      firstDifference: 2,
      stopsAt: 2,
      saved: { steps: 1 },
    });
    calls = 0;
    const failed = await build(ErrorPolicy.stopOnAnyError()).run('go');
    expect(replay(failed, { errorPolicy: ErrorPolicy.production() })).toMatchObject({
      change: 'further',
      firstDifference: 1,
      stopsAt: null,
    });
  });

  it('uses the recorded evaluations of own criteria, or other ones that it is given', async () => {
    const early: ContinuationCriterion = {
      name: 'Early',
      evaluate: ({ outputText, stepCount }) =>
        outputText === '' && stepCount === 2 ? { decision: 'forbid', reason: 'enough' } : 'allow',
    };
    const state = await looking(4).addContinuationCriteria(early).build().run('go');
    expect(replay(state)).toMatchObject({ change: 'same', stopsAt: 2, incomplete: [] });
    expect(replay(state, { criteria: [] })).toMatchObject({
      change: 'further',
      firstDifference: 2,
    });
    const other = await looking(4).build().run('go');
    expect(replay(other, { criteria: [early] })).toMatchObject({ change: 'cut_short', stopsAt: 2 });
  });

  it('judges records of earlier releases by their evaluations, and says so', async () => {
    const agent = looking(5).withMaxSteps(2).build();
    const state = await agent.resume(await agent.run('go'), { grant: { steps: 4 } });
    const result = replay(older(state));
    expect(result).toMatchObject({ change: 'same', stopsAt: 6 });
    expect(result.incomplete.map(({ code }) => code)).toEqual(['no_policy', 'no_runs', 'no_times']);
    expect(replay(older(state), { limits: { maxSteps: 1 } })).toMatchObject({ stopsAt: 1 });
  });

  it('takes decisions from records that keep no evaluations, and says so', async () => {
    const early: ContinuationCriterion = {
      name: 'Early',
      evaluate: ({ stepCount }) =>
        stepCount === 3 ? { decision: 'forbid', reason: 'enough' } : 'allow',
    };
    const state = await looking(6).addContinuationCriteria(early).build().run('go');
    const document = json(state);
    const bare = {
      ...document,
      steps: document.steps.map((step) => ({
        ...step,
        outcome: step.outcome && { ...step.outcome, evaluations: [] },
      })),
    };
    const result = replay(bare);
    expect(result).toMatchObject({ change: 'same', stopsAt: 3 });
    expect(result.incomplete.map(({ code }) => code)).toEqual(['no_evaluations']);
    for (const { recorded, replayed } of result.steps) expect(replayed).toEqual(recorded);
    // the limits are known, so other ones stop where they stop
    expect(replay(bare, { limits: { maxSteps: 2 } })).toMatchObject({
      change: 'earlier',
      firstDifference: 2,
      stopsAt: 2,
    });
    expect(replay(bare, { limits: { maxSteps: 9 } })).toMatchObject({ change: 'same' });
  });

  it('reads limits from the first step that keeps its evaluations', async () => {
    const document = older(await looking(6).withMaxSteps(4).build().run('go'));
    const [first, ...rest] = document.steps;
    const bare = first?.outcome && { ...first, outcome: { ...first.outcome, evaluations: [] } };
    const result = replay({ ...document, steps: bare ? [bare, ...rest] : [] });
    expect(result).toMatchObject({ change: 'same', stopsAt: 4, recordedLimits: { maxSteps: 4 } });
    expect(result.incomplete.map(({ code }) => code)).toEqual([
      'no_policy',
      'no_runs',
      'no_times',
      'no_evaluations',
    ]);
  });

  it('reads a slim state, which keeps one step without its reasons', async () => {
    const slim = new SlimAgentStateSerializer();
    const state = await looking(6).withMaxSteps(4).build().run('go');
    const result = replay(slim.deserialize(slim.serialize(state)));
    expect(result).toMatchObject({ change: 'same', stopsAt: 4 });
    expect(result.incomplete.map(({ code }) => code)).toEqual(
      expect.arrayContaining(['pruned', 'no_policy', 'no_evaluations']),
    );
  });

  it('says which steps are missing', async () => {
    const document = json(await looking(4).build().run('go'));
    const kept = { ...document, steps: document.steps.slice(2) };
    const result = replay(kept);
    expect(result.steps.map(({ number }) => number)).toEqual([3, 4, 5]);
    expect(result).toMatchObject({ change: 'same', stopsAt: 5 });
    expect(result.incomplete[0]).toMatchObject({
      code: 'pruned',
      text: expect.stringContaining('3 of 5 steps') as string,
    });
    expect(replay(kept, { limits: { maxSteps: 3 } })).toMatchObject({ stopsAt: 3 });
  });

  it('judges nothing before the first step', () => {
    const result = replay(AgentState.empty().withUserMessage('hi'));
    expect(result).toMatchObject({ steps: [], stopsAt: null, incomplete: [{ code: 'no_steps' }] });
  });

  it.each([
    [{ limits: { maxSteps: 0 } }, 'maxSteps'],
    [{ limits: { maxToken: 1 } }, 'maxToken'],
    [{ limit: {} }, 'limit'],
    [{ executionId: 'other' }, 'no execution "other"'],
  ])('rejects %j', (options, text) => {
    expect(() => replay(AgentState.empty(), options as never)).toThrow(text);
  });
});
