import {
  AgentState,
  ErrorPolicy,
  pairingProblem,
  type AgentEvent,
  type Grants,
  type StopReason,
} from 'onward';
import { ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { ended, everyGrant, failure, pages, refusal, type Ended } from './setup/grants.ts';

const { final, error } = ScenarioStep;

const kinds = Object.keys(everyGrant) as (keyof Grants)[];

interface Row {
  readonly stopReason: StopReason;
  readonly by: string;
  readonly what: string;
  readonly needs: keyof Grants;
  readonly make: () => Promise<Ended>;
}

const reopenable: readonly Row[] = [
  {
    stopReason: 'steps_limit',
    by: 'StepsLimit',
    what: 'its steps are used',
    needs: 'steps',
    make: () => ended(pages(3), (b) => b.withMaxSteps(3)),
  },
  {
    stopReason: 'token_limit',
    by: 'TokenUsageLimit',
    what: 'its tokens are used',
    needs: 'tokens',
    make: () => ended(pages(2), (b) => b.withMaxTokens(30)),
  },
  {
    stopReason: 'guard',
    by: 'CostLimit',
    what: 'its money is used',
    needs: 'cost',
    make: () => ended(pages(2), (b) => b.withMaxCost(0.02)),
  },
  {
    stopReason: 'time_limit',
    by: 'ExecutionTimeLimit',
    what: 'the deadline cut a hanging model call',
    needs: 'seconds',
    make: () =>
      ended(
        [final('', { hangs: true })],
        (b) => b.withTimeout({ seconds: 10 }),
        async (agent, clock) => {
          const run = agent.run('go');
          await clock.advance(10_000);
          return run;
        },
      ),
  },
  {
    stopReason: 'time_limit',
    by: 'CumulativeExecutionTimeLimit',
    what: 'its working time is used',
    needs: 'seconds',
    make: () =>
      ended(pages(1), (b, clock) =>
        b.withCumulativeTimeout({ seconds: 10 }).withHooks({
          name: 'slow',
          aroundToolCall: (input, next) => {
            clock.jump(12_000);
            return next(input);
          },
        }),
      ),
  },
  {
    stopReason: 'error',
    by: 'ErrorPolicyCriterion',
    what: 'the policy stops on any error',
    needs: 'retries',
    make: () => ended([failure], (b) => b),
  },
  {
    stopReason: 'error',
    by: 'ErrorPolicyCriterion',
    what: 'a model call failed that no retry can fix',
    needs: 'retries',
    make: () =>
      ended([error({ type: 'model', message: '401', retryable: false })], (b) =>
        b.withErrorPolicy(ErrorPolicy.retryAll()),
      ),
  },
  {
    stopReason: 'retry_limit',
    by: 'ErrorPolicyCriterion',
    what: 'its retries are used',
    needs: 'retries',
    make: () =>
      ended([failure, failure], (b) =>
        b.withErrorPolicy(ErrorPolicy.retryToolErrors(1).withBackoff({ initialMs: 0 })),
      ),
  },
  {
    stopReason: 'finish_reason',
    by: 'FinishReasonCheck',
    what: 'the answer was cut off',
    needs: 'steps',
    make: () => ended([final('The partners are', { finishReason: 'length', cost: 0 })], (b) => b),
  },
  {
    stopReason: 'user_requested',
    by: 'StopRequestCheck',
    what: 'a person aborted',
    needs: 'steps',
    make: () => {
      const abort = new AbortController();
      return ended(
        pages(1),
        (b) =>
          b.withHooks({
            name: 'stop button',
            aroundToolCall: (input, next) => {
              abort.abort();
              return next(input);
            },
          }),
        (agent) => agent.run('go', { signal: abort.signal }),
      );
    },
  },
  {
    stopReason: 'user_requested',
    by: 'StopRequestCheck',
    what: 'a person ended it between two steps',
    needs: 'steps',
    make: () =>
      ended(
        pages(1),
        (b) => b,
        async (agent) => agent.stop(await agent.nextStep('go')),
      ),
  },
];

describe.each(reopenable)('$stopReason by $by ($what)', ({ stopReason, by, needs, make }) => {
  it('asks for its grant in the remedy', async () => {
    const { state } = await make();
    expect(state).toMatchObject({ stopReason });
    expect(state.lastContinuationOutcome?.resolvedBy).toBe(by);
    expect(Object.keys(state.lastContinuationOutcome?.decisive?.remedy?.grant ?? {})).toEqual([
      needs,
    ]);
  });

  it('D36: without a grant it is refused, by a text that says why and what is missing', async () => {
    const { agent, state, driver } = await make();
    const before = driver.requests.length;
    const { message, details } = await refusal(agent.resume(state));
    expect(details).toEqual({ stopReason, missing: [needs] });
    const { reason, remedy } = state.lastContinuationOutcome!.decisive!;
    expect(message).toBe(
      `This execution cannot continue yet (${by}: ${reason}). ` +
        `Resume with resume(state, { grant: { ${needs}: ${remedy?.grant?.[needs]} } }) or as much as is needed.`,
    );
    expect(driver.requests.length).toBe(before);
  });

  it('with a grant of every other kind it is refused', async () => {
    const { agent, state } = await make();
    for (const kind of kinds.filter((kind) => kind !== needs)) {
      const { details } = await refusal(agent.resume(state, { grant: { [kind]: 100 } }));
      expect(details['missing'], kind).toEqual([needs]);
    }
    const { [needs]: _right, ...wrong } = everyGrant;
    expect((await refusal(agent.resume(state, { grant: wrong }))).details['missing']).toEqual([
      needs,
    ]);
  });

  it('with what the remedy proposes it continues, from the stored document too', async () => {
    for (const restore of [
      (state: AgentState) => state,
      (state: AgentState) => AgentState.from(JSON.parse(JSON.stringify(state))),
    ]) {
      const { agent, state } = await make();
      const grant = state.lastContinuationOutcome!.decisive!.remedy!.grant!;
      const reopened = await agent.resume(restore(state), { grant });
      expect(reopened).toMatchObject({ status: 'completed', output: 'done' });
      expect(reopened.execution.id).toBe(state.execution.id);
      expect(reopened.execution.grants).toEqual(grant);
      expect(reopened.stepCount).toBe(state.stepCount + 1);
      expect(reopened.steps.at(-1)?.number).toBe(state.stepCount + 1);
      expect(pairingProblem(reopened.messages)).toBeNull();
    }
  });

  it('reopening is judged aloud: the work itself requests it', async () => {
    const { agent, state } = await make();
    const events: AgentEvent[] = [];
    const grant = state.lastContinuationOutcome!.decisive!.remedy!.grant!;
    await agent.resume(state, { grant, wiretap: (e) => events.push(e) });
    expect(events[0]).toMatchObject({ type: 'AgentStarted', resumed: true });
    expect(events[1]).toMatchObject({
      type: 'ContinuationEvaluated',
      stepNumber: state.stepCount,
      outcome: { shouldContinue: true, resolvedBy: 'ToolCallPresenceCheck' },
    });
  });
});
