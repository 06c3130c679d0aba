import {
  AgentState,
  noProgressLimit,
  sessionCostLimit,
  sessionStepsLimit,
  sessionTimeLimit,
  sessionTokenUsageLimit,
  toolCalledCheck,
  type ContinuationCriterion,
  type Grants,
  type StopReason,
  type ToolContext,
} from 'onward';
import { mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { ended, everyGrant, pages, refusal, type Ended } from './setup/grants.ts';

const { toolCall, final } = ScenarioStep;

describe('stops that no grant can reopen', () => {
  const forbids: ContinuationCriterion = {
    name: 'Mine',
    evaluate: (s) => (s.stepCount > 0 ? 'forbid' : 'allow'),
  };
  const throws: ContinuationCriterion = {
    name: 'Fragile',
    evaluate: (s) => {
      if (s.stepCount > 0) throw new Error('no connection');
      return 'allow';
    },
  };

  it.each<[string, string, StopReason, () => Promise<Ended>]>([
    [
      'a completed answer',
      'ToolCallPresenceCheck',
      'completed',
      () => ended([final('that was it')], (b) => b),
    ],
    [
      'completion by a tool',
      'ToolCalledCheck',
      'completed',
      () => ended(pages(1), (b) => b.addContinuationCriteria(toolCalledCheck('search'))),
    ],
    [
      'session steps',
      'SessionStepsLimit',
      'steps_limit',
      () => ended(pages(1), (b) => b.addContinuationCriteria(sessionStepsLimit(1))),
    ],
    [
      'session tokens',
      'SessionTokenUsageLimit',
      'token_limit',
      () => ended(pages(1), (b) => b.addContinuationCriteria(sessionTokenUsageLimit(1))),
    ],
    [
      'session cost',
      'SessionCostLimit',
      'guard',
      () => ended(pages(1), (b) => b.addContinuationCriteria(sessionCostLimit(0.01))),
    ],
    [
      'session working time',
      'SessionTimeLimit',
      'time_limit',
      () =>
        ended(
          [final('', { hangs: true })],
          (b) => b.addContinuationCriteria(sessionTimeLimit({ seconds: 5 })),
          async (agent, clock) => {
            const run = agent.run('go');
            await clock.advance(5_000);
            return run;
          },
        ),
    ],
    [
      'a custom criterion',
      'Mine',
      'guard',
      () => ended(pages(1), (b) => b.addContinuationCriteria(forbids)),
    ],
    [
      'a criterion that throws',
      'Fragile',
      'error',
      () => ended(pages(1), (b) => b.addContinuationCriteria(throws)),
    ],
    [
      'no progress',
      'NoProgressLimit',
      'guard',
      () => ended(pages(1), (b) => b.addContinuationCriteria(noProgressLimit(1))),
    ],
    [
      'a stop request from a tool',
      'StopRequestCheck',
      'guard',
      () =>
        ended([toolCall('hand_off')], (b) =>
          b.withTools(
            mockTool('hand_off', (_args: unknown, { requestStop }: ToolContext) =>
              requestStop('a person takes over'),
            ),
          ),
        ),
    ],
    [
      'an execution hook that throws',
      'audit',
      'error',
      () =>
        ended(pages(0), (b) =>
          b.withHooks({ name: 'audit', aroundExecution: () => Promise.reject(new Error('x')) }),
        ),
    ],
  ])('%s', async (_what, by, stopReason, make) => {
    const { agent, state, driver } = await make();
    expect(state.stopReason).toBe(stopReason);
    expect(state.lastContinuationOutcome?.resolvedBy).toBe(by);
    const before = driver.requests.length;
    for (const options of [{}, { grant: everyGrant }]) {
      const { message, details } = await refusal(agent.resume(state, options));
      expect(message).toContain(`${by}: ${state.lastContinuationOutcome?.decisive?.reason}`);
      expect(message).toContain('no grant can reopen it. Send a new message');
      expect(details).toEqual({ status: state.status, stopReason, missing: [] });
    }
    expect(driver.requests.length).toBe(before);
  });

  it('a state that never ran', async () => {
    const { agent } = await ended(
      [],
      (b) => b,
      async () => AgentState.empty(),
    );
    const { message } = await refusal(agent.resume(AgentState.empty()));
    expect(message).toBe(
      'This execution is pending (nothing has run yet), and no grant can reopen it. ' +
        'Send a new message: run(state.withUserMessage(...)).',
    );
  });

  it('a used-up session limit next to a step limit', async () => {
    const { agent, state } = await ended(pages(2), (b) =>
      b.withMaxSteps(2).addContinuationCriteria(sessionStepsLimit(2)),
    );
    expect(state.lastContinuationOutcome?.resolvedBy).toBe('StepsLimit');
    const { message } = await refusal(agent.resume(state, { grant: { steps: 5 } }));
    expect(message).toContain('SessionStepsLimit: 2 of 2 steps of the session');
    expect(message).toContain('No grant helps: send a new message.');
  });
});

describe('several limits used up at once', () => {
  const make = () => ended(pages(2), (b) => b.withMaxSteps(2).withMaxTokens(30).withMaxCost(0.02));

  it.each<[Grants | undefined, string[]]>([
    [undefined, ['steps', 'tokens', 'cost']],
    [{ steps: 5 }, ['tokens', 'cost']],
    [{ tokens: 500 }, ['steps', 'cost']],
    [{ steps: 5, cost: 1 }, ['tokens']],
    [{ seconds: 60, retries: 2 }, ['steps', 'tokens', 'cost']],
  ])('%j: the error names all missing grants: %j', async (grant, missing) => {
    const { agent, state } = await make();
    const { message, details } = await refusal(agent.resume(state, grant ? { grant } : {}));
    expect(details['missing']).toEqual(missing);
    for (const kind of missing) expect(message).toMatch(new RegExp(`grant: \\{.*${kind}: `));
  });

  it('a grant for all of them continues the run', async () => {
    const { agent, state } = await make();
    const grant = { steps: 5, tokens: 500, cost: 1 };
    expect(await agent.resume(state, { grant })).toMatchObject({ output: 'done' });
  });

  it('rejects a grant that is too small and names the amount that is needed', async () => {
    const { agent, state } = await ended(pages(1), (b) => b.withMaxTokens(5));
    const { message, details } = await refusal(agent.resume(state, { grant: { tokens: 3 } }));
    expect(details['missing']).toEqual(['tokens']);
    expect(message).toContain('15 of 8 tokens');
    const [, needed] = /tokens: (\d+)/.exec(message) ?? [];
    expect(await agent.resume(state, { grant: { tokens: Number(needed) } })).toMatchObject({
      output: 'done',
    });
  });
});
