import { describe, expect, it } from 'vitest';
import { agentFor, stateAfter } from '../../test/fixtures/states/scripted-states.ts';
import { zeroUsage } from '../inference/usage.ts';
import { ErrorPolicy } from '../errors/error-policy.ts';
import { ContinuationOutcome } from '../continuation/outcome.ts';
import { Message } from '../messages/message.ts';
import { DeterministicDriver } from '../testing/deterministic-driver.ts';
import { mockTool } from '../testing/mock-tool.ts';
import { ScenarioStep } from '../testing/scenario-step.ts';
import { AgentBuilder } from './agent-builder.ts';
import { AgentState, type AgentStateJSON } from './agent-state.ts';
import type { Compaction } from './compaction.ts';

const summary: Compaction = {
  id: 'c1',
  kind: 'summary',
  fromPosition: 0,
  toPosition: 1,
  text: 'The user said hello.',
  tokensBefore: 100,
  tokensAfter: 50,
  usage: zeroUsage,
  cost: null,
  reason: 'threshold',
  at: '2026-01-01T00:00:00.000Z',
};

const ran = (): Promise<AgentState> =>
  agentFor(ScenarioStep.toolCall('search', { query: 'x' }), 'found').run('go');

describe('value objects', () => {
  it('have exactly the fields of their JSON and are frozen', async () => {
    const state = await ran();
    const outcome = state.lastContinuationOutcome;
    const values = [
      AgentState.empty(),
      state,
      AgentState.from(state.toJSON()),
      ...state.messages,
      outcome,
      ContinuationOutcome.from(outcome!.toJSON()),
      ErrorPolicy.retryToolErrors(),
      ErrorPolicy.from({ maxRetries: 2 }),
    ];
    const rule = { agentPath: ['a'], tool: 't', definitionHash: 'h', by: null, at: '' };
    const full = state.with({ approvalRules: [rule], compactions: [summary] });
    expect(Object.keys(full)).toEqual(Object.keys(full.toJSON()));
    const mayBeAbsent = new Set(['approvalRules', 'compactions']);
    for (const value of values) {
      // an empty list of rules or compactions is left out
      const keys = Object.keys(value!).filter((key) => !mayBeAbsent.has(key));
      expect(keys).toEqual(Object.keys(value!.toJSON()));
      expect(Object.isFrozen(value)).toBe(true);
    }
    for (const step of state.steps) expect(Object.isFrozen(step)).toBe(true);
    for (const step of AgentState.from(state.toJSON()).steps)
      expect(Object.isFrozen(step)).toBe(true);
  });

  it('deep-freezes info and execution: in a run, after reading JSON and in with()', async () => {
    const agent = AgentBuilder.base()
      .withModel(
        DeterministicDriver.fromSteps(ScenarioStep.toolCall('look'), ScenarioStep.final('done')),
      )
      .withTools(mockTool('look', 1))
      .withMaxSteps(1)
      .build();
    const stopped = await agent.run('go');
    const granted = await agent.resume(stopped, { grant: { steps: 2 } });
    const json = JSON.parse(JSON.stringify(granted)) as AgentStateJSON;
    const states = [
      AgentState.empty(),
      stopped,
      granted,
      AgentState.from(json),
      granted.addExecutionTime(1),
      granted.with({ execution: { ...granted.execution, grants: { steps: 9 } } }),
      agent.stop(AgentState.from(json)),
    ];
    for (const { info, execution } of states)
      for (const part of [
        info,
        info.usage,
        execution,
        execution.usage,
        execution.grants,
        execution.succeededTools,
      ])
        expect(Object.isFrozen(part)).toBe(true);
    // the caller's document is not frozen
    expect(Object.isFrozen(json.execution.grants)).toBe(false);
    expect(() => Object.assign(granted.execution.grants, { steps: 1e9 })).toThrowError(TypeError);
    expect(granted.execution.grants).toEqual({ steps: 2 });
  });

  it('can be replaced by their JSON as arguments', async () => {
    const state = await ran();
    expect(AgentState.from(state)).toBe(state);
    const json = JSON.parse(JSON.stringify(state.withUserMessage('again'))) as never;
    const after = await agentFor('sure').run(json);
    expect(after.output).toBe('sure');
  });

  it('messages and steps are iterable', async () => {
    const state = await ran();
    expect(state.steps.length).toBe(2);
    expect([...state.steps].map(({ number }) => number)).toEqual([1, 2]);
    expect(state.steps.at(-1)?.type).toBe('final');
    expect(state.steps.toJSON()).toHaveLength(2);
    expect([...state.messages].map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'assistant',
    ]);
    expect(state.messages.toJSON()).toHaveLength(4);
  });
});

describe('changes are new states', () => {
  it('leaves the original state unchanged', async () => {
    const first = AgentState.empty().withUserMessage('one');
    const [left, right] = [first.withUserMessage('left'), first.withUserMessage('right')];
    expect(first.messages.length).toBe(1);
    expect(left.messages.last()?.content).toBe('left');
    expect(right.messages.last()?.content).toBe('right');
    const before = first.toJSON();
    await agentFor('hi').run(first);
    expect(first.toJSON()).toEqual(before);
    expect(first.steps.length).toBe(0);
  });

  it('a message makes an ended execution ready for run(), and is rejected on an open step', async () => {
    expect((await ran()).withUserMessage('more').status).toBe('pending');
    const paused = await agentFor(ScenarioStep.toolCall('danger', { target: 1 })).run('go');
    expect(() => paused.withUserMessage('hurry')).toThrow('This state needs approvals');
  });

  it('adds metadata as a JSON copy', () => {
    const list = [1];
    const state = AgentState.empty().withMetadata({ a: 1 }).withMetadata({ list });
    list.push(2);
    expect(state.metadata).toEqual({ a: 1, list: [1] });
  });

  it('adds time to the execution and the session', () => {
    const state = AgentState.empty().addExecutionTime(5).addExecutionTime(3);
    expect(state.execution.cumulativeSeconds).toBe(8);
    expect(state.info.cumulativeExecutionSeconds).toBe(8);
  });
});

describe('reading it', () => {
  it('currentStep is the unfinished step, else the last', async () => {
    expect(AgentState.empty().currentStep).toBeNull();
    expect((await ran()).currentStep?.number).toBe(2);
    const turn = { text: 'go', answer: '', person: [] };
    const paused = await stateAfter(AgentState.empty(), [{ ...turn, moves: ['search', 'both'] }]);
    expect(paused.currentStep).toBe(paused.unfinishedStep);
    expect(paused.currentStep?.number).toBe(2);
    expect(paused.stepCount).toBe(1);
  });

  it('outputText is the last assistant text of this execution', async () => {
    const state = await ran();
    expect(state.outputText).toBe('found');
    const asked = state.withUserMessage('more');
    const fails = agentFor(...Array.from({ length: 3 }, () => ScenarioStep.error('down')));
    expect((await fails.run(asked)).outputText).toBe('');
    expect(AgentState.empty().withMessages(Message.system('s')).outputText).toBe('');
  });

  it('stopReason is null while the execution is open', async () => {
    const paused = await agentFor(ScenarioStep.toolCall('danger', {})).run('go');
    expect(paused.stopReason).toBeNull();
    expect((await ran()).stopReason).toBe('completed');
  });
});

it('a state grows linearly with its steps: they do not copy the conversation', async () => {
  const bytesAfter = async (steps: number): Promise<number> => {
    const state = await AgentBuilder.new()
      .withTools(mockTool('search', { hits: [1, 2, 3] }))
      .withDriver(
        DeterministicDriver.fromSteps(
          ...Array.from({ length: steps }, () => ScenarioStep.toolCall('search', { query: 'abc' })),
          'done',
        ),
      )
      .build()
      .run('go');
    expect(state.stepCount).toBe(steps + 1);
    return JSON.stringify(state).length;
  };
  const [a, b, c] = [await bytesAfter(100), await bytesAfter(200), await bytesAfter(400)];
  const perStep = (b - a) / 100;
  expect((c - b) / 200).toBeCloseTo(perStep, -2);
  expect((c - b) / 200 / perStep).toBeLessThan(1.05);
  expect(perStep).toBeLessThan(2500);
});

describe('compactions', () => {
  const compacted = (patch: object = {}): AgentStateJSON => {
    const state = AgentState.empty().withUserMessage('hello');
    const json = state.with({ compactions: [summary] }).toJSON();
    return JSON.parse(JSON.stringify({ ...json, compactions: [{ ...summary, ...patch }] }));
  };

  it('are kept in the state, which needs version 2 with them', () => {
    const before = AgentState.empty().withUserMessage('hello');
    expect([before.version, before.compactions, 'compactions' in before.toJSON()]).toEqual([
      1,
      [],
      false,
    ]);
    const state = before.with({ compactions: [summary] });
    expect(state.version).toBe(2);
    const again = AgentState.from(compacted());
    expect(again.compactions).toEqual([summary]);
    expect(again.version).toBe(2);
    expect(Object.isFrozen(again.compactions[0])).toBe(true);
    expect(again.toJSON()).toEqual(AgentState.from(again.toJSON()).toJSON());
  });

  it('may begin before the loaded part of the conversation', () => {
    const [only] = AgentState.from(compacted({ fromPosition: -400 })).compactions;
    expect(only?.fromPosition).toBe(-400);
  });

  it.each([
    ['a list of something else', ['x']],
    ['a kind that does not exist', [{ ...summary, kind: 'delete' }]],
    ['a reason that does not exist', [{ ...summary, reason: 'because' }]],
    ['a summary without text', [{ ...summary, text: undefined }]],
    ['a text that is not text', [{ ...summary, text: { toString: 'x' } }]],
    ['an end behind the conversation', [{ ...summary, toPosition: 2 }]],
    ['an end before the start', [{ ...summary, fromPosition: 1 }]],
    ['an end before the conversation', [{ ...summary, fromPosition: -9, toPosition: -8 }]],
    ['a position that is no whole number', [{ ...summary, toPosition: 0.5 }]],
    ['a start that is no whole number', [{ ...summary, fromPosition: '0' }]],
    ['a size that is no number', [{ ...summary, tokensBefore: null }]],
    ['an invalid usage', [{ ...summary, usage: { input: 'many' } }]],
    ['no list', { 0: summary }],
  ])('are refused with %s', (_, compactions) => {
    expect(() => AgentState.from({ ...compacted(), compactions } as never)).toThrow(/compactions/);
  });
});
