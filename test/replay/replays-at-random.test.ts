import * as fc from 'fast-check';
import { AgentState, explainState } from 'onward';
import { replay, type ReplayResult } from 'onward/replay';
import { describe, expect, it } from 'vitest';
import { plan, type Plan } from '../setup/explanation-plan.ts';
import { worldOf, type World } from '../setup/explanation-world.ts';

/** Lets the clock run while a run waits, such as before a retry. */
async function inTime<T>({ clock }: World, run: Promise<T>): Promise<T> {
  let isDone = false;
  const done = run.finally(() => (isDone = true));
  for (let turns = 0; !isDone; turns++) {
    await new Promise((resolve) => setImmediate(resolve));
    if (turns > 20) await clock.advance(10_000);
  }
  return done;
}

/** Takes one of the offered actions that continue the execution; null if there is none. */
async function continued(
  { agent, clock }: World,
  state: AgentState,
  choice: number,
): Promise<AgentState | null> {
  const actions = explainState(state).actions.filter(({ kind }) =>
    ['grant', 'approve', 'input', 'resume'].includes(kind),
  );
  const action = actions[choice % Math.max(1, actions.length)];
  clock.jump(choice * 1_000);
  switch (action?.kind) {
    case 'grant':
      return agent.resume(state, { grant: choice % 2 === 0 ? action.grant : action.minimum });
    case 'approve':
      return agent.resume(state, {
        approvals: Object.fromEntries(
          action.callIds.map((id) => [
            id,
            choice % 3 > 0 ? { approve: true as const } : { deny: 'not now' },
          ]),
        ),
      });
    case 'input':
      return agent.resume(state, {
        inputs: Object.fromEntries(
          action.inputIds.map((id) => [id, { action: 'accept' as const, content: {} }]),
        ),
      });
    case 'resume':
      return agent.resume(state);
    default:
      return null;
  }
}

const decisionsOf = (result: ReplayResult, which: 'recorded' | 'replayed') =>
  result.steps.map(({ number, [which]: outcome }) => [
    number,
    outcome?.shouldContinue,
    outcome?.resolvedBy,
    outcome?.stopReason,
    outcome?.evaluations.map(({ criterion, decision, reason }) => [criterion, decision, reason]),
  ]);

describe('replays of random runs (D86)', () => {
  it('property: the same policy decides the same about every step, over grants, pauses and stops', async () => {
    let compared = 0;
    let resumed = 0;
    await fc.assert(
      fc.asyncProperty(
        plan,
        fc.array(fc.nat({ max: 5 }), { maxLength: 4 }),
        fc.boolean(),
        async (chosen, choices, isStored) => {
          const world = worldOf(chosen);
          const abort = new AbortController();
          world.requests.stop = () => abort.abort('enough for today');
          let state: AgentState = await inTime(
            world,
            world.agent.run('go', { signal: abort.signal }),
          );
          for (const choice of choices) {
            const stored = isStored ? AgentState.from(JSON.parse(JSON.stringify(state))) : state;
            const next = await inTime(world, continued(world, stored, choice));
            if (next === null) break;
            state = next;
            resumed += 1;
          }
          const result = replay(isStored ? JSON.parse(JSON.stringify(state)) : state);
          expect(decisionsOf(result, 'replayed')).toEqual(decisionsOf(result, 'recorded'));
          expect(result.change).toBe('same');
          const isMidStep = state.unfinishedStep !== null;
          const isEmpty = result.steps.length === 0;
          expect(result.incomplete.map(({ code }) => code)).toEqual(
            isEmpty
              ? isMidStep
                ? ['no_steps', 'unfinished']
                : ['no_steps']
              : isMidStep
                ? ['unfinished']
                : [],
          );
          compared += result.steps.length;
        },
      ),
      { numRuns: 300 },
    );
    expect(compared).toBeGreaterThan(400);
    expect(resumed).toBeGreaterThan(100);
  });
});

describe('changed limits (D86)', () => {
  it('property: a replay stops where a real run under these limits stops, for the same reason', async () => {
    const found = new Map<string, number>();
    const limits = fc.record({
      maxSteps: fc.option(fc.integer({ min: 1, max: 4 }), { nil: undefined }),
      maxTokens: fc.option(fc.integer({ min: 1, max: 2_500 }), { nil: undefined }),
      maxCost: fc.option(
        fc.integer({ min: 1, max: 60 }).map((cents) => cents / 100),
        { nil: undefined },
      ),
      seconds: fc.option(fc.integer({ min: 1, max: 40 }), { nil: undefined }),
    });
    await fc.assert(
      fc.asyncProperty(plan, limits, async (chosen, given) => {
        // agents behind calls stop within a step, and guards and tools act on what a run has seen
        const moves = chosen.moves.filter((move) => move !== 'research' && move !== 'ask_clerk');
        const recordedPlan: Plan = {
          ...chosen,
          moves: moves.length > 0 ? moves : ['search'],
          // an unlimited agent cannot be given a time limit: it may have had either kind
          timeout: chosen.timeout ?? 40,
          guard: null,
        };
        const changed = Object.fromEntries(
          Object.entries(given).filter(([, value]) => value !== undefined),
        );
        const { seconds: timeout, ...others } = changed;
        const realPlan = { ...recordedPlan, ...others, ...(timeout && { timeout }) };
        const [before, after] = [worldOf(recordedPlan), worldOf(realPlan)];
        const recorded = await inTime(before, before.agent.run('go'));
        const real = await inTime(after, after.agent.run('go'));
        const result = replay(recorded, { limits: changed });
        found.set(result.change, (found.get(result.change) ?? 0) + 1);
        // the clock of this world jumps, so that no timer interrupts a step
        if (result.difference === 'interrupted')
          expect(real.execution.stepCount).toBeGreaterThanOrEqual(result.stopsAt ?? 0);
        else if (result.stopsAt !== null) {
          expect(real.execution.stepCount).toBe(result.stopsAt);
          const last = result.steps.find(({ number }) => number === result.stopsAt);
          expect(real.stopReason).toBe(last?.replayed?.stopReason);
          expect(real.lastContinuationOutcome?.resolvedBy).toBe(last?.replayed?.resolvedBy);
        } else if (result.change === 'further')
          // where the recorded run was out of time, the real one may ask for an approval
          expect(real.execution.stepCount + (real.unfinishedStep ? 1 : 0)).toBeGreaterThanOrEqual(
            result.firstDifference ?? 0,
          );
      }),
      { numRuns: 400 },
    );
    expect([...found.keys()].toSorted()).toEqual(
      expect.arrayContaining(['cut_short', 'earlier', 'further', 'same']),
    );
  });
});
