import * as fc from 'fast-check';
import { ErrorPolicy, StopReason, type AgentBuilder } from 'onward';
import { fakeClock, mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { base } from './setup/continuation.ts';
import { pages } from './setup/scripts.ts';

const { toolCall, final, error } = ScenarioStep;

describe('a run that reaches a limit throws nothing and loses nothing', () => {
  const slow = (clock: ReturnType<typeof fakeClock>) =>
    mockTool('search', () => {
      clock.jump(40_000);
      return 'found';
    });

  it.each<[string, StopReason, string, (b: AgentBuilder) => AgentBuilder]>([
    ['D05: steps', 'steps_limit', 'StepsLimit', (b) => b.withMaxSteps(3)],
    ['D06: tokens', 'token_limit', 'TokenUsageLimit', (b) => b.withMaxTokens(300)],
    ['D06: cost', 'guard', 'CostLimit', (b) => b.withMaxCost(0.3)],
    ['D06: wall clock', 'time_limit', 'ExecutionTimeLimit', (b) => b.withTimeout({ seconds: 120 })],
    [
      'D06: working time',
      'time_limit',
      'CumulativeExecutionTimeLimit',
      (b) => b.withCumulativeTimeout({ seconds: 120 }),
    ],
  ])('%s', async (_limit, stopReason, resolvedBy, limited) => {
    const clock = fakeClock();
    const script = Array.from({ length: 3 }, (_, page) =>
      toolCall('search', { page }, `Page ${page}.`, {
        usage: { input: 80, output: 20 },
        cost: 0.1,
      }),
    );
    const { builder } = base(script, [slow(clock)]);
    const state = await limited(builder.withClock(clock)).build().run('go');
    expect(state).toMatchObject({ status: 'stopped', stopReason });
    expect(state.lastContinuationOutcome?.resolvedBy).toBe(resolvedBy);
    expect(state.steps.length).toBe(3);
    expect(state.usage).toMatchObject({ input: 240, output: 60, total: 300 });
    expect(state.cost).toBeCloseTo(0.3);
    expect(state.messages.toJSON().map((m) => [m.role, m.content])).toEqual([
      ['user', 'go'],
      ['assistant', 'Page 0.'],
      ['tool', 'found'],
      ['assistant', 'Page 1.'],
      ['tool', 'found'],
      ['assistant', 'Page 2.'],
      ['tool', 'found'],
    ]);
    expect(state.outputText).toBe('Page 2.');
    expect(state.messages.pairingProblem()).toBeNull();
  });

  it('D04: keeps partial structured output at a limit', async () => {
    const { builder } = base([toolCall('search', {}, '{"city": "Ghent", "partners": [1, 2')]);
    const schema = z.object({ city: z.string(), partners: z.array(z.number()) });
    const state = await builder.withMaxSteps(1).withResponseFormat(schema).build().run('go');
    expect(state).toMatchObject({
      status: 'stopped',
      stopReason: 'steps_limit',
      output: null,
      partialOutput: { city: 'Ghent', partners: [1, 2] },
    });
  });

  it('D04: has no partial output if the model gave no text', async () => {
    const { builder } = base(pages(1));
    const state = await builder.withMaxSteps(1).withResponseFormat(z.object({})).build().run('go');
    expect(state).toMatchObject({ stopReason: 'steps_limit', output: null, partialOutput: null });
  });

  it('does not enforce a cost limit without prices and reports that on every step', async () => {
    const { builder } = base([...pages(2), final('done')]);
    const state = await builder.withMaxCost(0.01).build().run('go');
    expect(state.status).toBe('completed');
    for (const { outcome } of state.steps)
      expect(outcome?.evaluationFor('CostLimit')).toMatchObject({
        decision: 'allow',
        reason: 'the price is unknown, so the limit of 0.01 cost units is not enforced',
        context: { used: null, limit: 0.01 },
      });
  });
});

describe('limits apply only while work is pending', () => {
  it('D08: a run that answers at the last allowed step is completed', async () => {
    const { builder } = base([...pages(3), final('done')]);
    const state = await builder.withMaxSteps(4).build().run('go');
    expect(state).toMatchObject({ status: 'completed', stopReason: 'completed', output: 'done' });
    expect(state.lastContinuationOutcome?.evaluationFor('StepsLimit')).toMatchObject({
      decision: 'allow',
      context: { used: 4, limit: 4 },
    });
  });

  it.each<[string, (b: AgentBuilder) => AgentBuilder]>([
    ['tokens', (b) => b.withMaxTokens(10)],
    ['cost', (b) => b.withMaxCost(0.01)],
  ])('D08: an answer that exceeds its %s is completed', async (_kind, limited) => {
    const { builder } = base([final('done', { usage: { input: 400, output: 100 }, cost: 5 })]);
    expect(await limited(builder).build().run('go')).toMatchObject({ stopReason: 'completed' });
  });

  it('D09: for every limit N the run stops exactly when it needs N + 1 steps', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 9 }),
        fc.integer({ min: 1, max: 12 }),
        async (limit, needed) => {
          const { builder, driver } = base([...pages(needed - 1), final('done')]);
          const state = await builder.withMaxSteps(limit).build().run('go');
          expect(state.stopReason).toBe(needed <= limit ? 'completed' : 'steps_limit');
          expect(state.execution.answeredSteps).toBe(Math.min(needed, limit));
          expect(driver.requests.length).toBe(Math.min(needed, limit));
        },
      ),
      { numRuns: 60 },
    );
  });

  it('failed model calls do not count as steps', async () => {
    const failure = error({ type: 'rate_limit', message: '429' });
    const { builder } = base([failure, failure, ...pages(1), failure, final('done')]);
    const state = await builder
      .withMaxSteps(2)
      .withErrorPolicy(ErrorPolicy.retryToolErrors(2).withBackoff({ initialMs: 0 }))
      .build()
      .run('go');
    expect(state).toMatchObject({ stopReason: 'completed', stepCount: 5 });
    expect(state.execution.answeredSteps).toBe(2);
  });
});
