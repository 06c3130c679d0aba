import { own } from '../../json.ts';
import type { ContinuationCriterion } from '../criterion.ts';
import { sharedEvaluations, type ContinuationEvaluation } from '../evaluation.ts';
import { stepToJudge } from '../run-view.ts';
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
        remedy: {
          text: remedyText(finishReason, option),
          option,
          grant: { steps: 1 },
        },
        facts: { kind: 'finish', finishReason },
      };
    },
  };
};

const remedyText = (finishReason: string, option: string): string =>
  finishReason === 'content_filter'
    ? `change the request and send it as a new message, or change the list with ${option}.`
    : `call resume(state, { grant: { steps: 1 } }), allow more output tokens, or change the list with ${option}.`;
