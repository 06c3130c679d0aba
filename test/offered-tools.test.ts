import { AgentBuilder, ErrorPolicy } from 'onward';
import { DeterministicDriver, mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { approve, gated } from './setup/approvals.ts';
import { asTool, ask } from './setup/nested-agents.ts';
import { stored, takesAnotherTurn } from './setup/states.ts';
import { agentOf, namesIn } from './setup/steered-agent.ts';
import type { PrepareStep } from '../src/agent/prepare-step.ts';

const { toolCall, toolCalls, final } = ScenarioStep;

describe('activeTools', () => {
  const tools = () => [mockTool('a'), mockTool('b'), mockTool('c')];

  it('of a run replaces that of the agent, and a step chooses among those of the run', async () => {
    const model = DeterministicDriver.fromResponses('1', '2', '3');
    const agent = agentOf(model, tools()).withActiveTools('a', 'b').build();
    const steered = agentOf(model, tools(), () => ({ activeTools: ['b', 'c'] })).build();
    await agent.run('go');
    await agent.run('go', { activeTools: ['c'] });
    await steered.run('go', { activeTools: ['a', 'b'] });
    expect(namesIn(model)).toEqual([['a', 'b'], ['c'], ['b']]);
    expect(agent.describe().activeTools).toEqual(['a', 'b']);
  });

  it('of a run is recorded on its steps by hash, because it differs from the definition', async () => {
    const model = DeterministicDriver.fromSteps(toolCall('a'), final('1'));
    const state = await agentOf(model, tools())
      .build()
      .run('go', { activeTools: ['a'] });
    const [first, second] = state.steps;
    expect(first?.steering).toEqual({
      tools: { count: 1, names: ['a'], hash: expect.any(String) },
    });
    expect(second?.steering).toEqual(first?.steering);
  });

  it('records the number and the first names of many tools', async () => {
    const many = Array.from({ length: 60 }, (_, i) => mockTool(`t${i}`));
    const model = DeterministicDriver.fromResponses('1');
    const names = many.slice(0, 50).map(({ name }) => name);
    const state = await agentOf(model, many, () => ({ activeTools: names }))
      .build()
      .run('go');
    const steered = state.steps.at(0)?.steering?.tools;
    expect(steered).toMatchObject({ count: 50 });
    expect(steered?.names).toEqual(names.slice(0, 20));
  });
});

describe('a call of a tool that was not offered', () => {
  it('D82: never runs, though the agent has the tool', async () => {
    const [find, drop] = [mockTool('find'), mockTool('drop')];
    const model = DeterministicDriver.fromSteps(
      toolCalls([{ name: 'find' }, { name: 'drop' }]),
      final('done'),
    );
    const agent = agentOf(model, [find, drop], () => ({ activeTools: ['find'] })).build();
    const state = await agent.run('go');
    expect(find.calls).toHaveLength(1);
    expect(drop.calls).toEqual([]);
    expect(state.steps.at(0)?.results).toMatchObject([
      { kind: 'ok' },
      { kind: 'error', error: { type: 'validation', code: 'unknown_tool', toolName: 'drop' } },
    ]);
    await takesAnotherTurn(state);
  });

  it('never runs when a hook took its tool out of the request', async () => {
    const drop = mockTool('drop');
    const model = DeterministicDriver.fromSteps(toolCall('drop'), final('done'));
    const agent = agentOf(model, [drop])
      .withHooks({
        name: 'less',
        aroundModelCall: (request, next) => next({ ...request, tools: [] }),
      })
      .build();
    const state = await agent.run('go');
    expect(drop.calls).toEqual([]);
    expect(state.steps.at(0)).toMatchObject({
      results: [{ error: { code: 'unknown_tool' } }],
      steering: { tools: { count: 0 } },
    });
  });

  it('a hook cannot offer more than the step does', async () => {
    const drop = mockTool('drop');
    const model = DeterministicDriver.fromSteps(toolCall('drop'), final('done'));
    const agent = agentOf(model, [drop], () => ({ activeTools: [] }))
      .withHooks({
        name: 'more',
        aroundModelCall: (request, next) =>
          next({ ...request, tools: [{ name: 'drop', description: '', parameters: {} }] }),
      })
      .build();
    await agent.run('go');
    expect(drop.calls).toEqual([]);
  });

  it('has its result before any call of the step runs', async () => {
    const results: unknown[] = [];
    const first = mockTool('first');
    const model = DeterministicDriver.fromSteps(
      toolCalls([{ name: 'first' }, { name: 'drop' }]),
      final('done'),
    );
    const agent = agentOf(model, [first, mockTool('drop')], () => ({
      activeTools: ['first'],
    })).build();
    await agent.run('go', {
      wiretap: (e) => {
        if (e.type === 'ToolCallStarted' || e.type === 'ToolCallCompleted')
          results.push([e.type, e.tool]);
      },
    });
    expect(results).toEqual([
      ['ToolCallCompleted', 'drop'],
      ['ToolCallStarted', 'first'],
      ['ToolCallCompleted', 'first'],
    ]);
  });
});

describe('a step that waited', () => {
  it('is not prepared again, and its call is judged by what its step offered', async () => {
    const pay = gated();
    const asked: number[] = [];
    const prepareStep: PrepareStep = ({ stepNumber }) => {
      asked.push(stepNumber);
      return { activeTools: stepNumber === 1 ? ['pay'] : [] };
    };
    const paused = await agentOf(DeterministicDriver.fromSteps(toolCall('pay')), [pay], prepareStep)
      .build()
      .run('go');
    const other = mockTool('look');
    const resumed = await agentOf(
      DeterministicDriver.fromSteps(toolCall('pay'), final('done')),
      [pay, other],
      prepareStep,
    )
      .build()
      .resume(stored(paused), { approvals: { call_1: approve }, activeTools: ['look'] });
    expect(pay.calls).toHaveLength(1);
    expect(asked).toEqual([1, 2, 3]);
    // the second call came from a step that did not offer it
    expect(resumed.steps.toJSON().map(({ results }) => results.map(({ kind }) => kind))).toEqual([
      ['ok'],
      ['error'],
      [],
    ]);
  });

  it('keeps what it sent', async () => {
    const agent = agentOf(
      DeterministicDriver.fromSteps(toolCall('pay'), final('done')),
      [gated(), mockTool('look')],
      ({ stepNumber }) => (stepNumber === 1 ? { activeTools: ['pay'] } : undefined),
    ).build();
    const paused = stored(await agent.run('go'));
    expect(paused.unfinishedStep?.steering?.tools?.names).toEqual(['pay']);
    const state = await agent.resume(paused, { approvals: { call_1: approve } });
    expect(state.steps.at(0)?.steering?.tools?.names).toEqual(['pay']);
  });
});

describe('nested agents', () => {
  it('are steered by their own prepareStep', async () => {
    const inner = DeterministicDriver.fromResponses('inner');
    const outer = DeterministicDriver.fromSteps(toolCall('help', ask), final('done'));
    const child = agentOf(inner, [mockTool('a'), mockTool('b')], () => ({ activeTools: ['a'] }))
      .withName('child')
      .build();
    const root = AgentBuilder.base()
      .withModel(outer)
      .withTools(asTool(child), mockTool('c'))
      .withPrepareStep(({ stepNumber }) => ({ activeTools: stepNumber === 1 ? ['help'] : [] }))
      .build();
    expect((await root.run('go')).output).toBe('done');
    expect(namesIn(inner)).toEqual([['a']]);
    expect(namesIn(outer)).toEqual([['help'], []]);
  });

  it('one whose prepareStep fails gives its parent an error', async () => {
    const child = agentOf(DeterministicDriver.fromResponses(), [], () => {
      throw new Error('no table');
    })
      .withName('child')
      .build();
    const root = AgentBuilder.base()
      .withModel(DeterministicDriver.fromSteps(toolCall('help', ask), final('done')))
      .withErrorPolicy(ErrorPolicy.ignoreToolErrors())
      .withTools(asTool(child))
      .build();
    const state = await root.run('go');
    expect(state.steps.at(0)?.results[0]?.value).toMatch(/no table/);
    expect(state.output).toBe('done');
  });
});
