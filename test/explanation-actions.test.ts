import * as fc from 'fast-check';
import {
  explainOutcome,
  explainState,
  type AgentState,
  type ContinuationOutcome,
  type ExplanationAction,
  type Grants,
} from 'onward';
import { describe, expect, it } from 'vitest';
import { allowanceOf } from '../src/continuation/grant-allowance.ts';
import { grantKinds } from '../src/continuation/grants.ts';
import { ownerCaps, plan } from './setup/explanation-plan.ts';
import { waitFor, worldOf, type World } from './setup/explanation-world.ts';

/** Counts answered steps. The model has answered a paused step. */
const answered = ({ info }: AgentState): number => info.answeredSteps;

/** Performs an action and returns the new state. */
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
    case 'input':
      return agent.resume(state, {
        inputs: Object.fromEntries(
          action.inputIds.map((id) => [id, { action: 'accept' as const, content: {} }]),
        ),
      });
    case 'resume':
      return agent.resume(state);
    case 'new_message':
      return agent.run(state.withUserMessage('Something else.'));
    // the fix is outside of the run; once it is made, a new conversation works
    case 'change':
      return agent.run('Something else.');
    default:
      throw new Error(`no such run offers ${action.kind}`);
  }
}

async function works(world: World, state: AgentState, action: ExplanationAction): Promise<void> {
  let after = await taken(world, state, action);
  // a slow tool may reach the time limit after its approval: what is offered then works
  if (action.kind === 'approve' && after.stopReason === 'time_limit') {
    const [next] = explainState(after).actions;
    after = await taken(world, after, next!);
  }
  const before = action.kind === 'change' ? 0 : answered(state);
  expect(answered(after), `${action.kind}: ${action.text}`).toBeGreaterThan(before);
}

const nothing = Object.fromEntries(grantKinds.map((kind) => [kind, 0])) as Required<Grants>;

/** The kind of cause that ended a run, finer for errors. */
function causeOf({ decisive }: ContinuationOutcome): string {
  const facts = decisive?.facts;
  if (facts?.kind !== 'error') return facts?.kind ?? 'none';
  if ((facts.failedModels?.length ?? 0) > 1) return 'all models failed';
  return facts.byTool ? 'error of a tool with its own rule' : 'error';
}

describe('explanation actions', () => {
  it('property: every offered action leads to at least one more answered step', async () => {
    const kinds = new Map<string, number>();
    const causes = new Set<string>();
    await fc.assert(
      fc.asyncProperty(plan, ownerCaps, async (chosen, owners) => {
        const world = worldOf(chosen);
        const abort = new AbortController();
        world.requests.stop = () => abort.abort('enough for today');
        const state = await world.agent.run('go', { signal: abort.signal });
        world.calm();
        const { actions } = explainState(state);
        for (const action of actions) {
          kinds.set(action.kind, (kinds.get(action.kind) ?? 0) + 1);
          if (action.kind === 'wait') {
            // the actions after it in the list work once the wait is over
            waitFor(world.clock, action);
            expect(actions.length).toBeGreaterThan(1);
            continue;
          }
          await works(world, state, action);
          if (action.kind === 'grant')
            await works(world, state, { ...action, grant: action.minimum });
        }
        const outcome = state.lastContinuationOutcome;
        if (outcome && state.status !== 'paused') causes.add(causeOf(outcome));
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
      { numRuns: 300 },
    );
    expect([...kinds.keys()].toSorted()).toEqual([
      'approve',
      'change',
      'grant',
      'input',
      'new_message',
      'resume',
      'wait',
    ]);
    for (const cause of [
      'custom',
      'broken',
      'error of a tool with its own rule',
      'all models failed',
      'guard',
    ])
      expect(causes).toContain(cause);
  }, 120_000);
});
