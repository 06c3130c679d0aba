import type { AgentStepJSON } from '../agent/agent-state.ts';
import { canonicalJson } from '../json.ts';
import type { ToolCall } from '../messages/tool-call.ts';
import type { ToolResult } from '../tools/tool-result.ts';
import type { TraceBar } from './trace.ts';
import { numberIn, textIn, evaluationOf } from './evaluations.ts';

type Call = Pick<ToolCall, 'id' | 'name' | 'args'>;

/** The fields of a step that this reads; an unfinished step has them too. */
export interface StepWithCalls extends Pick<AgentStepJSON, 'outcome'> {
  readonly type: AgentStepJSON['type'] | 'running' | 'waiting';
  readonly toolCalls: readonly Call[];
  readonly results: readonly Pick<ToolResult, 'callId' | 'kind'>[];
}

export type Retries = ReadonlyMap<string, NonNullable<TraceBar['retry']>>;

/** Returns calls that retry a failed call of the same tool in the previous step, by call id. */
export function retriesIn(steps: readonly StepWithCalls[]): Retries {
  const retries = new Map<string, { readonly number: number; readonly limit: number | null }>();
  for (const [id, { failed, step }] of retriedIn(steps)) {
    const number = (retries.get(failed)?.number ?? 0) + 1;
    retries.set(id, { number, limit: limitOf(step) });
  }
  return retries;
}

/** Returns the failed call that a call retries, with its step, by the id of the new call; in order. */
export function retriedIn<S extends StepWithCalls>(
  steps: readonly S[],
): ReadonlyMap<string, { readonly failed: string; readonly step: S }> {
  const retried = new Map<string, { readonly failed: string; readonly step: S }>();
  let before: S | null = null;
  for (const step of steps) {
    // a failed or interrupted model call in between requested nothing
    if (step.toolCalls.length === 0) {
      if (step.type === 'final') before = null;
      continue;
    }
    const open = [...step.toolCalls];
    for (const failed of failedCalls(before)) {
      const index = indexOfRetry(open, failed);
      if (index === -1) continue;
      const [again] = open.splice(index, 1) as [Call]; // found in the list
      if (before) retried.set(again.id, { failed: failed.id, step: before });
    }
    before = step;
  }
  return retried;
}

function failedCalls(step: StepWithCalls | null): readonly Call[] {
  return (step?.toolCalls ?? []).filter(({ id }) => {
    const kind = step?.results.find(({ callId }) => callId === id)?.kind;
    return kind === 'error' || kind === 'timeout';
  });
}

/** Finds a call with the same arguments, else any: a model may fix them. */
function indexOfRetry(calls: readonly Call[], { name, args }: Call): number {
  const wanted = canonicalJson(args);
  const same = calls.findIndex((call) => call.name === name && canonicalJson(call.args) === wanted);
  return same === -1 ? calls.findIndex((call) => call.name === name) : same;
}

/** Returns how many retries are allowed, if the policy counts them. */
function limitOf(step: StepWithCalls | null): number | null {
  const evaluation = evaluationOf(step?.outcome ?? null, 'ErrorPolicyCriterion');
  return textIn(evaluation, 'handling') === 'ignore' ? null : numberIn(evaluation, 'maxRetries');
}
