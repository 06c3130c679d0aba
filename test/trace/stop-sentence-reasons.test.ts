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
      text: 'Finished because the model answered and asked for no more tools.',
      note: null,
      button: null,
      grant: null,
    },
  ],
  [
    'completed by another voice: as it was recorded',
    () =>
      with_(toolCall('search'))
        .addContinuationCriteria(toolCalledCheck('search'))
        .build()
        .run('go'),
    { text: 'Finished because the tool search was called.', note: null, button: null, grant: null },
  ],
  [
    'steps_limit',
    () =>
      with_(...endless(5))
        .withMaxSteps(5)
        .build()
        .run('go'),
    {
      text: 'Stopped because it used all 5 of its 5 steps while a tool result was still unread — it would go on if it had 5 more steps.',
      note: null,
      button: 'Grant 5 steps',
      grant: { steps: 5 },
    },
  ],
  [
    'steps_limit after a grant: the limit has grown',
    async () => {
      const agent = with_(...endless(3))
        .withMaxSteps(2)
        .build();
      return agent.resume(await agent.run('go'), { grant: { steps: 1 } });
    },
    {
      text: 'Stopped because it used all 3 of its 3 steps while a tool result was still unread — it would go on if it had 2 more steps.',
      note: null,
      button: 'Grant 2 steps',
      grant: { steps: 2 },
    },
  ],
  [
    'steps_limit with several results',
    () =>
      with_(toolCalls([{ name: 'search' }, { name: 'search' }]))
        .withMaxSteps(1)
        .build()
        .run('go'),
    {
      text: 'Stopped because it used its only step while 2 tool results were still unread — it would go on if it had 1 more step.',
      note: null,
      button: 'Grant 1 step',
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
      text: 'Stopped because it used all 2 of its 2 steps — it would go on if it had 2 more steps.',
      note: 'It answered with what it had.',
      button: 'Grant 2 steps',
      grant: { steps: 2 },
    },
  ],
  [
    'steps_limit of the session',
    () =>
      with_(...endless(3))
        .addContinuationCriteria(sessionStepsLimit(3))
        .build()
        .run('go'),
    {
      text: 'Stopped because this session used all 3 of its 3 steps while a tool result was still unread — it would go on if sessionStepsLimit(...) were raised and you sent a new message.',
      note: null,
      button: null,
      grant: null,
    },
  ],
  [
    'steps_limit of the execution and of the session: no grant lifts both',
    () =>
      with_(...endless(3))
        .withMaxSteps(3)
        .addContinuationCriteria(sessionStepsLimit(3))
        .build()
        .run('go'),
    {
      text: 'Stopped because it used all 3 of its 3 steps while a tool result was still unread — it would go on if sessionStepsLimit(...) were raised and you sent a new message.',
      note: null,
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
      text: 'Stopped because it used 40,212 of its 40,000 tokens — it would go on if it had 40,212 more tokens.',
      note: null,
      button: 'Grant 40,212 tokens',
      grant: { tokens: 40_212 },
    },
  ],
  [
    'token_limit of the session',
    () =>
      with_(toolCall('search', {}, '', { usage: { input: 500, output: 1 } }))
        .addContinuationCriteria(sessionTokenUsageLimit(500))
        .build()
        .run('go'),
    {
      text: 'Stopped because this session used 501 of its 500 tokens — it would go on if sessionTokenUsageLimit(...) were raised and you sent a new message.',
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
      text: 'Stopped because it worked for 60 of its 60 seconds — it would go on if it had 60 more seconds.',
      note: null,
      button: 'Grant 60 s',
      grant: { seconds: 60 },
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
      text: 'Failed because enrich failed 4 times in a row (timeout) and all 3 retries are used — it would go on if it had 3 more retries.',
      note: null,
      button: 'Grant 3 retries',
      grant: { retries: 3 },
    },
  ],
  [
    'retry_limit of the model itself',
    () =>
      with_(error({ type: 'rate_limit' }), error({ type: 'rate_limit' }))
        .withErrorPolicy(ErrorPolicy.retryToolErrors(1).withBackoff({ initialMs: 0 }))
        .build()
        .run('go'),
    {
      text: 'Failed because the model call failed twice in a row (rate limit) and its only retry is used — it would go on if it had 1 more retry.',
      note: null,
      button: 'Grant 1 retry',
      grant: { retries: 1 },
    },
  ],
  [
    'error, by the default policy',
    () => with_(toolCall('create_lead')).build().run('go'),
    {
      text: 'Failed because create_lead failed (tool: no lead) and the policy stops on tool errors — it would go on if it could try once more.',
      note: 'Such errors are retried with withErrorPolicy(ErrorPolicy.retryToolErrors(3)).',
      button: 'Grant 1 retry',
      grant: { retries: 1 },
    },
  ],
  [
    'error of the model, which only retryAll would try again',
    () =>
      with_(error({ type: 'model', retryable: true }))
        .build()
        .run('go'),
    {
      text: 'Failed because model error (scripted error), and the policy stops on model errors — it would go on if it could try once more.',
      note: 'Such errors are retried with withErrorPolicy(ErrorPolicy.retryAll()).',
      button: 'Grant 1 retry',
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
      text: 'Stopped because the model cut its answer at the length limit — it would go on if it had 1 more step to finish the sentence.',
      note: null,
      button: 'Grant 1 step',
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
      text: 'Stopped because the content filter of the provider cut the answer — it would go on if it had 1 more step.',
      note: null,
      button: 'Grant 1 step',
      grant: { steps: 1 },
    },
  ],
  [
    'guard, CostLimit',
    () =>
      with_(toolCall('search', {}, '', { cost: 0.1004 }))
        .withMaxCost(0.1)
        .build()
        .run('go'),
    {
      text: 'Stopped because it spent $0.1004 of its $0.10 — it would go on if it could spend $0.1004 more.',
      note: null,
      button: 'Grant $0.1004',
      grant: { cost: 0.1004 },
    },
  ],
  [
    'guard, CostLimit and steps: one button for both',
    () =>
      with_(toolCall('search', {}, '', { cost: 0.1 }))
        .withMaxSteps(1)
        .withMaxCost(0.1)
        .build()
        .run('go'),
    {
      text: 'Stopped because it used its only step while a tool result was still unread — it would go on if it had 1 more step and could spend $0.10 more.',
      note: null,
      button: 'Grant 1 step and $0.10',
      grant: { steps: 1, cost: 0.1 },
    },
  ],
  [
    'guard, cost of the session',
    () =>
      with_(toolCall('search', {}, '', { cost: 2.5 }))
        .addContinuationCriteria(sessionCostLimit(2))
        .build()
        .run('go'),
    {
      text: 'Stopped because this session spent $2.50 of its $2.00 — it would go on if sessionCostLimit(...) were raised and you sent a new message.',
      note: null,
      button: null,
      grant: null,
    },
  ],
  [
    'guard, NoProgressLimit',
    () =>
      with_(toolCall('search'), toolCall('search'), toolCall('search'))
        .addContinuationCriteria(noProgressLimit(3))
        .build()
        .run('go'),
    {
      text: 'Stopped because search gave the same result 3 times in a row — it would go on if you sent a new message; no grant lifts this guard.',
      note: null,
      button: 'New message',
      grant: 'message',
    },
  ],
  [
    'guard of the user: as it was recorded',
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
      text: 'Stopped because the office is closed — it would go on if you sent a new message; no grant lifts this guard.',
      note: 'To go on: come back at nine.',
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
      text: 'Stopped because you stopped it at step 1 — it would go on if it had 1 more step.',
      note: null,
      button: 'Grant 1 step',
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
