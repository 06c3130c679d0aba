import { AgentBuilder, AgentState, ErrorPolicy, type Agent } from 'onward';
import { DeterministicDriver, mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { refusal } from './setup/sessions.ts';

const driver = () => DeterministicDriver.fromResponses('hello');

const base = () => AgentBuilder.base().withDriver(driver());

describe('misuse of a state is rejected before anything runs', () => {
  const paused = async (agent: Agent): Promise<AgentState> => {
    const state = await agent.run('go');
    expect(state.status).toBe('paused');
    return state;
  };
  const approving = () =>
    AgentBuilder.base()
      .withName('support')
      .withDriver(DeterministicDriver.fromSteps(ScenarioStep.toolCall('refund')))
      .withTools(mockTool('refund', 'ok', { needsApproval: true }))
      .build();

  it('the error for a state of another agent names both agents', async () => {
    const state = await base().withName('support').build().run('hi');
    const sales = base().withName('sales').build();
    const next = state.withUserMessage('more');
    const ways: readonly (() => unknown)[] = [
      () => sales.run(next),
      () => sales.resume(next),
      () => sales.stop(next),
      () => sales.nextStep(next),
      () => sales.iterate(next).next(),
      () => sales.stream(next).state,
    ];
    for (const way of ways) {
      const error = await refusal(way);
      expect(error.code).toBe('foreign_state');
      expect(error.message).toContain('agent "support"');
      expect(error.message).toContain('agent "sales"');
      expect(error.message).toContain('state.withAgentName(...)');
      expect(error.details).toEqual({ stateAgent: 'support', agent: 'sales' });
    }
  });

  it('a state that was renamed with withAgentName() continues', async () => {
    const state = await base().withName('support').build().run('hi');
    const moved = state.withAgentName('sales').withUserMessage('more');
    const next = await base().withName('sales').build().run(moved);
    expect(next).toMatchObject({ output: 'hello', agentName: 'sales' });
    expect(next.messages.pairingProblem()).toBeNull();
  });

  it('the error for run() on a paused state names resume()', async () => {
    const agent = approving();
    const state = await paused(agent);
    for (const way of [() => agent.run(state), () => agent.nextStep(state)]) {
      const error = await refusal(way);
      expect(error.code).toBe('execution_open');
      expect(error.message).toContain('is paused');
      expect(error.message).toContain('resume(state, { approvals })');
      expect(error.message).toContain('stop(state)');
    }
  });

  it('the error for run() on a state in progress names resume()', async () => {
    const agent = AgentBuilder.base()
      .withDriver(
        DeterministicDriver.fromSteps(ScenarioStep.toolCall('search'), ScenarioStep.final('done')),
      )
      .withTools(mockTool('search'))
      .build();
    const state = await agent.nextStep('go');
    expect(state.status).toBe('in_progress');
    const error = await refusal(() => agent.run(state));
    expect(error.code).toBe('execution_open');
    expect(error.message).toContain('is in_progress');
    expect(error.message).toContain('resume(state)');
    expect((await agent.resume(state)).output).toBe('done');
  });

  it.each<[string, () => Promise<AgentState> | AgentState, string]>([
    ['no messages', () => AgentState.empty(), 'pending with no messages'],
    [
      'an ended run',
      () => base().build().run('hi'),
      'completed with a last message of role assist',
    ],
    [
      'a last message that is not from the user',
      async () =>
        (await base().build().run('hi')).withMessages({ role: 'assistant', content: 'and more' }),
      'pending with a last message of role assistant',
    ],
  ])('run() without a new message: %s', async (_case, make, seen) => {
    const error = await refusal(async () =>
      base()
        .build()
        .run(await make()),
    );
    expect(error.code).toBe('no_new_message');
    expect(error.message).toContain(seen);
    expect(error.message).toContain('state.withUserMessage(...)');
  });

  it('rejects a user message while tool calls are open', async () => {
    const state = await paused(approving());
    const error = await refusal(() => state.withUserMessage('hurry up'));
    expect(error.code).toBe('execution_open');
    expect(error.message).toContain('resume(state, { approvals })');
    expect(state.messages.last()!.toolCalls).toHaveLength(1);
  });

  it('rejects resume() with another execution id or an invalid grant', async () => {
    const agent = approving();
    const state = await paused(agent);
    expect(await refusal(() => agent.resume(state, { executionId: 'other' }))).toMatchObject({
      code: 'invalid_option',
      message: expect.stringContaining(state.execution.id),
    });
    for (const grant of [{ steps: -5 }, {}, { favors: 3 }, { steps: '5' }])
      expect(await refusal(() => agent.resume(state, { grant: odd(grant) }))).toMatchObject({
        code: 'invalid_option',
        message: expect.stringContaining('amounts above 0 for steps, tokens, cost'),
      });
  });

  it('rejects resume() of an ended run without a grant, and of a run that never started', async () => {
    const agent = base().build();
    const done = await agent.run('hi');
    expect(await refusal(() => agent.resume(done))).toMatchObject({ code: 'not_resumable' });
    expect(await refusal(() => agent.resume(AgentState.empty()))).toMatchObject({
      code: 'not_resumable',
      message: expect.stringContaining('nothing has run yet'),
    });
  });

  it('an exhausted script rejects, so that no test passes on an invented answer', async () => {
    const agent = AgentBuilder.base()
      .withDriver(DeterministicDriver.fromSteps(ScenarioStep.toolCall('search')))
      .withTools(mockTool('search'))
      .withErrorPolicy(ErrorPolicy.retryAll())
      .build();
    expect(await refusal(() => agent.run('go'))).toMatchObject({ code: 'script_exhausted' });
  });

  const odd = (value: unknown): never => value as never;
});
