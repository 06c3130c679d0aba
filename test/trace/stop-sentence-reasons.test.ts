import {
  ErrorPolicy,
  noProgressLimit,
  sessionCostLimit,
  sessionStepsLimit,
  sessionTokenUsageLimit,
  toolCalledCheck,
  type AgentState,
} from 'onward';
import { DeterministicDriver, fakeClock, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { sentence, with_, type Sentence } from './sentences.ts';

const { toolCall, toolCalls, final, error } = ScenarioStep;

const endless = (n: number, extras = {}) =>
  Array.from({ length: n }, (_, page) => toolCall('search', { page }, '', extras));

type Row = readonly [reason: string, run: () => Promise<AgentState>, expected: Sentence];

const table: readonly Row[] = [
  [
    'completed',
    () => with_(toolCall('search'), final('Hi.')).build().run('go'),
    {
      text: 'Finished because the model answered and called no more tools.',
      note: null,
      button: null,
      grant: null,
    },
  ],
  [
    'completed by a tool',
    () =>
      with_(toolCall('search'))
        .addContinuationCriteria(toolCalledCheck('search'))
        .build()
        .run('go'),
    {
      text: 'Finished because search has run.',
      note: null,
      button: null,
      grant: null,
    },
  ],
  [
    'steps_limit',
    () =>
      with_(...endless(5))
        .withMaxSteps(5)
        .build()
        .run('go'),
    {
      text: 'Stopped because it used 5 of 5 steps before the model read a tool result. To continue, add 5 steps.',
      note: null,
      button: 'Continue with 5 more steps',
      grant: { steps: 5 },
    },
  ],
  [
    'steps_limit after a grant, with the raised limit',
    async () => {
      const agent = with_(...endless(3))
        .withMaxSteps(2)
        .build();
      return agent.resume(await agent.run('go'), { grant: { steps: 1 } });
    },
    {
      text: 'Stopped because it used 3 of 3 steps (2 + 1 granted) before the model read a tool result. To continue, add 2 steps.',
      note: null,
      button: 'Continue with 2 more steps',
      grant: { steps: 2 },
    },
  ],
  [
    'steps_limit with several tool results',
    () =>
      with_(toolCalls([{ name: 'search' }, { name: 'search' }]))
        .withMaxSteps(1)
        .build()
        .run('go'),
    {
      text: 'Stopped because it used 1 of 1 step before the model read 2 tool results. To continue, add 1 step.',
      note: null,
      button: 'Continue with 1 more step',
      grant: { steps: 1 },
    },
  ],
  [
    'steps_limit with a soft landing',
    () =>
      with_(toolCall('search'), final('So far.'))
        .withMaxSteps(2)
        .withSoftLanding()
        .build()
        .run('go'),
    {
      text: 'Stopped because it used 2 of 2 steps. To continue, add 2 steps.',
      note: 'It answered with what it had.',
      button: 'Continue with 2 more steps',
      grant: { steps: 2 },
    },
  ],
  [
    'steps_limit by the session limit',
    () =>
      with_(...endless(3))
        .addContinuationCriteria(sessionStepsLimit(3))
        .build()
        .run('go'),
    {
      text: 'Stopped because this conversation used 3 of 3 steps before the model read a tool result. To continue, start a new conversation.',
      note: null,
      button: null,
      grant: null,
    },
  ],
  [
    'steps_limit by execution and session, without a grant',
    () =>
      with_(...endless(3))
        .withMaxSteps(3)
        .addContinuationCriteria(sessionStepsLimit(3))
        .build()
        .run('go'),
    {
      text: 'Stopped because it used 3 of 3 steps before the model read a tool result. To continue, start a new conversation.',
      note: 'This conversation also used 3 of 3 steps.',
      button: null,
      grant: null,
    },
  ],
  [
    'token_limit',
    () =>
      with_(toolCall('search', {}, '', { usage: { input: 40_000, output: 212 } }))
        .withMaxTokens(40_000)
        .build()
        .run('go'),
    {
      text: 'Stopped because it used 40,212 of 40,000 tokens. To continue, add 60,530 tokens.',
      note: null,
      button: 'Continue with 60,530 more tokens',
      grant: { tokens: 60530 },
    },
  ],
  [
    'token_limit by the session limit',
    () =>
      with_(toolCall('search', {}, '', { usage: { input: 500, output: 1 } }))
        .addContinuationCriteria(sessionTokenUsageLimit(500))
        .build()
        .run('go'),
    {
      text: 'Stopped because this conversation used 501 of 500 tokens. To continue, start a new conversation.',
      note: null,
      button: null,
      grant: null,
    },
  ],
  [
    'time_limit',
    async () => {
      const clock = fakeClock();
      const script = [toolCall('search', {}, '', { delayMs: 120_000 })];
      const agent = with_()
        .withDriver(DeterministicDriver.create(script, { clock }))
        .withClock(clock)
        .withCumulativeTimeout({ seconds: 60 })
        .build();
      const run = agent.run('go');
      await clock.advance(120_000);
      return run;
    },
    {
      text: 'Stopped because it worked for 60 of 60 seconds. To continue, add 90 seconds.',
      note: null,
      button: 'Continue with 90 more seconds',
      grant: { seconds: 90 },
    },
  ],
  [
    'retry_limit',
    () =>
      with_(...Array.from({ length: 4 }, () => toolCall('enrich')))
        .withErrorPolicy(ErrorPolicy.retryToolErrors(3))
        .build()
        .run('go'),
    {
      text: 'Failed because enrich did not finish in time 4 times in a row, and all 3 retries are used. To continue, try again up to 3 times.',
      note: 'The error was: Tool "enrich" took longer than its 5 ms.',
      button: 'Continue with 3 more retries',
      grant: { retries: 3 },
    },
  ],
  [
    'retry_limit of a model error',
    () =>
      with_(error({ type: 'rate_limit' }), error({ type: 'rate_limit' }))
        .withErrorPolicy(ErrorPolicy.retryToolErrors(1).withBackoff({ initialMs: 0 }))
        .build()
        .run('go'),
    {
      text: 'Failed because the model call failed twice in a row, and its only retry is used. To continue, try again.',
      note: 'The error was: scripted error.',
      button: 'Continue with 1 more retry',
      grant: { retries: 1 },
    },
  ],
  [
    'error under the default policy',
    () => with_(toolCall('create_lead')).build().run('go'),
    {
      text: 'Failed because create_lead failed, and this assistant stops on tool errors. To continue, try again.',
      note: 'The error was: no lead.',
      button: 'Continue with 1 more retry',
      grant: { retries: 1 },
    },
  ],
  [
    'error of the model that only retryAll retries',
    () =>
      with_(error({ type: 'model', retryable: true }))
        .build()
        .run('go'),
    {
      text: 'Failed because the model call failed, and this assistant stops on model errors. To continue, try again.',
      note: 'The error was: scripted error.',
      button: 'Continue with 1 more retry',
      grant: { retries: 1 },
    },
  ],
  [
    'finish_reason length',
    () =>
      with_(final('It was a', { finishReason: 'length' }))
        .build()
        .run('go'),
    {
      text: "Stopped because the answer reached the model's length limit. To continue, let it take 1 more step.",
      note: null,
      button: 'Continue with 1 more step',
      grant: { steps: 1 },
    },
  ],
  [
    'finish_reason content_filter',
    () =>
      with_(final('', { finishReason: 'content_filter' }))
        .build()
        .run('go'),
    {
      text: "Stopped because the model provider's content filter blocked the answer. To continue, rephrase your message, or ask for something else.",
      note: null,
      button: 'New message',
      grant: 'message',
    },
  ],
  [
    'guard by CostLimit',
    () =>
      with_(toolCall('search', {}, '', { cost: 0.1004 }))
        .withMaxCost(0.1)
        .build()
        .run('go'),
    {
      text: 'Stopped because it spent $0.1004 of $0.10. To continue, add $0.151.',
      note: null,
      button: 'Continue with $0.151 more',
      grant: { cost: 0.151 },
    },
  ],
  [
    'guard by CostLimit and StepsLimit, with one button for both',
    () =>
      with_(toolCall('search', {}, '', { cost: 0.1 }))
        .withMaxSteps(1)
        .withMaxCost(0.1)
        .build()
        .run('go'),
    {
      text: 'Stopped because it used 1 of 1 step before the model read a tool result. To continue, add 1 step and $0.15.',
      note: 'It also spent $0.10 of $0.10.',
      button: 'Continue with 1 more step and $0.15 more',
      grant: { steps: 1, cost: 0.15 },
    },
  ],
  [
    'guard by the session cost limit',
    () =>
      with_(toolCall('search', {}, '', { cost: 2.5 }))
        .addContinuationCriteria(sessionCostLimit(2))
        .build()
        .run('go'),
    {
      text: 'Stopped because this conversation spent $2.50 of $2.00. To continue, start a new conversation.',
      note: null,
      button: null,
      grant: null,
    },
  ],
  [
    'guard by NoProgressLimit',
    () =>
      with_(toolCall('search'), toolCall('search'), toolCall('search'))
        .addContinuationCriteria(noProgressLimit(3))
        .build()
        .run('go'),
    {
      text: 'Stopped because search gave the same result 3 times in a row. To continue, send a new message that says what to do instead.',
      note: null,
      button: 'New message',
      grant: 'message',
    },
  ],
  [
    'guard by a custom criterion',
    () =>
      with_(toolCall('search'))
        .addContinuationCriteria({
          name: 'OfficeHours',
          evaluate: ({ stepCount }) =>
            stepCount === 0
              ? 'allow'
              : {
                  criterion: 'OfficeHours',
                  decision: 'forbid',
                  reason: 'the office is closed.',
                  context: {},
                  remedy: { text: 'come back at nine.' },
                },
        })
        .build()
        .run('go'),
    {
      text: "Stopped because one of this assistant's rules ended it. To continue, send a new message.",
      note: 'The rule says: the office is closed.',
      button: 'New message',
      grant: 'message',
    },
  ],
  [
    'user_requested',
    async () => {
      const agent = with_(toolCall('search'), final('x')).build();
      return agent.stop(await agent.nextStep('go'));
    },
    {
      text: 'Stopped because a stop was requested. To continue, let it take 1 more step.',
      note: null,
      button: 'Continue with 1 more step',
      grant: { steps: 1 },
    },
  ],
];

describe('the stop sentence', () => {
  it.each(table)('%s', async (_reason, run, expected) => {
    const state = await run();
    const failed = state.steps.at(-1)?.errors.at(-1) ?? null;
    expect(sentence(state, { error: failed })).toEqual(expected);
  });
});
