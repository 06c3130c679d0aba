import {
  ErrorPolicy,
  responseContentCheck,
  type Agent,
  type AgentEvent,
  type AgentState,
} from 'onward';
import { mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { base } from './setup/continuation.ts';
import { pages } from './setup/scripts.ts';
import { stored } from './setup/states.ts';

const { toolCall, toolCalls, final, error } = ScenarioStep;

describe('D13: every way to run uses the same loop', () => {
  const script = [
    toolCall('search', { page: 1 }, 'Looking.'),
    error({ type: 'rate_limit', message: '429', retryAfterMs: 0 }),
    toolCalls([
      { name: 'search', args: { page: 2 } },
      { name: 'broken', args: {} },
    ]),
    final('Half an answer.'),
    ScenarioStep.stream(['The whole ', 'answer.']),
  ];

  const fresh = (): { agent: Agent; events: AgentEvent[] } => {
    const { builder } = base(script, [
      mockTool('search', 'ok'),
      mockTool('broken', new Error('x')),
    ]);
    const agent = builder
      .withErrorPolicy(ErrorPolicy.retryToolErrors(2).withBackoff({ initialMs: 0 }))
      .withMaxSteps(6)
      .addContinuationCriteria(responseContentCheck((text) => text.startsWith('Half')))
      .build();
    const events: AgentEvent[] = [];
    agent.wiretap((event) => events.push(event));
    return { agent, events };
  };

  const volatile = new Set(
    'id agentId executionId messageId messageIds startedAt updatedAt createdAt at index'.split(' '),
  );
  const plain = (value: unknown): unknown =>
    JSON.parse(
      JSON.stringify(value, (key, inner: unknown) => (volatile.has(key) ? undefined : inner)),
    );
  const trace = (state: AgentState) =>
    plain({ steps: state.steps, messages: state.messages, usage: state.usage });

  const byRun = async () => {
    const { agent, events } = fresh();
    return { state: await agent.run('go'), events };
  };

  const ways: readonly [string, () => Promise<{ state: AgentState; events: AgentEvent[] }>][] = [
    [
      'iterate',
      async () => {
        const { agent, events } = fresh();
        let state: AgentState | undefined;
        for await (const next of agent.iterate('go')) state = next;
        return { state: state!, events };
      },
    ],
    [
      'stream',
      async () => {
        const { agent } = fresh();
        const events: AgentEvent[] = [];
        const stream = agent.stream('go');
        for await (const event of stream) events.push(event);
        return { state: await stream.state, events };
      },
    ],
    [
      'nextStep',
      async () => {
        const { agent, events } = fresh();
        let state = await agent.nextStep('go');
        while (agent.hasNextStep(state)) state = await agent.nextStep(state);
        return { state, events };
      },
    ],
    [
      'nextStep with a JSON round trip between steps',
      async () => {
        const { agent, events } = fresh();
        let state = await agent.nextStep('go');
        while (agent.hasNextStep(state)) state = stored(await agent.nextStep(stored(state)));
        return { state, events };
      },
    ],
  ];

  it.each(ways)(
    '%s produces the same steps, messages, usage and events as run',
    async (_way, go) => {
      const expected = await byRun();
      const { state, events } = await go();
      expect(trace(state)).toEqual(trace(expected.state));
      expect(events.map(plain)).toEqual(expected.events.map(plain));
      expect(state.stopReason).toBe('completed');
      expect(state.output).toBe('The whole answer.');
    },
  );

  it.each([1, 2, 3, 4])('resume after step %d produces the same trace', async (after) => {
    const expected = await byRun();
    const { agent, events } = fresh();
    let state = await agent.nextStep('go');
    for (let i = 1; i < after; i++) state = await agent.nextStep(state);
    state = await agent.resume(stored(state));
    expect(trace(state)).toEqual(trace(expected.state));
    const outcomes = (list: readonly AgentEvent[]) =>
      list.filter((e) => e.type === 'ContinuationEvaluated').map(plain);
    expect(outcomes(events)).toEqual(outcomes(expected.events));
  });

  it('enforces a limit', async () => {
    const limited = () => base(pages(9)).builder.withMaxSteps(3).build();
    const ends: (AgentState | undefined)[] = [await limited().run('go')];
    const iterated = limited();
    for await (const state of iterated.iterate('go')) ends[1] = state;
    ends[2] = await limited().stream('go').state;
    const stepped = limited();
    let state = await stepped.nextStep('go');
    while (stepped.hasNextStep(state)) state = await stepped.nextStep(state);
    ends[3] = state;
    const resumed = limited();
    ends[4] = await resumed.resume(stored(await resumed.nextStep('go')));
    for (const end of ends)
      expect(end).toMatchObject({ stopReason: 'steps_limit', stepCount: 3, status: 'stopped' });
  });
});
