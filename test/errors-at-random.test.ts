import fc from 'fast-check';
import { AgentBuilder, AgentState, ErrorPolicy, type ErrorHandlingDecision } from 'onward';
import { DeterministicDriver, mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { expectReplayed } from './setup/replayed.ts';

const { toolCalls, final, error } = ScenarioStep;
const names = ['a', 'b', 'c'] as const;
type Name = (typeof names)[number];
type Move = 'fails' | Partial<Record<Name, 'ok' | 'error'>>;

const decision = fc.constantFrom<ErrorHandlingDecision>('stop', 'retry', 'ignore');
const often = fc.constantFrom<ErrorHandlingDecision>('retry', 'retry', 'retry', 'ignore', 'stop');
const rule = fc.oneof(
  fc.constant({}),
  decision.map((onError) => ({ onError })),
  fc.nat(3).map((maxRetries) => ({ maxRetries })),
);
const world = fc.record({
  model: fc.nat(3),
  tool: fc.nat(3),
  onTool: often,
  onModel: often,
  rules: fc.record({ a: rule, b: rule, c: rule }),
  grants: fc.array(fc.integer({ min: 1, max: 2 }), { maxLength: 3 }),
  moves: fc.array(
    fc.oneof<fc.Arbitrary<Move>[]>(
      fc.constant('fails' as const),
      fc.record(
        {
          a: fc.constantFrom('ok' as const, 'error' as const),
          b: fc.constantFrom('ok' as const, 'error' as const),
          c: fc.constantFrom('ok' as const, 'error' as const),
        },
        { requiredKeys: [] },
      ),
    ),
    { minLength: 1, maxLength: 25 },
  ),
});
type World = typeof world extends fc.Arbitrary<infer W> ? W : never;

/** Counts the model calls that the rules allow, from the text of the rules and not from the code under test. */
function allowedCalls({ model, tool, onTool, onModel, rules, grants, moves }: World): number {
  let granted = 0;
  let left = [...grants];
  let calls = 0;
  let [modelRow, toolRow] = [0, 0];
  const ownRow: Record<Name, number> = { a: 0, b: 0, c: 0 };
  for (const move of moves) {
    calls += 1;
    let isOver = false;
    if (move === 'fails') {
      modelRow += 1;
      isOver = onModel === 'stop' || modelRow > model + granted;
    } else {
      modelRow = 0;
      const called = names.filter((name) => move[name] !== undefined);
      if (called.length === 0) return calls;
      const failed = called.filter((name) => move[name] === 'error');
      const handlingOf = (name: Name): ErrorHandlingDecision => {
        const own: { onError?: ErrorHandlingDecision; maxRetries?: number } = rules[name];
        return own.maxRetries === undefined ? (own.onError ?? onTool) : 'retry';
      };
      const ownMax = (name: Name) => (rules[name] as { maxRetries?: number }).maxRetries;
      const counted = failed.filter((name) => handlingOf(name) !== 'ignore');
      if (failed.length === 0) toolRow = 0;
      else if (counted.some((name) => ownMax(name) === undefined)) toolRow += 1;
      for (const name of called)
        if (move[name] === 'ok') ownRow[name] = 0;
        else if (ownMax(name) !== undefined) ownRow[name] += 1;
      isOver = counted.some((name) => {
        const most = ownMax(name);
        if (handlingOf(name) === 'stop') return true;
        return most === undefined ? toolRow > tool + granted : ownRow[name] > most + granted;
      });
    }
    if (!isOver) continue;
    const [next] = left;
    if (next === undefined) return calls;
    left = left.slice(1);
    granted += next;
  }
  return calls + 1;
}

function agentOf({ model, tool, onTool, onModel, rules, moves }: World) {
  const made: Record<Name, unknown[]> = { a: [], b: [], c: [] };
  const script = moves.map((move) => {
    if (move === 'fails') return error({ type: 'rate_limit', message: '429' });
    const called = names.filter((name) => move[name] !== undefined);
    for (const name of called) made[name].push(move[name] === 'ok' ? 'fine' : new Error('broken'));
    return called.length > 0 ? toolCalls(called.map((name) => ({ name }))) : final('done');
  });
  const driver = DeterministicDriver.create([...script, final('done')]);
  const policy = ErrorPolicy.stopOnAnyError()
    .withHandling('tool', onTool)
    .withHandling('rate_limit', onModel)
    .withMaxRetries({ model, tool })
    .withBackoff({ initialMs: 0 });
  const agent = AgentBuilder.new()
    .withDriver(driver)
    .withTools(...names.map((name) => mockTool(name, made[name], rules[name])))
    .withErrorPolicy(policy)
    .build();
  return { driver, agent };
}

describe('random failures of model and tools under random policies', () => {
  it.each([false, true])(
    'makes exactly the model calls that the policy allows; stored after each run: %s',
    async (isStored) => {
      await fc.assert(
        fc.asyncProperty(world, async (given) => {
          const { driver, agent } = agentOf(given);
          const kept = (state: AgentState): AgentState =>
            isStored ? AgentState.from(JSON.parse(JSON.stringify(state)) as never) : state;
          let state: AgentState = await agent.run('go');
          for (const retries of given.grants) {
            if (state.status !== 'failed') break;
            state = await agent.resume(kept(state), { grant: { retries } });
          }
          expect(driver.requests.length).toBe(allowedCalls(given));
          expectReplayed(state);
        }),
        { numRuns: 300 },
      );
    },
  );

  it('counts the same if every step runs in another process', async () => {
    await fc.assert(
      fc.asyncProperty(world, async (given) => {
        const { driver, agent } = agentOf(given);
        let state: AgentState = AgentState.empty().withUserMessage('go');
        do {
          const copy = AgentState.from(JSON.parse(JSON.stringify(state)) as never);
          state = await agent.nextStep(copy);
        } while (state.status === 'in_progress');
        expect(driver.requests.length).toBe(allowedCalls({ ...given, grants: [] }));
        expectReplayed(state);
      }),
      { numRuns: 150 },
    );
  });
});
