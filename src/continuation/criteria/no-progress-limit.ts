import { canonicalJson } from '../../json.ts';
import { whole } from '../../errors/agent-error.ts';
import type { ContinuationCriterion } from '../criterion.ts';
import type { ContinuationEvaluation } from '../evaluation.ts';
import type { LimitFacts } from '../facts.ts';
import type { RunView } from '../run-view.ts';
import { StopReason } from '../stop-reason.ts';

const name = 'NoProgressLimit';

/** Forbids once the same tool got the same arguments and gave the same result `times` in a row. */
export const noProgressLimit = (times: number): ContinuationCriterion => {
  whole(name, times);
  return {
    name,
    kind: 'limit',
    isOwn: true,
    stopReason: StopReason.GuardForbade,
    limit: times,
    evaluate(state, { workPending }): ContinuationEvaluation {
      const { tool, repeats } = sameCallsAtTheEnd(state, times);
      const context = { used: repeats, limit: times, toolName: tool };
      const facts = factsFor(repeats, times, tool);
      if (!workPending || repeats < times)
        return {
          criterion: name,
          decision: 'allow',
          reason: `${repeats} of ${times} identical calls in a row`,
          context,
          facts,
        };
      return {
        criterion: name,
        decision: 'forbid',
        reason: `${tool} was called ${repeats} times in a row with the same arguments and the same result, and the limit is ${times}`,
        context,
        stopReason: StopReason.GuardForbade,
        remedy: {
          text: `send a new message that says what to do instead, make ${tool} return more, or raise noProgressLimit(...).`,
          option: 'noProgressLimit(...)',
        },
        facts,
      };
    },
  };
};

const factsFor = (used: number, limit: number, toolName: string | null): LimitFacts => ({
  kind: 'limit',
  unit: 'repeats',
  scope: 'execution',
  used,
  base: limit,
  granted: 0,
  limit,
  ...(toolName !== null && { toolName }),
});

/** Looks back over as many calls as could matter, newest first. */
function sameCallsAtTheEnd(
  state: RunView,
  times: number,
): { readonly tool: string | null; readonly repeats: number } {
  let tool: string | null = null;
  let print = '';
  let repeats = 0;
  for (let i = -1; repeats < times; i--) {
    const step = state.steps.at(i);
    if (step === undefined || step.executionId !== state.execution.id) break;
    for (const call of step.toolCalls.toReversed()) {
      const result = step.results.find((r) => r.callId === call.id);
      const next = canonicalJson([call.name, call.args, result?.kind, result?.value]);
      if (tool === null) [tool, print] = [call.name, next];
      else if (next !== print) return { tool, repeats };
      repeats += 1;
      if (repeats === times) return { tool, repeats };
    }
  }
  return { tool, repeats };
}
