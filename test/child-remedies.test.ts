import { AgentBuilder, AgentState, ErrorPolicy, finishReasonCheck, type AgentEvent } from 'onward';
import { DeterministicDriver, mockTool, ScenarioStep } from 'onward/testing';
import { expect, it } from 'vitest';
import { stopSentence } from '../src/trace/stop-sentence.ts';

const { toolCall, final, error } = ScenarioStep;
type Child = (builder: AgentBuilder) => AgentBuilder;

const looking = (count: number): ScenarioStep[] =>
  Array.from({ length: count }, () => toolCall('look', {}, 'I look.', { usage: { total: 50 } }));

const cases: readonly (readonly [string, readonly ScenarioStep[], Child])[] = [
  ['steps', looking(3), (b) => b.withMaxSteps(1)],
  ['tokens', looking(3), (b) => b.withMaxTokens(50)],
  [
    'an error',
    [error({ type: 'model', code: 'auth', message: 'No key.', retryable: false })],
    (b) => b,
  ],
  [
    'retries',
    [1, 2, 3].map(() => error({ type: 'model', code: 'overloaded', message: 'Busy.' })),
    (b) => b.withErrorPolicy(ErrorPolicy.retryAll(1).withBackoff({ initialMs: 0 })),
  ],
  [
    'a cut answer',
    [final('Once upon', { finishReason: 'length' })],
    (b) => b.addContinuationCriteria(finishReasonCheck(['length'])),
  ],
];

it.each(cases)(
  'an agent behind a call that stops on its own limit names no grant, which only the root takes: %s',
  async (_name, steps, limited) => {
    const child = limited(
      AgentBuilder.base()
        .withName('helper')
        .withDriver(DeterministicDriver.fromSteps(...steps))
        .withTools(mockTool('look', 'seen')),
    ).build();
    const root = AgentBuilder.base()
      .withDriver(DeterministicDriver.fromSteps(toolCall('ask', { input: 'go' }), final('Done.')))
      .withErrorPolicy(ErrorPolicy.ignoreToolErrors())
      .withTools(child.asTool({ name: 'ask', description: 'Asks.' }))
      .build();
    const events: AgentEvent[] = [];
    root.wiretap((event) => events.push(event));
    await root.run('go');
    const end = events.find(
      (event) =>
        event.parentAgentId !== null &&
        (event.type === 'AgentFinished' || event.type === 'AgentFailed'),
    );
    if (!end || !('outcome' in end) || !end.outcome) throw new Error('the child did not end');
    const { decisive } = end.outcome;
    expect(decisive!.remedy!.grant).toBeUndefined();
    expect(decisive!.remedy!.text).not.toContain('resume');
    const status = end.type === 'AgentFailed' ? 'failed' : 'stopped';
    const said = stopSentence({ status, outcome: end.outcome, isNested: true });
    expect(said!.action).toBeNull();
    for (const { developerText } of said!.explanation.actions)
      expect(developerText).not.toContain('resume');
  },
);

it('the root still names its grant', async () => {
  const agent = AgentBuilder.base()
    .withDriver(DeterministicDriver.fromSteps(...looking(3)))
    .withTools(mockTool('look', 'seen'))
    .withMaxSteps(1)
    .build();
  const state = await agent.run(AgentState.empty().withUserMessage('go'));
  expect(state.lastContinuationOutcome!.decisive!.remedy).toMatchObject({
    text: 'call resume(state, { grant: { steps: 1 } }), or raise the limit with withMaxSteps(...).',
    grant: { steps: 1 },
  });
});
