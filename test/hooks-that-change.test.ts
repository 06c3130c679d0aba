import { AgentBuilder, ErrorPolicy, type AgentEvent } from 'onward';
import { DeterministicDriver, mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { answering, builder, oneCall, shownBy } from './setup/hooks.ts';
import { takesAnotherTurn } from './setup/states.ts';

const { final } = ScenarioStep;

describe('hooks can change', () => {
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
    // the stored conversation does not change
    expect(state.messages.toJSON().map(({ content }) => content)).toEqual(['go', 'hi']);
  });

  it('the response, without a model call', async () => {
    const driver = DeterministicDriver.fromSteps();
    const agent = AgentBuilder.base()
      .withDriver(driver)
      .withHooks({
        name: 'cache',
        aroundModelCall: async () => answering('cached'),
      })
      .build();
    const { state, chunks } = await shownBy(agent);
    expect(state).toMatchObject({ status: 'completed', output: 'cached' });
    expect(driver.requests).toEqual([]);
    expect(chunks).toEqual(['cached']);
    await takesAnotherTurn(state);
  });

  it('the outcome: a missing response fails the step with a validation error', async () => {
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

  it('the arguments, which are validated again while the record keeps the original', async () => {
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

  it('the arguments, but the tool does not run with invalid ones', async () => {
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

  it('the result, without running the tool', async () => {
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
  it('does not run, is not an error, and the model sees the reason', async () => {
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

  it('an outer hook sees that an inner hook blocked the call', async () => {
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

  it('a tool result with a blocked field is not a blocked call', async () => {
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
