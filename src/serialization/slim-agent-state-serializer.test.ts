import { describe, expect, expectTypeOf, it } from 'vitest';
import { agentFor } from '../../test/fixtures/states/scripted-states.ts';
import { AgentState } from '../agent/agent-state.ts';
import { Message } from '../messages/message.ts';
import { ScenarioStep } from '../testing/scenario-step.ts';
import {
  SlimAgentStateSerializer,
  type AgentStateSerializer,
} from './slim-agent-state-serializer.ts';
import { SlimSerializationConfig } from './slim-serialization-config.ts';

const presets = ['minimal', 'standard', 'full'] as const;

const serializerOf = (preset: (typeof presets)[number]): SlimAgentStateSerializer =>
  new SlimAgentStateSerializer(SlimSerializationConfig[preset]());

describe('presets', () => {
  it('have the values of the contract', () => {
    expect(SlimSerializationConfig.minimal()).toMatchObject({
      maxMessages: 10,
      maxContentLength: 500,
      includeToolArgs: false,
      includeMetadata: false,
      includeAllSteps: false,
      includeContinuationTrace: false,
    });
    expect(SlimSerializationConfig.standard()).toEqual({
      maxMessages: 50,
      maxContentLength: 1000,
      includeToolArgs: true,
      includeMetadata: true,
      includeAllSteps: false,
      includeContinuationTrace: false,
    });
    expect(SlimSerializationConfig.full()).toEqual({
      maxMessages: null,
      maxContentLength: null,
      includeToolArgs: true,
      includeMetadata: true,
      includeAllSteps: true,
      includeContinuationTrace: true,
    });
  });

  it('default to standard, which also fills in missing options', async () => {
    const state = await conversation(40);
    const standard = serializerOf('standard').serialize(state);
    expect(new SlimAgentStateSerializer().serialize(state)).toEqual(standard);
    const eight = new SlimAgentStateSerializer({ maxMessages: 8 }).serialize(state);
    expect(eight.messages).toHaveLength(8);
    expect(eight.current_step).toEqual(standard.current_step);
  });

  it.each<[Record<string, unknown>, string]>([
    [{ maxMessages: 0 }, 'SlimSerializationConfig.maxMessages got 0, expected a whole number'],
    [{ maxContentLength: 1.5 }, 'maxContentLength got 1.5, expected a whole number above 0'],
    [{ maxBytes: '9' }, 'maxBytes got "9", expected a whole number above 0, or null'],
    [{ includeToolArgs: 1 }, 'includeToolArgs got 1, expected true or false'],
    [{ maxMesages: 5 }, 'maxMesages got 5, expected one of maxMessages, maxContentLength'],
  ])('rejects %j', (config, says) => {
    expect(() => new SlimAgentStateSerializer(config)).toThrow(says);
  });

  it('rejects an invalid redactor', () => {
    expect(() => new SlimAgentStateSerializer({}, { redactor: {} as never })).toThrow(
      'SlimAgentStateSerializer redactor got an empty object, expected a redactor or null.',
    );
  });
});

/** Runs this many turns of one question and one answer. */
async function conversation(turns: number, from = AgentState.empty()): Promise<AgentState> {
  let state = from;
  for (let i = 1; i <= turns; i++)
    state = await agentFor(`answer ${i}`).run(state.withUserMessage(`question ${i}`));
  return state;
}

describe('the document', () => {
  it('has the fields of the contract, in snake_case', async () => {
    const state = await agentFor(ScenarioStep.toolCall('search', { query: 'x' }), 'found').run(
      AgentState.empty({ agentId: 'agent-1' })
        .withMetadata({ tenant: 'north' })
        .withUserMessage('go'),
    );
    const slim = new SlimAgentStateSerializer().serialize(state);
    expect(Object.keys(slim)).toEqual([
      'version',
      'agent_id',
      'agent_name',
      'parent_agent_id',
      'status',
      'step_count',
      'usage',
      'session',
      'execution',
      'pause',
      'messages',
      'steps',
      'current_step',
      'pending_approvals',
      'last_continuation',
      'metadata',
      'truncated',
      'rest',
    ]);
    expect(slim).toMatchObject({
      version: 1,
      agent_id: 'agent-1',
      agent_name: 'clerk',
      parent_agent_id: null,
      status: 'completed',
      step_count: 2,
      usage: { input: 20, output: 10, total: 30, cached_input: 0, reasoning: 0 },
      pause: null,
      pending_approvals: [],
      metadata: { tenant: 'north' },
    });
    expect(slim.last_continuation).toEqual({
      should_continue: false,
      stop_reason: 'completed',
      resolved_by: 'ToolCallPresenceCheck',
    });
    expect(Object.keys(slim.session)).toEqual(['started_at', 'step_count', 'usage', 'cost']);
    expect(Object.keys(slim.execution)).toEqual([
      'id',
      'started_at',
      'updated_at',
      'step_count',
      'answered_steps',
      'usage',
      'cost',
      'consecutive_failures',
      'total_failures',
      'cumulative_seconds',
      'session_cumulative_seconds',
      'grants',
    ]);
    expect(slim.messages.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'assistant',
    ]);
    expect(slim.messages[1]).toMatchObject({
      content: '',
      tool_calls: [{ id: 'call_1', name: 'search', args: { query: 'x' } }],
    });
    expect(slim.messages[2]).toMatchObject({ tool_call_id: 'call_1', name: 'search' });
    const ours = JSON.stringify(slim, (key, value: unknown) => (key === 'context' ? null : value));
    expect(ours).not.toMatch(/"[a-z]+[A-Z][A-Za-z]*":/);
  });

  it('step_count and usage at the top are those of the current execution', async () => {
    const state = await conversation(3);
    const slim = new SlimAgentStateSerializer().serialize(state);
    expect(slim).toMatchObject({
      step_count: 1,
      usage: { total: 15 },
      execution: { step_count: 1, usage: { total: 15 } },
      session: { step_count: 3, usage: { total: 45 } },
    });
  });

  it('serializes a state and its JSON alike', async () => {
    const state = await conversation(2);
    const serializer = serializerOf('full');
    expect(serializer.serialize(state.toJSON())).toEqual(serializer.serialize(state));
  });

  it.each([
    ['minimal', 0, false, 3],
    ['standard', 0, true, 2],
    ['full', 3, true, 0],
  ] as const)('%s keeps %i steps, current step: %s', async (preset, steps, hasCurrent, cut) => {
    const state = await agentFor(
      ScenarioStep.toolCall('search'),
      ScenarioStep.toolCall('search'),
      'done',
    ).run('go');
    const slim = serializerOf(preset).serialize(state);
    expect(slim.steps).toHaveLength(steps);
    expect(slim.current_step?.number).toBe(hasCurrent ? 3 : undefined);
    expect(slim.truncated?.steps ?? 0).toBe(cut);
  });

  it('keeps evaluations of steps only with includeContinuationTrace, and the outcome always', async () => {
    const state = await conversation(1);
    const [standard, full] = (['standard', 'full'] as const).map((preset) =>
      serializerOf(preset).serialize(state),
    );
    expect(standard?.current_step?.outcome).toMatchObject({
      decision: 'stop',
      should_continue: false,
      stop_reason: 'completed',
      evaluations: [],
    });
    expect(full?.current_step?.outcome?.evaluations.map(({ criterion }) => criterion)).toEqual(
      state.lastContinuationOutcome?.evaluations.map(({ criterion }) => criterion),
    );
  });

  it('keeps a turn that exceeds the limit whole, and reports it', async () => {
    const state = await agentFor(
      ScenarioStep.toolCall('search'),
      ScenarioStep.toolCall('search'),
      'done',
    ).run((await conversation(1)).withUserMessage('go'));
    const slim = new SlimAgentStateSerializer({ maxMessages: 4 }).serialize(state);
    expect(slim.messages).toHaveLength(6);
    expect(slim.truncated).toMatchObject({ turns: 1, messages: 2, turn_over_limit: 6 });
  });

  it('has truncated null if it is complete', async () => {
    const state = await conversation(1);
    expect(serializerOf('standard').serialize(state).truncated).toBeNull();
    expect(serializerOf('full').serialize(await conversation(3)).truncated).toBeNull();
    expect(new SlimAgentStateSerializer().serialize(AgentState.empty()).truncated).toBeNull();
  });

  it('replaces omitted arguments with {} and args_omitted, in messages, steps and approvals', async () => {
    const state = await agentFor(
      ScenarioStep.toolCalls([
        { name: 'danger', args: { target: 'x' } },
        { name: 'search', argsRaw: '{"query": ' },
        { name: 'search', args: {} },
      ]),
    ).run('go');
    const slim = new SlimAgentStateSerializer({ includeToolArgs: false }).serialize(state);
    const calls = [
      { id: 'call_1', name: 'danger', args: {}, args_omitted: true },
      { id: 'call_2', name: 'search', args: {}, args_omitted: true },
      { id: 'call_3', name: 'search', args: {} },
    ];
    expect(slim.messages.at(-1)?.tool_calls).toEqual(calls);
    expect(slim.current_step?.tool_calls).toEqual(calls);
    expect(slim.pending_approvals).toEqual([
      {
        call_id: 'call_1',
        tool: 'danger',
        args: {},
        args_omitted: true,
        args_hash: state.pendingApprovals[0]?.argsHash,
        execution_id: state.execution.id,
        path: [],
      },
    ]);
    expect(slim.truncated).toMatchObject({ args: 5, missing: ['the arguments of danger, search'] });
  });

  it('without metadata keeps only the synthetic flag of messages', () => {
    const state = AgentState.empty()
      .withMetadata({ tenant: 'north' })
      .withUserMessage('hi', { metadata: { ip: '::1' } })
      .withMessages(Message.assistant('', { metadata: { reasoning: 'long' } }))
      .withUserMessage('continue', { metadata: { synthetic: true, by: 'check' } });
    const slim = new SlimAgentStateSerializer({ includeMetadata: false }).serialize(state);
    expect(slim.metadata).toEqual({});
    expect(slim.messages.map(({ metadata }) => metadata)).toEqual([
      undefined,
      undefined,
      { synthetic: true },
    ]);
    expect(slim.truncated).toMatchObject({ metadata: 4 });
  });

  it('truncates long texts in contents, results, errors and output', async () => {
    const long = 'é'.repeat(50);
    const state = await agentFor(ScenarioStep.toolCall('search'), long).run(
      AgentState.empty().withMessages(Message.system(long)).withUserMessage(long),
    );
    const slim = new SlimAgentStateSerializer({
      maxContentLength: 20,
      includeAllSteps: true,
    }).serialize(state);
    for (const { content } of slim.messages)
      expect(content === '' || /^.{0,20}…$/u.test(content as string)).toBe(true);
    expect(slim.messages.at(-1)?.content).toBe(`${'é'.repeat(20)}…`);
    expect(slim.steps[0]?.results[0]?.value).toBe('{"hits":[1,2,3],"tex…');
    expect(new SlimAgentStateSerializer().deserialize(slim).output).toBe(`${'é'.repeat(20)}…`);
    const failed = await agentFor(ScenarioStep.toolCall('broken'), 'sorry').run('go');
    const step = new SlimAgentStateSerializer({
      maxContentLength: 7,
      includeAllSteps: true,
    }).serialize(failed).steps[0];
    expect(step?.errors[0]).toMatchObject({ type: 'tool', message: 'the ser…' });
    expect(step?.results[0]).toMatchObject({ value: 'Error: …', error: { message: 'the ser…' } });
  });
});

it('is an AgentStateSerializer', () => {
  expectTypeOf<SlimAgentStateSerializer>().toExtend<AgentStateSerializer>();
});
