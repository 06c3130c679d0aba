import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { agentFor, stateAfter, turnArb } from '../../test/fixtures/states/scripted-states.ts';
import { AgentState } from '../agent/agent-state.ts';
import { AgentError } from '../errors/agent-error.ts';
import { Message } from '../messages/message.ts';
import { ScenarioStep } from '../testing/scenario-step.ts';
import { SlimAgentStateSerializer } from './slim-agent-state-serializer.ts';
import { SlimSerializationConfig } from './slim-serialization-config.ts';
import type { SlimState } from './slim-state.ts';

const bytes = (slim: SlimState): number => Buffer.byteLength(JSON.stringify(slim), 'utf8');
const within = (maxBytes: number, config = SlimSerializationConfig.full()) =>
  new SlimAgentStateSerializer({ ...config, maxBytes });

async function conversation(turns: number, answer = 'é'.repeat(300)): Promise<AgentState> {
  let state = AgentState.empty().withMessages(Message.system('Be kind.'));
  for (let i = 1; i <= turns; i++)
    state = await agentFor(ScenarioStep.toolCall('search', { query: `q${i}` }), answer).run(
      state.withUserMessage(`question ${i}`),
    );
  return state;
}

describe('maxBytes', () => {
  it('leaves a document that fits unchanged', async () => {
    const state = await conversation(3);
    const whole = new SlimAgentStateSerializer(SlimSerializationConfig.full()).serialize(state);
    expect(within(bytes(whole)).serialize(state)).toEqual(whole);
    expect(within(bytes(whole) - 1).serialize(state).truncated?.turns).toBe(1);
  });

  it('removes as few of the oldest turns with their steps as possible', async () => {
    const state = await conversation(12);
    const slim = within(20_000).serialize(state);
    expect(bytes(slim)).toBeLessThanOrEqual(20_000);
    expect(bytes(slim)).toBeGreaterThan(15_000);
    const { turns = 0 } = slim.truncated ?? {};
    expect(slim.messages[0]?.content).toBe('Be kind.');
    expect(slim.messages[1]?.content).toBe(`question ${turns + 1}`);
    expect(slim.steps).toHaveLength(2 * (12 - turns));
    expect(slim.truncated).toMatchObject({ messages: 4 * turns, steps: 2 * turns, contents: 0 });
  });

  it('then removes finished steps, then text, then arguments', async () => {
    const state = await agentFor(
      ScenarioStep.toolCall('search', { query: 'a'.repeat(2000) }),
      ScenarioStep.toolCall('search', { query: 'b' }),
      'é'.repeat(3000),
    ).run('go');
    const limits = [25_000, 15_000, 8_000, 3_500];
    const cuts = limits.map((limit) => {
      const slim = within(limit).serialize(state);
      expect(bytes(slim)).toBeLessThanOrEqual(limit);
      const { steps = 0, contents = 0, args = 0 } = slim.truncated ?? {};
      return [steps > 0, contents > 0, args > 0];
    });
    expect(cuts).toEqual([
      [false, false, false],
      [true, false, false],
      [true, true, false],
      [true, true, true],
    ]);
  });

  it('counts bytes, not characters', async () => {
    const state = AgentState.empty().withUserMessage('😀'.repeat(1000));
    const slim = within(3000).serialize(state);
    expect(bytes(slim)).toBeLessThanOrEqual(3000);
    expect(bytes(slim)).toBeGreaterThan(2980);
    expect(slim.messages[0]?.content).toMatch(/^(😀)+…$/u);
  });

  it('rejects a state that cannot fit, with its size and the limit', async () => {
    const state = (await conversation(2)).withMetadata({ blob: 'x'.repeat(5000) });
    try {
      within(4000).serialize(state);
      expect.unreachable();
    } catch (error) {
      if (!AgentError.is(error, 'state_too_large')) throw error;
      const { bytes: seen, leastBytes, maxBytes } = error.details as Record<string, number>;
      expect(maxBytes).toBe(4000);
      expect(leastBytes).toBeGreaterThan(5000);
      expect(error.message).toBe(
        `This state takes ${seen} bytes in its slim form, and still ${leastBytes} with only the newest turn, ` +
          'without texts and arguments; maxBytes allows 4000. Raise maxBytes, or keep less metadata and ' +
          'fewer system messages in the state.',
      );
    }
  });

  it('D67: for any history and budget, the document fits, is valid, and accepts a new turn', async () => {
    let fitted = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(turnArb, { minLength: 1, maxLength: 4 }),
        fc.integer({ min: 1500, max: 30_000 }),
        fc.constantFrom(SlimSerializationConfig.standard(), SlimSerializationConfig.full()),
        async (turns, maxBytes, config) => {
          const state = await stateAfter(AgentState.empty(), turns);
          const serializer = within(maxBytes, config);
          let slim: SlimState;
          try {
            slim = serializer.serialize(state);
          } catch (error) {
            expect(AgentError.is(error, 'state_too_large'), String(error)).toBe(true);
            return;
          }
          fitted += 1;
          expect(bytes(slim)).toBeLessThanOrEqual(maxBytes);
          const ended = agentFor().stop(serializer.deserialize(slim));
          expect(ended.messages.pairingProblem()).toBeNull();
          const after = await agentFor('fine').run(ended.withUserMessage('and now?'));
          expect(after.outputText).toBe('fine');
        },
      ),
      { numRuns: 80 },
    );
    expect(fitted).toBeGreaterThan(0);
  });
});
