import { toStandardJsonSchema } from '@valibot/to-json-schema';
import {
  AgentBuilder,
  AgentState,
  defineTool,
  ErrorPolicy,
  pairingProblem,
  type AnySchema,
  type InferenceDriver,
  type Tool,
  type ToolContext,
  type ToolResult,
} from 'onward';
import {
  DeterministicDriver,
  fakeClock,
  mockTool,
  ScenarioStep,
  type ScriptedCall,
} from 'onward/testing';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { takesAnotherTurn } from './setup/states.ts';

const { toolCall, toolCalls, final } = ScenarioStep;

const tool = (name: string, execute: (args: never, context: ToolContext) => unknown): Tool =>
  defineTool({ name, description: `Does ${name}.`, parameters: { type: 'object' }, execute });

const agentWith = (driver: InferenceDriver, ...tools: readonly Tool[]) =>
  AgentBuilder.base()
    .withDriver(driver)
    .withErrorPolicy(ErrorPolicy.ignoreToolErrors())
    .withTools(...tools);

/** Runs `calls` in one step, then lets the model answer. */
async function runCalls(calls: readonly ScriptedCall[], ...tools: readonly Tool[]) {
  const driver = DeterministicDriver.fromSteps(toolCalls(calls), final('done'));
  const state = await agentWith(driver, ...tools)
    .build()
    .run('go');
  expect(state.status).toBe('completed');
  expect(state.output).toBe('done');
  await takesAnotherTurn(state);
  const step = state.steps.at(0)!;
  return { state, step, results: step.results, driver };
}

const runCall = async (args: ScriptedCall['args'], t: Tool) => {
  const run = await runCalls([{ name: t.name, ...(args ? { args } : null) }], t);
  return { ...run, result: run.results[0]! };
};

const toolTexts = (state: AgentState): string[] =>
  state.messages.withRole('tool').map(({ text }) => text);

describe('arguments', () => {
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
  ])('%s: a tool gets what its schema makes of them', async (_library, parameters, got) => {
    const lead = mockTool('lead', 'saved', { parameters });
    const { result, step } = await runCall({ name: 'Mira' }, lead);
    expect(lead.calls).toEqual([got]);
    expect(result).toMatchObject({ callId: 'call_1', kind: 'ok', value: 'saved' });
    // the record keeps what the model said
    expect(step.toolCalls).toEqual([{ id: 'call_1', name: 'lead', args: { name: 'Mira' } }]);
  });

  it.each<[string, AnySchema]>([
    ['zod', zodSchema],
    ['valibot', valibotSchema],
    ['JSON Schema', jsonSchema],
  ])('%s: bad ones are a validation result that the model sees', async (_library, parameters) => {
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
    expect(result.error?.message).toMatch(/Call it again with arguments that match its schema\.$/);
    expect(step.errors).toEqual([result.error]);
    expect(toolTexts(state)).toEqual([`Error: ${result.error?.message}`]);
  });

  it('an unknown tool is answered with what there is', async () => {
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

  it('an agent without tools says so', async () => {
    const { state } = await runCalls([{ name: 'search', args: {} }]);
    expect(toolTexts(state)).toEqual(['Error: There is no tool "search". Available: none.']);
  });

  it('a schema that throws is a tool error, not the end of the run', async () => {
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

describe('results', () => {
  const circular: Record<string, unknown> = {};
  circular['self'] = circular;

  it.each<[string, () => unknown, ToolResult['value'], string]>([
    ['text', () => 'hello', 'hello', 'hello'],
    ['an object', () => ({ a: [1, null] }), { a: [1, null] }, '{"a":[1,null]}'],
    ['nothing', () => undefined, null, 'null'],
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
      'a text',
      () => {
        // oxlint-disable-next-line no-throw-literal, typescript/only-throw-error -- users do
        throw 'just words';
      },
      /^just words$/,
    ],
    ['a cycle', () => circular, /circular/],
    ['a bigint', () => ({ id: 10n }), /BigInt/],
  ])('%s is a tool error that the model sees', async (_case, execute, message) => {
    const { result, state, step } = await runCall({}, tool('work', execute));
    expect(result.kind).toBe('error');
    expect(result.error).toMatchObject({ type: 'tool', code: 'tool_failed', toolName: 'work' });
    expect(result.error?.message).toMatch(message);
    expect(step.errors).toHaveLength(1);
    expect(toolTexts(state)).toEqual([`Error: ${result.error?.message}`]);
  });

  it("an error of this library's own inside a tool is a tool error like any other", async () => {
    const inner = AgentBuilder.base().withDriver(DeterministicDriver.fromResponses('x')).build();
    const { result } = await runCall(
      {},
      tool('work', () => inner.run(AgentState.empty())),
    );
    expect(result.error).toMatchObject({ type: 'tool', code: 'tool_failed' });
    expect(result.error?.message).toMatch(/^run\(\) needs a new user message/);
  });

  it('an oversize result is cut with a note, and is no error', async () => {
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

  it('the default bound is 50,000 characters', async () => {
    const { result } = await runCall(
      {},
      tool('big', () => 'x'.repeat(50_001)),
    );
    expect(result.value).toBe(`${'x'.repeat(50_000)}… [cut: 50000 of 50001 characters shown]`);
  });

  it('an oversize error is cut as well', async () => {
    const page = defineTool({
      name: 'page',
      description: 'Fails with a page of HTML.',
      maxResultChars: 20,
      execute: () => {
        throw new Error('<html>'.repeat(1000));
      },
    });
    const { result, state } = await runCall({}, page);
    expect(result.error?.message).toBe('<html><html><html><h… [cut: 20 of 6000 characters shown]');
    expect(JSON.stringify(state).length).toBeLessThan(6000);
  });

  it('secrets in an error never reach the record', async () => {
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

describe('D53: a hung tool', () => {
  it('ends at its own timeout with a result of type timeout, and the run goes on', async () => {
    const clock = fakeClock();
    let signal: AbortSignal | undefined;
    const hung = defineTool({
      name: 'hung',
      description: 'Hangs.',
      timeoutMs: 5000,
      execute: (_args, context) => {
        ({ signal } = context);
        return new Promise(() => {});
      },
    });
    const quick = mockTool('quick', 'fast');
    const driver = DeterministicDriver.fromSteps(
      toolCalls([{ name: 'hung' }, { name: 'quick' }]),
      final('done'),
    );
    const running = agentWith(driver, hung, quick).withClock(clock).build().run('go');
    await clock.advance(4999);
    expect(driver.requests).toHaveLength(1);
    await clock.advance(1);
    const state = await running;
    expect(state.output).toBe('done');
    const [first, second] = state.steps.at(0)!.results;
    expect(first).toMatchObject({
      kind: 'timeout',
      durationMs: 5000,
      error: { type: 'timeout', code: 'tool_timeout', toolName: 'hung' },
    });
    expect(first?.error?.message).toBe('Tool "hung" took longer than its 5000 ms.');
    expect(second).toMatchObject({ kind: 'ok', value: 'fast' });
    expect(signal?.aborted).toBe(true);
    expect(clock.pendingTimers).toBe(0);
    await takesAnotherTurn(state);
  });

  it('has a timeout even if none was given: 60 seconds', async () => {
    const clock = fakeClock();
    const driver = DeterministicDriver.fromSteps(toolCall('hung'), final('done'));
    const hung = tool('hung', () => new Promise(() => {}));
    const running = agentWith(driver, hung).withClock(clock).build().run('go');
    await clock.advance(60_000);
    const state = await running;
    expect(state.steps.at(0)!.results[0]).toMatchObject({ kind: 'timeout', durationMs: 60_000 });
    expect(state.output).toBe('done');
  });

  it('is judged by the error policy: the default stops', async () => {
    const clock = fakeClock();
    const agent = AgentBuilder.base()
      .withDriver(DeterministicDriver.fromSteps(toolCall('hung')))
      .withTools(tool('hung', () => new Promise(() => {})))
      .withClock(clock)
      .build();
    const running = agent.run('go');
    await clock.advance(60_000);
    const state = await running;
    expect(state.status).toBe('failed');
    expect(state.stopReason).toBe('error');
    expect(state.lastContinuationOutcome?.decisive?.context).toMatchObject({
      errorType: 'timeout',
      toolName: 'hung',
    });
    await takesAnotherTurn(state);
  });
});

describe('several calls in one step', () => {
  it('run at the same time, at most eight, and answer in call order', async () => {
    let running = 0;
    let most = 0;
    const order: number[] = [];
    const slow = tool('slow', async ({ n }: { n: number }) => {
      most = Math.max(most, ++running);
      // later calls are quicker, so they end in another order than they began
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

  it('one failing leaves the others alone', async () => {
    const { results } = await runCalls(
      [{ name: 'good' }, { name: 'bad' }, { name: 'unknown' }, { name: 'good' }],
      mockTool('good', 'fine'),
      mockTool('bad', new Error('broken')),
    );
    expect(results.map(({ kind }) => kind)).toEqual(['ok', 'error', 'error', 'ok']);
    expect(results.map(({ callId }) => callId)).toEqual(['call_1', 'call_2', 'call_3', 'call_4']);
  });
});

describe('the context of a call', () => {
  it('gives state, metadata, deps and a key that is the same for every try', async () => {
    const db = { query: () => 'row' };
    const seen: unknown[] = [];
    const look = tool('look', (_args, c) => {
      const { query } = c.deps['db'] as typeof db;
      seen.push([c.executionId, c.callId, c.idempotencyKey, c.metadata, c.state.stepCount]);
      return query();
    });
    const driver = DeterministicDriver.fromSteps(toolCall('look'), toolCall('look'), final('done'));
    const state = await agentWith(driver, look)
      .build()
      .run(AgentState.empty().withMetadata({ tenant: 'acme' }).withUserMessage('go'), {
        executionId: 'exec-1',
        deps: { db },
      });
    expect(seen).toEqual([
      ['exec-1', 'call_1', 'exec-1:call_1', { tenant: 'acme' }, 0],
      ['exec-1', 'call_2', 'exec-1:call_2', { tenant: 'acme' }, 1],
    ]);
    expect(state.steps.at(0)!.results[0]?.value).toBe('row');
  });

  it('D27: deps are never in the JSON, and are given again at resume', async () => {
    const keys: string[] = [];
    const write = defineTool({
      name: 'write',
      description: 'Writes.',
      needsApproval: true,
      execute: (_args, { deps, idempotencyKey }) => {
        keys.push(idempotencyKey);
        return (deps['db'] as { save(): string }).save();
      },
    });
    const driver = DeterministicDriver.fromSteps(toolCall('write'), final('done'));
    const agent = agentWith(driver, write).build();
    const first = { save: () => 'old connection', password: 'canary-in-deps' };
    const paused = await agent.run('go', { executionId: 'exec-1', deps: { db: first } });
    const json = JSON.stringify(paused);
    expect(json).not.toContain('deps');
    expect(json).not.toContain('canary-in-deps');
    const approvals = { call_1: { approve: true } } as const;
    const state = await agent.resume(JSON.parse(json) as never, {
      approvals,
      deps: { db: { save: () => 'new connection' } },
    });
    expect(state.steps.at(0)!.results[0]?.value).toBe('new connection');
    expect(keys).toEqual(['exec-1:call_1']);
  });

  it('D27: what travels with the state is JSON by its type', () => {
    const state = AgentState.empty();
    // @ts-expect-error a function would vanish on the way
    state.withMetadata({ db: () => 1 });
    expect(state.withMetadata({ tenant: 'acme', tags: ['a'] }).metadata).toEqual({
      tenant: 'acme',
      tags: ['a'],
    });
  });

  it('requestStop ends the run after the step as guard, with its reason', async () => {
    const neighbour = mockTool('neighbour', 'ran');
    const driver = DeterministicDriver.fromSteps(
      toolCalls([{ name: 'brake' }, { name: 'neighbour' }], 'Braking.'),
    );
    const brake = tool('brake', (_args, { requestStop }) => {
      requestStop('the budget of the customer is spent');
      requestStop('a second reason changes nothing');
      return 'braked';
    });
    const state = await agentWith(driver, brake, neighbour).build().run('go');
    expect(state).toMatchObject({ status: 'stopped', stopReason: 'guard' });
    expect(state.lastContinuationOutcome?.decisive).toMatchObject({
      criterion: 'StopRequestCheck',
      reason: 'the budget of the customer is spent',
    });
    expect(state.steps.at(0)!.results.map(({ value }) => value)).toEqual(['braked', 'ran']);
    await takesAnotherTurn(state);
  });

  it('requestPause pauses after the step, and resume goes on', async () => {
    const driver = DeterministicDriver.fromSteps(toolCall('wait'), final('done'));
    const wait = tool('wait', (_args, { requestPause }) => {
      requestPause('wait for the night');
      return 'queued';
    });
    const agent = agentWith(driver, wait).build();
    const paused = await agent.run('go');
    expect(paused.status).toBe('paused');
    expect(paused.pause).toMatchObject({
      kind: 'requested',
      reason: 'wait for the night',
      pendingApprovals: [],
    });
    expect(paused.steps.length).toBe(1);
    expect(pairingProblem(paused.messages)).toBeNull();
    const state = await agent.resume(paused);
    expect(state.output).toBe('done');
    expect(state.steps.length).toBe(2);
    await takesAnotherTurn(state);
  });

  it('a pause asked for on a step that ends the run is not made', async () => {
    const driver = DeterministicDriver.fromSteps(toolCall('wait'));
    const wait = tool('wait', (_args, { requestPause }) => requestPause('later'));
    const agent = agentWith(driver, wait).withMaxSteps(1).build();
    const state = await agent.run('go');
    expect(state).toMatchObject({ status: 'stopped', stopReason: 'steps_limit', pause: null });
    await takesAnotherTurn(state);
  });

  it('the signal is aborted when the run is, and not before', async () => {
    const controller = new AbortController();
    const states: boolean[] = [];
    const driver = DeterministicDriver.fromSteps(toolCall('work'));
    const work = tool('work', (_args, { signal }) => {
      states.push(signal.aborted);
      controller.abort();
      states.push(signal.aborted);
      return new Promise(() => {});
    });
    await agentWith(driver, work).build().run('go', { signal: controller.signal });
    expect(states).toEqual([false, true]);
  });
});

describe('calls run whatever the finish word says', () => {
  it.each(['stop', 'unknown', 'other', 'content_filter'])(
    'D07: finish reason %s with a call',
    async (finishReason) => {
      const search = mockTool('search', 'found');
      const driver = DeterministicDriver.fromSteps(
        toolCall('search', { q: 'lamp' }, '', { finishReason }),
        final('done'),
      );
      const state = await agentWith(driver, search).build().run('go');
      expect(search.calls).toEqual([{ q: 'lamp' }]);
      expect(state).toMatchObject({ status: 'completed', output: 'done' });
      expect(state.steps.length).toBe(2);
      await takesAnotherTurn(state);
    },
  );

  it('D07: the disagreement is noted in the step', async () => {
    const driver = DeterministicDriver.fromSteps(
      toolCall('search', {}, '', { finishReason: 'stop' }),
      final('done'),
    );
    const state = await agentWith(driver, mockTool('search')).build().run('go');
    const step = state.steps.at(0)!;
    expect(step.finishReason).toBe('tool_calls');
    expect(step.notes).toEqual(['finishReasonCorrected:stop']);
    expect(step.outcome?.resolvedBy).toBe('ToolCallPresenceCheck');
  });

  it.each<[string, ScriptedCall, string, RegExp]>([
    ['cut by length', { name: 'pay', argsRaw: '{"to":"Ji' }, 'length', /output limit \(length\)/],
    ['whole, in a cut turn', { name: 'pay', args: { to: 'Jim' } }, 'length', /output limit/],
    [
      'broken, called tool_calls',
      { name: 'pay', argsRaw: '{"to":"Ji' },
      'tool_calls',
      /not valid JSON/,
    ],
    ['broken, called stop', { name: 'pay', argsRaw: '{to: Jim}' }, 'stop', /not valid JSON/],
    ['a list', { name: 'pay', argsRaw: '["Jim"]' }, 'tool_calls', /an array of 1/],
  ])('D62: arguments %s never run', async (_case, call, finishReason, message) => {
    const pay = mockTool('pay', 'paid');
    const driver = DeterministicDriver.fromSteps(
      toolCalls([call], '', { finishReason }),
      toolCall('pay', { to: 'Jim' }),
      final('done'),
    );
    const state = await agentWith(driver, pay).build().run('go');
    expect(pay.calls).toEqual([{ to: 'Jim' }]);
    const { results, toolCalls: recorded } = state.steps.at(0)!;
    expect(results[0]).toMatchObject({
      kind: 'error',
      error: { type: 'validation', code: 'bad_arguments', toolName: 'pay' },
    });
    expect(results[0]?.error?.message).toMatch(message);
    if (call.argsRaw !== undefined)
      expect(recorded[0]).toMatchObject({ args: {}, argsRaw: call.argsRaw });
    expect(state.output).toBe('done');
    await takesAnotherTurn(state);
  });

  it('D62: a broken call leaves its whole neighbour running, a cut turn does not', async () => {
    const counts = await Promise.all(
      ['tool_calls', 'length'].map(async (finishReason) => {
        const pay = mockTool('pay', 'paid');
        const driver = DeterministicDriver.fromSteps(
          toolCalls(
            [
              { name: 'pay', args: {} },
              { name: 'pay', argsRaw: '{"' },
            ],
            '',
            {
              finishReason,
            },
          ),
          final('done'),
        );
        await agentWith(driver, pay).build().run('go');
        return pay.calls.length;
      }),
    );
    expect(counts).toEqual([1, 0]);
  });
});

describe('the last step of a soft landing', () => {
  it('runs no call that comes back anyway, and that is no error', async () => {
    const search = mockTool('search', 'found');
    const driver = DeterministicDriver.fromSteps(
      toolCall('search'),
      toolCalls([{ name: 'search' }, { name: 'unknown' }], 'I have to stop here.'),
    );
    const agent = agentWith(driver, search).withMaxSteps(2).withSoftLanding().build();
    const state = await agent.run('go');
    expect(driver.requests.map(({ toolChoice }) => toolChoice)).toEqual(['auto', 'none']);
    expect(search.calls).toHaveLength(1);
    expect(state.steps.at(1)).toMatchObject({ softLanding: 'StepsLimit', errors: [] });
    expect(state.steps.at(1)!.results.map(({ kind }) => kind)).toEqual(['blocked', 'blocked']);
    expect(state).toMatchObject({
      status: 'stopped',
      stopReason: 'steps_limit',
      outputText: 'I have to stop here.',
    });
    await takesAnotherTurn(state);
  });
});

describe('messages of a step with calls', () => {
  it('empty content leaves exactly one assistant message', async () => {
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

  it('a tool error counts for the policy: retried until the limit, then retry_limit', async () => {
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

describe('call ids belong to the loop', () => {
  const ids = (state: AgentState) =>
    [...state.steps].flatMap(({ toolCalls }) => toolCalls.map(({ id }) => id));

  it.each<[string, readonly ScriptedCall['id'][]]>([
    ['missing', [null]],
    ['empty', ['']],
    ['twice in one answer', ['x', 'x']],
    ['missing twice', [null, null]],
  ])('%s: a fresh one', async (_case, given) => {
    const { state } = await runCalls(
      given.map((id) => ({ name: 'work', id: id ?? null })),
      mockTool('work'),
    );
    const made = ids(state);
    expect(new Set(made).size).toBe(given.length);
    for (const id of made) expect(id).toMatch(/^(x|cal_[0-9a-z]{16})$/);
    expect(state.messages.withRole('tool').map(({ toolCallId }) => toolCallId)).toEqual(made);
  });

  it('a doubled one keeps the word of the provider beside ours', async () => {
    const { step } = await runCalls(
      [
        { name: 'work', id: 'x' },
        { name: 'work', id: 'x' },
      ],
      mockTool('work'),
    );
    const [first, second] = step.toolCalls;
    expect(first).toEqual({ id: 'x', name: 'work', args: {} });
    expect(second).toMatchObject({ providerId: 'x', name: 'work' });
    expect(second?.id).not.toBe('x');
  });

  it('one used in an earlier step is replaced, also after a pause and a restart', async () => {
    const work = mockTool('work', 'ok', { needsApproval: true });
    const again = { name: 'work', id: 'x' };
    const first = agentWith(DeterministicDriver.fromSteps(toolCalls([again])), work).build();
    const paused = await first.run('go');
    const second = agentWith(
      DeterministicDriver.fromSteps(toolCalls([again]), final('done')),
      work,
    ).build();
    const pausedAgain = await second.resume(JSON.parse(JSON.stringify(paused)) as never, {
      approvals: { x: { approve: true } },
    });
    const [pending] = pausedAgain.pendingApprovals;
    expect(pending?.callId).not.toBe('x');
    expect(pausedAgain.currentStep?.toolCalls[0]).toMatchObject({ providerId: 'x' });
    const state = await second.resume(pausedAgain, {
      approvals: { [pending!.callId]: { approve: true } },
    });
    expect(new Set(ids(state)).size).toBe(2);
    expect(work.contexts.map(({ idempotencyKey }) => idempotencyKey)).toEqual(
      ids(state).map((id) => `${state.execution.id}:${id}`),
    );
    await takesAnotherTurn(state);
  });

  it('a new execution may use an old one again', async () => {
    const work = mockTool('work');
    const script = () =>
      DeterministicDriver.fromSteps(toolCalls([{ name: 'work', id: 'x' }]), final('done'));
    const first = await agentWith(script(), work).build().run('go');
    const second = await agentWith(script(), work).build().run(first.withUserMessage('again'));
    expect(ids(second)).toEqual(['x', 'x']);
    await takesAnotherTurn(second);
  });

  it('what is streamed carries the id that is recorded', async () => {
    const deltas = new Set<string>();
    const driver = DeterministicDriver.fromSteps(
      toolCalls([
        { name: 'work', id: null },
        { name: 'work', id: 'x' },
        { name: 'work', id: 'x' },
      ]),
      final('done'),
    );
    const state = await agentWith(driver, mockTool('work'))
      .build()
      .run('go', {
        wiretap: (event) => {
          if (event.type === 'ToolCallDelta') deltas.add(event.toolCallId);
        },
      });
    expect([...deltas]).toEqual(ids(state));
  });
});

describe('nonsense from a driver', () => {
  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['a text', 'Hello'],
    ['no list of calls', { content: 'Hi' }],
    ['content that is no text', { content: 5, toolCalls: [] }],
    ['a call without a name', { content: '', toolCalls: [{ args: {} }] }],
  ])('%s is a failed model call of type validation', async (_case, response) => {
    const driver: InferenceDriver = { name: 'odd', infer: async () => response as never };
    const agent = AgentBuilder.base().withDriver(driver).build();
    const state = await agent.run('go');
    expect(state).toMatchObject({ status: 'failed', stopReason: 'error' });
    expect(state.steps.at(0)).toMatchObject({
      type: 'error',
      errors: [{ type: 'validation', code: 'bad_response' }],
    });
    expect(state.steps.at(0)!.errors[0]?.message).toMatch(/cannot be read: .*, expected/);
    expect(state.messages.length).toBe(1);
    await takesAnotherTurn(state);
  });

  it('numbers that are none do not poison the accounts', async () => {
    const answer = { content: 'Hi', toolCalls: [], finishReason: 'stop' };
    const usage = { input: 'many', output: Number.NaN };
    const driver: InferenceDriver = {
      name: 'odd',
      infer: async () => ({ ...answer, usage, cost: Number.NaN }) as never,
    };
    const state = await AgentBuilder.base().withDriver(driver).build().run('go');
    expect(state.output).toBe('Hi');
    expect(state.usage.total).toBe(0);
    expect(state.cost).toBeNull();
  });

  it('a refusal is kept once as the assistant message, and is not tried again', async () => {
    const driver = DeterministicDriver.fromSteps(final('', { refusal: 'I cannot help.' }));
    const state = await AgentBuilder.base()
      .withDriver(driver)
      .withErrorPolicy(ErrorPolicy.retryAll(3))
      .build()
      .run('go');
    expect(driver.requests).toHaveLength(1);
    expect(state).toMatchObject({ status: 'failed', stopReason: 'error' });
    expect(state.steps.at(0)!.errors[0]).toMatchObject({
      type: 'model',
      code: 'refusal',
      retryable: false,
    });
    expect(state.messages.toJSON().map(({ role, content }) => [role, content])).toEqual([
      ['user', 'go'],
      ['assistant', 'I cannot help.'],
    ]);
    await takesAnotherTurn(state);
  });
});
