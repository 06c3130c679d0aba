import { AgentBuilder, AgentState, type AgentEvent } from 'onward';
import { DeterministicDriver, mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { takesAnotherTurn } from './setup/states.ts';

const { toolCall, toolCalls, final } = ScenarioStep;

describe('leaving a stream early', () => {
  const agent = () =>
    AgentBuilder.base()
      .withDriver(DeterministicDriver.fromSteps(toolCall('work', {}, 'Working.'), final('done')))
      .withTools(mockTool('work', () => new Promise((resolve) => setTimeout(resolve, 50, 'ok'))))
      .build();

  it.each(['AgentStarted', 'StreamChunk', 'ToolCallStarted'])(
    'aborts the run at %s, and the state still resolves',
    async (type) => {
      const stream = agent().stream('go');
      for await (const event of stream) if (event.type === type) break;
      const state = await stream.state;
      expect(state).toMatchObject({ status: 'stopped', stopReason: 'user_requested' });
      expect(state.lastContinuationOutcome?.decisive?.reason).toBe('the reader of the stream left');
      await takesAnotherTurn(state);
    },
  );

  it('does not abort after the last event', async () => {
    const stream = agent().stream('go');
    const types: string[] = [];
    for await (const event of stream) types.push(event.type);
    expect(types.at(-1)).toBe('AgentFinished');
    expect(await stream.state).toMatchObject({ status: 'completed', output: 'done' });
  });

  it('does not abort if the stream is never read', async () => {
    expect(await agent().stream('go').state).toMatchObject({ status: 'completed' });
  });

  it('keeps the abort signal of the caller', async () => {
    const controller = new AbortController();
    const stream = agent().stream('go', { signal: controller.signal });
    for await (const event of stream) if (event.type === 'ToolCallStarted') controller.abort('me');
    const state = await stream.state;
    expect(state.lastContinuationOutcome?.decisive?.reason).toBe('me');
  });

  it('misuse rejects both the iterator and the state', async () => {
    const stream = agent().stream(AgentState.empty());
    const read = async () => {
      for await (const _event of stream);
    };
    await expect(read()).rejects.toMatchObject({ code: 'no_new_message' });
    await expect(stream.state).rejects.toMatchObject({ code: 'no_new_message' });
  });
});

describe('leaving iterate() early', () => {
  const make = () => {
    const work = mockTool('work', 'ok');
    const driver = DeterministicDriver.fromSteps(
      toolCall('work', { n: 1 }),
      toolCall('work', { n: 2 }),
      final('done'),
    );
    return {
      work,
      driver,
      agent: AgentBuilder.base().withDriver(driver).withTools(work).build(),
    };
  };

  it('pauses without another model call, and resume continues', async () => {
    const { agent, work, driver } = make();
    const events: AgentEvent[] = [];
    let last: AgentState | undefined;
    for await (const state of agent.iterate('go', { wiretap: (e) => events.push(e) })) {
      last = state;
      break;
    }
    expect(driver.requests).toHaveLength(1);
    expect(last).toMatchObject({ status: 'in_progress', stepCount: 1 });
    expect(events.at(-1)).toMatchObject({ type: 'AgentPaused', kind: 'handover', stepCount: 1 });
    expect(last!.messages.pairingProblem()).toBeNull();
    const state = await agent.resume(JSON.parse(JSON.stringify(last)) as never);
    expect(state).toMatchObject({ status: 'completed', output: 'done', stepCount: 3 });
    expect(work.calls).toEqual([{ n: 1 }, { n: 2 }]);
    expect(state.execution.id).toBe(last!.execution.id);
    await takesAnotherTurn(state);
  });

  it('the next step waits for the consumer', async () => {
    const { agent, driver } = make();
    const counts: number[] = [];
    for await (const state of agent.iterate('go')) {
      await new Promise((resolve) => setTimeout(resolve, 1));
      counts.push(driver.requests.length, state.stepCount);
    }
    expect(counts).toEqual([1, 1, 2, 2, 3, 3]);
  });

  it('an abort ends the iteration', async () => {
    const { agent } = make();
    const controller = new AbortController();
    const states: AgentState[] = [];
    for await (const state of agent.iterate('go', { signal: controller.signal })) {
      states.push(state);
      controller.abort();
    }
    expect(states.at(-1)).toMatchObject({ status: 'stopped', stopReason: 'user_requested' });
    await takesAnotherTurn(states.at(-1)!);
  });

  it('yields the state of a run that ends before its first step', async () => {
    const { agent } = make();
    const states: AgentState[] = [];
    for await (const state of agent.iterate('go', { signal: AbortSignal.abort() }))
      states.push(state);
    expect(states).toMatchObject([{ status: 'stopped', stopReason: 'user_requested' }]);
  });
});

describe('stop(state)', () => {
  const agent = () =>
    AgentBuilder.base()
      .withDriver(
        DeterministicDriver.fromSteps(
          toolCalls([{ name: 'look' }, { name: 'pay' }]),
          final('done'),
        ),
      )
      .withTools(mockTool('look', 'seen'), mockTool('pay', 'paid', { needsApproval: true }))
      .build();

  it('closes the open calls of a paused state and ends as user_requested', async () => {
    const paused = await agent().run('go');
    const events: AgentEvent[] = [];
    const state = agent().stop(JSON.parse(JSON.stringify(paused)) as never, {
      reason: 'closed by support',
      wiretap: (e) => events.push(e),
    });
    expect(state).toMatchObject({ status: 'stopped', stopReason: 'user_requested', pause: null });
    expect(state.pendingApprovals).toEqual([]);
    expect(state.steps.at(-1)!.results.map(({ kind, value }) => [kind, value])).toEqual([
      ['ok', 'seen'],
      ['aborted', 'Not finished: closed by support.'],
    ]);
    expect(events.at(-1)).toMatchObject({ type: 'AgentFinished', stopReason: 'user_requested' });
    await takesAnotherTurn(state);
  });

  it('closes no call between two steps', async () => {
    const one = AgentBuilder.base()
      .withDriver(DeterministicDriver.fromSteps(toolCall('look'), final('done')))
      .withTools(mockTool('look', 'seen'))
      .build();
    const open = await one.nextStep('go');
    const types: string[] = [];
    const state = one.stop(open, { wiretap: ({ type }) => types.push(type) });
    expect(types).toEqual(['ContinuationEvaluated', 'AgentFinished']);
    expect(state).toMatchObject({ status: 'stopped', stopReason: 'user_requested', stepCount: 1 });
    expect(state.lastContinuationOutcome?.decisive?.reason).toBe('a stop was requested');
    await takesAnotherTurn(state);
  });

  it('returns an ended state unchanged', async () => {
    const one = AgentBuilder.base().withDriver(DeterministicDriver.fromResponses('hi')).build();
    const done = await one.run('go');
    expect(one.stop(done)).toBe(done);
  });
});
