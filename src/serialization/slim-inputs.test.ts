import { describe, expect, it } from 'vitest';
import { AgentBuilder } from '../agent/agent-builder.ts';
import type { AgentState } from '../agent/agent-state.ts';
import { DeterministicDriver } from '../testing/deterministic-driver.ts';
import { ScenarioStep } from '../testing/scenario-step.ts';
import { defineTool } from '../tools/define-tool.ts';
import { SlimAgentStateSerializer } from './slim-agent-state-serializer.ts';
import { SlimSerializationConfig } from './slim-serialization-config.ts';

const { standard } = SlimSerializationConfig;

/** Writes a state as a slim document and reads it back. */
function throughSlim(state: AgentState, config: Partial<SlimSerializationConfig>): AgentState {
  const serializer = new SlimAgentStateSerializer(config);
  return serializer.deserialize(JSON.parse(JSON.stringify(serializer.serialize(state))));
}

describe('a question of a tool', () => {
  const asking = (state: string) =>
    defineTool({
      name: 'ask',
      description: 'Asks.',
      execute: (_args, { input, requestInput }) =>
        input
          ? `${input.answers['sure']?.action} ${input.answers['why']?.action} ${input.state?.length}`
          : requestInput(
              {
                sure: { message: 'Sure?', schema: { type: 'object', required: ['dayOfWeek'] } },
                why: { message: 'Why?', schema: { type: 'object' } },
              },
              { state },
            ),
    });
  const agentOf = (script: readonly ScenarioStep[], state = 'place:7') =>
    AgentBuilder.base()
      .withName('asker')
      .withTools(asking(state))
      .withDriver(DeterministicDriver.fromSteps(...script))
      .build();
  const asked = (state?: string) => agentOf([ScenarioStep.toolCall('ask')], state).run('go');
  const yes = { action: 'accept', content: { dayOfWeek: 1 } } as const;
  const no = { action: 'decline' } as const;

  it('is answered after reading, by another process, also with one answer given before', async () => {
    const state = await asked();
    const slim = new SlimAgentStateSerializer(standard()).serialize(state);
    expect(slim).toMatchObject({ version: 2, truncated: null });
    expect(slim.pending_inputs?.map(({ input_id, message }) => [input_id, message])).toEqual([
      ['call_1/sure', 'Sure?'],
      ['call_1/why', 'Why?'],
    ]);
    const half = await agentOf([]).resume(throughSlim(state, standard()), {
      inputs: { 'call_1/sure': yes },
      by: 'ann',
    });
    expect(half.pendingInputs.map(({ inputId }) => inputId)).toEqual(['call_1/why']);
    const again = throughSlim(half, standard());
    expect([again.pause, again.unfinishedStep]).toEqual([half.pause, half.unfinishedStep]);
    const done = await agentOf([ScenarioStep.final('done')]).resume(again, {
      inputs: { 'call_1/why': no },
    });
    expect(done.steps.at(0)?.results[0]?.value).toBe('accept decline 7');
    expect(done.output).toBe('done');
  });

  it('of a nested agent is answered after reading', async () => {
    const outer = (script: readonly ScenarioStep[], inner: readonly ScenarioStep[]) =>
      AgentBuilder.base()
        .withName('outer')
        .withTools(agentOf(inner).asTool({ name: 'help', description: 'Helps.' }))
        .withDriver(DeterministicDriver.fromSteps(...script))
        .build();
    const call = ScenarioStep.toolCall('help', { input: 'go' });
    const state = await outer([call], [ScenarioStep.toolCall('ask')]).run('go');
    const again = throughSlim(state, standard());
    expect(again.pendingInputs).toEqual(state.pendingInputs);
    const [sure, why] = again.pendingInputs.map(({ inputId }) => inputId);
    const final = [ScenarioStep.final('done')];
    const done = await outer(final, final).resume(again, {
      inputs: { [sure!]: yes, [why!]: no },
    });
    expect(done.output).toBe('done');
  });

  it.each([
    ['a state that is too large', 'x'.repeat(64_001), standard()],
    ['a document without arguments', 'place:7', { ...standard(), includeToolArgs: false }],
  ])('is never lost without a word: %s', async (_case, state, config) => {
    const again = throughSlim(await asked(state), config);
    expect(again).toMatchObject({ status: 'stopped', pause: null });
    expect(again.lastContinuationOutcome?.explain()).toContain(
      'not_resumable: the slim form left out the inputs that a tool asked for',
    );
  });

  it('with a secret in its state is not resumable, and the document has no secret', async () => {
    const secret = 'sk-live-abcdefghijklmnop1234567890';
    const slim = new SlimAgentStateSerializer(standard()).serialize(await asked(secret));
    expect(JSON.stringify(slim)).not.toContain(secret);
    expect(slim.truncated?.missing).toEqual(['1 value hidden as secret']);
  });

  it('fits maxBytes: its schema goes before its text', async () => {
    const slim = new SlimAgentStateSerializer({ maxBytes: 3_500 }).serialize(
      await asked('x'.repeat(5_000)),
    );
    expect(slim.pending_inputs?.[0]).toMatchObject({ schema_omitted: true });
    expect(slim.truncated?.missing).toContain('the inputs that a tool asked for');
  });

  it.each([[{}], [{ questions: [], answers: 7 }], [7]])('refuses the document %j', async (bad) => {
    const slim = new SlimAgentStateSerializer(standard()).serialize(await asked());
    const broken = { ...slim, current_step: { ...slim.current_step, inputs: [bad] } };
    expect(() => new SlimAgentStateSerializer().deserialize(broken)).toThrow(/current_step.inputs/);
  });
});
