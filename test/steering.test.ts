import {
  createAgent,
  createModelRegistry,
  defineCapability,
  ErrorPolicy,
  type AgentState,
} from 'onward';
import { DeterministicDriver, mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { stored, takesAnotherTurn } from './setup/states.ts';
import { agentOf, namesIn } from './setup/steered-agent.ts';
import type { PrepareStep } from '../src/agent/prepare-step.ts';

const { toolCall, final } = ScenarioStep;

const firstError = (state: AgentState) => state.steps.at(0)?.errors[0];

describe('prepareStep', () => {
  it('chooses tools, tool choice, model and prompt of one step, and the step records what differs', async () => {
    const model = DeterministicDriver.fromSteps(toolCall('find'), final('done'));
    const other = DeterministicDriver.create([toolCall('read')], { name: 'other:model' });
    const agent = agentOf(model, [mockTool('find'), mockTool('read')], ({ stepNumber }) =>
      stepNumber === 2
        ? { activeTools: ['read'], toolChoice: 'required', model: other, system: 'Read it.' }
        : undefined,
    ).build();
    const state = await agent.run('go');
    expect(state).toMatchObject({ status: 'completed', output: 'done' });
    expect(namesIn(model)).toEqual([
      ['find', 'read'],
      ['find', 'read'],
    ]);
    expect(other.requests[0]).toMatchObject({
      system: 'Read it.',
      toolChoice: 'required',
      tools: [{ name: 'read' }],
    });
    expect(model.requests.map(({ system }) => system)).toEqual(['Be kind.', 'Be kind.']);
    const [first, steered, last] = state.steps;
    expect(first).not.toHaveProperty('steering');
    expect(last).not.toHaveProperty('steering');
    expect(steered).toMatchObject({
      model: 'other:model',
      steering: {
        model: 'other:model',
        tools: { count: 1, names: ['read'], hash: expect.stringMatching(/^[0-9a-f]{64}$/) },
        toolChoice: 'required',
        systemHash: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
    });
    expect(stored(state).steps.at(1)?.steering).toEqual(steered?.steering);
    await takesAnotherTurn(state);
  });

  it('may be async, and gets state, step number, attempt, dependencies and signal', async () => {
    const model = DeterministicDriver.fromSteps(
      ScenarioStep.error({ type: 'model', message: 'down' }),
      final('done'),
    );
    const seen: unknown[] = [];
    const agent = createAgent({
      model,
      errorPolicy: ErrorPolicy.retryAll(2).withBackoff({ initialMs: 0 }),
      prepareStep: async ({ state, stepNumber, attempt, deps, signal }) => {
        seen.push([state.messages.length, stepNumber, attempt, deps, signal.aborted]);
        await Promise.resolve();
        return undefined;
      },
    });
    const deps = { tier: 'free' };
    const given = { deps } as object;
    expect((await agent.run('go', given)).output).toBe('done');
    expect(seen).toEqual([
      [1, 1, 1, deps, false],
      [1, 2, 2, deps, false],
    ]);
  });

  it('runs inside aroundStep and before aroundModelCall', async () => {
    const order: string[] = [];
    const around =
      (name: string) =>
      async <I, O>(input: I, next: (input: I) => Promise<O>): Promise<O> => {
        order.push(name);
        return next(input);
      };
    const agent = agentOf(DeterministicDriver.fromResponses('done'), [], () => {
      order.push('prepareStep');
      return undefined;
    })
      .withHooks({
        name: 'order',
        aroundStep: around('aroundStep'),
        aroundModelCall: around('aroundModelCall'),
      })
      .build();
    await agent.run('go');
    expect(order).toEqual(['aroundStep', 'prepareStep', 'aroundModelCall']);
  });

  it('announces a step with the tools that it offers', async () => {
    const model = DeterministicDriver.fromSteps(toolCall('find'), final('done'));
    const agent = agentOf(model, [mockTool('find'), mockTool('read')], ({ stepNumber }) => ({
      activeTools: stepNumber === 1 ? ['find'] : [],
    })).build();
    const offered: unknown[] = [];
    await agent.run('go', {
      wiretap: (e) => e.type === 'AgentStepStarted' && offered.push(e.availableTools),
    });
    expect(offered).toEqual([['find'], []]);
    expect(model.requests[1]?.toolChoice).toBe('none');
  });

  it('is asked again by run, iterate and nextStep alike', async () => {
    const steps: number[] = [];
    const agent = () =>
      agentOf(
        DeterministicDriver.fromSteps(toolCall('find'), final('done')),
        [mockTool('find')],
        ({ stepNumber }) => {
          steps.push(stepNumber);
          return undefined;
        },
      ).build();
    await agent().run('go');
    for await (const _ of agent().iterate('go'));
    const one = agent();
    await one.nextStep(await one.nextStep('go'));
    expect(steps).toEqual([1, 2, 1, 2, 1, 2]);
  });

  it.each<[string, unknown, RegExp]>([
    ['a text', 'find', /^withPrepareStep failed: it returned "find", expected \{ activeTools\?/],
    ['null', null, /returned null/],
    ['an unknown setting', { activeTool: ['find'] }, /a setting "activeTool"/],
    ['a setting of the prototype', JSON.parse('{"__proto__":{}}'), /setting "__proto__"/],
    ['an unknown tool', { activeTools: ['fin'] }, /activeTools got "fin", expected only names/],
    ['tools that are no list', { activeTools: 'find' }, /its activeTools is "find"/],
    ['an unknown choice', { toolChoice: 'sometimes' }, /its toolChoice is "sometimes"/],
    [
      'a choice of a tool that is not offered',
      { activeTools: ['find'], toolChoice: { tool: 'read' } },
      /toolChoice got "read", expected a choice among the tools of the step \(find\)/,
    ],
    [
      'a required call without tools',
      { activeTools: [], toolChoice: 'required' },
      /toolChoice got "required".*\(none\)/,
    ],
    ['a number as the model', { model: 5 }, /its model is 5/],
    ['an unknown provider', { model: 'nowhere:x' }, /There is no model "nowhere:x"/],
    ['a prompt that is no text', { system: ['a'] }, /its system is an array of 1/],
  ])(
    '%s is an error step with code prepare_failed, and the model is not called',
    async (_case, given, message) => {
      const model = DeterministicDriver.fromResponses();
      const agent = agentOf(
        model,
        [mockTool('find'), mockTool('read')],
        () => given as never,
      ).build();
      const state = await agent.run('go');
      expect(state).toMatchObject({ status: 'failed', stopReason: 'error', stepCount: 1 });
      expect(firstError(state)).toMatchObject({ type: 'unknown', code: 'prepare_failed' });
      expect(firstError(state)?.message).toMatch(message);
      expect(firstError(state)?.message).toMatch(/ The model was not called\.$/);
      expect(model.requests).toEqual([]);
      await takesAnotherTurn(state);
    },
  );

  it.each([
    [
      'throws',
      () => {
        throw new Error('no table');
      },
    ],
    ['rejects', () => Promise.reject(new Error('no table'))],
  ] as const)(
    'one that %s is judged by the error policy, which may retry it',
    async (_case, fail) => {
      let tries = 0;
      const model = DeterministicDriver.fromResponses('done');
      const agent = agentOf(model, [], () => (++tries < 3 ? fail() : undefined))
        .withErrorPolicy(ErrorPolicy.retryAll(2).withBackoff({ initialMs: 0 }))
        .build();
      const state = await agent.run('go');
      expect(state.output).toBe('done');
      expect(state.steps.toJSON().map(({ type, attempt }) => [type, attempt])).toEqual([
        ['error', 1],
        ['error', 2],
        ['final', 3],
      ]);
      expect(firstError(state)?.message).toBe(
        'withPrepareStep failed: no table. The model was not called.',
      );
      expect(model.requests).toHaveLength(1);
    },
  );

  it('hides secrets in its errors', async () => {
    const secret = 'sk-proj-abcdefghijklmnopqrstuvwxyz0123456789';
    const agent = agentOf(DeterministicDriver.fromResponses(), [], () => {
      throw new Error(`bad key ${secret}`);
    }).build();
    expect(JSON.stringify(await agent.run('go'))).not.toContain(secret);
  });

  it('a soft landing offers no tools whatever it chooses', async () => {
    const model = DeterministicDriver.fromSteps(toolCall('find'), final('landed'));
    const agent = agentOf(model, [mockTool('find')], () => ({ toolChoice: 'required' }))
      .withMaxSteps(2)
      .withSoftLanding()
      .build();
    expect((await agent.run('go')).output).toBe('landed');
    expect(model.requests.map(({ toolChoice }) => toolChoice)).toEqual(['required', 'none']);
  });
});

describe('several sources of step settings', () => {
  it('are asked in order, capabilities first: tools are narrowed, the last other setting counts', async () => {
    const model = DeterministicDriver.fromResponses('done');
    const asked: string[] = [];
    const from =
      (name: string, settings: ReturnType<PrepareStep>): PrepareStep =>
      () => {
        asked.push(name);
        return settings;
      };
    const agent = createAgent({
      model,
      tools: [mockTool('a'), mockTool('b'), mockTool('c')],
      capabilities: [
        defineCapability({
          name: 'one',
          prepareStep: from('one', { activeTools: ['a', 'b'], system: 'One.', toolChoice: 'none' }),
        }),
        defineCapability({
          name: 'two',
          prepareStep: from('two', { activeTools: ['b', 'c'], system: 'Two.' }),
        }),
      ],
      prepareStep: from('own', { system: 'Own.', activeTools: ['a', 'b', 'c'] }) as never,
    });
    await agent.run('go');
    expect(asked).toEqual(['one', 'two', 'own']);
    expect(model.requests[0]).toMatchObject({
      tools: [{ name: 'b' }],
      system: 'Own.',
      toolChoice: 'none',
    });
    expect(agent.describe().prepareStep).toEqual([
      'prepareStep of capability "one"',
      'prepareStep of capability "two"',
      'prepareStep',
    ]);
  });

  it('a failing one is named', async () => {
    const agent = createAgent({
      model: DeterministicDriver.fromResponses(),
      capabilities: [
        defineCapability({ name: 'phases', prepareStep: () => ({ activeTools: ['x'] }) }),
      ],
    });
    expect(firstError(await agent.run('go'))?.message).toMatch(
      /^prepareStep of capability "phases" failed: activeTools got "x"/,
    );
  });
});

describe('a model by name', () => {
  it('is resolved by the registry of the agent, once', async () => {
    let made = 0;
    const driver = DeterministicDriver.create([final('one'), final('two')], { name: 'own:small' });
    const models = createModelRegistry({
      own: () => {
        made += 1;
        return driver;
      },
    });
    const agent = createAgent({
      model: DeterministicDriver.fromResponses(),
      models,
      prepareStep: () => ({ model: 'own:small' }),
    });
    expect((await agent.run('go')).output).toBe('one');
    expect((await agent.run('go')).output).toBe('two');
    expect(made).toBe(1);
  });
});
