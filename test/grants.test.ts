import { AgentState, ErrorPolicy, type AgentEvent, type Grants, type StopReason } from 'onward';
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
    what: 'steps used up',
    needs: 'steps',
    make: () => ended(pages(3), (b) => b.withMaxSteps(3)),
  },
  {
    stopReason: 'token_limit',
    by: 'TokenUsageLimit',
    what: 'tokens used up',
    needs: 'tokens',
    make: () => ended(pages(2), (b) => b.withMaxTokens(30)),
  },
  {
    stopReason: 'guard',
    by: 'CostLimit',
    what: 'cost used up',
    needs: 'cost',
    make: () => ended(pages(2), (b) => b.withMaxCost(0.02)),
  },
  {
    stopReason: 'time_limit',
    by: 'ExecutionTimeLimit',
    what: 'the deadline interrupted a model call',
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
    what: 'working time used up',
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
    what: 'the model error is not retryable',
    needs: 'retries',
    make: () =>
      ended([error({ type: 'model', message: '401', retryable: false })], (b) =>
        b.withErrorPolicy(ErrorPolicy.retryAll()),
      ),
  },
  {
    stopReason: 'retry_limit',
    by: 'ErrorPolicyCriterion',
    what: 'retries used up',
    needs: 'retries',
    make: () =>
      ended([failure, failure], (b) =>
        b.withErrorPolicy(ErrorPolicy.retryToolErrors(1).withBackoff({ initialMs: 0 })),
      ),
  },
  {
    stopReason: 'finish_reason',
    by: 'FinishReasonCheck',
    what: 'the answer was truncated',
    needs: 'steps',
    make: () => ended([final('The partners are', { finishReason: 'length', cost: 0 })], (b) => b),
  },
  {
    stopReason: 'user_requested',
    by: 'StopRequestCheck',
    what: 'the user aborted',
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
    what: 'the user stopped it between two steps',
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
  it('the remedy names the grant', async () => {
    const { state } = await make();
    expect(state).toMatchObject({ stopReason });
    expect(state.lastContinuationOutcome?.resolvedBy).toBe(by);
    expect(Object.keys(state.lastContinuationOutcome?.decisive?.remedy?.grant ?? {})).toEqual([
      needs,
    ]);
  });

  it('D36: resume() without a grant is rejected with the reason and the missing grant', async () => {
    const { agent, state, driver } = await make();
    const before = driver.requests.length;
    const { message, details } = await refusal(agent.resume(state));
    expect(details).toEqual({ stopReason, missing: [needs] });
    const { reason, remedy } = state.lastContinuationOutcome!.decisive!;
    expect(message).toBe(
      `This execution cannot continue yet (${by}: ${reason}). ` +
        `Call resume(state, { grant: { ${needs}: ${remedy?.grant?.[needs]} } }), or grant as much as is needed.`,
    );
    expect(driver.requests.length).toBe(before);
  });

  it('resume() with only other kinds of grants is rejected', async () => {
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

  it('resume() with the grant from the remedy continues, also from JSON', async () => {
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
      expect(reopened.messages.pairingProblem()).toBeNull();
    }
  });

  it('resume() emits an outcome that continues', async () => {
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
