import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { damage } from '../../test/fixtures/states/damage.ts';
import { agentFor, stateAfter, turnArb } from '../../test/fixtures/states/scripted-states.ts';
import { AgentBuilder } from '../agent/agent-builder.ts';
import { AgentState } from '../agent/agent-state.ts';
import { isOpen } from '../agent/agent-status.ts';
import { AgentError } from '../errors/agent-error.ts';
import { Message } from '../messages/message.ts';
import { DeterministicDriver } from '../testing/deterministic-driver.ts';
import { ScenarioStep } from '../testing/scenario-step.ts';
import { SlimAgentStateSerializer } from './slim-agent-state-serializer.ts';
import { SlimSerializationConfig } from './slim-serialization-config.ts';
import type { SlimState } from './slim-state.ts';

const presets = ['minimal', 'standard', 'full'] as const;

const serializerOf = (preset: (typeof presets)[number]): SlimAgentStateSerializer =>
  new SlimAgentStateSerializer(SlimSerializationConfig[preset]());

const stored = (slim: SlimState): unknown => JSON.parse(JSON.stringify(slim));

/** Runs this many turns of one question and one answer. */
async function conversation(turns: number, from = AgentState.empty()): Promise<AgentState> {
  let state = from;
  for (let i = 1; i <= turns; i++)
    state = await agentFor(`answer ${i}`).run(state.withUserMessage(`question ${i}`));
  return state;
}

describe('reading it back', () => {
  it.each(presets)('%s keeps identity, progress and usage', async (preset) => {
    const state = await agentFor(ScenarioStep.toolCall('broken'), 'sorry').run(
      (await conversation(2)).withUserMessage('go'),
    );
    const serializer = serializerOf(preset);
    const again = serializer.deserialize(stored(serializer.serialize(state)));
    const { execution, info } = again;
    expect(again).toMatchObject({
      agentId: state.agentId,
      agentName: 'clerk',
      parentAgentId: null,
      status: 'completed',
      stopReason: 'completed',
      stepCount: 2,
      usage: state.usage,
      cost: state.cost,
      output: 'sorry',
      outputText: 'sorry',
      executionStartedAt: null,
    });
    expect(info).toEqual(state.info);
    expect(execution).toEqual(state.execution);
    expect(
      again.messages.slice(0).map(({ id, content, createdAt }) => [id, content, createdAt]),
    ).toEqual(
      state.messages.slice(0).map(({ id, content, createdAt }) => [id, content, createdAt]),
    );
  });

  it('full restores every field', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(turnArb, { minLength: 1, maxLength: 3 }), async (turns) => {
        const state = await stateAfter(AgentState.empty().withMetadata({ tenant: 'north' }), turns);
        const serializer = new SlimAgentStateSerializer(SlimSerializationConfig.full(), {
          redactor: null,
        });
        const slim = serializer.serialize(state);
        const again = serializer.deserialize(stored(slim));
        expect(withoutClocks(again)).toEqual(withoutClocks(state));
        expect(slim.truncated).toBeNull();
        expect(again.status).toBe(state.status);
      }),
      { numRuns: 60 },
    );
  });

  it('keeps a structured output whole or drops it, because a part would not match its schema', async () => {
    const agent = AgentBuilder.base()
      .withName('clerk')
      .withResponseFormat(z.object({ leads: z.array(z.string()) }))
      .withDriver(DeterministicDriver.fromResponses('{"leads": ["Aurora", "Borealis"]}'))
      .build();
    const state = await agent.run('List them.');
    expect(state.output).toEqual({ leads: ['Aurora', 'Borealis'] });
    const through = (maxContentLength: number): unknown => {
      const serializer = new SlimAgentStateSerializer({ maxContentLength });
      return serializer.deserialize(stored(serializer.serialize(state))).output;
    };
    expect(through(100)).toEqual(state.output);
    expect(through(10)).toBeNull();
  });

  it('accepts the document as JSON text', async () => {
    const state = await conversation(1);
    const serializer = new SlimAgentStateSerializer();
    const again = serializer.deserialize(JSON.stringify(serializer.serialize(state)));
    expect(again.outputText).toBe('answer 1');
  });

  it.each(presets)(
    'D67: %s of any history is a valid conversation that accepts a new turn',
    async (preset) => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(turnArb, { minLength: 1, maxLength: 4 }),
          fc.record({
            maxMessages: fc.integer({ min: 1, max: 12 }),
            maxContentLength: fc.integer({ min: 1, max: 40 }),
          }),
          fc.boolean(),
          async (turns, limits, isTight) => {
            const state = await stateAfter(AgentState.empty(), turns);
            const serializer = new SlimAgentStateSerializer({
              ...SlimSerializationConfig[preset](),
              ...(isTight ? limits : null),
            });
            const slim = serializer.serialize(state);
            const again = serializer.deserialize(stored(slim));
            if (isOpen(again.status)) {
              expect(slim.truncated?.missing ?? []).toEqual([]);
              expect(isOpen(state.status)).toBe(true);
            } else expect(again.messages.pairingProblem()).toBeNull();
            const ended = agentFor().stop(again);
            expect(ended.messages.pairingProblem()).toBeNull();
            expect(ended.usage).toEqual(state.usage);
            const after = await agentFor('still here').run(ended.withUserMessage('and now?'));
            expect(after.status).toBe('completed');
            expect(after.outputText).toBe('still here');
            expect(after.info.usage.total).toBe(state.info.usage.total + 15);
            expect(after.info.stepCount).toBe(ended.info.stepCount + 1);
          },
        ),
        { numRuns: 60 },
      );
    },
  );

  it('writes the same document after reading it', async () => {
    const state = await conversation(
      30,
      AgentState.empty().withMessages(Message.system('be kind')),
    );
    const serializer = new SlimAgentStateSerializer({ maxMessages: 6, maxContentLength: 4 });
    const once = serializer.serialize(state);
    const twice = serializer.serialize(serializer.deserialize(stored(once)));
    expect({ ...twice, truncated: null }).toEqual({ ...once, truncated: null });
  });
});

/** Drops the wall-clock fields, which the slim form does not restore. */
const withoutClocks = (state: AgentState): unknown =>
  JSON.parse(
    JSON.stringify(state, (key, value: unknown) =>
      key === 'executionStartedAt' || key === 'stretchSeconds' ? null : value,
    ),
  );

describe('invalid documents', () => {
  const serializer = new SlimAgentStateSerializer();
  const slim = serializer.serialize(AgentState.empty());
  const broken: readonly (readonly [unknown, string])[] = [
    [null, 'it is null, expected the result of serialize()'],
    ['{"version":', 'its text is not JSON'],
    ['7', 'it is 7, expected the result of serialize()'],
    [{}, 'its version is undefined, expected a whole number up to 2'],
    [
      AgentState.empty().toJSON(),
      'it has the keys of a whole state, expected a slim one; read it with AgentState.from()',
    ],
    [{ ...slim, agent_id: 4 }, 'agent_id is 4, expected a string'],
    [{ ...slim, status: 'asleep' }, 'status is "asleep", expected one of pending'],
    [{ ...slim, session: [] }, 'session is an array of 0, expected an object'],
    [
      { ...slim, execution: { ...slim.execution, usage: 3 } },
      'execution.usage is 3, expected an object',
    ],
    [
      { ...slim, execution: { ...slim.execution, step_count: 'two' } },
      'execution.stepCount is "two", expected a finite number',
    ],
    [{ ...slim, messages: [null] }, 'messages[0] is null, expected an object'],
    [{ ...slim, messages: [{ role: 'robot', content: 'hi' }] }, 'its role is "robot"'],
    [
      { ...slim, messages: [{ role: 'user', content: 'hi', tool_calls: [5] }] },
      'messages[0].tool_calls[0] is 5',
    ],
    [{ ...slim, steps: {} }, 'steps is an empty object, expected a list'],
    [{ ...slim, current_step: {} }, 'current_step.id is undefined, expected a string'],
    [{ ...slim, metadata: null }, 'metadata is null, expected an object'],
    [{ ...slim, truncated: {} }, 'truncated.missing is undefined, expected a list'],
    [{ ...slim, rest: { ...slim.rest, results: null } }, 'rest.results is null, expected a list'],
  ];

  it.each(broken.map(([document, says]) => ({ document, says })))('$says', ({ document, says }) => {
    try {
      serializer.deserialize(document);
      expect.unreachable();
    } catch (error) {
      expect(AgentError.is(error, 'invalid_state'), String(error)).toBe(true);
      expect((error as Error).message).toContain(says);
    }
  });

  it('rejects a newer version with a remedy', () => {
    expect(() => serializer.deserialize({ ...slim, version: 3 })).toThrow(
      'This slim state has version 3, and this release reads versions up to 2. It was written by a newer ' +
        'release: upgrade onward here, or finish the session there.',
    );
  });

  it('are rejected as invalid or read without harm, for any damage', async () => {
    const states = [
      await stateAfter(AgentState.empty(), [
        { text: 'a', moves: ['search', 'both'], answer: 'b', person: [] },
      ]),
      await stateAfter(AgentState.empty(), [
        { text: 'a', moves: ['delegate'], answer: 'b', person: [] },
      ]),
      await conversation(2),
    ];
    const documents = states.flatMap((state) =>
      presets.map((preset) => serializerOf(preset).serialize(state)),
    );
    const junk = fc.constantFrom<unknown>(null, 0, -1, 'x', true, [], {}, [null], [{}]);
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...documents),
        fc.array(fc.nat(), { minLength: 1, maxLength: 6 }),
        junk,
        async (source, path, value) => {
          const document = stored(source);
          damage(document, path, value);
          let state: AgentState;
          try {
            state = serializer.deserialize(document);
          } catch (error) {
            expect(AgentError.is(error, 'invalid_state'), String(error)).toBe(true);
            return;
          }
          const ended = agentFor().stop(state.withAgentName('clerk'));
          const after = await agentFor('yes').run(ended.withUserMessage('continue'));
          expect(after.messages.last()?.content).toBe('yes');
        },
      ),
      { numRuns: 500 },
    );
  });
});
