import * as fc from 'fast-check';
import {
  AgentBuilder,
  defineTool,
  ErrorPolicy,
  explainOutcome,
  explainState,
  modelCallFailed,
  noProgressLimit,
  sessionStepsLimit,
  sessionTokenUsageLimit,
  type AgentState,
  type ExplanationAction,
  type Grants,
  type InferenceDriver,
  type InferenceResponse,
} from 'onward';
import { fakeClock, mockTool, type FakeClock } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { allowanceOf, type GrantCaps } from '../src/continuation/grant-allowance.ts';
import { grantKinds } from '../src/continuation/grants.ts';

const moves = [
  'search',
  'same',
  'fail',
  'pay',
  'pause',
  'stop',
  'research',
  'answer',
  'length',
  'content_filter',
  'server',
  'refusal',
  'auth',
  'context_length',
] as const;
type Move = (typeof moves)[number];

interface Plan {
  readonly moves: readonly Move[];
  readonly tokens: number;
  readonly cost: number;
  readonly seconds: number;
  readonly maxSteps: number;
  readonly maxTokens: number | null;
  readonly maxCost: number | null;
  readonly timeout: number | null;
  readonly isCumulative: boolean;
  readonly softLanding: boolean;
  readonly retries: number | null;
  readonly sessionSteps: number | null;
  readonly sessionTokens: number | null;
  readonly repeats: number | null;
  readonly isAborted: boolean;
}

const orNone = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | null> =>
  fc.option(arbitrary, { nil: null, freq: 2 });

const plan: fc.Arbitrary<Plan> = fc.record({
  moves: fc.array(fc.constantFrom(...moves), { minLength: 1, maxLength: 6 }),
  tokens: fc.integer({ min: 0, max: 900 }),
  cost: fc.integer({ min: 0, max: 30 }).map((cents) => cents / 100),
  seconds: fc.integer({ min: 0, max: 12 }),
  maxSteps: fc.integer({ min: 1, max: 5 }),
  maxTokens: orNone(fc.integer({ min: 1, max: 2_500 })),
  maxCost: orNone(fc.integer({ min: 1, max: 60 }).map((cents) => cents / 100)),
  timeout: orNone(fc.integer({ min: 1, max: 40 })),
  isCumulative: fc.boolean(),
  softLanding: fc.boolean(),
  retries: orNone(fc.integer({ min: 0, max: 2 })),
  sessionSteps: orNone(fc.integer({ min: 1, max: 6 })),
  sessionTokens: orNone(fc.integer({ min: 1, max: 4_000 })),
  repeats: orNone(fc.integer({ min: 2, max: 3 })),
  isAborted: fc.boolean(),
});

/** Makes its moves in order, then only calls the tool that works. Every call takes tokens, money and time. */
function modelOf({ moves: script, tokens, cost, seconds }: Plan, clock: FakeClock) {
  let calls = 0;
  let isCalm = false;
  const model: InferenceDriver = {
    name: 'moves',
    async infer(): Promise<InferenceResponse> {
      clock.jump(seconds * 1_000);
      const move = isCalm ? 'search' : (script[calls] ?? 'search');
      calls += 1;
      const usage = { input: tokens, output: 0, total: tokens, cachedInput: 0, reasoning: 0 };
      const said = { content: 'So far.', toolCalls: [], usage, cost } as const;
      if (move === 'server' || move === 'refusal' || move === 'auth' || move === 'context_length')
        throw modelCallFailed(
          { type: 'model', code: move, message: move, retryable: move === 'server' },
          { usage, cost },
        );
      if (move === 'answer') return { ...said, finishReason: 'stop' };
      if (move === 'length' || move === 'content_filter') return { ...said, finishReason: move };
      const args = move === 'same' ? {} : { input: `page ${calls}` };
      const name = move === 'same' ? 'search' : move;
      return { ...said, toolCalls: [{ id: `c${calls}`, name, args }], finishReason: 'tool_calls' };
    },
  };
  return { model, calm: () => (isCalm = true) };
}

const parameters = { type: 'object' } as const;
const described = { description: 'A tool.', parameters };

function worldOf(chosen: Plan) {
  const clock = fakeClock();
  const { model, calm } = modelOf(chosen, clock);
  const { maxTokens, maxCost, timeout, retries, sessionSteps, sessionTokens, repeats } = chosen;
  const inner = modelOf({ ...chosen, moves: [] }, clock).model;
  const researcher = AgentBuilder.base()
    .withName('researcher')
    .withDriver(inner)
    .withTools(mockTool('search', 'found'))
    .withMaxSteps(2)
    .withClock(clock)
    .build();
  let builder = AgentBuilder.base()
    .withDriver(model)
    .withClock(clock)
    .withMaxSteps(chosen.maxSteps)
    .withTools(
      mockTool('search', 'found'),
      mockTool('fail', new Error('it broke')),
      defineTool({ ...described, name: 'pay', needsApproval: true, execute: () => 'paid' }),
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
      researcher.asTool({ name: 'research', description: 'Researches.' }),
    );
  if (maxTokens !== null) builder = builder.withMaxTokens(maxTokens);
  if (maxCost !== null) builder = builder.withMaxCost(maxCost);
  if (timeout !== null)
    builder = chosen.isCumulative
      ? builder.withCumulativeTimeout({ seconds: timeout })
      : builder.withTimeout({ seconds: timeout });
  if (chosen.softLanding) builder = builder.withSoftLanding({ tokens: 100, seconds: 2 });
  if (retries !== null)
    builder = builder.withErrorPolicy(ErrorPolicy.retryAll(retries).withBackoff({ initialMs: 0 }));
  if (sessionSteps !== null)
    builder = builder.addContinuationCriteria(sessionStepsLimit(sessionSteps));
  if (sessionTokens !== null)
    builder = builder.addContinuationCriteria(sessionTokenUsageLimit(sessionTokens));
  if (repeats !== null) builder = builder.addContinuationCriteria(noProgressLimit(repeats));
  return { agent: builder.build(), calm };
}

type World = ReturnType<typeof worldOf>;

/** Answered steps, and those that wait for an answer: a paused step was answered by the model. */
const answered = ({ info }: AgentState): number => info.answeredSteps;

/** Does what an action says, and returns the state after it. */
async function taken(
  { agent }: World,
  state: AgentState,
  action: ExplanationAction,
): Promise<AgentState> {
  switch (action.kind) {
    case 'grant':
      return agent.resume(state, { grant: action.grant });
    case 'approve':
      return agent.resume(state, {
        approvals: Object.fromEntries(action.callIds.map((id) => [id, { approve: true as const }])),
      });
    case 'resume':
      return agent.resume(state);
    case 'new_message':
      return agent.run(state.withUserMessage('Something else.'));
    // what to change lies outside of the run: with it changed, a new conversation works
    case 'change':
      return agent.run('Something else.');
    default:
      throw new Error(`no such run offers ${action.kind}`);
  }
}

async function works(world: World, state: AgentState, action: ExplanationAction): Promise<void> {
  const after = await taken(world, state, action);
  const before = action.kind === 'change' ? 0 : answered(state);
  expect(answered(after), `${action.kind}: ${action.text}`).toBeGreaterThan(before);
}

const caps: fc.Arbitrary<GrantCaps> = fc.record({
  steps: fc.integer({ min: 0, max: 4 }),
  tokens: fc.integer({ min: 0, max: 3_000 }),
  cost: fc.integer({ min: 0, max: 50 }).map((cents) => cents / 100),
  seconds: fc.integer({ min: 0, max: 60 }),
  retries: fc.integer({ min: 0, max: 2 }),
});
const nothing = Object.fromEntries(grantKinds.map((kind) => [kind, 0])) as Required<Grants>;

describe('every offered action works', () => {
  it('property: each of them leads to at least one more answered step', async () => {
    const kinds = new Map<string, number>();
    await fc.assert(
      fc.asyncProperty(plan, caps, async (chosen, owners) => {
        const world = worldOf(chosen);
        const abort = new AbortController();
        if (chosen.isAborted) abort.abort('enough for today');
        const state = await world.agent.run('go', { signal: abort.signal });
        world.calm();
        const { actions } = explainState(state);
        // a pause tells no limits: where its step has used up the time, the answer comes too late
        const isLate =
          state.status === 'paused' &&
          chosen.isCumulative &&
          state.execution.cumulativeSeconds >= (chosen.timeout ?? Number.POSITIVE_INFINITY);
        for (const action of isLate ? [] : actions) {
          kinds.set(action.kind, (kinds.get(action.kind) ?? 0) + 1);
          await works(world, state, action);
          if (action.kind === 'grant')
            await works(world, state, { ...action, grant: action.minimum });
        }
        const outcome = state.lastContinuationOutcome;
        if (!outcome || outcome.shouldContinue || state.status === 'paused') return;
        if (outcome.stopReason !== 'completed') expect(actions.length).toBeGreaterThan(0);
        const allowance = allowanceOf(owners, nothing, outcome);
        for (const action of explainOutcome(outcome, { allowance }).actions)
          if (action.kind === 'grant') {
            for (const kind of grantKinds)
              expect(action.grant[kind] ?? 0).toBeLessThanOrEqual(owners[kind] as number);
            await works(world, state, action);
          }
      }),
      { numRuns: 300, seed: 14 },
    );
    expect([...kinds.keys()].toSorted()).toEqual([
      'approve',
      'change',
      'grant',
      'new_message',
      'resume',
    ]);
  }, 120_000);
});
