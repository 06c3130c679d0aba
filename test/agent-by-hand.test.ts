import { AgentBuilder, AgentState, ErrorPolicy, type AgentEvent } from 'onward';
import { DeterministicDriver, fakeClock, mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';

describe('manual stepping is equivalent to run()', () => {
  const script = () => [
    ScenarioStep.toolCall('search', { q: 1 }, 'Looking.', { cost: 0.5 }),
    ScenarioStep.toolCalls([
      { name: 'search', args: { q: 2 } },
      { name: 'bad', args: {} },
    ]),
    ScenarioStep.error({ type: 'timeout', message: 'gateway' }),
    ScenarioStep.stream(['All ', 'done.']),
  ];

  const make = () => {
    const clock = fakeClock();
    const agent = AgentBuilder.base()
      .withName('support')
      .withDriver(DeterministicDriver.fromSteps(...script()))
      .withTools(mockTool('search', 'found'), mockTool('bad', new Error('broken')))
      .withErrorPolicy(ErrorPolicy.retryToolErrors(3).withBackoff({ initialMs: 0, maxMs: 0 }))
      .withClock(clock)
      .build();
    return agent;
  };

  /** The events without random ids and positions. */
  const trace = (events: readonly AgentEvent[]) =>
    events.map(({ index: _index, ...event }) => ({ ...event, agentId: '', messageId: '' }));

  const record = (state: AgentState) => {
    const steps = [...state.steps].map((step) => ({ ...step, id: '', messageIds: [] }));
    const messages = state.messages.toJSON().map((message) => ({ ...message, id: '' }));
    const { status, usage, cost, output, execution, info, lastContinuationOutcome } = state;
    return {
      steps,
      messages,
      status,
      usage,
      cost,
      output,
      execution,
      info,
      lastContinuationOutcome,
    };
  };

  it('nextStep and hasNextStep produce the same steps, messages, totals and events', async () => {
    const options = (events: AgentEvent[]) => ({
      executionId: 'exec-1',
      wiretap: (event: AgentEvent) => void events.push(event),
    });
    const ran: AgentEvent[] = [];
    const whole = await make().run('go', options(ran));

    const driven: AgentEvent[] = [];
    const agent = make();
    const start = AgentState.empty({ now: fakeClock().now() }).withUserMessage('go', {
      createdAt: whole.messages.at(0)!.createdAt,
    });
    let state: AgentState = start;
    const counts: number[] = [];
    expect(agent.hasNextStep(AgentState.empty())).toBe(false);
    while (agent.hasNextStep(state)) {
      state = await agent.nextStep(state, options(driven));
      counts.push(state.stepCount);
    }
    expect(counts).toEqual([1, 2, 3, 4]);
    expect(record(state)).toEqual(record(whole));
    expect(trace(driven)).toEqual(trace(ran));
    expect(state.output).toBe('All done.');
    expect(state.messages.pairingProblem()).toBeNull();
  });

  it('iterate and stream produce the same steps', async () => {
    const whole = await make().run('go', { executionId: 'exec-1', wiretap: () => {} });
    const states: AgentState[] = [];
    for await (const state of make().iterate('go', { executionId: 'exec-1', wiretap: () => {} }))
      states.push(state);
    expect(states.map(({ stepCount }) => stepCount)).toEqual([1, 2, 3, 4]);
    const plain = (state: AgentState) => record(state).steps;
    expect(plain(states.at(-1)!)).toEqual(plain(whole));
    const stream = make().stream('go', { executionId: 'exec-1' });
    const types: string[] = [];
    for await (const event of stream) types.push(event.type);
    expect(plain(await stream.state)).toEqual(plain(whole));
    expect(types[0]).toBe('AgentStarted');
    expect(types.at(-1)).toBe('AgentFinished');
  });

  it('hasNextStep reads the stored outcome, also from JSON', async () => {
    const agent = make();
    const state = await agent.nextStep('go');
    expect(agent.hasNextStep(JSON.parse(JSON.stringify(state)) as never)).toBe(true);
    const done = await agent.resume(state);
    expect(agent.hasNextStep(done)).toBe(false);
    expect(agent.hasNextStep(done.withUserMessage('more'))).toBe(true);
  });
});
