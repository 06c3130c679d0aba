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
  type ContinuationCriterion,
} from 'onward';
import { guardInput, guardOutput, guardTools } from 'onward/capabilities';
import {
  modelCallFailed,
  type InferenceDriver,
  type InferenceResponse,
  type Usage,
} from 'onward/drivers';
import { fakeClock, mockTool, type FakeClock } from 'onward/testing';
import {
  isRefusal,
  refusals,
  type Guarded,
  type Move,
  type Plan,
  type Refusal,
  type Rule,
} from './explanation-plan.ts';

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
  let reported: Refusal = 'busy';
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
      if (clock.now() < opensAt) throw refuse(reported, usage);
      const move = isCalm ? 'search' : (script[calls] ?? 'search');
      calls += 1;
      if (isRefusal(move)) {
        const refusal = refusals[move];
        if ('waitMs' in refusal) opensAt = clock.now() + refusal.waitMs;
        throw refuse((reported = move), usage);
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
  const main = modelOf(chosen, clock);
  const second = chosen.fallback && modelOf({ ...chosen, moves: chosen.fallback }, clock);
  let isFixed = false;
  const calm = (): void => {
    main.calm();
    second?.calm();
    isFixed = true;
  };
  const pay = defineTool({
    ...described,
    name: 'pay',
    needsApproval: true,
    execute: async () => {
      if (chosen.payMs > 0) await clock.advance(chosen.payMs);
      return 'paid';
    },
  });
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
    .withDriver(main.model)
    .withClock(clock)
    .withMaxSteps(chosen.maxSteps)
    .withTools(
      mockTool('search', 'found'),
      mockTool('fail', new Error('it broke'), errorOptions(chosen)),
      pay,
      defineTool({
        ...described,
        name: 'ask',
        execute: (_args, { input, requestInput }) =>
          input
            ? 'answered'
            : requestInput({ sure: { message: 'Sure?', schema: { type: 'object' } } }),
      }),
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
  if (second) builder = builder.withFallback({ ...second.model, name: 'second' });
  if (chosen.softLanding) builder = builder.withSoftLanding({ tokens: 100, seconds: 2 });
  if (retries !== null) builder = builder.withErrorPolicy(policyOf(retries, timeout !== null));
  const { sessionSteps, sessionTokens, sessionCost, sessionSeconds, repeats } = chosen;
  const criteria = [
    sessionSteps !== null && sessionStepsLimit(sessionSteps),
    sessionTokens !== null && sessionTokenUsageLimit(sessionTokens),
    sessionCost !== null && sessionCostLimit(sessionCost),
    sessionSeconds !== null && sessionTimeLimit({ seconds: sessionSeconds }),
    repeats !== null && noProgressLimit(repeats),
    chosen.rule !== null && ruleOf(chosen.rule, () => isFixed),
  ].filter((criterion) => criterion !== false);
  if (criteria.length > 0) builder = builder.addContinuationCriteria(...criteria);
  if (chosen.guard) builder = builder.withCapability(guardOf(chosen.guard, chosen, () => isFixed));
  return { agent: builder.build(), clock, calm, requests };
}

const errorOptions = ({ onError, toolRetries }: Plan) => ({
  ...(onError && { onError }),
  ...(toolRetries !== null && (onError ?? 'retry') === 'retry' && { maxRetries: toolRetries }),
});

/** A criterion that throws is fixed once the operator has fixed the assistant; the others forbid again and again. */
function ruleOf({ does, after, isLimit }: Rule, isFixed: () => boolean): ContinuationCriterion {
  return {
    name: 'HouseRule',
    ...(isLimit && { kind: 'limit' }),
    evaluate({ execution: { answeredSteps } }, { grants: { steps = 0 } }) {
      if (answeredSteps < after + (does === 'grant' ? steps : 0)) return 'allow';
      if (does === 'request') return isFixed() ? 'allow' : 'request';
      if (does === 'throw' || does === 'nonsense') {
        if (isFixed()) return 'allow';
        if (does === 'throw') throw new Error('no table of rules');
        return 'nonsense' as never;
      }
      const reason = 'The house is closed.';
      if (does === 'forbid') return { decision: 'forbid', reason };
      const remedy = { text: 'come back later', ...(does === 'grant' && { grant: { steps: 1 } }) };
      return { decision: 'forbid', reason, remedy };
    },
  };
}

/** A guard that passes everything once the user has rephrased the message, or the operator has fixed it. */
function guardOf({ at, does }: Guarded, { moves, fallback }: Plan, isFixed: () => boolean) {
  // beside a call that the provider refuses for a while, the explanation would be silent about the wait
  const parallel = ![...moves, ...(fallback ?? [])].some(
    (move) => isRefusal(move) && 'waitMs' in refusals[move],
  );
  const check = () => {
    if (isFixed()) return undefined;
    if (does === 'throw') throw new Error('the list is missing');
    return { block: 'not here' };
  };
  const options = { name: 'house-guard', check };
  if (at === 'input') return guardInput({ ...options, parallel });
  return at === 'output' ? guardOutput(options) : guardTools(options);
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
