import type { AgentStepJSON } from '../agent/agent-state.ts';
import { canonicalJson } from '../json.ts';
import type { ToolCall } from '../messages/tool-call.ts';
import type { ToolResult } from '../tools/tool-result.ts';
import type { TraceBar } from './trace.ts';
import { numberIn, textIn, evaluationOf } from './evaluations.ts';

type Call = Pick<ToolCall, 'id' | 'name' | 'args'>;

/** What this reads of a step; one that is in work fits too. */
export interface StepWithCalls extends Pick<AgentStepJSON, 'outcome'> {
  readonly type: AgentStepJSON['type'] | 'running' | 'waiting';
  readonly toolCalls: readonly Call[];
  readonly results: readonly Pick<ToolResult, 'callId' | 'kind'>[];
}

export type Retries = ReadonlyMap<string, NonNullable<TraceBar['retry']>>;

/** Calls that were made again in the step after the one in which the same tool failed, by call id. */
export function retriesIn(steps: readonly StepWithCalls[]): Retries {
  const retries = new Map<string, { readonly number: number; readonly limit: number | null }>();
  let before: StepWithCalls | null = null;
  for (const step of steps) {
    // a failed or cut model call in between asked for nothing
    if (step.toolCalls.length === 0) {
      if (step.type === 'final') before = null;
      continue;
    }
    const open = [...step.toolCalls];
    for (const failed of failedCalls(before)) {
      const place = placeOfRetry(open, failed);
      if (place === -1) continue;
      const [again] = open.splice(place, 1) as [Call]; // found in the list
      const number = (retries.get(failed.id)?.number ?? 0) + 1;
      retries.set(again.id, { number, limit: limitOf(before) });
    }
    before = step;
  }
  return retries;
}

function failedCalls(step: StepWithCalls | null): readonly Call[] {
  return (step?.toolCalls ?? []).filter(({ id }) => {
    const kind = step?.results.find(({ callId }) => callId === id)?.kind;
    return kind === 'error' || kind === 'timeout';
  });
}

/** With the same arguments if there is one; a model may also fix them. */
function placeOfRetry(calls: readonly Call[], { name, args }: Call): number {
  const wanted = canonicalJson(args);
  const same = calls.findIndex((call) => call.name === name && canonicalJson(call.args) === wanted);
  return same === -1 ? calls.findIndex((call) => call.name === name) : same;
}

/** How many are allowed, where the policy counts them. */
function limitOf(step: StepWithCalls | null): number | null {
  const evaluation = evaluationOf(step?.outcome ?? null, 'ErrorPolicyCriterion');
  return textIn(evaluation, 'handling') === 'ignore' ? null : numberIn(evaluation, 'maxRetries');
}
