import { AgentBuilder, AgentState, ErrorPolicy, type Grants, type ToolContext } from 'onward';
import { DeterministicDriver, mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { ended, failure, pages } from './setup/grants.ts';

const { toolCall, final } = ScenarioStep;

describe('resume with a grant', () => {
  it('D36: a grant of ten steps adds ten steps and is recorded in the trace', async () => {
    const { agent, state } = await ended(pages(25), (b) => b.withMaxSteps(25));
    const driver = DeterministicDriver.create(pages(10));
    const more = AgentBuilder.base()
      .withDriver(driver)
      .withTools(mockTool('search'))
      .withMaxSteps(25)
      .build();
    expect(agent.name).toBe(more.name);
    const again = await more.resume(state, { grant: { steps: 10 } });
    expect(driver.requests.length).toBe(10);
    expect(again).toMatchObject({ stopReason: 'steps_limit', stepCount: 35 });
    expect(again.execution.grants).toEqual({ steps: 10 });
    expect(again.lastContinuationOutcome?.decisive?.context).toEqual({ used: 35, limit: 35 });
  });

  it('adds up grants across several stops', async () => {
    const driver = DeterministicDriver.create(pages(6));
    const agent = AgentBuilder.base()
      .withDriver(driver)
      .withTools(mockTool('search'))
      .withMaxSteps(2)
      .build();
    let state = await agent.run('go');
    state = await agent.resume(state, { grant: { steps: 1 } });
    expect(state.execution.grants).toEqual({ steps: 1 });
    state = await agent.resume(state, { grant: { steps: 3, tokens: 7 } });
    expect(state.execution.grants).toEqual({ steps: 4, tokens: 7 });
    expect(state.execution).toMatchObject({ answeredSteps: 6, stepCount: 6 });
    expect(driver.remaining).toBe(0);
  });

  it('resets the limits for a new execution', async () => {
    const driver = DeterministicDriver.create([...pages(3), final('done'), ...pages(3)]);
    const agent = AgentBuilder.base()
      .withDriver(driver)
      .withTools(mockTool('search'))
      .withMaxSteps(3)
      .build();
    const done = await agent.resume(await agent.run('go'), { grant: { steps: 3 } });
    expect(done.status).toBe('completed');
    const next = await agent.run(done.withUserMessage('next'));
    expect(next.execution.grants).toEqual({});
    expect(next.lastContinuationOutcome?.decisive?.context).toEqual({ used: 3, limit: 3 });
  });

  it('D35: a run that pauses and resumes after every step never exceeds its limit', async () => {
    const driver = DeterministicDriver.create(pages(99));
    const pausing = mockTool('search', (_args: unknown, { requestPause }: ToolContext) =>
      requestPause('a new owner takes over'),
    );
    const agent = AgentBuilder.base()
      .withDriver(driver)
      .withTools(pausing)
      .withMaxSteps(10)
      .build();
    let state = await agent.run('go');
    let resumes = 0;
    while (state.status === 'paused') {
      resumes += 1;
      state = await agent.resume(AgentState.from(JSON.parse(JSON.stringify(state))));
    }
    expect(resumes).toBe(9);
    expect(driver.requests.length).toBe(10);
    expect(state.lastContinuationOutcome?.decisive).toMatchObject({
      criterion: 'StepsLimit',
      context: { used: 10, limit: 10 },
    });
  });

  it('D35: every counter survives serialization', async () => {
    const { state } = await ended([...pages(1), failure, failure], (b) =>
      b.withErrorPolicy(ErrorPolicy.retryToolErrors(1).withBackoff({ initialMs: 0 })),
    );
    const restored = AgentState.from(JSON.parse(JSON.stringify(state)));
    expect(restored.execution).toEqual(state.execution);
    expect(restored.execution).toMatchObject({
      stepCount: 3,
      answeredSteps: 1,
      consecutiveFailures: 2,
      totalFailures: 2,
    });
    expect(restored.info).toEqual(state.info);
  });

  it('continues a truncated answer and asks the model to continue', async () => {
    const { agent, state, driver } = await ended(
      [final('The partners are', { finishReason: 'length' })],
      (b) => b,
    );
    const reopened = await agent.resume(state, { grant: { steps: 1 } });
    expect(reopened.messages.toJSON().map((m) => [m.role, m.content])).toEqual([
      ['user', 'go'],
      ['assistant', 'The partners are'],
      ['user', 'more budget was granted, continue where you left off'],
      ['assistant', 'done'],
    ]);
    expect(reopened.messages.at(2)?.metadata).toEqual({ synthetic: true });
    expect(driver.requests.at(-1)?.messageCount).toBe(3);
  });

  it('stops again when the next answer is truncated too', async () => {
    const cut = final('and', { finishReason: 'length' });
    const { agent, state } = await ended([cut], (b) => b.withFinishReasons('length', 'stop'));
    const again = await agent.resume(state, { grant: { steps: 1 } });
    expect(again).toMatchObject({ stopReason: 'finish_reason', stepCount: 2 });
  });

  it('passes the grants to custom criteria', async () => {
    const seen: Grants[] = [];
    const { agent, state } = await ended(pages(1), (b) =>
      b.withMaxSteps(1).addContinuationCriteria({
        name: 'Watcher',
        evaluate: (_state, { grants }) => {
          seen.push(grants);
          return 'allow';
        },
      }),
    );
    seen.length = 0;
    await agent.resume(state, { grant: { steps: 2 } });
    expect(seen.length).toBeGreaterThan(0);
    for (const grants of seen) expect(grants).toEqual({ steps: 2 });
  });

  it('starts with the first step if the run was stopped before it', async () => {
    const { agent, state } = await ended(
      [],
      (b) => b,
      (a) => a.run('go', { signal: AbortSignal.abort() }),
    );
    expect(state).toMatchObject({ stopReason: 'user_requested', stepCount: 0 });
    expect(await agent.resume(state, { grant: { steps: 1 } })).toMatchObject({ output: 'done' });
  });

  it('keeps the open call closed if the run was stopped while it waited for approval', async () => {
    const driver = DeterministicDriver.fromSteps(toolCall('delete_all'), 'Understood.');
    const erase = mockTool('delete_all', 'gone', { needsApproval: true });
    const agent = AgentBuilder.base().withDriver(driver).withTools(erase).build();
    const stopped = agent.stop(await agent.run('go'), { reason: 'not today' });
    expect(stopped).toMatchObject({ stopReason: 'user_requested', pendingApprovals: [] });
    const reopened = await agent.resume(stopped, { grant: { steps: 1 } });
    expect(reopened.output).toBe('Understood.');
    expect(erase.calls.length).toBe(0);
    expect(reopened.messages.at(2)).toMatchObject({
      role: 'tool',
      content: 'Not finished: not today.',
    });
  });
});

describe('grants on an open execution', () => {
  it('paused and in-progress executions accept a grant but do not need one', async () => {
    const driver = DeterministicDriver.create([...pages(2), final('done')]);
    const agent = AgentBuilder.base()
      .withDriver(driver)
      .withTools(mockTool('search'))
      .withMaxSteps(2)
      .build();
    const open = await agent.nextStep('go');
    expect(open.status).toBe('in_progress');
    expect(await agent.resume(open)).toMatchObject({ stopReason: 'steps_limit' });
    const other = DeterministicDriver.create([...pages(1), final('done')]);
    const granted = AgentBuilder.base()
      .withDriver(other)
      .withTools(mockTool('search'))
      .withMaxSteps(2)
      .build();
    expect(await granted.resume(open, { grant: { steps: 1 } })).toMatchObject({
      stopReason: 'completed',
      output: 'done',
    });
  });

  it.each<[unknown]>([[{ steps: -1 }], [{ steps: 0 }], [{}], [{ turns: 3 }], [7]])(
    'rejects a grant of %j before anything runs, on open and ended executions',
    async (grant) => {
      const { agent, state, driver } = await ended(pages(1), (b) => b.withMaxSteps(1));
      const open = await AgentBuilder.base()
        .withDriver(DeterministicDriver.create(pages(1)))
        .withTools(mockTool('search'))
        .build()
        .nextStep('go');
      for (const given of [state, open])
        await expect(agent.resume(given, { grant: grant as Grants })).rejects.toMatchObject({
          code: 'invalid_option',
        });
      expect(driver.requests.length).toBe(1);
    },
  );
});
