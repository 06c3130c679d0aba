import { AgentState, ErrorPolicy } from 'onward';
import { ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { pages } from './setup/scripts.ts';
import { choices, landing, marks } from './setup/soft-landing.ts';

const { final, error } = ScenarioStep;

describe('a soft landing call that fails', () => {
  it('is retried as a soft landing', async () => {
    const { builder, driver } = landing([
      ...pages(1),
      error({ type: 'rate_limit', message: '429' }),
      error({ type: 'timeout', message: 'slow' }),
      final('landed'),
    ]);
    const state = await builder.withMaxSteps(2).build().run('go');
    expect(choices(driver)).toEqual(['auto', 'none', 'none', 'none']);
    expect(marks(state)).toEqual([undefined, 'StepsLimit', 'StepsLimit', 'StepsLimit']);
    expect(state).toMatchObject({ stopReason: 'steps_limit', output: 'landed' });
  });

  it('keeps its limit although another one would land first after the wait', async () => {
    const { builder, driver, clock } = landing([
      ...pages(1),
      error({ type: 'rate_limit', message: '429', retryAfterMs: 50_000 }),
      final('landed'),
    ]);
    const run = builder.withMaxSteps(2).withTimeout({ seconds: 60 }).build().run('go');
    await clock.advance(50_000);
    const state = await run;
    expect(marks(state)).toEqual([undefined, 'StepsLimit', 'StepsLimit']);
    expect(choices(driver)).toEqual(['auto', 'none', 'none']);
  });

  it('fails the run when its retries are used up', async () => {
    const failure = error({ type: 'rate_limit', message: '429' });
    const { builder } = landing([...pages(1), failure, failure]);
    const state = await builder
      .withMaxSteps(2)
      .withErrorPolicy(ErrorPolicy.retryToolErrors(1).withBackoff({ initialMs: 0 }))
      .build()
      .run('go');
    expect(state).toMatchObject({ status: 'failed', stopReason: 'retry_limit' });
  });
});

describe('a soft landing call that the deadline interrupts', () => {
  it('stops with time_limit and is not counted as answered', async () => {
    const { builder, clock } = landing([...pages(1), final('', { hangs: true })], 85_000);
    const run = builder.withTimeout({ seconds: 100 }).build().run('go');
    await clock.advance(100_000);
    const state = await run;
    expect(state.steps.at(-1)).toMatchObject({ type: 'cut', softLanding: 'ExecutionTimeLimit' });
    expect(state).toMatchObject({ stopReason: 'time_limit', status: 'stopped' });
    expect(state.execution.answeredSteps).toBe(1);
  });
});

describe('a soft landing followed by a grant', () => {
  it('continues with tools and lands again at the new limit', async () => {
    const { builder, driver } = landing([
      ...pages(1),
      final('first landing'),
      ...pages(2),
      final('second landing'),
    ]);
    const agent = builder.withMaxSteps(2).build();
    const landed = await agent.run('go');
    const again = await agent.resume(AgentState.from(JSON.parse(JSON.stringify(landed))), {
      grant: { steps: 3 },
    });
    expect(choices(driver)).toEqual(['auto', 'none', 'auto', 'auto', 'none']);
    expect(again).toMatchObject({ stopReason: 'steps_limit', output: 'second landing' });
    expect(again.lastContinuationOutcome?.decisive?.context).toEqual({ used: 5, limit: 5 });
  });

  it('resume() without a grant is rejected', async () => {
    const { builder } = landing([...pages(1), final('landed')]);
    const agent = builder.withMaxSteps(2).build();
    await expect(agent.resume(await agent.run('go'))).rejects.toMatchObject({
      code: 'not_resumable',
      details: { missing: ['steps'] },
    });
  });

  it('a token landing needs the grant even if some budget is left', async () => {
    const { builder } = landing([
      ...pages(1, { usage: { input: 9_000, output: 0 } }),
      final('landed'),
      final('done'),
    ]);
    const agent = builder.withMaxTokens(10_000).build();
    const landed = await agent.run('go');
    await expect(agent.resume(landed, { grant: { steps: 5 } })).rejects.toMatchObject({
      details: { missing: ['tokens'] },
    });
    expect(await agent.resume(landed, { grant: { tokens: 9_000 } })).toMatchObject({
      stopReason: 'completed',
      output: 'done',
    });
  });

  it('a failed landing is cleared, and the next step has its tools', async () => {
    const failure = error({ type: 'rate_limit', message: '429' });
    const { builder, driver } = landing([...pages(1), failure, ...pages(1), final('done')]);
    const agent = builder.withMaxSteps(2).withErrorPolicy(ErrorPolicy.stopOnAnyError()).build();
    const failed = await agent.run('go');
    expect(failed).toMatchObject({ stopReason: 'error' });
    const done = await agent.resume(failed, { grant: { retries: 1, steps: 5 } });
    expect(choices(driver)).toEqual(['auto', 'none', 'auto', 'auto']);
    expect(done).toMatchObject({ stopReason: 'completed', output: 'done' });
  });
});

describe('a soft landing with a response format', () => {
  const schema = z.object({ total: z.number() });

  it('keeps the text of the landing step as partialOutput', async () => {
    const { builder } = landing([...pages(1), final('{"total": 3}')]);
    const state = await builder.withMaxSteps(2).withResponseFormat(schema).build().run('go');
    expect(state).toMatchObject({
      stopReason: 'steps_limit',
      output: null,
      partialOutput: { total: 3 },
    });
  });

  it('a mismatch is not an error, because there is no next try', async () => {
    const { builder } = landing([...pages(1), final('I could not count them.')]);
    const state = await builder.withMaxSteps(2).withResponseFormat(schema).build().run('go');
    expect(state.steps.at(-1)?.errors).toEqual([]);
    expect(state).toMatchObject({
      status: 'stopped',
      stopReason: 'steps_limit',
      output: null,
      partialOutput: null,
      outputText: 'I could not count them.',
    });
  });
});
