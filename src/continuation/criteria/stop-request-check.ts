import type { ContinuationCriterion } from '../criterion.ts';
import type { ContinuationEvaluation, Remedy } from '../evaluation.ts';
import type { StopRequest } from '../run-view.ts';
import { StopReason } from '../stop-reason.ts';

const name = 'StopRequestCheck';

const reasons: Readonly<Record<StopRequest['by'], StopReason>> = {
  user: StopReason.UserRequested,
  tool: StopReason.GuardForbade,
  deadline: StopReason.TimeLimitReached,
};

const remedies: Readonly<Record<StopRequest['by'], Remedy>> = {
  user: {
    text: 'resume(state, { grant: { steps: 1 } }) picks the work up again; a new message starts fresh.',
    grant: { steps: 1 },
  },
  tool: { text: 'a tool asked for this stop; send a new message to start again.' },
  deadline: { text: 'the run that started this agent ran out of time; give that one more.' },
};

const nobodyAsked: ContinuationEvaluation = Object.freeze({
  criterion: name,
  decision: 'allow',
  reason: 'nobody asked to stop',
  context: {},
});

/** Forbids once somebody asked to stop: a person through the signal or `stop()`, or a tool. */
export const stopRequestCheck = (): ContinuationCriterion => ({
  name,
  evaluate({ execution }): ContinuationEvaluation {
    const request = execution.stopRequest;
    if (request === null) return nobodyAsked;
    return {
      criterion: name,
      decision: 'forbid',
      reason: request.reason,
      context: { by: request.by },
      stopReason: reasons[request.by],
      remedy: remedies[request.by],
    };
  },
});
