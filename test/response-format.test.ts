import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { AgentBuilder, AgentState, ErrorPolicy, type AnySchema } from 'onward';
import { DeterministicDriver, mockTool, ScenarioStep } from 'onward/testing';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { StandardSchema } from '../src/tools/schema.ts';
import { takesAnotherTurn } from './setup/states.ts';

const { toolCall, final } = ScenarioStep;

const report = z.object({ title: z.string(), rows: z.array(z.number()).default([]) });

const builder = (schema: AnySchema, ...steps: readonly (ScenarioStep | string)[]) =>
  AgentBuilder.base()
    .withDriver(DeterministicDriver.fromSteps(...steps))
    .withTools(mockTool('look', 'seen'))
    .withResponseFormat(schema);

const lines = (state: AgentState) =>
  state.messages.toJSON().map(({ role, content }) => [role, content]);

describe('a final answer in the response format', () => {
  it.each<[string, AnySchema, unknown]>([
    ['zod', report, { title: 'Lamps', rows: [] }],
    [
      'valibot',
      toStandardJsonSchema(
        v.object({ title: v.string(), rows: v.optional(v.array(v.number()), []) }),
      ),
      { title: 'Lamps', rows: [] },
    ],
    [
      'JSON Schema',
      { type: 'object', properties: { title: { type: 'string' } }, required: ['title'] },
      { title: 'Lamps' },
    ],
  ])(
    '%s: output is the validated value, outputText the original text',
    async (_lib, schema, output) => {
      const state = await builder(schema, '{"title":"Lamps"}').build().run('go');
      expect(state).toMatchObject({ status: 'completed', stopReason: 'completed' });
      expect(state.output).toEqual(output);
      expect(state.outputText).toBe('{"title":"Lamps"}');
      expect(state.partialOutput).toBeNull();
      expect(JSON.parse(JSON.stringify(state)).output).toEqual(output);
      await takesAnotherTurn(state);
    },
  );

  it('every request contains the format', async () => {
    const driver = DeterministicDriver.fromSteps(toolCall('look'), final('{"title":"x"}'));
    const agent = AgentBuilder.base()
      .withDriver(driver)
      .withTools(mockTool('look'))
      .withResponseFormat(report)
      .build();
    await agent.run('go');
    expect(driver.requests.map(({ responseFormat }) => responseFormat)).toEqual([
      expect.objectContaining({
        name: 'response',
        schema: expect.objectContaining({ type: 'object', required: ['title'] }),
      }),
      expect.objectContaining({ name: 'response' }),
    ]);
  });

  it('is parsed inside a code fence or surrounding whitespace', async () => {
    const state = await builder(report, '\n```json\n{"title":"x"}\n```\n').build().run('go');
    expect(state.output).toEqual({ title: 'x', rows: [] });
  });

  it('text next to tool calls is not validated', async () => {
    const state = await builder(report, toolCall('look', {}, 'Let me look.'), '{"title":"x"}')
      .build()
      .run('go');
    expect(state.steps.at(0)!.errors).toEqual([]);
    expect(state.output).toEqual({ title: 'x', rows: [] });
  });

  it('a new turn starts without the old output', async () => {
    const agent = builder(report, '{"title":"x"}', toolCall('look')).withMaxSteps(1).build();
    const first = await agent.run('go');
    const second = await agent.run(first.withUserMessage('again'));
    expect(second).toMatchObject({ stopReason: 'steps_limit', output: null, partialOutput: null });
  });
});

describe('a response format mismatch', () => {
  const wrong = '{"title":5}';

  it('stops under the default policy and keeps the answer with an explanation', async () => {
    const state = await builder(report, wrong).build().run('go');
    expect(state).toMatchObject({ status: 'failed', stopReason: 'error', output: null });
    const step = state.steps.at(0)!;
    expect(step.type).toBe('final');
    expect(step.errors).toMatchObject([{ type: 'validation', code: 'response_format_mismatch' }]);
    expect(step.errors[0]?.message).toMatch(
      /^The answer does not match the response format: title: /,
    );
    expect(state.execution.answeredSteps).toBe(1);
    expect(lines(state).slice(0, 2)).toEqual([
      ['user', 'go'],
      ['assistant', wrong],
    ]);
    const reported = state.messages.at(2)!;
    expect(reported).toMatchObject({ role: 'user', metadata: { synthetic: true } });
    expect(reported.text).toMatch(/title: .* Answer again with JSON that matches it\.$/);
    expect(state.messages.length).toBe(3);
    expect(state.partialOutput).toEqual({ title: 5 });
    await takesAnotherTurn(state);
  });

  it.each<[string, ErrorPolicy]>([
    ['retryToolErrors', ErrorPolicy.retryToolErrors(2)],
    ['ignoreToolErrors, which means retry here', ErrorPolicy.ignoreToolErrors()],
  ])('is retried under %s', async (_name, policy) => {
    const agent = builder(report, wrong, 'no JSON at all', '{"title":"x"}')
      .withErrorPolicy(policy)
      .build();
    const state = await agent.run('go');
    expect(state).toMatchObject({ status: 'completed', output: { title: 'x', rows: [] } });
    expect(lines(state).map(([role]) => role)).toEqual([
      'user',
      'assistant',
      'user',
      'assistant',
      'user',
      'assistant',
    ]);
    expect(state.messages.at(4)!.text).toMatch(/it is not JSON/);
    expect([...state.steps].map(({ type, attempt }) => [type, attempt])).toEqual([
      ['final', 1],
      ['final', 1],
      ['final', 1],
    ]);
    expect(state.steps.at(0)!.outcome).toMatchObject({
      shouldContinue: true,
      resolvedBy: 'ToolCallPresenceCheck',
    });
    expect(state.execution).toMatchObject({
      consecutiveFailures: 0,
      totalFailures: 2,
      answeredSteps: 3,
    });
    await takesAnotherTurn(state);
  });

  it.each<[string, ErrorPolicy, number]>([
    ['retryToolErrors(1)', ErrorPolicy.retryToolErrors(1), 2],
    ['ignoreToolErrors', ErrorPolicy.ignoreToolErrors(), 4],
  ])('ends as retry_limit when the retries of %s are used up', async (_name, policy, tries) => {
    const agent = builder(report, ...Array<string>(tries).fill(wrong))
      .withErrorPolicy(policy)
      .build();
    const state = await agent.run('go');
    expect(state).toMatchObject({ status: 'failed', stopReason: 'retry_limit', output: null });
    expect(state.stepCount).toBe(tries);
    await takesAnotherTurn(state);
  });

  it('waits for asynchronous validation', async () => {
    const schema = z.object({ id: z.number().refine(async (id) => id === 7, 'is unknown') });
    const agent = builder(schema, '{"id":6}', '{"id":7}')
      .withErrorPolicy(ErrorPolicy.retryToolErrors())
      .build();
    const state = await agent.run('go');
    expect(state.messages.at(2)!.text).toContain('id: is unknown');
    expect(state.output).toEqual({ id: 7 });
  });

  it('includes a schema that throws', async () => {
    const broken: StandardSchema = Object.assign(
      {
        '~standard': {
          vendor: 'own',
          validate: () => {
            throw new Error('validator broke');
          },
        },
      },
      { toJsonSchema: () => ({ type: 'object' }) },
    );
    const state = await builder(broken, '{"title":"x"}').build().run('go');
    expect(state).toMatchObject({ status: 'failed', stopReason: 'error' });
    expect(state.steps.at(0)!.errors[0]?.message).toContain(
      'it could not be checked (validator broke)',
    );
    await takesAnotherTurn(state);
  });
});

describe('D04: structured output at a limit', () => {
  it.each<[string, string, unknown]>([
    ['no text', '', null],
    ['prose', 'Let me look.', null],
    ['incomplete JSON', '{"title":"Lamps","rows":[1,2', { title: 'Lamps', rows: [1, 2] }],
    ['JSON that ends in a key', '{"title":"Lamps","ro', { title: 'Lamps' }],
    ['complete JSON', '{"title":"Lamps"}', { title: 'Lamps' }],
  ])('a tool step has no output and the parsed partialOutput: %s', async (_case, said, partial) => {
    const state = await builder(report, toolCall('look', {}, said))
      .withMaxSteps(1)
      .build()
      .run('go');
    expect(state).toMatchObject({ status: 'stopped', stopReason: 'steps_limit', output: null });
    expect(state.partialOutput).toEqual(partial);
    expect(state.steps.at(0)!.results).toMatchObject([{ kind: 'ok', value: 'seen' }]);
    await takesAnotherTurn(state);
  });

  it('a valid answer on the last allowed step is completed', async () => {
    const state = await builder(report, '{"title":"x"}').withMaxSteps(1).build().run('go');
    expect(state).toMatchObject({ status: 'completed', output: { title: 'x', rows: [] } });
  });

  it('a mismatch on the last allowed step stops at the limit with partialOutput', async () => {
    const state = await builder(report, '{"title":5}')
      .withErrorPolicy(ErrorPolicy.retryToolErrors())
      .withMaxSteps(1)
      .build()
      .run('go');
    expect(state).toMatchObject({ status: 'stopped', stopReason: 'steps_limit', output: null });
    expect(state.partialOutput).toEqual({ title: 5 });
    await takesAnotherTurn(state);
  });

  it.each<[string, string, unknown]>([
    ['valid', '{"title":"x"}', { title: 'x' }],
    ['invalid', '{"title":5}', { title: 5 }],
    ['prose', 'Out of time, sorry.', null],
  ])('a soft landing step with any text has no error: %s', async (_case, said, partial) => {
    const state = await builder(report, toolCall('look'), said)
      .withMaxSteps(2)
      .withSoftLanding()
      .build()
      .run('go');
    expect(state).toMatchObject({ status: 'stopped', stopReason: 'steps_limit', output: null });
    expect(state.steps.at(1)).toMatchObject({ softLanding: 'StepsLimit', errors: [] });
    expect(state.partialOutput).toEqual(partial);
    expect(state.outputText).toBe(said);
    await takesAnotherTurn(state);
  });

  it('a truncated answer stops with finish_reason and partialOutput', async () => {
    const cut = final('{"title":"Lamps","rows":[1,', { finishReason: 'length' });
    const state = await builder(report, cut).build().run('go');
    expect(state).toMatchObject({ status: 'stopped', stopReason: 'finish_reason', output: null });
    expect(state.steps.at(0)!.errors).toEqual([]);
    expect(state.partialOutput).toEqual({ title: 'Lamps', rows: [1] });
    await takesAnotherTurn(state);
  });

  it('an abort in mid-answer keeps partialOutput', async () => {
    const controller = new AbortController();
    const agent = AgentBuilder.base()
      .withDriver(
        DeterministicDriver.fromSteps(
          ScenarioStep.stream(['{"title":"Lamps"', ',"rows":[1,'], { hangs: true }),
        ),
      )
      .withResponseFormat(report)
      .build();
    let shown = '';
    const state = await agent.run('go', {
      signal: controller.signal,
      wiretap: (e) => {
        if (e.type !== 'StreamChunk') return;
        shown += e.content;
        if (shown.endsWith('[1,')) controller.abort();
      },
    });
    expect(state).toMatchObject({ status: 'stopped', stopReason: 'user_requested', output: null });
    expect(state.partialOutput).toEqual({ title: 'Lamps', rows: [1] });
    await takesAnotherTurn(state);
  });
});
