import {
  AgentState,
  createAgent,
  ErrorPolicy,
  SlimAgentStateSerializer,
  SlimSerializationConfig,
  type AnyTool,
} from 'onward';
import { DeterministicDriver, mockTool, ScenarioStep } from 'onward/testing';
import { expect, it } from 'vitest';

const { toolCall, final } = ScenarioStep;
const quick = ErrorPolicy.retryAll().withBackoff({ initialMs: 1, maxMs: 1 });
const schema = {
  type: 'object',
  properties: { amount: { type: 'number' } },
  required: ['amount'],
  additionalProperties: false,
};

const pay = (description: string, parameters: object): AnyTool =>
  mockTool('pay', 'paid', { description, parameters: parameters as never, needsApproval: true });

/** An agent whose tool comes from a source, as those of MCP servers do. */
const agentOf = (steps: readonly ScenarioStep[], tool: AnyTool) =>
  createAgent({
    model: DeterministicDriver.fromSteps(...steps),
    capabilities: [{ name: 'warehouse', tools: () => ({ tools: [tool] }) }],
    errorPolicy: quick,
  });

const paused = async (tool: AnyTool): Promise<AgentState> =>
  AgentState.from(
    JSON.parse(JSON.stringify(await agentOf([toolCall('pay', { amount: 5 })], tool).run('go'))),
  );

it.each([
  ['standard', true],
  ['full', true],
  ['minimal', false],
] as const)(
  'an approval counts for the tool that was shown, also after the slim form: %s',
  async (preset, isKept) => {
    const config = SlimSerializationConfig[preset]();
    const slim = new SlimAgentStateSerializer(config);
    const written = JSON.stringify(slim.serialize(await paused(pay('Pays.', schema))));
    const approvals = { call_1: { approve: true } } as const;
    const results = async (tool: AnyTool): Promise<unknown> => {
      const agent = agentOf([final('done')], tool);
      const state = slim.deserialize(JSON.parse(written));
      const done = await agent.resume(state, { approvals }).catch((error: Error) => error);
      return done instanceof Error ? 'refused' : done.steps.at(0)?.results[0]?.kind;
    };
    expect(await results(pay('Pays.', schema))).toBe(isKept ? 'ok' : 'refused');
    for (const changed of [pay('Pays everyone.', schema), pay('Pays.', { type: 'object' })]) {
      expect(await results(changed)).toBe(isKept ? 'blocked' : 'refused');
      expect((changed as ReturnType<typeof mockTool>).calls).toEqual([]);
    }
  },
);

it('an approval counts for the tool of a nested agent that was shown, also after the slim form', async () => {
  const slim = new SlimAgentStateSerializer();
  const family = (steps: readonly ScenarioStep[], inner: readonly ScenarioStep[], tool: AnyTool) =>
    createAgent({
      model: DeterministicDriver.fromSteps(...steps),
      tools: [
        agentOf(inner, tool).asTool({
          name: 'ask_clerk',
          description: 'Asks the clerk.',
        }),
      ],
      errorPolicy: quick,
    });
  const first = family(
    [toolCall('ask_clerk', { input: 'Pay.' })],
    [toolCall('pay', { amount: 5 })],
    pay('Pays.', schema),
  );
  const state = await first.run('go');
  const { callId } = state.pendingApprovals[0]!;
  const again = slim.deserialize(JSON.parse(JSON.stringify(slim.serialize(state))));
  const changed = pay('Pays everyone.', schema);
  const second = family([final('done')], [final('paid')], changed);
  const done = await second.resume(again, { approvals: { [callId]: { approve: true } } });
  expect((changed as ReturnType<typeof mockTool>).calls).toEqual([]);
  expect(done.status).toBe('completed');
});

it('an approval counts for no sourced tool where the document does not say how it looked', async () => {
  const state = JSON.parse(JSON.stringify(await paused(pay('Pays.', schema)))) as {
    unfinishedStep: { toolSchemas?: unknown };
  };
  expect(state.unfinishedStep.toolSchemas).toHaveLength(1);
  delete state.unfinishedStep.toolSchemas;
  const tool = pay('Pays.', schema);
  const done = await agentOf([final('done')], tool).resume(state as never, {
    approvals: { call_1: { approve: true } },
  });
  expect(done.steps.at(0)?.results[0]?.kind).toBe('blocked');
  expect((tool as ReturnType<typeof mockTool>).calls).toEqual([]);
});
