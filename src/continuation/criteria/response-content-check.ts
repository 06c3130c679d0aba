import type { ContinuationCriterion } from '../criterion.ts';
import type { ContinuationEvaluation } from '../evaluation.ts';
import { isAnswered, stepToJudge } from '../run-view.ts';

const name = 'ResponseContentCheck';

/** Requests another step while `wantsMore` returns true for the newest response text, else allows the stop. */
export const responseContentCheck = (
  wantsMore: (content: string) => boolean,
): ContinuationCriterion => ({
  name,
  evaluate(state): ContinuationEvaluation {
    const step = stepToJudge(state);
    if (step === null || !isAnswered(step))
      return { criterion: name, decision: 'allow', reason: 'no response yet', context: {} };
    const more = wantsMore(state.outputText);
    return {
      criterion: name,
      decision: more ? 'request' : 'stop',
      reason: more ? 'the response asks for more work' : 'the response needs no more work',
      context: {},
    };
  },
});
