import type { AgentState } from '../agent/agent-state.ts';
import type { AgentStep } from '../agent/agent-step.ts';
import type { ContinuationCriterion } from '../continuation/criterion.ts';
import type { ContinuationEvaluation } from '../continuation/evaluation.ts';
import { isRecord } from '../json.ts';

const name = 'LeadHasOwner';

/** A custom criterion: a run that created a lead must not end before the lead has an owner. It requests this once. */
export const leadHasOwner = (): ContinuationCriterion<AgentState> => ({
  name,
  evaluate(state): ContinuationEvaluation {
    const steps = stepsOf(state);
    const owners = ownersOfNewLeads(steps);
    const ids = [...owners.keys()];
    const unowned = ids.filter((id) => owners.get(id) === null);
    const context = { created: ids.length, withoutOwner: unowned.length };
    const say = (decision: ContinuationEvaluation['decision'], reason: string) => ({
      criterion: name,
      decision,
      reason,
      context,
    });
    if (ids.length === 0) return say('allow', 'no lead was created');
    const [first] = unowned;
    if (first === undefined)
      return say('stop', `${ids.join(', ')} ${ids.length === 1 ? 'has an owner' : 'have owners'}`);
    const last = steps.at(-1);
    if (last?.type !== 'final') return say('allow', `${first} has no owner yet`);
    // a model may have a good reason to leave it to the user: once is enough
    return steps.some((step) => step !== last && step.type === 'final')
      ? say('stop', `${first} has no owner, and the model was asked once`)
      : say('request', `${first} has no owner yet: set one with update_lead`);
  },
});

/** Returns the steps of this execution, oldest first. */
function stepsOf(state: AgentState): readonly AgentStep[] {
  const steps: AgentStep[] = [];
  for (let i = -1; ; i--) {
    const step = state.steps.at(i);
    if (step === undefined || step.executionId !== state.execution.id) return steps.toReversed();
    steps.push(step);
  }
}

function ownersOfNewLeads(steps: readonly AgentStep[]): ReadonlyMap<string, string | null> {
  const owners = new Map<string, string | null>();
  for (const { toolCalls, results } of steps)
    for (const [i, call] of toolCalls.entries()) {
      const result = results[i];
      if (result?.kind !== 'ok' || !isRecord(result.value)) continue;
      const { id, owner, deleted } = result.value;
      if (typeof deleted === 'string') owners.delete(deleted);
      if (typeof id === 'string' && (call.name === 'create_lead' || owners.has(id)))
        owners.set(id, typeof owner === 'string' ? owner : null);
    }
  return owners;
}
