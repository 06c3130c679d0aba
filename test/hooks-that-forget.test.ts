import { AgentBuilder, type InferenceDriver } from 'onward';
import { DeterministicDriver, mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { gate } from './setup/gate.ts';
import { answering, builder, oneCall, shownBy } from './setup/hooks.ts';
import { takesAnotherTurn } from './setup/states.ts';

const { final } = ScenarioStep;

describe('hooks that misuse next', () => {
  it('a step hook that does not call next fails the step', async () => {
    const driver = DeterministicDriver.fromResponses('hi');
    const agent = AgentBuilder.base()
      .withDriver(driver)
      .withHooks({ name: 'lazy', aroundStep: async () => ({}) as never })
      .build();
    const state = await agent.run('go');
    expect(state).toMatchObject({ status: 'failed', stopReason: 'error', output: null });
    expect(state.steps.at(0)!.errors).toMatchObject([{ type: 'unknown', code: 'hook_failed' }]);
    expect(driver.requests).toEqual([]);
    await takesAnotherTurn(state);
  });

  it('a step hook that does not await next still gets the result of the step', async () => {
    const search = mockTool('search', async () => {
      for (let i = 0; i < 20; i++) await Promise.resolve();
      return 'found';
    });
    const agent = builder(oneCall(), search)
      .withHooks({
        name: 'hasty',
        aroundStep: async (input, next) => {
          void next(input);
          return {} as never;
        },
      })
      .build();
    const state = await agent.run('go');
    expect(state).toMatchObject({ status: 'completed', output: 'done' });
    expect(state.steps.at(0)!.results).toMatchObject([{ kind: 'ok', value: 'found' }]);
  });

  it('an execution hook that returns nothing fails the run and keeps its steps', async () => {
    const agent = builder(oneCall(), mockTool('search'))
      .withHooks({
        name: 'forgetful',
        aroundExecution: async (input, next) => {
          await next(input);
          return undefined as never;
        },
      })
      .build();
    const state = await agent.run('go');
    expect(state).toMatchObject({ status: 'failed', stopReason: 'error', stepCount: 2 });
    expect(state.lastContinuationOutcome?.decisive?.reason).toContain('returned undefined');
    expect(state.outputText).toBe('done');
    await takesAnotherTurn(state);
  });

  it('an execution hook that calls next twice runs the execution once', async () => {
    const agent = builder([final('hi')])
      .withHooks({
        name: 'twice',
        aroundExecution: async (input, next) => {
          await next(input);
          return next(input);
        },
      })
      .build();
    expect(await agent.run('go')).toMatchObject({ status: 'completed', stepCount: 1 });
  });

  it('a model hook that races another answer shows no late chunks', async () => {
    const late = gate();
    const slow: InferenceDriver = {
      name: 'slow',
      infer: () => new Promise(() => {}),
      async *stream() {
        yield { type: 'content', text: 'first ' };
        await late.passed;
        yield { type: 'content', text: 'late' };
        await new Promise(() => {});
      },
    };
    const agent = AgentBuilder.base()
      .withDriver(slow)
      .withHooks({
        name: 'hedge',
        aroundModelCall: (request, next) =>
          Promise.race([next(request), Promise.resolve(answering('quick'))]),
      })
      .build();
    const { state, chunks } = await shownBy(agent);
    late.open();
    await new Promise((resolve) => void setImmediate(resolve));
    expect(state.output).toBe('quick');
    expect(chunks).not.toContain('late');
  });
});
