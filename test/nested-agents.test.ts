import { AgentBuilder, ErrorPolicy, type Hook } from 'onward';
import { DeterministicDriver, mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { ask, asTool, builder, firstResult, rootOf } from './setup/nested-agents.ts';
import { refusal } from './setup/sessions.ts';
import { takesAnotherTurn } from './setup/states.ts';

const { toolCall, toolCalls, final } = ScenarioStep;

describe('an agent as a tool', () => {
  it('gets the task as its first message and returns its output', async () => {
    const driver = DeterministicDriver.fromResponses('The answer is 42.');
    const child = AgentBuilder.base().withName('helper').withDriver(driver).build();
    const state = await rootOf(child).run('go');
    expect(driver.requests[0]?.messages.at(0)?.text).toBe('please');
    expect(firstResult(state)).toMatchObject({ kind: 'ok', value: 'The answer is 42.' });
    expect(state).toMatchObject({ status: 'completed', output: 'done' });
    await takesAnotherTurn(state);
  });

  it('describes its input to the model and rejects other arguments', async () => {
    const driver = DeterministicDriver.fromSteps(toolCall('help', { task: 'x' }), final('done'));
    const child = builder('helper', []).build();
    const root = AgentBuilder.base()
      .withDriver(driver)
      .withTools(asTool(child))
      .withErrorPolicy(ErrorPolicy.ignoreToolErrors())
      .build();
    const state = await root.run('go');
    expect(driver.requests[0]?.tools[0]).toMatchObject({
      name: 'help',
      description: 'Helps with a task.',
      parameters: { required: ['input'], properties: { input: { type: 'string' } } },
    });
    expect(firstResult(state).error).toMatchObject({ type: 'validation', code: 'bad_arguments' });
  });

  it('returns the validated value if it has a response format', async () => {
    const child = builder('helper', [final('{"score":7}')])
      .withResponseFormat(z.object({ score: z.number() }))
      .build();
    const state = await rootOf(child).run('go');
    expect(firstResult(state).value).toEqual({ score: 7 });
    expect(state.messages.withRole('tool')[0]?.text).toBe('{"score":7}');
  });

  it('returns its text and the stop reason if it was stopped, without an error', async () => {
    const child = builder('helper', [toolCall('look', {}, 'So far: two lamps.')], mockTool('look'))
      .withMaxSteps(1)
      .build();
    const state = await rootOf(child).run('go');
    expect(firstResult(state)).toMatchObject({
      kind: 'ok',
      value: { stopped: 'steps_limit', text: 'So far: two lamps.' },
    });
    expect(state.steps.at(0)!.errors).toEqual([]);
    expect(state.output).toBe('done');
    await takesAnotherTurn(state);
  });

  it('returns its last text if its final steps had none', async () => {
    const said = ['Two lamps in the hall.', 'Another in the yard.', ' \n', ''];
    const child = builder(
      'helper',
      said.map((text) => toolCall('look', {}, text)),
      mockTool('look'),
    )
      .withMaxSteps(said.length)
      .build();
    const value = { stopped: 'steps_limit', text: 'Another in the yard.' };
    expect(firstResult(await rootOf(child).run('go'))).toMatchObject({ kind: 'ok', value });
  });

  it('returns no text if it was stopped before any', async () => {
    const child = builder('helper', [toolCall('look')], mockTool('look'))
      .withMaxSteps(1)
      .build();
    expect(firstResult(await rootOf(child).run('go')).value).toEqual({
      stopped: 'steps_limit',
      text: '',
    });
  });

  it('returns guard if its own tool requested the stop, and the parent continues', async () => {
    const brake = mockTool('brake', (_args: unknown, c: { requestStop(r: string): void }) => {
      c.requestStop('enough');
      return 'ok';
    });
    const child = builder('helper', [toolCall('brake', {}, 'Stopping.')], brake).build();
    const state = await rootOf(child).run('go');
    expect(firstResult(state).value).toEqual({ stopped: 'guard', text: 'Stopping.' });
    expect(state).toMatchObject({ status: 'completed', output: 'done' });
  });

  it('a failure is a tool error for the policy of the parent', async () => {
    const child = builder('helper', [ScenarioStep.error('model is gone')]).build();
    const state = await rootOf(child).run('go');
    const { kind, error } = firstResult(state);
    expect(kind).toBe('error');
    expect(error).toMatchObject({ type: 'tool', code: 'tool_failed', toolName: 'help' });
    expect(error?.message).toMatch(/^The agent behind "help" failed: .*model is gone/);
    expect(state.output).toBe('done');
    const strict = builder(
      'root',
      [toolCall('help', ask)],
      asTool(builder('helper', [ScenarioStep.error('model is gone')]).build()),
    ).build();
    expect(await strict.run('go')).toMatchObject({ status: 'failed', stopReason: 'error' });
    await takesAnotherTurn(state);
  });

  it('runs in parallel with other calls, with results in call order', async () => {
    const one = builder('one', [toolCall('look'), final('first')], mockTool('look')).build();
    const two = builder('two', [final('second')]).build();
    const root = builder(
      'root',
      [
        toolCalls([{ name: 'one', args: ask }, { name: 'plain' }, { name: 'two', args: ask }]),
        final('done'),
      ],
      asTool(one, 'one'),
      asTool(two, 'two'),
      mockTool('plain', 'third'),
    ).build();
    const state = await root.run('go');
    expect(state.steps.at(0)!.results.map(({ value }) => value)).toEqual([
      'first',
      'third',
      'second',
    ]);
    expect(state.usage.total).toBe(15 * 5);
    await takesAnotherTurn(state);
  });

  it('an output that is too long is truncated', async () => {
    const child = builder('helper', [final('x'.repeat(100))]).build();
    const root = builder(
      'root',
      [toolCall('help', ask), final('done')],
      child.asTool({ name: 'help', description: 'Helps.', maxResultChars: 10 }),
    ).build();
    const state = await root.run('go');
    expect(firstResult(state).value).toBe('xxxxxxxxxx… [cut: 10 of 100 characters shown]');
  });
});

describe('limits and misuse of nested agents', () => {
  it('limits the depth and asks the innermost agent to answer itself', async () => {
    const started: string[] = [];
    let agent = builder('level 10', [final('bottom')]).build();
    for (let level = 9; level >= 0; level--)
      agent = builder(
        `level ${level}`,
        [toolCall('help', ask), final(`answer ${level}`)],
        asTool(agent),
      )
        .withErrorPolicy(ErrorPolicy.ignoreToolErrors())
        .build();
    const errors: string[] = [];
    const state = await agent.run('go', {
      wiretap: (e) => {
        if (e.type === 'AgentStarted') started.push(e.agentName);
        if (e.type === 'ToolCallCompleted' && e.error) errors.push(e.error);
      },
    });
    expect(started).toEqual(Array.from({ length: 8 }, (_, level) => `level ${level}`));
    expect(errors).toEqual(['Agents are nested deeper than 8. Let this one answer by itself.']);
    expect(state.output).toBe('answer 0');
    await takesAnotherTurn(state);
  });

  it('misuse inside the child rejects the run of the root', async () => {
    const child = builder('helper', [toolCall('look')], mockTool('look'))
      .withErrorPolicy(ErrorPolicy.retryAll())
      .build();
    const error = await refusal(() => rootOf(child).run('go'));
    expect(error.code).toBe('script_exhausted');
  });

  it.each<[string, object, RegExp]>([
    ['no name', { description: 'Helps.' }, /its name is undefined/],
    ['no description', { name: 'help' }, /help has no description/],
  ])('rejects asTool with %s', async (_case, options, message) => {
    const error = await refusal(() =>
      builder('helper', [])
        .build()
        .asTool(options as never),
    );
    expect(error.code).toBe('invalid_tool');
    expect(error.message).toMatch(message);
  });
});

describe('abort in a nested agent', () => {
  const around: Hook = { name: 'around', aroundToolCall: (input, next) => next(input) };

  it.each<[string, readonly Hook[]]>([
    ['without hooks', []],
    ['inside a hook', [around]],
  ])('closes its call and counts its usage, %s', async (_case, hooks) => {
    const controller = new AbortController();
    const child = builder(
      'helper',
      [toolCall('look', {}, '', { usage: { total: 100 } }), final('', { hangs: true })],
      mockTool('look', () => {
        setTimeout(() => controller.abort('enough'), 5);
        return 'seen';
      }),
    ).build();
    const root = builder('root', [toolCall('help', ask)], asTool(child))
      .withHooks(...hooks)
      .build();
    const state = await root.run('go', { signal: controller.signal });
    expect(state).toMatchObject({ status: 'stopped', stopReason: 'user_requested' });
    expect(firstResult(state)).toMatchObject({ kind: 'aborted', value: 'Not finished: enough.' });
    expect(state.usage.total).toBe(115);
    await takesAnotherTurn(state);
  });
});
