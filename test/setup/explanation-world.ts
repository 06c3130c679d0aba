import * as fc from 'fast-check';
import {
  AgentBuilder,
  defineTool,
  ErrorPolicy,
  noProgressLimit,
  sessionCostLimit,
  sessionStepsLimit,
  sessionTimeLimit,
  sessionTokenUsageLimit,
  type Agent,
} from 'onward';
import {
  modelCallFailed,
  type InferenceDriver,
  type InferenceResponse,
  type Usage,
} from 'onward/drivers';
import { fakeClock, mockTool, type FakeClock } from 'onward/testing';
import type { GrantCaps } from '../../src/continuation/grant-allowance.ts';

/** Errors of the provider. Those with a wait repeat until it is over. */
const refusals = {
  server: { type: 'model', retryable: true },
  refusal: { type: 'model', retryable: false },
  auth: { type: 'model', retryable: false },
  context_length: { type: 'model', retryable: false },
  quota: { type: 'rate_limit', retryable: false },
  busy: { type: 'rate_limit', code: 'rate_limit', retryable: true, waitMs: 60_000 },
  down: { type: 'rate_limit', code: 'overloaded', retryable: true, waitMs: 60_000 },
  reset: { type: 'rate_limit', code: 'quota', retryable: false, waitMs: 3_600_000 },
} as const;
type Refusal = keyof typeof refusals;
const isRefusal = (move: string): move is Refusal => Object.hasOwn(refusals, move);

const plainMoves = [
  'search',
  'same',
  'fail',
  'pay',
  'pause',
  'stop',
  'abort',
  'hold',
  'research',
  'ask_clerk',
  'answer',
  'length',
  'content_filter',
] as const;
type Move = (typeof plainMoves)[number] | Refusal;
const moves: readonly Move[] = [...plainMoves, ...(Object.keys(refusals) as Refusal[])];

export interface Plan {
  readonly moves: readonly Move[];
  readonly tokens: number;
  readonly cost: number;
  readonly seconds: number;
  readonly maxSteps: number;
  readonly maxFamilySteps: number | null;
  readonly maxTokens: number | null;
  readonly maxCost: number | null;
  readonly timeout: number | null;
  readonly isCumulative: boolean;
  readonly softLanding: boolean;
  readonly retries: number | null;
  readonly sessionSteps: number | null;
  readonly sessionTokens: number | null;
  readonly sessionCost: number | null;
  readonly sessionSeconds: number | null;
  readonly repeats: number | null;
}

const orNone = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | null> =>
  fc.option(arbitrary, { nil: null, freq: 2 });
/** A value in one of four runs, otherwise null. */
const rarely = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | null> =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(null) }, { weight: 1, arbitrary });
const money = (most: number): fc.Arbitrary<number> =>
  fc.integer({ min: 1, max: most }).map((cents) => cents / 100);

export const plan: fc.Arbitrary<Plan> = fc.record({
  moves: fc.array(fc.constantFrom(...moves), { minLength: 1, maxLength: 6 }),
  tokens: fc.integer({ min: 0, max: 900 }),
  cost: fc.integer({ min: 0, max: 30 }).map((cents) => cents / 100),
  seconds: fc.integer({ min: 0, max: 12 }),
  maxSteps: fc.integer({ min: 1, max: 5 }),
  maxFamilySteps: rarely(fc.integer({ min: 2, max: 8 })),
  maxTokens: orNone(fc.integer({ min: 1, max: 2_500 })),
  maxCost: orNone(money(60)),
  timeout: orNone(fc.integer({ min: 1, max: 40 })),
  isCumulative: fc.boolean(),
  softLanding: fc.boolean(),
  retries: orNone(fc.integer({ min: 0, max: 2 })),
  sessionSteps: rarely(fc.integer({ min: 1, max: 6 })),
  sessionTokens: rarely(fc.integer({ min: 1, max: 4_000 })),
  sessionCost: rarely(money(90)),
  sessionSeconds: rarely(fc.integer({ min: 1, max: 60 })),
  repeats: orNone(fc.integer({ min: 2, max: 3 })),
});

/** Random grant caps for owners. */
export const ownerCaps: fc.Arbitrary<GrantCaps> = fc.record({
  steps: fc.integer({ min: 0, max: 4 }),
  tokens: fc.integer({ min: 0, max: 3_000 }),
  cost: fc.integer({ min: 0, max: 50 }).map((cents) => cents / 100),
  seconds: fc.integer({ min: 0, max: 60 }),
  retries: fc.integer({ min: 0, max: 2 }),
});

/** Requests from outside of the run. A world that does not support one leaves it out. */
export interface Requests {
  stop?: () => unknown;
  pause?: () => unknown;
}

/** Makes its moves in order, then only calls the working tool. Every call takes tokens, cost and time. */
function modelOf({ moves: script, tokens, cost, seconds }: Plan, clock: FakeClock) {
  let calls = 0;
  let isCalm = false;
  let opensAt = 0;
  let told: Refusal = 'busy';
  const refuse = (move: Refusal, usage: Usage): Error => {
    const { type, retryable, ...more } = refusals[move];
    const code = 'code' in more ? more.code : move;
    const wait = opensAt - clock.now();
    return modelCallFailed(
      { type, code, message: move, retryable, ...(wait > 0 && { retryAfterMs: wait }) },
      { usage, cost },
    );
  };
  const model: InferenceDriver = {
    name: 'moves',
    async infer(): Promise<InferenceResponse> {
      clock.jump(seconds * 1_000);
      const usage = { input: tokens, output: 0, total: tokens, cachedInput: 0, reasoning: 0 };
      if (clock.now() < opensAt) throw refuse(told, usage);
      const move = isCalm ? 'search' : (script[calls] ?? 'search');
      calls += 1;
      if (isRefusal(move)) {
        const refusal = refusals[move];
        if ('waitMs' in refusal) opensAt = clock.now() + refusal.waitMs;
        throw refuse((told = move), usage);
      }
      const said = { content: 'So far.', toolCalls: [], usage, cost } as const;
      if (move === 'answer') return { ...said, finishReason: 'stop' };
      if (move === 'length' || move === 'content_filter') return { ...said, finishReason: move };
      const args = move === 'same' ? {} : { input: `page ${calls}` };
      const name = move === 'same' ? 'search' : move;
      return { ...said, toolCalls: [{ id: `c${calls}`, name, args }], finishReason: 'tool_calls' };
    },
  };
  return { model, calm: () => (isCalm = true) };
}

const described = { description: 'A tool.', parameters: { type: 'object' } } as const;
const pay = defineTool({ ...described, name: 'pay', needsApproval: true, execute: () => 'paid' });

export interface World {
  readonly agent: Agent;
  readonly clock: FakeClock;
  /** Makes the model only do work from now on. */
  readonly calm: () => void;
  readonly requests: Requests;
}

/** An agent with a plan and with tools that work, fail, need approval, stop, pause and call other agents. */
export function worldOf(chosen: Plan): World {
  const clock = fakeClock();
  const { model, calm } = modelOf(chosen, clock);
  const requests: Requests = {};
  const helper = (name: string, ...script: readonly Move[]) =>
    AgentBuilder.base()
      .withName(name)
      .withDriver(modelOf({ ...chosen, moves: script }, clock).model)
      .withTools(mockTool('search', 'found'), pay)
      .withMaxSteps(2)
      .withClock(clock)
      .build()
      .asTool({ name, description: 'Helps.' });
  let builder = AgentBuilder.base()
    .withDriver(model)
    .withClock(clock)
    .withMaxSteps(chosen.maxSteps)
    .withTools(
      mockTool('search', 'found'),
      mockTool('fail', new Error('it broke')),
      pay,
      defineTool({
        ...described,
        name: 'pause',
        execute: (_args, { requestPause }) => requestPause('a break'),
      }),
      defineTool({
        ...described,
        name: 'stop',
        execute: (_args, { requestStop }) => requestStop('enough'),
      }),
      defineTool({
        ...described,
        name: 'abort',
        execute: async () => void (await requests.stop?.()),
      }),
      defineTool({
        ...described,
        name: 'hold',
        execute: async () => void (await requests.pause?.()),
      }),
      helper('research'),
      helper('ask_clerk', 'pay', 'answer'),
    );
  const { maxFamilySteps, maxTokens, maxCost, timeout, retries } = chosen;
  if (maxFamilySteps !== null) builder = builder.withMaxFamilySteps(maxFamilySteps);
  if (maxTokens !== null) builder = builder.withMaxTokens(maxTokens);
  if (maxCost !== null) builder = builder.withMaxCost(maxCost);
  if (timeout !== null)
    builder = chosen.isCumulative
      ? builder.withCumulativeTimeout({ seconds: timeout })
      : builder.withTimeout({ seconds: timeout });
  if (chosen.softLanding) builder = builder.withSoftLanding({ tokens: 100, seconds: 2 });
  if (retries !== null) builder = builder.withErrorPolicy(policyOf(retries, timeout !== null));
  const { sessionSteps, sessionTokens, sessionCost, sessionSeconds, repeats } = chosen;
  const criteria = [
    sessionSteps !== null && sessionStepsLimit(sessionSteps),
    sessionTokens !== null && sessionTokenUsageLimit(sessionTokens),
    sessionCost !== null && sessionCostLimit(sessionCost),
    sessionSeconds !== null && sessionTimeLimit({ seconds: sessionSeconds }),
    repeats !== null && noProgressLimit(repeats),
  ].filter((criterion) => criterion !== false);
  if (criteria.length > 0) builder = builder.addContinuationCriteria(...criteria);
  return { agent: builder.build(), clock, calm, requests };
}

/** The clock does not run, so no run may wait: waits exceed the time limit or are not retried. */
function policyOf(retries: number, isTimed: boolean): ErrorPolicy {
  const policy = ErrorPolicy.retryAll(retries).withBackoff({ initialMs: 0 });
  return isTimed ? policy : policy.withHandling('rate_limit', 'stop');
}

/** Advances the clock to the time in the text, which has to be late enough. */
export function waitFor(clock: FakeClock, { text }: { readonly text: string }): void {
  const [, day, time] = /until (\S+) (\S+) UTC/.exec(text) ?? [];
  clock.jump(Math.max(0, Date.parse(`${day}T${time}Z`) - clock.now()));
}
