import { AgentBuilder, ErrorPolicy, type AgentEvent } from 'onward';
import { DeterministicDriver, mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { builder, oneCall } from './setup/hooks.ts';
import { takesAnotherTurn } from './setup/states.ts';

const { final } = ScenarioStep;

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
