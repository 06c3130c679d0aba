import { grantRemedy } from '../grant-remedy.ts';
import { own } from '../../json.ts';
import type { ContinuationCriterion } from '../criterion.ts';
import { sharedEvaluations, type ContinuationEvaluation, type Remedy } from '../evaluation.ts';
import { stepToJudge, type RunView } from '../run-view.ts';
import { StopReason } from '../stop-reason.ts';

const name = 'FinishReasonCheck';
const meanings: Readonly<Record<string, string>> = {
  length: 'the answer was cut off at the output limit',
  content_filter: 'the provider filtered the answer',
};

/** Forbids after an answer without tool calls whose finish reason is in `reasons`: a truncated answer is incomplete. */
export const finishReasonCheck = (
  reasons: readonly string[] = ['length', 'content_filter'],
  option: string = 'finishReasonCheck(...)',
): ContinuationCriterion => {
  const allowed = sharedEvaluations((finishReason: string | null) => ({
    criterion: name,
    decision: 'allow',
    reason: finishReason === null ? 'no answer to judge' : `finish reason ${finishReason}`,
    context: { finishReason },
  }));
  return {
    name,
    evaluate(state): ContinuationEvaluation {
      const step = stepToJudge(state);
      const finishReason = step?.finishReason ?? null;
      if (step?.type !== 'final' || finishReason === null || !reasons.includes(finishReason))
        return allowed(finishReason);
      return {
        criterion: name,
        decision: 'forbid',
        reason: `${own(meanings, finishReason) ?? 'the answer ended in a way that is listed as a reason to stop'} (finish reason ${finishReason})`,
        context: { finishReason, reasons },
        stopReason: StopReason.FinishReasonReceived,
        remedy: remedyFor(state, finishReason, option),
        facts: { kind: 'finish', finishReason },
      };
    },
  };
};

function remedyFor(state: RunView, finishReason: string, option: string): Remedy {
  const change = `change the list with ${option}`;
  const grant = { steps: 1 };
  if (finishReason === 'content_filter') {
    const text = `change the request and send it as a new message, or ${change}.`;
    return { ...grantRemedy(state, grant, { ways: [], option }), text };
  }
  return grantRemedy(state, grant, { ways: ['allow more output tokens', change], option });
}
