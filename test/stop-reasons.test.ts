import {
  AgentBuilder,
  AgentState,
  defineTool,
  ErrorPolicy,
  noProgressLimit,
  sessionStepsLimit,
  StopReason,
  toolCalledCheck,
} from 'onward';
import { DeterministicDriver, fakeClock, mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { statusOf } from '../src/agent/agent-status.ts';
import { pages } from './setup/scripts.ts';

const { toolCall, final, error } = ScenarioStep;

const search = mockTool('search', { hits: 0 });

const base = (...script: readonly ScenarioStep[]) =>
  AgentBuilder.base()
    .withDriver(DeterministicDriver.fromSteps(...script))
    .withTools(search)
    .withClock(fakeClock());

/** The explanation of a run. Checks that it survives a JSON round trip. */
async function explained(run: Promise<AgentState>, stopReason: StopReason): Promise<string> {
  const state = await run;
  expect(state.stopReason).toBe(stopReason);
  expect(state.status).toBe(statusOf(stopReason));
  const restored = AgentState.from(JSON.parse(JSON.stringify(state)));
  const text = state.lastContinuationOutcome!.explain();
  expect(restored.lastContinuationOutcome!.explain()).toBe(text);
  expect(state.steps.at(-1)?.outcome ?? state.lastContinuationOutcome).toBe(
    state.lastContinuationOutcome,
  );
  return text;
}

describe('explain() for each stop reason', () => {
  it('completed', async () => {
    const agent = base(toolCall('search'), final('Nothing found.')).build();
    expect(await explained(agent.run('Look for Acme.'), 'completed')).toMatchInlineSnapshot(`
      "Completed (ToolCallPresenceCheck): the answer asks for no tools.
        allow    StepsLimit             2 of 20 steps
        allow    ExecutionTimeLimit     0 of 300 seconds
        allow    FinishReasonCheck      finish reason stop
        allow    ErrorPolicyCriterion   no error
        allow    StopRequestCheck       no stop requested
        stop     ToolCallPresenceCheck  the answer asks for no tools"
    `);
  });

  it('completed by a tool', async () => {
    const agent = base(toolCall('search'))
      .addContinuationCriteria(toolCalledCheck('search'))
      .build();
    expect(await explained(agent.run('Look for Acme.'), 'completed')).toMatchInlineSnapshot(`
      "Completed (ToolCalledCheck): the tool search was called.
        allow    StepsLimit             1 of 20 steps
        allow    ExecutionTimeLimit     0 of 300 seconds
        allow    FinishReasonCheck      finish reason tool_calls
        allow    ErrorPolicyCriterion   no error
        allow    StopRequestCheck       no stop requested
        request  ToolCallPresenceCheck  the model called search
        forbid   ToolCalledCheck        the tool search was called"
    `);
  });

  it('D02: steps_limit', async () => {
    const agent = base(...pages(4))
      .withMaxSteps(4)
      .build();
    expect(await explained(agent.run('Look for Acme.'), 'steps_limit')).toMatchInlineSnapshot(`
      "Stopped (steps_limit) by StepsLimit: 4 of 4 steps used while work is still pending.
      To continue: call resume(state, { grant: { steps: 4 } }), or raise the limit with withMaxSteps(...).
        forbid   StepsLimit             4 of 4 steps used while work is still pending
        allow    ExecutionTimeLimit     0 of 300 seconds
        allow    FinishReasonCheck      finish reason tool_calls
        allow    ErrorPolicyCriterion   no error
        allow    StopRequestCheck       no stop requested
        request  ToolCallPresenceCheck  the model called search"
    `);
  });

  it('steps_limit with a soft landing', async () => {
    const agent = base(...pages(3), final('Three pages, nothing found so far.'))
      .withMaxSteps(4)
      .withSoftLanding()
      .build();
    expect(await explained(agent.run('Look for Acme.'), 'steps_limit')).toMatchInlineSnapshot(`
      "Stopped (steps_limit) by StepsLimit: 4 of 4 steps used, and this last step was kept for an answer without tools.
      To continue: call resume(state, { grant: { steps: 4 } }), or raise the limit with withMaxSteps(...).
        forbid   StepsLimit             4 of 4 steps used, and this last step was kept for an answer without tools
        allow    ExecutionTimeLimit     0 of 300 seconds
        allow    FinishReasonCheck      finish reason stop
        allow    ErrorPolicyCriterion   no error
        allow    StopRequestCheck       no stop requested
        stop     ToolCallPresenceCheck  the answer asks for no tools"
    `);
  });

  it('steps_limit by a session limit', async () => {
    const agent = base(...pages(2))
      .addContinuationCriteria(sessionStepsLimit(2))
      .build();
    expect(await explained(agent.run('Look for Acme.'), 'steps_limit')).toMatchInlineSnapshot(`
      "Stopped (steps_limit) by SessionStepsLimit: 2 of 2 steps of the session used while work is still pending.
      To continue: raise the limit with sessionStepsLimit(...), then send a new message.
        allow    StepsLimit             2 of 20 steps
        allow    ExecutionTimeLimit     0 of 300 seconds
        allow    FinishReasonCheck      finish reason tool_calls
        allow    ErrorPolicyCriterion   no error
        allow    StopRequestCheck       no stop requested
        request  ToolCallPresenceCheck  the model called search
        forbid   SessionStepsLimit      2 of 2 steps of the session used while work is still pending"
    `);
  });

  it('token_limit', async () => {
    const agent = base(...pages(2, { usage: { input: 700, output: 100 } }))
      .withMaxTokens(1_500)
      .build();
    expect(await explained(agent.run('Look for Acme.'), 'token_limit')).toMatchInlineSnapshot(`
      "Stopped (token_limit) by TokenUsageLimit: 1600 of 1500 tokens used while work is still pending.
      To continue: call resume(state, { grant: { tokens: 1600 } }), or raise the limit with withMaxTokens(...).
        allow    StepsLimit             2 of 20 steps
        forbid   TokenUsageLimit        1600 of 1500 tokens used while work is still pending
        allow    ExecutionTimeLimit     0 of 300 seconds
        allow    FinishReasonCheck      finish reason tool_calls
        allow    ErrorPolicyCriterion   no error
        allow    StopRequestCheck       no stop requested
        request  ToolCallPresenceCheck  the model called search"
    `);
  });

  it('time_limit by a hanging tool', async () => {
    const clock = fakeClock();
    const hangs = mockTool('search', () => new Promise(() => {}));
    const agent = AgentBuilder.base()
      .withDriver(DeterministicDriver.fromSteps(toolCall('search')))
      .withTools(hangs)
      .withTimeout({ seconds: 30 })
      .withClock(clock)
      .build();
    const run = agent.run('Look for Acme.');
    await clock.advance(30_000);
    expect(await explained(run, 'time_limit')).toMatchInlineSnapshot(`
      "Stopped (time_limit) by ExecutionTimeLimit: 30 of 30 seconds used while work is still pending.
      To continue: call resume(state, { grant: { seconds: 45 } }), or raise the limit with withTimeout({ seconds }).
        allow    StepsLimit             0 of 20 steps
        forbid   ExecutionTimeLimit     30 of 30 seconds used while work is still pending
        allow    FinishReasonCheck      finish reason tool_calls
        allow    ErrorPolicyCriterion   no error
        allow    StopRequestCheck       no stop requested
        request  ToolCallPresenceCheck  the model called search"
    `);
  });

  it('time_limit by a wait that is too long', async () => {
    const agent = base(error({ type: 'rate_limit', message: '429', retryAfterMs: 45_000 }))
      .withErrorPolicy(ErrorPolicy.retryToolErrors(3))
      .withCumulativeTimeout({ seconds: 30 })
      .build();
    expect(await explained(agent.run('Look for Acme.'), 'time_limit')).toMatchInlineSnapshot(`
      "Stopped (time_limit) by CumulativeExecutionTimeLimit: 0 of 30 working seconds used, and the next try would have to wait 45 seconds.
      To continue: wait until 2026-01-16T12:00:45.000Z, then call resume(state, { grant: { seconds: 30 } }), or raise the limit with withCumulativeTimeout({ seconds }).
        allow    StepsLimit                    0 of 20 steps
        forbid   CumulativeExecutionTimeLimit  0 of 30 working seconds used, and the next try would have to wait 45 seconds
        allow    FinishReasonCheck             no answer to judge
        allow    ErrorPolicyCriterion          rate limit error, retrying (1/3)
        allow    StopRequestCheck              no stop requested
        request  ToolCallPresenceCheck         the model call failed, so there is no answer yet"
    `);
  });

  it('error', async () => {
    const agent = AgentBuilder.base()
      .withDriver(DeterministicDriver.fromSteps(toolCall('search')))
      .withTools(mockTool('search', new Error('the index is offline')))
      .withClock(fakeClock())
      .build();
    expect(await explained(agent.run('Look for Acme.'), 'error')).toMatchInlineSnapshot(`
      "Stopped (error) by ErrorPolicyCriterion: tool error in search (the index is offline), and the policy stops on tool errors.
      To continue: fix the cause, then call resume(state, { grant: { retries: 1 } }), or retry these errors with withErrorPolicy(ErrorPolicy.production()).
        allow    StepsLimit             1 of 20 steps
        allow    ExecutionTimeLimit     0 of 300 seconds
        allow    FinishReasonCheck      finish reason tool_calls
        forbid   ErrorPolicyCriterion   tool error in search (the index is offline), and the policy stops on tool errors
        allow    StopRequestCheck       no stop requested
        request  ToolCallPresenceCheck  the model called search"
    `);
  });

  it('error from a model call that is not retryable', async () => {
    const agent = base(
      error({ type: 'model', code: 'auth', message: '401 invalid key', retryable: false }),
    )
      .withErrorPolicy(ErrorPolicy.retryAll())
      .build();
    expect(await explained(agent.run('Look for Acme.'), 'error')).toMatchInlineSnapshot(`
      "Stopped (error) by ErrorPolicyCriterion: model error (401 invalid key), which is not retryable.
      To continue: set a valid API key, then call resume(state, { grant: { retries: 1 } }).
        allow    StepsLimit             0 of 20 steps
        allow    ExecutionTimeLimit     0 of 300 seconds
        allow    FinishReasonCheck      no answer to judge
        forbid   ErrorPolicyCriterion   model error (401 invalid key), which is not retryable
        allow    StopRequestCheck       no stop requested
        request  ToolCallPresenceCheck  the model call failed, so there is no answer yet"
    `);
  });

  it('retry_limit', async () => {
    const agent = base(
      error({ type: 'rate_limit', message: '429' }),
      error({ type: 'rate_limit', message: '429' }),
      error({ type: 'timeout', message: 'no answer in 60 s' }),
    )
      .withErrorPolicy(ErrorPolicy.retryToolErrors(2).withBackoff({ initialMs: 0 }))
      .build();
    expect(await explained(agent.run('Look for Acme.'), 'retry_limit')).toMatchInlineSnapshot(`
      "Stopped (retry_limit) by ErrorPolicyCriterion: timeout error (no answer in 60 s), tried again 2 of 2 times.
      To continue: fix the cause, then call resume(state, { grant: { retries: 2 } }), or raise the count with withErrorPolicy(policy.withMaxRetries(...)).
        allow    StepsLimit             0 of 20 steps
        allow    ExecutionTimeLimit     0 of 300 seconds
        allow    FinishReasonCheck      no answer to judge
        forbid   ErrorPolicyCriterion   timeout error (no answer in 60 s), tried again 2 of 2 times
        allow    StopRequestCheck       no stop requested
        request  ToolCallPresenceCheck  the model call failed, so there is no answer yet"
    `);
  });

  it('finish_reason', async () => {
    const agent = base(
      final('The three partners in Ghent are', { finishReason: 'length' }),
    ).build();
    expect(await explained(agent.run('Look for Acme.'), 'finish_reason')).toMatchInlineSnapshot(`
      "Stopped (finish_reason) by FinishReasonCheck: the answer was cut off at the output limit (finish reason length).
      To continue: call resume(state, { grant: { steps: 1 } }), allow more output tokens, or change the list with withFinishReasons(...).
        allow    StepsLimit             1 of 20 steps
        allow    ExecutionTimeLimit     0 of 300 seconds
        forbid   FinishReasonCheck      the answer was cut off at the output limit (finish reason length)
        allow    ErrorPolicyCriterion   no error
        allow    StopRequestCheck       no stop requested
        stop     ToolCallPresenceCheck  the answer asks for no tools"
    `);
  });

  it('guard by a cost limit', async () => {
    const agent = base(...pages(2, { cost: 0.03 }))
      .withMaxCost(0.05)
      .build();
    expect(await explained(agent.run('Look for Acme.'), 'guard')).toMatchInlineSnapshot(`
      "Stopped (guard) by CostLimit: 0.06 of 0.05 cost units used while work is still pending.
      To continue: call resume(state, { grant: { cost: 0.06 } }), or raise the limit with withMaxCost(...).
        allow    StepsLimit             2 of 20 steps
        forbid   CostLimit              0.06 of 0.05 cost units used while work is still pending
        allow    ExecutionTimeLimit     0 of 300 seconds
        allow    FinishReasonCheck      finish reason tool_calls
        allow    ErrorPolicyCriterion   no error
        allow    StopRequestCheck       no stop requested
        request  ToolCallPresenceCheck  the model called search"
    `);
  });

  it('guard by repeated calls', async () => {
    const agent = base(toolCall('search'), toolCall('search'), toolCall('search'))
      .addContinuationCriteria(noProgressLimit(3))
      .build();
    expect(await explained(agent.run('Look for Acme.'), 'guard')).toMatchInlineSnapshot(`
      "Stopped (guard) by NoProgressLimit: search was called 3 times in a row with the same arguments and the same result, and the limit is 3.
      To continue: send a new message that says what to do instead, make search return more, or raise noProgressLimit(...).
        allow    StepsLimit             3 of 20 steps
        allow    ExecutionTimeLimit     0 of 300 seconds
        allow    FinishReasonCheck      finish reason tool_calls
        allow    ErrorPolicyCriterion   no error
        allow    StopRequestCheck       no stop requested
        request  ToolCallPresenceCheck  the model called search
        forbid   NoProgressLimit        search was called 3 times in a row with the same arguments and the same result, and the limit is 3"
    `);
  });

  it('guard by a stop request from a tool', async () => {
    const handOff = defineTool({
      name: 'hand_off',
      description: 'Hands the conversation to a person.',
      parameters: { type: 'object' },
      execute: (_args, { requestStop }) => requestStop('a person takes over'),
    });
    const agent = AgentBuilder.base()
      .withDriver(DeterministicDriver.fromSteps(toolCall('hand_off')))
      .withTools(handOff)
      .withClock(fakeClock())
      .build();
    expect(await explained(agent.run('Help!'), 'guard')).toMatchInlineSnapshot(`
      "Stopped (guard) by StopRequestCheck: a person takes over.
      To continue: send a new message; a tool asked for this stop.
        allow    StepsLimit             1 of 20 steps
        allow    ExecutionTimeLimit     0 of 300 seconds
        allow    FinishReasonCheck      finish reason tool_calls
        allow    ErrorPolicyCriterion   no error
        forbid   StopRequestCheck       a person takes over
        request  ToolCallPresenceCheck  the model called hand_off"
    `);
  });

  it('user_requested', async () => {
    const abort = new AbortController();
    const agent = AgentBuilder.base()
      .withDriver(DeterministicDriver.fromSteps(toolCall('search')))
      .withTools(mockTool('search', () => abort.abort('Mira pressed stop')))
      .withClock(fakeClock())
      .build();
    const run = agent.run('Look for Acme.', { signal: abort.signal });
    expect(await explained(run, 'user_requested')).toMatchInlineSnapshot(`
      "Stopped (user_requested) by StopRequestCheck: Mira pressed stop.
      To continue: call resume(state, { grant: { steps: 1 } }), or send a new message.
        allow    StepsLimit             0 of 20 steps
        allow    ExecutionTimeLimit     0 of 300 seconds
        allow    FinishReasonCheck      finish reason tool_calls
        allow    ErrorPolicyCriterion   no error
        forbid   StopRequestCheck       Mira pressed stop
        request  ToolCallPresenceCheck  the model called search"
    `);
  });
});
