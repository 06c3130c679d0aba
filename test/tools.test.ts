import { toStandardJsonSchema } from '@valibot/to-json-schema';
import {
  AgentBuilder,
  AgentState,
  defineTool,
  ErrorPolicy,
  type AnySchema,
  type Tool,
  type ToolResult,
} from 'onward';
import { DeterministicDriver, mockTool, ScenarioStep, type ScriptedCall } from 'onward/testing';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { takesAnotherTurn } from './setup/states.ts';
import { runCalls, tool } from './setup/tools.ts';

const { toolCall } = ScenarioStep;

const runCall = async (args: ScriptedCall['args'], t: Tool) => {
  const run = await runCalls([{ name: t.name, ...(args ? { args } : null) }], t);
  return { ...run, result: run.results[0]! };
};

const toolTexts = (state: AgentState): string[] =>
  state.messages.withRole('tool').map(({ text }) => text);

describe('tool arguments', () => {
  const zodSchema = z.object({ name: z.string(), score: z.number().default(1) });
  const valibotSchema = toStandardJsonSchema(
    v.object({ name: v.string(), score: v.optional(v.number(), 1) }),
  );
  const jsonSchema = {
    type: 'object',
    properties: { name: { type: 'string' } },
    required: ['name'],
  };

  it.each<[string, AnySchema, object]>([
    ['zod', zodSchema, { name: 'Mira', score: 1 }],
    ['valibot', valibotSchema, { name: 'Mira', score: 1 }],
    ['JSON Schema', jsonSchema, { name: 'Mira' }],
  ])('%s: are passed to the tool as validated', async (_library, parameters, got) => {
    const lead = mockTool('lead', 'saved', { parameters });
    const { result, step } = await runCall({ name: 'Mira' }, lead);
    expect(lead.calls).toEqual([got]);
    expect(result).toMatchObject({ callId: 'call_1', kind: 'ok', value: 'saved' });
    // the record keeps the original arguments
    expect(step.toolCalls).toEqual([{ id: 'call_1', name: 'lead', args: { name: 'Mira' } }]);
  });

  it.each<[string, AnySchema]>([
    ['zod', zodSchema],
    ['valibot', valibotSchema],
    ['JSON Schema', jsonSchema],
  ])(
    '%s: are rejected with a validation error that the model sees',
    async (_library, parameters) => {
      const lead = mockTool('lead', 'saved', { parameters });
      const { result, state, step } = await runCall({ name: 5 }, lead);
      expect(lead.calls).toEqual([]);
      expect(result.kind).toBe('error');
      expect(result.error).toMatchObject({
        type: 'validation',
        code: 'bad_arguments',
        toolName: 'lead',
      });
      expect(result.error?.message).toMatch(/^The arguments of "lead" do not fit: name: /);
      expect(result.error?.message).toMatch(
        /Call it again with arguments that match its schema\.$/,
      );
      expect(step.errors).toEqual([result.error]);
      expect(toolTexts(state)).toEqual([`Error: ${result.error?.message}`]);
    },
  );

  it('the error for an unknown tool lists the available tools', async () => {
    const { results, state } = await runCalls(
      [{ name: 'serch', args: {} }],
      mockTool('search'),
      mockTool('fetch'),
    );
    expect(results[0]?.error).toMatchObject({ type: 'validation', code: 'unknown_tool' });
    expect(toolTexts(state)).toEqual([
      'Error: There is no tool "serch". Available: search, fetch.',
    ]);
  });

  it('the error for an unknown tool says that there are none', async () => {
    const { state } = await runCalls([{ name: 'search', args: {} }]);
    expect(toolTexts(state)).toEqual(['Error: There is no tool "search". Available: none.']);
  });

  it('a schema that throws causes a tool error', async () => {
    const parameters = z.object({
      name: z.string().refine(() => {
        throw new Error('validator broke');
      }),
    });
    const lead = mockTool('lead', 'saved', { parameters });
    const { result } = await runCall({ name: 'Mira' }, lead);
    expect(lead.calls).toEqual([]);
    expect(result.error).toMatchObject({ type: 'tool', message: 'validator broke' });
  });
});

describe('tool results', () => {
  const circular: Record<string, unknown> = {};
  circular['self'] = circular;

  it.each<[string, () => unknown, ToolResult['value'], string]>([
    ['a string', () => 'hello', 'hello', 'hello'],
    ['an object', () => ({ a: [1, null] }), { a: [1, null] }, '{"a":[1,null]}'],
    ['undefined', () => undefined, null, 'null'],
    ['a date', () => new Date(0), '1970-01-01T00:00:00.000Z', '1970-01-01T00:00:00.000Z'],
    ['a promise', async () => 7, 7, '7'],
    // oxlint-disable-next-line unicorn/no-thenable -- query builders are thenables
    ['a thenable', () => ({ then: (ok: (rows: number[]) => void) => ok([1]) }), [1], '[1]'],
  ])('%s is recorded as JSON', async (_case, execute, value, text) => {
    const { result, state } = await runCall({}, tool('work', execute));
    expect(result).toMatchObject({ kind: 'ok', value });
    expect(toolTexts(state)).toEqual([text]);
  });

  it.each<[string, () => unknown, RegExp]>([
    [
      'an error',
      () => {
        throw new Error('carrier answered 502');
      },
      /^carrier answered 502$/,
    ],
    ['a rejection', () => Promise.reject(new Error('no route')), /^no route$/],
    [
      'a thrown string',
      () => {
        // oxlint-disable-next-line no-throw-literal, typescript/only-throw-error -- users do
        throw 'just words';
      },
      /^just words$/,
    ],
    ['a circular value', () => circular, /circular/],
    ['a bigint', () => ({ id: 10n }), /BigInt/],
  ])('%s becomes a tool error that the model sees', async (_case, execute, message) => {
    const { result, state, step } = await runCall({}, tool('work', execute));
    expect(result.kind).toBe('error');
    expect(result.error).toMatchObject({ type: 'tool', code: 'tool_failed', toolName: 'work' });
    expect(result.error?.message).toMatch(message);
    expect(step.errors).toHaveLength(1);
    expect(toolTexts(state)).toEqual([`Error: ${result.error?.message}`]);
  });

  it('an AgentError inside a tool becomes a tool error', async () => {
    const inner = AgentBuilder.base().withDriver(DeterministicDriver.fromResponses('x')).build();
    const { result } = await runCall(
      {},
      tool('work', () => inner.run(AgentState.empty())),
    );
    expect(result.error).toMatchObject({ type: 'tool', code: 'tool_failed' });
    expect(result.error?.message).toMatch(/^run\(\) needs a new user message/);
  });

  it('a result that is too long is truncated with a note, without an error', async () => {
    const big = defineTool({
      name: 'big',
      description: 'Big.',
      maxResultChars: 5,
      execute: () => 'abcd😀efgh',
    });
    const { result, step, state } = await runCall({}, big);
    expect(result).toMatchObject({
      kind: 'ok',
      value: 'abcd… [cut: 4 of 10 characters shown]',
    });
    expect(step.errors).toEqual([]);
    expect(step.notes).toEqual(['resultCut:call_1']);
    expect(toolTexts(state)).toEqual(['abcd… [cut: 4 of 10 characters shown]']);
  });

  it('the default limit is 50,000 characters', async () => {
    const { result } = await runCall(
      {},
      tool('big', () => 'x'.repeat(50_001)),
    );
    expect(result.value).toBe(`${'x'.repeat(50_000)}… [cut: 50000 of 50001 characters shown]`);
  });

  it('an error that is too long is truncated', async () => {
    const page = defineTool({
      name: 'page',
      description: 'Fails with a page of HTML.',
      maxResultChars: 20,
      execute: () => {
        throw new Error('<html>'.repeat(1000));
      },
    });
    const { result, state } = await runCall({}, page);
    expect(result.error?.message).toBe('<html><html><html><… [cut: 19 of 6000 characters shown]');
    expect(JSON.stringify(state)).not.toContain('<html>'.repeat(4));
  });

  it('secrets in an error are redacted in the record', async () => {
    const { result, state } = await runCall(
      {},
      tool('work', () => {
        throw new Error('401 for Bearer abcdefgh12345678');
      }),
    );
    expect(result.error?.message).toBe('401 for [redacted]');
    expect(JSON.stringify(state)).not.toContain('abcdefgh12345678');
  });
});

describe('several tool calls in one step', () => {
  it('run in parallel, at most eight, with results in call order', async () => {
    let running = 0;
    let most = 0;
    const order: number[] = [];
    const slow = tool('slow', async ({ n }: { n: number }) => {
      most = Math.max(most, ++running);
      // later calls are faster, so the calls end in another order
      for (let turn = 20 - n; turn > 0; turn--) await Promise.resolve();
      running -= 1;
      order.push(n);
      return n;
    });
    const calls = Array.from({ length: 20 }, (_, n) => ({ name: 'slow', args: { n } }));
    const { results, state } = await runCalls(calls, slow);
    expect(most).toBe(8);
    expect(order).not.toEqual(calls.map(({ args }) => args.n));
    expect(results.map(({ value }) => value)).toEqual(calls.map(({ args }) => args.n));
    expect(
      state.messages.withRole('tool').map(({ toolCallId, text }) => [toolCallId, text]),
    ).toEqual(calls.map(({ args }) => [`call_${args.n + 1}`, String(args.n)]));
  });

  it('do not affect each other when one fails', async () => {
    const { results } = await runCalls(
      [{ name: 'good' }, { name: 'bad' }, { name: 'unknown' }, { name: 'good' }],
      mockTool('good', 'fine'),
      mockTool('bad', new Error('broken')),
    );
    expect(results.map(({ kind }) => kind)).toEqual(['ok', 'error', 'error', 'ok']);
    expect(results.map(({ callId }) => callId)).toEqual(['call_1', 'call_2', 'call_3', 'call_4']);
  });
});

describe('a step with tool calls', () => {
  it('adds one assistant message, also without content', async () => {
    const { state } = await runCalls([{ name: 'a' }, { name: 'b' }], mockTool('a'), mockTool('b'));
    expect(state.messages.toJSON().map(({ role, content }) => [role, content])).toEqual([
      ['user', 'go'],
      ['assistant', ''],
      ['tool', 'ok'],
      ['tool', 'ok'],
      ['assistant', 'done'],
    ]);
    expect(state.messages.at(1)!.toolCalls.map(({ name }) => name)).toEqual(['a', 'b']);
    expect(state.steps.at(0)!.messageIds).toEqual(
      state.messages.slice(1, 4).map((message) => message.id),
    );
  });

  it('counts a tool error toward the retry limit', async () => {
    const bad = mockTool('bad', new Error('broken'));
    const driver = DeterministicDriver.fromSteps(toolCall('bad'), toolCall('bad'), toolCall('bad'));
    const agent = AgentBuilder.base()
      .withDriver(driver)
      .withTools(bad)
      .withErrorPolicy(ErrorPolicy.retryToolErrors(2))
      .build();
    const state = await agent.run('go');
    expect(state).toMatchObject({ status: 'failed', stopReason: 'retry_limit' });
    expect(bad.calls).toHaveLength(3);
    await takesAnotherTurn(state);
  });
});
