import { canonicalJson } from '../../json.ts';
import { whole } from '../../errors/agent-error.ts';
import type { ContinuationCriterion } from '../criterion.ts';
import type { ContinuationEvaluation } from '../evaluation.ts';
import type { RunView } from '../run-view.ts';
import { StopReason } from '../stop-reason.ts';
import { withFacts } from '../with-facts.ts';

const name = 'NoProgressLimit';

/** Forbids once `times` calls in a row had the same tool, the same arguments and the same result. */
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
      if (!workPending || repeats < times)
        return withFacts({
          criterion: name,
          decision: 'allow',
          reason: `${repeats} of ${times} identical calls in a row`,
          context,
        });
      return withFacts({
        criterion: name,
        decision: 'forbid',
        reason: `${tool} was called ${repeats} times in a row with the same arguments and the same result, and the limit is ${times}`,
        context,
        stopReason: StopReason.GuardForbade,
        remedy: {
          text: `send a new message that says what to do instead, make ${tool} return more, or raise noProgressLimit(...).`,
          option: 'noProgressLimit(...)',
        },
      });
    },
  };
};

/** Counts identical calls from the newest back, at most `times`. */
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
      const { kind, value, files } = result ?? {};
      const next = canonicalJson([call.name, call.args, kind, value, files]);
      if (tool === null) [tool, print] = [call.name, next];
      else if (next !== print) return { tool, repeats };
      repeats += 1;
      if (repeats === times) return { tool, repeats };
    }
  }
  return { tool, repeats };
}
