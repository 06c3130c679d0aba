import type { Hook, HookContext } from 'onward';
import { fakeClock, mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { builder, oneCall } from './setup/hooks.ts';
import { takesAnotherTurn } from './setup/states.ts';

const { toolCall, final } = ScenarioStep;

describe('hook order and inputs', () => {
  it('the first hook is outermost at all four points', async () => {
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

  it('each hook gets its input and a context', async () => {
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
      expect(context.deps).toEqual({ db });
      expect(context.signal.aborted).toBe(false);
    }
  });

  it('keeps `this` for a hook object with methods', async () => {
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

  it('the execution hook also wraps resume()', async () => {
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

describe('hooks and the deadline', () => {
  it.each<[keyof Hook]>([['aroundStep'], ['aroundModelCall'], ['aroundToolCall']])(
    'the run ends at the deadline while a hook hangs in %s',
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

describe('hooks of nested agents', () => {
  it('hooks of the parent see the tool call but not the inner calls', async () => {
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
