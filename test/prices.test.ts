import { AgentBuilder, createAgent, type InferenceDriver } from 'onward';
import { openai } from 'onward/drivers/openai';
import { mockTool } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { completion, delta, json, serve, sse, toolCall } from './setup/loopback.ts';

const usage = (input: number, cached: number, output: number, reasoning: number) => ({
  usage: {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: cached },
    completion_tokens_details: { reasoning_tokens: reasoning },
  },
});
const calling = (more: object) =>
  json(completion({ tool_calls: [toolCall('lookup')] }, 'tool_calls', { ...more }));

const builder = (url: string, model: string): AgentBuilder =>
  AgentBuilder.base()
    .withModel(openai(model, { baseURL: url }))
    .withTools(mockTool('lookup'));

describe('cost of a run', () => {
  it('is counted per step and run, with cached and reasoning tokens', async () => {
    const server = await serve(
      calling(usage(1_000_000, 0, 100_000, 50_000)),
      json(completion('done', 'stop', usage(1_000_000, 800_000, 200_000, 0))),
    );
    const state = await builder(server.url, 'gpt-5-2025-08-07').build().run('go');
    const costs = state.steps.toJSON().map(({ cost }) => cost);
    expect(costs[0]).toBeCloseTo(1.25 + 1, 10);
    expect(costs[1]).toBeCloseTo(0.2 * 1.25 + 0.8 * 0.125 + 2, 10);
    expect(state.execution?.cost).toBeCloseTo(2.25 + 2.35, 10);
  });

  it('is counted for streams', async () => {
    const server = await serve(sse(delta('done'), delta({}, 'stop', usage(1_000_000, 0, 0, 0))));
    const agent = builder(server.url, 'gpt-5').build();
    agent.on('StreamChunk', () => {});
    expect((await agent.run('go')).execution?.cost).toBeCloseTo(1.25, 10);
  });

  it('stops a run at its limit and reports the numbers', async () => {
    const server = await serve(
      calling(usage(1_000_000, 0, 0, 0)),
      calling(usage(1_000_000, 0, 0, 0)),
    );
    const state = await builder(server.url, 'gpt-5').withMaxCost(2).build().run('go');
    expect(server.requests).toHaveLength(2);
    expect(state.stopReason).toBe('guard');
    const evaluation = state.lastContinuationOutcome?.evaluationFor('CostLimit');
    expect(evaluation).toMatchObject({ decision: 'forbid', context: { used: 2.5, limit: 2 } });
  });

  it('is unknown for an unlisted model, so the limit is not enforced', async () => {
    const server = await serve(json(completion('done')));
    const state = await builder(server.url, 'my-model').withMaxCost(0.01).build().run('go');
    expect(state.status).toBe('completed');
    expect(state.steps.at(0)?.cost).toBeNull();
    const evaluation = state.lastContinuationOutcome?.evaluationFor('CostLimit');
    expect(evaluation?.decision).toBe('allow');
    expect(evaluation?.reason).toMatch(/unknown/);
  });

  it('is unknown for an answer without usage', async () => {
    const driver: InferenceDriver = {
      name: 'uncounted',
      model: 'gpt-5',
      infer: async () => ({ content: 'done', toolCalls: [], finishReason: 'stop', usage: null }),
    };
    const state = await createAgent({ driver, maxCost: 1 }).run('go');
    expect(state.steps.at(0)?.cost).toBeNull();
    expect(state.cost).toBeNull();
    expect(state.lastContinuationOutcome?.evaluationFor('CostLimit')?.reason).toContain('unknown');
  });

  it('uses a custom price table', async () => {
    const server = await serve(json(completion('done', 'stop', usage(1_000_000, 0, 0, 0))));
    const prices = { 'my-model': { input: 7, output: 0 } };
    const state = await builder(server.url, 'my-model').withPrices(prices).build().run('go');
    expect(state.steps.at(0)?.cost).toBe(7);
  });

  it('uses the cost reported by the provider before any table', async () => {
    const billed = {
      usage: { prompt_tokens: 10, completion_tokens: 5, cost: 0.25, is_byok: false },
    };
    const server = await serve(json(completion('done', 'stop', billed)));
    const state = await builder(server.url, 'gpt-5').build().run('go');
    expect(state.steps.at(0)?.cost).toBe(0.25);
  });

  it('includes a failed call', async () => {
    const server = await serve(
      sse(delta('a', null, usage(1_000_000, 0, 0, 0)), { error: { code: 502, message: 'gone' } }),
    );
    const agent = builder(server.url, 'gpt-5').build();
    agent.on('StreamChunk', () => {});
    const state = await agent.run('go');
    expect(state.status).toBe('failed');
    expect(state.execution?.cost).toBeCloseTo(1.25, 10);
  });

  it('an invalid price table is rejected when the agent is built', () => {
    const model = openai('m', { baseURL: 'http://127.0.0.1:9' });
    const prices = { m: { input: -1, output: 0 } };
    expect(() => createAgent({ model, prices })).toThrow(/prices\["m"\]/);
    expect(() => AgentBuilder.base().withModel(model).withPrices(prices).build()).toThrow(
      /withPrices\["m"\]/,
    );
  });
});
