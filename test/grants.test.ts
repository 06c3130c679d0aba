import {
  AgentBuilder,
  AgentError,
  AgentState,
  ErrorPolicy,
  noProgressLimit,
  pairingProblem,
  sessionCostLimit,
  sessionStepsLimit,
  sessionTimeLimit,
  sessionTokenUsageLimit,
  toolCalledCheck,
  type Agent,
  type AgentEvent,
  type ContinuationCriterion,
  type Grants,
  type StopReason,
  type ToolContext,
} from 'onward';
import {
  DeterministicDriver,
  fakeClock,
  mockTool,
  ScenarioStep,
  type FakeClock,
} from 'onward/testing';
import { describe, expect, it } from 'vitest';

const { toolCall, final, error } = ScenarioStep;

const everyGrant: Grants = { steps: 50, tokens: 5_000, cost: 50, seconds: 500, retries: 5 };
const kinds = Object.keys(everyGrant) as (keyof Grants)[];

const pages = (n: number): ScenarioStep[] =>
  Array.from({ length: n }, (_, page) => toolCall('search', { page }, '', { cost: 0.01 }));

interface Ended {
  readonly agent: Agent;
  readonly state: AgentState;
  readonly driver: DeterministicDriver;
  readonly clock: FakeClock;
}

/** Runs the script to its stop; the answer `done` is what comes after it. */
async function ended(
  script: readonly ScenarioStep[],
  shaped: (builder: AgentBuilder, clock: FakeClock) => AgentBuilder,
  drive: (agent: Agent, clock: FakeClock) => Promise<AgentState> = (agent) => agent.run('go'),
): Promise<Ended> {
  const clock = fakeClock();
  const driver = DeterministicDriver.create([...script, final('done', { cost: 0.01 })], { clock });
  const builder = AgentBuilder.base()
    .withDriver(driver)
    .withTools(mockTool('search'))
    .withClock(clock);
  const agent = shaped(builder, clock).build();
  const state = await drive(agent, clock);
  expect(driver.requests.length).toBe(script.length);
  return { agent, state, driver, clock };
}

const refusal = (run: Promise<unknown>): Promise<AgentError> =>
  run.then(
    () => Promise.reject(new Error('was not refused')),
    (thrown: unknown) => {
      expect(AgentError.is(thrown, 'not_resumable')).toBe(true);
      return thrown as AgentError;
    },
  );

const failure = error({ type: 'rate_limit', message: '429' });

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
    what: 'a model call failed that no retry can mend',
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
      `This execution cannot go on yet (${by}: ${reason}). ` +
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

  it('with what the remedy proposes it goes on, from the stored document too', async () => {
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

describe('what no grant can reopen', () => {
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
      'completed by a tool',
      'ToolCalledCheck',
      'completed',
      () => ended(pages(1), (b) => b.addContinuationCriteria(toolCalledCheck('search'))),
    ],
    [
      'the session’s steps',
      'SessionStepsLimit',
      'steps_limit',
      () => ended(pages(1), (b) => b.addContinuationCriteria(sessionStepsLimit(1))),
    ],
    [
      'the session’s tokens',
      'SessionTokenUsageLimit',
      'token_limit',
      () => ended(pages(1), (b) => b.addContinuationCriteria(sessionTokenUsageLimit(1))),
    ],
    [
      'the session’s money',
      'SessionCostLimit',
      'guard',
      () => ended(pages(1), (b) => b.addContinuationCriteria(sessionCostLimit(0.01))),
    ],
    [
      'the session’s working time',
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
      'a criterion of one’s own',
      'Mine',
      'guard',
      () => ended(pages(1), (b) => b.addContinuationCriteria(forbids)),
    ],
    [
      'a criterion that threw',
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
      'a tool that asked for the stop',
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
      'a hook around the execution that threw',
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

  it('nothing that ever ran: there is nothing to resume', async () => {
    const { agent } = await ended(
      [],
      (b) => b,
      async () => AgentState.empty(),
    );
    const { message } = await refusal(agent.resume(AgentState.empty()));
    expect(message).toBe(
      'This execution is pending (nothing was run yet), and no grant can reopen it. ' +
        'Send a new message: run(state.withUserMessage(...)).',
    );
  });

  it('a spent limit of the session beside one of the execution: no grant lifts that', async () => {
    const { agent, state } = await ended(pages(2), (b) =>
      b.withMaxSteps(2).addContinuationCriteria(sessionStepsLimit(2)),
    );
    expect(state.lastContinuationOutcome?.resolvedBy).toBe('StepsLimit');
    const { message } = await refusal(agent.resume(state, { grant: { steps: 5 } }));
    expect(message).toContain('SessionStepsLimit: 2 of 2 steps of the session');
    expect(message).toContain('No grant can lift that: send a new message.');
  });
});

describe('several limits spent at once', () => {
  const make = () => ended(pages(2), (b) => b.withMaxSteps(2).withMaxTokens(30).withMaxCost(0.02));

  it.each<[Grants | undefined, string[]]>([
    [undefined, ['steps', 'tokens', 'cost']],
    [{ steps: 5 }, ['tokens', 'cost']],
    [{ tokens: 500 }, ['steps', 'cost']],
    [{ steps: 5, cost: 1 }, ['tokens']],
    [{ seconds: 60, retries: 2 }, ['steps', 'tokens', 'cost']],
  ])('%j: the refusal names all that is missing: %j', async (grant, missing) => {
    const { agent, state } = await make();
    const { message, details } = await refusal(agent.resume(state, grant ? { grant } : {}));
    expect(details['missing']).toEqual(missing);
    for (const kind of missing) expect(message).toMatch(new RegExp(`grant: \\{.*${kind}: `));
  });

  it('all of them together let it go on', async () => {
    const { agent, state } = await make();
    const grant = { steps: 5, tokens: 500, cost: 1 };
    expect(await agent.resume(state, { grant })).toMatchObject({ output: 'done' });
  });

  it('too little of one is as good as none, and the refusal says how much is needed', async () => {
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

describe('after the grant', () => {
  it('D36: plus ten steps are ten more steps, recorded in the trace', async () => {
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

  it('grants add up from stop to stop', async () => {
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

  it('a new execution starts with its own limits again', async () => {
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

  it('D35: a run that is paused and resumed after every step never exceeds its limit', async () => {
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

  it('D35: every counter survives the stored document', async () => {
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

  it('an answer that was cut off is continued, and the model is told so', async () => {
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

  it('a second answer that is cut off stops again: only the first is settled', async () => {
    const cut = final('and', { finishReason: 'length' });
    const { agent, state } = await ended([cut], (b) => b.withFinishReasons('length', 'stop'));
    const again = await agent.resume(state, { grant: { steps: 1 } });
    expect(again).toMatchObject({ stopReason: 'finish_reason', stepCount: 2 });
  });

  it('criteria of one’s own see the grants', async () => {
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

  it('a stop before the first step is picked up as a first step', async () => {
    const { agent, state } = await ended(
      [],
      (b) => b,
      (a) => a.run('go', { signal: AbortSignal.abort() }),
    );
    expect(state).toMatchObject({ stopReason: 'user_requested', stepCount: 0 });
    expect(await agent.resume(state, { grant: { steps: 1 } })).toMatchObject({ output: 'done' });
  });

  it('a run that was stopped while it waited for approval goes on with its call sealed', async () => {
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

describe('failures after the grant', () => {
  const again = (script: readonly ScenarioStep[], policy: ErrorPolicy) => {
    const driver = DeterministicDriver.create(script);
    const agent = AgentBuilder.base()
      .withDriver(driver)
      .withTools(mockTool('search', new Error('offline')), mockTool('fine'))
      .withErrorPolicy(policy.withBackoff({ initialMs: 0 }))
      .build();
    return { driver, agent };
  };

  it.each<[number, number]>([
    [1, 1],
    [2, 2],
    [3, 3],
  ])('%d granted retries are %d more tries', async (retries, tries) => {
    const { driver, agent } = again(Array(9).fill(failure), ErrorPolicy.retryToolErrors(1));
    const state = await agent.run('go');
    expect(driver.requests.length).toBe(2);
    const reopened = await agent.resume(state, { grant: { retries } });
    expect(driver.requests.length).toBe(2 + tries);
    expect(reopened).toMatchObject({ status: 'failed', stopReason: 'retry_limit' });
    expect(reopened.lastContinuationOutcome?.decisive?.context).toMatchObject({
      consecutiveFailures: 2 + tries,
      maxRetries: 1 + retries,
    });
  });

  it('counters stay, and a clean step resets them as ever', async () => {
    const { driver, agent } = again(
      [failure, failure, toolCall('fine'), failure, failure, failure, failure],
      ErrorPolicy.retryToolErrors(1),
    );
    const state = await agent.run('go');
    const reopened = await agent.resume(state, { grant: { retries: 1 } });
    expect(driver.requests.length).toBe(6);
    expect(reopened.execution).toMatchObject({ consecutiveFailures: 3, totalFailures: 5 });
    expect(reopened.stopReason).toBe('retry_limit');
  });

  it('a later failure is judged by the policy: what it stops on, it stops on', async () => {
    const { driver, agent } = again(
      [toolCall('search'), toolCall('search')],
      ErrorPolicy.stopOnAnyError(),
    );
    const state = await agent.run('go');
    const reopened = await agent.resume(state, { grant: { retries: 5 } });
    expect(driver.requests.length).toBe(2);
    expect(reopened).toMatchObject({ status: 'failed', stopReason: 'error' });
  });

  it('retryable: false is read as retry once, and as stop the next time', async () => {
    const refused = error({ type: 'model', code: 'auth', message: '401', retryable: false });
    const { driver, agent } = again([refused, refused, final('done')], ErrorPolicy.retryAll());
    let state = await agent.run('go');
    expect(state).toMatchObject({ stopReason: 'error', stepCount: 1 });
    state = await agent.resume(state, { grant: { retries: 1 } });
    expect(state).toMatchObject({ stopReason: 'error', stepCount: 2 });
    state = await agent.resume(state, { grant: { retries: 1 } });
    expect(state).toMatchObject({ stopReason: 'completed', output: 'done' });
    expect([...state.steps].map((s) => s.attempt)).toEqual([1, 2, 3]);
    expect(driver.remaining).toBe(0);
  });

  it('the model call that is tried again sends the same messages', async () => {
    const { driver, agent } = again([failure, final('done')], ErrorPolicy.stopOnAnyError());
    const state = await agent.run('go');
    await agent.resume(state, { grant: { retries: 1 } });
    expect(driver.requests.map((r) => r.messageCount)).toEqual([1, 1]);
  });

  it('a tool that failed before the deadline cut the step asks for no retries of its own', async () => {
    const clock = fakeClock();
    const driver = DeterministicDriver.create(
      [ScenarioStep.toolCalls([{ name: 'breaks' }, { name: 'hangs' }]), final('done')],
      { clock },
    );
    const agent = AgentBuilder.base()
      .withDriver(driver)
      .withTools(
        mockTool('breaks', new Error('offline')),
        mockTool('hangs', () => new Promise(() => {})),
      )
      .withTimeout({ seconds: 10 })
      .withClock(clock)
      .build();
    const run = agent.run('go');
    await clock.advance(10_000);
    const state = await run;
    expect(state).toMatchObject({ stopReason: 'time_limit' });
    expect(state.execution).toMatchObject({ consecutiveFailures: 0, totalFailures: 0 });
    expect(state.lastContinuationOutcome?.evaluationFor('ErrorPolicyCriterion')?.decision).toBe(
      'allow',
    );
    expect(await agent.resume(state, { grant: { seconds: 5 } })).toMatchObject({ output: 'done' });
  });
});

describe('time after the grant', () => {
  it('the reopened stretch has exactly the granted seconds, each time', async () => {
    const clock = fakeClock();
    const hangs = final('', { hangs: true });
    const driver = DeterministicDriver.create([hangs, hangs, hangs], { clock });
    const agent = AgentBuilder.base()
      .withDriver(driver)
      .withTimeout({ seconds: 10 })
      .withClock(clock)
      .build();
    const run = agent.run('go');
    await clock.advance(10_000);
    let state = await run;

    for (const seconds of [5, 3]) {
      clock.jump(86_400_000);
      let isOver = false;
      const resumed = agent.resume(state, { grant: { seconds } });
      void resumed.then(() => (isOver = true));
      await clock.advance(seconds * 1_000 - 1);
      expect(isOver).toBe(false);
      await clock.advance(1);
      state = await resumed;
      expect(state.stopReason).toBe('time_limit');
      expect(state.lastContinuationOutcome?.decisive?.context).toEqual({
        used: seconds,
        limit: seconds,
      });
    }
    expect(state.execution).toMatchObject({ grants: { seconds: 8 }, cumulativeSeconds: 18 });
  });

  it('a stop over a wait that was too long: after the grant the call is tried again at once', async () => {
    const clock = fakeClock();
    const driver = DeterministicDriver.create(
      [error({ type: 'rate_limit', message: '429', retryAfterMs: 25_000 }), final('done')],
      { clock },
    );
    const agent = AgentBuilder.base()
      .withDriver(driver)
      .withTimeout({ seconds: 20 })
      .withErrorPolicy(ErrorPolicy.retryAll())
      .withClock(clock)
      .build();
    const state = await agent.run('go');
    expect(state.stopReason).toBe('time_limit');
    const reopened = await agent.resume(state, { grant: { seconds: 5 } });
    expect(reopened).toMatchObject({ status: 'completed', output: 'done' });
    expect(reopened.execution.cumulativeSeconds).toBe(0);
  });

  it('working time is an account: the grant comes on top of what was used', async () => {
    const clock = fakeClock();
    const driver = DeterministicDriver.create(pages(3), { clock });
    const agent = AgentBuilder.base()
      .withDriver(driver)
      .withTools(mockTool('search', () => clock.jump(6_000)))
      .withCumulativeTimeout({ seconds: 10 })
      .withClock(clock)
      .build();
    const state = await agent.run('go');
    expect(state.lastContinuationOutcome?.decisive?.context).toEqual({ used: 12, limit: 10 });
    const reopened = await agent.resume(state, { grant: { seconds: 5 } });
    expect(reopened.lastContinuationOutcome?.decisive?.context).toEqual({ used: 18, limit: 15 });
  });
});

describe('grants on an open execution', () => {
  it('paused and in-progress executions need none, and take one', async () => {
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
    'a grant of %j is refused before anything runs, open or ended',
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
