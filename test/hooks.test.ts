import {
  AgentBuilder,
  AgentState,
  ErrorPolicy,
  modelCallFailed,
  type AgentEvent,
  type Hook,
  type HookContext,
  type InferenceDriver,
  type Tool,
} from 'onward';
import { DeterministicDriver, fakeClock, mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { takesAnotherTurn } from './setup/states.ts';

const { toolCall, final } = ScenarioStep;

const builder = (steps: readonly ScenarioStep[], ...tools: readonly Tool[]) =>
  AgentBuilder.base()
    .withDriver(DeterministicDriver.fromSteps(...steps))
    .withTools(...tools);

const oneCall = () => [toolCall('search', { q: 'lamp' }), final('done')];

/** Throws before or after what it is around, so many times. */
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

describe('order and inputs', () => {
  it('the first added is outermost, at all four points', async () => {
    const order: string[] = [];
    const named = (name: string): Hook => {
      const around =
        (point: string) =>
        async <I, O>(input: I, next: (input: I) => Promise<O>): Promise<O> => {
          order.push(`${name} ${point} {`);
          const output = await next(input);
          order.push(`} ${name} ${point}`);
          return output;
        };
      return {
        name,
        aroundExecution: around('execution'),
        aroundStep: around('step'),
        aroundModelCall: around('model'),
        aroundToolCall: around('tool'),
      };
    };
    const search = mockTool('search', () => {
      order.push('search runs');
      return 'found';
    });
    const agent = builder(oneCall(), search).withHooks(named('a')).withHooks(named('b')).build();
    const state = await agent.run('go');
    expect(state.output).toBe('done');
    const model = ['a model {', 'b model {', '} b model', '} a model'];
    expect(order).toEqual([
      'a execution {',
      'b execution {',
      'a step {',
      'b step {',
      ...model,
      'a tool {',
      'b tool {',
      'search runs',
      '} b tool',
      '} a tool',
      '} b step',
      '} a step',
      'a step {',
      'b step {',
      ...model,
      '} b step',
      '} a step',
      '} b execution',
      '} a execution',
    ]);
    expect(agent.describe().hooks).toEqual(['a', 'b']);
  });

  it('each sees what it is around, and who runs', async () => {
    const seen: unknown[] = [];
    const contexts: HookContext[] = [];
    const hook: Hook = {
      name: 'look',
      async aroundExecution(input, next, context) {
        contexts.push(context);
        seen.push(['execution', input.state.status, input.state.messages.length]);
        const state = await next(input);
        seen.push(['ended', state.status]);
        return state;
      },
      async aroundStep(input, next) {
        seen.push(['step', input.stepNumber, input.attempt, input.state.stepCount]);
        const report = await next(input);
        seen.push(['report', report.toolCalls.length, report.usage.total, report.finishReason]);
        return report;
      },
      async aroundModelCall(request, next) {
        seen.push(['model', request.messages.length, request.tools.map(({ name }) => name)]);
        const response = await next(request);
        seen.push(['response', response.content]);
        return response;
      },
      async aroundToolCall(input, next, context) {
        contexts.push(context);
        seen.push(['tool', input.tool, input.callId, input.args]);
        const result = await next(input);
        seen.push(['result', result]);
        return result;
      },
    };
    const db = {};
    const agent = builder(oneCall(), mockTool('search', 'found')).withHooks(hook).build();
    const state = await agent.run('go', { executionId: 'exec-1', deps: { db } });
    expect(seen).toEqual([
      ['execution', 'in_progress', 1],
      ['step', 1, 1, 0],
      ['model', 1, ['search']],
      ['response', ''],
      ['tool', 'search', 'call_1', { q: 'lamp' }],
      ['result', 'found'],
      ['report', 1, 15, 'tool_calls'],
      ['step', 2, 1, 1],
      ['model', 3, ['search']],
      ['response', 'done'],
      ['report', 0, 15, 'stop'],
      ['ended', 'completed'],
    ]);
    for (const context of contexts) {
      expect(context).toMatchObject({ agentId: state.agentId, executionId: 'exec-1' });
      expect(context.deps['db']).toBe(db);
      expect(context.signal.aborted).toBe(false);
    }
  });

  it('keeps `this` of a hook that is an object with methods', async () => {
    const counter = {
      name: 'counter',
      calls: 0,
      async aroundToolCall(this: { calls: number }, input: never, next: (input: never) => never) {
        this.calls += 1;
        return next(input);
      },
    };
    await builder(oneCall(), mockTool('search'))
      .withHooks(counter as unknown as Hook)
      .build()
      .run('go');
    expect(counter.calls).toBe(1);
  });

  it('the execution hook is around a resume too; by hand there is no execution to be around', async () => {
    let times = 0;
    const hook: Hook = {
      name: 'count',
      aroundExecution: (input, next) => {
        times += 1;
        return next(input);
      },
    };
    const agent = builder(oneCall(), mockTool('search', 'ok', { needsApproval: true }))
      .withHooks(hook)
      .build();
    const paused = await agent.run('go');
    await agent.resume(paused, { approvals: { call_1: { approve: true } } });
    expect(times).toBe(2);
  });
});

describe('what hooks may change', () => {
  it('the request', async () => {
    const driver = DeterministicDriver.fromResponses('hi');
    const agent = AgentBuilder.base()
      .withDriver(driver)
      .withSystemPrompt('Help.')
      .withHooks({
        name: 'prompt',
        aroundModelCall: (request, next) =>
          next({
            ...request,
            system: `${request.system} Be brief.`,
            messages: request.messages.append({ role: 'user', content: 'in French' }),
          }),
      })
      .build();
    const state = await agent.run('go');
    expect(driver.requests[0]?.system).toBe('Help. Be brief.');
    expect(driver.requests[0]?.messages.last()?.text).toBe('in French');
    // the conversation itself is not touched
    expect(state.messages.toJSON().map(({ content }) => content)).toEqual(['go', 'hi']);
  });

  it('the response, or answers in place of the model', async () => {
    const driver = DeterministicDriver.fromSteps();
    const agent = AgentBuilder.base()
      .withDriver(driver)
      .withHooks({
        name: 'cache',
        aroundModelCall: async () => ({
          content: 'cached',
          toolCalls: [],
          finishReason: 'stop',
          usage: null,
        }),
      })
      .build();
    const chunks: string[] = [];
    const state = await agent.run('go', {
      wiretap: (e) => {
        if (e.type === 'StreamChunk') chunks.push(e.content);
      },
    });
    expect(state).toMatchObject({ status: 'completed', output: 'cached' });
    expect(driver.requests).toEqual([]);
    expect(chunks).toEqual(['cached']);
    await takesAnotherTurn(state);
  });

  it('a response that is none is a failed model call of type validation', async () => {
    const agent = builder([final('hi')])
      .withHooks({
        name: 'forgetful',
        aroundModelCall: async (request, next) => {
          await next(request);
          return undefined as never;
        },
      })
      .build();
    const state = await agent.run('go');
    expect(state.steps.at(0)!.errors).toMatchObject([{ type: 'validation', code: 'bad_response' }]);
    await takesAnotherTurn(state);
  });

  it('the arguments, which are validated again; the record keeps what the model said', async () => {
    const search = mockTool('search', 'found', {
      parameters: z.object({ q: z.string(), limit: z.number().default(5) }),
    });
    const agent = builder(oneCall(), search)
      .withHooks({
        name: 'limit',
        aroundToolCall: (input, next) => next({ ...input, args: { ...input.args, q: 'LAMP' } }),
      })
      .build();
    const state = await agent.run('go');
    expect(search.calls).toEqual([{ q: 'LAMP', limit: 5 }]);
    expect(state.steps.at(0)!.toolCalls[0]?.args).toEqual({ q: 'lamp' });
    expect(state.output).toBe('done');
  });

  it('arguments that do not fit keep the tool from running', async () => {
    const search = mockTool('search', 'found', { parameters: z.object({ q: z.string() }) });
    const agent = builder(oneCall(), search)
      .withErrorPolicy(ErrorPolicy.ignoreToolErrors())
      .withHooks({
        name: 'spoil',
        aroundToolCall: (input, next) => next({ ...input, args: { q: 5 } }),
      })
      .build();
    const state = await agent.run('go');
    expect(search.calls).toEqual([]);
    expect(state.steps.at(0)!.errors[0]?.message).toMatch(
      /The arguments of "search" do not fit: q/,
    );
    expect(state.output).toBe('done');
  });

  it('the result', async () => {
    const agent = builder(oneCall(), mockTool('search', { rows: 3 }))
      .withHooks({
        name: 'wrap',
        aroundToolCall: async (input, next) => ({ from: input.tool, data: await next(input) }),
      })
      .build();
    const state = await agent.run('go');
    expect(state.steps.at(0)!.results[0]).toMatchObject({
      kind: 'ok',
      value: { from: 'search', data: { rows: 3 } },
    });
  });

  it('answer in place of the tool, without running it', async () => {
    const search = mockTool('search');
    const agent = builder(oneCall(), search)
      .withHooks({ name: 'cache', aroundToolCall: async () => 'from the cache' })
      .build();
    const state = await agent.run('go');
    expect(search.calls).toEqual([]);
    expect(state.steps.at(0)!.results[0]).toMatchObject({ kind: 'ok', value: 'from the cache' });
  });

  it('the state before and after an execution', async () => {
    const agent = builder([final('hi')])
      .withHooks({
        name: 'stamp',
        aroundExecution: async ({ state }, next) => {
          const ended = await next({ state: state.withMetadata({ begun: true }) });
          return ended.withMetadata({ ended: true });
        },
      })
      .build();
    const state = await agent.run('go');
    expect(state.metadata).toEqual({ begun: true, ended: true });
    expect(state.output).toBe('hi');
    await takesAnotherTurn(state);
  });
});

describe('a blocked tool', () => {
  it('does not run, is no error, and the model sees why', async () => {
    const search = mockTool('search');
    const events: AgentEvent[] = [];
    const agent = builder(oneCall(), search)
      .withHooks({
        name: 'gate',
        aroundToolCall: async () => ({ blocked: 'outside office hours' }),
      })
      .build();
    const state = await agent.run('go', { wiretap: (e) => events.push(e) });
    expect(search.calls).toEqual([]);
    expect(state.steps.at(0)!.results[0]).toMatchObject({
      kind: 'blocked',
      value: 'Blocked: outside office hours',
    });
    expect(state.steps.at(0)!.errors).toEqual([]);
    expect(state).toMatchObject({ status: 'completed', output: 'done' });
    expect(events.find((e) => e.type === 'ToolCallCompleted')).toMatchObject({
      success: false,
      error: 'blocked',
    });
    await takesAnotherTurn(state);
  });

  it('the inner hook may block as well, and the outer one sees it', async () => {
    const search = mockTool('search');
    let seen: unknown;
    const agent = builder(oneCall(), search)
      .withHooks(
        {
          name: 'outer',
          aroundToolCall: async (input, next) => (seen = await next(input)),
        },
        { name: 'inner', aroundToolCall: async () => ({ blocked: 'no' }) },
      )
      .build();
    const state = await agent.run('go');
    expect(seen).toEqual({ blocked: 'no' });
    expect(state.steps.at(0)!.results[0]?.kind).toBe('blocked');
    expect(search.calls).toEqual([]);
  });

  it('a tool whose own result has that word is not blocked', async () => {
    const agent = builder(oneCall(), mockTool('search', { blocked: 'account 7' }))
      .withHooks({ name: 'pass', aroundToolCall: (input, next) => next(input) })
      .build();
    const state = await agent.run('go');
    expect(state.steps.at(0)!.results[0]).toMatchObject({
      kind: 'ok',
      value: { blocked: 'account 7' },
    });
  });
});

describe('a throw', () => {
  it.each(['aroundStep', 'aroundModelCall'] as const)(
    'in %s before is a failed model call of type unknown: the model is not asked',
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
    'in %s before, under a policy that retries: the next try is attempt 2',
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

  it('in aroundModelCall after is a failed model call, and what it used counts', async () => {
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

  it('in aroundStep after keeps the answer and what its tools did, beside the error', async () => {
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

  it('in aroundStep after a final answer, under a policy that retries: asks again and says why', async () => {
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

  it('in aroundStep after a step that waits for approval: the error is not forgotten', async () => {
    const pay = mockTool('search', 'ok', { needsApproval: true });
    const agent = builder(oneCall(), pay)
      .withHooks(throwing('aroundStep', 'after', 1))
      .build();
    const paused = await agent.run('go');
    expect(paused.status).toBe('paused');
    const state = await agent.resume(AgentState.from(JSON.parse(JSON.stringify(paused))), {
      approvals: { call_1: { approve: true } },
    });
    expect(pay.calls).toHaveLength(1);
    expect(state).toMatchObject({ status: 'failed', stopReason: 'error' });
    expect(state.steps.at(0)!.errors).toMatchObject([{ type: 'unknown', code: 'hook_failed' }]);
    await takesAnotherTurn(state);
  });

  it.each([
    ['before', 0],
    ['after', 1],
  ] as const)('in aroundToolCall %s is the result of that call', async (when, calls) => {
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
  ] as const)('in aroundExecution %s is a forbid with error', async (when, steps, calls) => {
    const search = mockTool('search', 'found');
    const events: AgentEvent[] = [];
    const agent = builder(oneCall(), search).withHooks(throwing('aroundExecution', when)).build();
    const state = await agent.run('go', { wiretap: (e) => events.push(e) });
    expect(state).toMatchObject({ status: 'failed', stopReason: 'error', stepCount: steps });
    expect(search.calls).toHaveLength(calls);
    expect(state.lastContinuationOutcome).toMatchObject({ resolvedBy: 'bomb', decision: 'forbid' });
    expect(state.lastContinuationOutcome?.explain()).toContain(
      `Stopped (error) by bomb: Hook "bomb" threw in aroundExecution: boom ${when}.`,
    );
    expect(events.at(-1)).toMatchObject({ type: 'AgentFailed', stopReason: 'error' });
    expect(state.messages.length).toBe(when === 'after' ? 4 : 1);
    await takesAnotherTurn(state);
  });

  it('in aroundExecution around a paused run seals its open calls', async () => {
    const pay = mockTool('search', 'ok', { needsApproval: true });
    const agent = builder(oneCall(), pay).withHooks(throwing('aroundExecution', 'after')).build();
    const state = await agent.run('go');
    expect(state).toMatchObject({ status: 'failed', stopReason: 'error', pause: null });
    expect(state.unfinishedStep).toBeNull();
    expect(state.steps.at(0)!.results).toMatchObject([{ kind: 'aborted' }]);
    expect(pay.calls).toEqual([]);
    await takesAnotherTurn(state);
  });

  it('of the outer hook names the outer one, of the inner the inner', async () => {
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

  it('never shows a secret', async () => {
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

describe('what comes from inside passes as it is', () => {
  const pass: Hook = {
    name: 'pass',
    aroundExecution: (input, next) => next(input),
    aroundStep: (input, next) => next(input),
    aroundModelCall: (input, next) => next(input),
    aroundToolCall: (input, next) => next(input),
  };

  it('a failure of the driver keeps its type, and its usage', async () => {
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

  it('a failure of the tool is not blamed on the hook', async () => {
    const agent = builder(oneCall(), mockTool('search', new Error('no route')))
      .withErrorPolicy(ErrorPolicy.ignoreToolErrors())
      .withHooks(pass)
      .build();
    const state = await agent.run('go');
    expect(state.steps.at(0)!.errors).toMatchObject([{ code: 'tool_failed', message: 'no route' }]);
  });

  it('a hook may catch it and try again', async () => {
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

  it('misuse rejects', async () => {
    const agent = builder([]).withHooks(pass).build();
    await expect(agent.run('go')).rejects.toMatchObject({ code: 'script_exhausted' });
  });
});

describe('hooks that forget something', () => {
  it('a step hook that does not call next is a failed model call, never an answer', async () => {
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

  it('a step hook that does not wait for next: the step does', async () => {
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

  it('an execution hook that returns nothing ends the run as failed, and nothing is lost', async () => {
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

  it('an execution hook that calls next twice runs it once', async () => {
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

  it('a model hook that lets another answer win: late chunks are not shown', async () => {
    const slow: InferenceDriver = {
      name: 'slow',
      infer: () => new Promise(() => {}),
      async *stream() {
        yield { type: 'content', text: 'first ' };
        await new Promise((resolve) => setTimeout(resolve, 5));
        yield { type: 'content', text: 'late' };
        await new Promise(() => {});
      },
    };
    const agent = AgentBuilder.base()
      .withDriver(slow)
      .withHooks({
        name: 'hedge',
        aroundModelCall: (request, next) =>
          Promise.race([
            next(request),
            Promise.resolve({
              content: 'quick',
              toolCalls: [],
              finishReason: 'stop',
              usage: null,
            }),
          ]),
      })
      .build();
    const chunks: string[] = [];
    const state = await agent.run('go', {
      wiretap: (e) => {
        if (e.type === 'StreamChunk') chunks.push(e.content);
      },
    });
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(state.output).toBe('quick');
    expect(chunks).not.toContain('late');
  });
});

describe('a hook that falls back to another model', () => {
  const fallback = (): InferenceDriver => {
    let calls = 0;
    return {
      name: 'flaky',
      infer: () => new Promise(() => {}),
      async *stream() {
        if (++calls === 1) {
          yield { type: 'content', text: 'Half an ans' };
          throw new Error('socket closed');
        }
        yield { type: 'content', text: 'A whole ' };
        yield { type: 'content', text: 'answer.' };
        const response = { content: 'A whole answer.', toolCalls: [], finishReason: 'stop' };
        yield { type: 'done', response: { ...response, usage: null } };
      },
    };
  };
  const again: Hook = {
    name: 'fallback',
    async aroundModelCall(request, next) {
      try {
        return await next(request);
      } catch {
        return next(request);
      }
    },
  };

  it('tells the reader that the text of the first is discarded', async () => {
    const agent = AgentBuilder.base().withDriver(fallback()).withHooks(again).build();
    let shown = '';
    const state = await agent.run('go', {
      wiretap: (e) => {
        if (e.type === 'StreamChunk') shown += e.content;
        if (e.type === 'StreamDiscarded') shown = '';
      },
    });
    expect(state).toMatchObject({ status: 'completed', output: 'A whole answer.', stepCount: 1 });
    expect(shown).toBe('A whole answer.');
  });

  it('an abort in the second keeps the text of the second alone', async () => {
    const controller = new AbortController();
    const agent = AgentBuilder.base().withDriver(fallback()).withHooks(again).build();
    const state = await agent.run('go', {
      signal: controller.signal,
      wiretap: (e) => {
        if (e.type === 'StreamChunk' && e.content === 'A whole ') controller.abort();
      },
    });
    expect(state).toMatchObject({ status: 'stopped', outputText: 'A whole ' });
    await takesAnotherTurn(state);
  });
});

describe('the deadline', () => {
  it.each<[keyof Hook]>([['aroundStep'], ['aroundModelCall'], ['aroundToolCall']])(
    'does not wait for a hook that hangs in %s',
    async (point) => {
      const clock = fakeClock();
      const agent = builder(oneCall(), mockTool('search'))
        .withClock(clock)
        .withTimeout({ seconds: 10 })
        .withHooks({ name: 'hung', [point]: () => new Promise(() => {}) })
        .build();
      const running = agent.run('go');
      await clock.advance(10_000);
      const state = await running;
      expect(state).toMatchObject({ status: 'stopped', stopReason: 'time_limit' });
      expect(clock.pendingTimers).toBe(0);
      await takesAnotherTurn(state);
    },
  );
});

describe('nested agents', () => {
  it('hooks belong to their agent: those of the parent see the call, not what is inside', async () => {
    const seen: string[] = [];
    const watch = (name: string): Hook => ({
      name,
      aroundModelCall: (request, next) => {
        seen.push(`${name} model`);
        return next(request);
      },
      aroundToolCall: (input, next) => {
        seen.push(`${name} ${input.tool}`);
        return next(input);
      },
    });
    const child = builder(oneCall(), mockTool('search')).withHooks(watch('child')).build();
    const root = builder(
      [toolCall('help', { input: 'please' }), final('done')],
      child.asTool({ name: 'help', description: 'Helps.' }),
    )
      .withHooks(watch('root'))
      .build();
    await root.run('go');
    expect(seen).toEqual([
      'root model',
      'root help',
      'child model',
      'child search',
      'child model',
      'root model',
    ]);
  });
});
