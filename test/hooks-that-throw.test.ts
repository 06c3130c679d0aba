import { AgentBuilder, ErrorPolicy, type AgentEvent, type Hook } from 'onward';
import { type InferenceDriver, modelCallFailed } from 'onward/drivers';
import { DeterministicDriver, mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { builder, oneCall } from './setup/hooks.ts';
import { takesAnotherTurn } from './setup/states.ts';

const { final } = ScenarioStep;

/** A hook that throws before or after next(), at most this many times. */
function throwing(
  point: keyof Hook,
  when: 'before' | 'after',
  times = Number.POSITIVE_INFINITY,
): Hook {
  let left = times;
  const blow = (): void => {
    if (left-- > 0) throw new Error(`boom ${when}`);
  };
  const around = async <I, O>(input: I, next: (input: I) => Promise<O>): Promise<O> => {
    if (when === 'before') blow();
    const output = await next(input);
    if (when === 'after') blow();
    return output;
  };
  return { name: 'bomb', [point]: around };
}

describe('a hook that throws', () => {
  it.each(['aroundStep', 'aroundModelCall'] as const)(
    'in %s before next fails the step without a model call',
    async (point) => {
      const driver = DeterministicDriver.fromResponses('hi');
      const agent = AgentBuilder.base()
        .withDriver(driver)
        .withHooks(throwing(point, 'before'))
        .build();
      const state = await agent.run('go');
      expect(driver.requests).toEqual([]);
      expect(state).toMatchObject({ status: 'failed', stopReason: 'error' });
      expect(state.steps.at(0)).toMatchObject({ type: 'error' });
      expect(state.steps.at(0)!.errors).toMatchObject([
        {
          type: 'unknown',
          code: 'hook_failed',
          message: `Hook "bomb" threw in ${point}: boom before`,
        },
      ]);
      await takesAnotherTurn(state);
    },
  );

  it.each(['aroundStep', 'aroundModelCall'] as const)(
    'in %s before next is retried by the policy, with the attempt counted',
    async (point) => {
      const agent = builder([final('hi')])
        .withErrorPolicy(ErrorPolicy.retryAll(2).withBackoff({ initialMs: 0, maxMs: 0 }))
        .withHooks(throwing(point, 'before', 2))
        .build();
      const state = await agent.run('go');
      expect(state).toMatchObject({ status: 'completed', output: 'hi', stepCount: 3 });
      expect([...state.steps].map(({ attempt, type }) => [attempt, type])).toEqual([
        [1, 'error'],
        [2, 'error'],
        [3, 'final'],
      ]);
    },
  );

  it('in aroundModelCall after next fails the step and keeps its usage', async () => {
    for (const wiretap of [undefined, () => {}]) {
      const agent = builder([final('hi', { cost: 0.5 })])
        .withHooks(throwing('aroundModelCall', 'after'))
        .build();
      const state = await agent.run('go', wiretap ? { wiretap } : {});
      expect(state.steps.at(0)).toMatchObject({ type: 'error' });
      expect(state.steps.at(0)!.errors).toMatchObject([{ type: 'unknown', code: 'hook_failed' }]);
      expect(state.usage.total).toBe(15);
      expect(state.messages.length).toBe(1);
      await takesAnotherTurn(state);
    }
  });

  it('in aroundStep after next keeps the tool results and records the error', async () => {
    const search = mockTool('search', 'found');
    const agent = builder(oneCall(), search).withHooks(throwing('aroundStep', 'after')).build();
    const state = await agent.run('go');
    expect(state).toMatchObject({ status: 'failed', stopReason: 'error' });
    expect(search.calls).toHaveLength(1);
    const step = state.steps.at(0)!;
    expect(step.results).toMatchObject([{ kind: 'ok', value: 'found' }]);
    expect(step.errors).toMatchObject([{ type: 'unknown', code: 'hook_failed' }]);
    await takesAnotherTurn(state);
  });

  it('in aroundStep after a final answer makes the policy ask again with a reason', async () => {
    const agent = builder([final('hi'), final('hello')])
      .withErrorPolicy(ErrorPolicy.retryAll(1))
      .withHooks(throwing('aroundStep', 'after', 1))
      .build();
    const state = await agent.run('go');
    expect(state).toMatchObject({ status: 'completed', output: 'hello' });
    const again = state.messages.at(2)!;
    expect(again).toMatchObject({ role: 'user', metadata: { synthetic: true } });
    expect(again.text).toBe('the step failed after its answer, so the answer does not count');
    await takesAnotherTurn(state);
  });

  it('in aroundStep fails the run at once, and closes a call that needs approval', async () => {
    const pay = mockTool('search', 'ok', { needsApproval: true });
    const agent = builder(oneCall(), pay)
      .withHooks(throwing('aroundStep', 'after', 1))
      .build();
    const state = await agent.run('go');
    expect(pay.calls).toHaveLength(0);
    expect(state).toMatchObject({ status: 'failed', stopReason: 'error', pendingApprovals: [] });
    expect(state.steps.at(0)!.results).toMatchObject([{ kind: 'aborted' }]);
    expect(state.steps.at(0)!.errors).toMatchObject([{ type: 'unknown', code: 'hook_failed' }]);
    await takesAnotherTurn(state);
  });

  it.each([
    ['before', 0],
    ['after', 1],
  ] as const)('in aroundToolCall %s next fails that call', async (when, calls) => {
    const search = mockTool('search', 'found');
    const agent = builder(oneCall(), search)
      .withErrorPolicy(ErrorPolicy.ignoreToolErrors())
      .withHooks(throwing('aroundToolCall', when))
      .build();
    const state = await agent.run('go');
    expect(search.calls).toHaveLength(calls);
    expect(state.steps.at(0)!.results[0]).toMatchObject({
      kind: 'error',
      error: { type: 'tool', code: 'hook_failed', toolName: 'search' },
    });
    expect(state.messages.withRole('tool')[0]?.text).toBe(
      `Error: Hook "bomb" threw in aroundToolCall: boom ${when}`,
    );
    expect(state.output).toBe('done');
    await takesAnotherTurn(state);
  });

  it.each([
    ['before', 0, 0],
    ['after', 2, 1],
  ] as const)(
    'in aroundExecution %s next forbids continuation with an error',
    async (when, steps, calls) => {
      const search = mockTool('search', 'found');
      const events: AgentEvent[] = [];
      const agent = builder(oneCall(), search).withHooks(throwing('aroundExecution', when)).build();
      const state = await agent.run('go', { wiretap: (e) => events.push(e) });
      expect(state).toMatchObject({ status: 'failed', stopReason: 'error', stepCount: steps });
      expect(search.calls).toHaveLength(calls);
      expect(state.lastContinuationOutcome).toMatchObject({
        resolvedBy: 'bomb',
        decision: 'forbid',
      });
      expect(state.lastContinuationOutcome?.explain()).toContain(
        `Stopped (error) by bomb: Hook "bomb" threw in aroundExecution: boom ${when}.`,
      );
      expect(events.at(-1)).toMatchObject({ type: 'AgentFailed', stopReason: 'error' });
      expect(state.messages.length).toBe(when === 'after' ? 4 : 1);
      await takesAnotherTurn(state);
    },
  );

  it('in aroundExecution around a paused run closes its open calls', async () => {
    const pay = mockTool('search', 'ok', { needsApproval: true });
    const agent = builder(oneCall(), pay).withHooks(throwing('aroundExecution', 'after')).build();
    const state = await agent.run('go');
    expect(state).toMatchObject({ status: 'failed', stopReason: 'error', pause: null });
    expect(state.unfinishedStep).toBeNull();
    expect(state.steps.at(0)!.results).toMatchObject([{ kind: 'aborted' }]);
    expect(pay.calls).toEqual([]);
    await takesAnotherTurn(state);
  });

  it('is named in the error, as outer and as inner hook', async () => {
    const outcome = async (...hooks: readonly Hook[]) => {
      const agent = builder([final('hi')])
        .withHooks(...hooks)
        .build();
      return (await agent.run('go')).steps.at(0)!.errors[0]?.message;
    };
    const pass: Hook = { name: 'pass', aroundModelCall: (request, next) => next(request) };
    const bomb = throwing('aroundModelCall', 'before');
    const message = 'Hook "bomb" threw in aroundModelCall: boom before';
    expect(await outcome(pass, bomb)).toBe(message);
    expect(await outcome(bomb, pass)).toBe(message);
  });

  it('has secrets redacted from its error', async () => {
    const agent = builder([final('hi')])
      .withHooks({
        name: 'leaky',
        aroundExecution: async () => {
          throw new Error('401 for Bearer abcdefgh12345678');
        },
      })
      .build();
    const state = await agent.run('go');
    expect(JSON.stringify(state)).not.toContain('abcdefgh12345678');
    expect(state.lastContinuationOutcome?.decisive?.reason).toContain('401 for [redacted]');
  });
});

describe('errors from inside next()', () => {
  const pass: Hook = {
    name: 'pass',
    aroundExecution: (input, next) => next(input),
    aroundStep: (input, next) => next(input),
    aroundModelCall: (input, next) => next(input),
    aroundToolCall: (input, next) => next(input),
  };

  it('a driver error keeps its type and usage', async () => {
    const driver: InferenceDriver = {
      name: 'limited',
      infer: async () => {
        const report = { type: 'rate_limit', code: 'too_many', message: 'slow down' } as const;
        throw modelCallFailed(report, { usage: { input: 3, output: 4 } });
      },
    };
    const state = await AgentBuilder.base().withDriver(driver).withHooks(pass).build().run('go');
    expect(state.steps.at(0)!.errors).toMatchObject([{ type: 'rate_limit', code: 'too_many' }]);
    expect(state.usage.total).toBe(7);
  });

  it('a tool error is not attributed to the hook', async () => {
    const agent = builder(oneCall(), mockTool('search', new Error('no route')))
      .withErrorPolicy(ErrorPolicy.ignoreToolErrors())
      .withHooks(pass)
      .build();
    const state = await agent.run('go');
    expect(state.steps.at(0)!.errors).toMatchObject([{ code: 'tool_failed', message: 'no route' }]);
  });

  it('a hook can catch an error and retry', async () => {
    const search = mockTool('search', [new Error('no route'), 'found']);
    const agent = builder(oneCall(), search)
      .withHooks({
        name: 'again',
        async aroundToolCall(input, next) {
          try {
            return await next(input);
          } catch {
            return next(input);
          }
        },
      })
      .build();
    const state = await agent.run('go');
    expect(state.steps.at(0)!.results[0]).toMatchObject({ kind: 'ok', value: 'found' });
    expect(state.steps.at(0)!.errors).toEqual([]);
  });

  it('a misuse error rejects the run', async () => {
    const agent = builder([]).withHooks(pass).build();
    await expect(agent.run('go')).rejects.toMatchObject({ code: 'script_exhausted' });
  });
});
