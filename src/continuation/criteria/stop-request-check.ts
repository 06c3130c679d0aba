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
    text: 'call resume(state, { grant: { steps: 1 } }), or send a new message.',
    grant: { steps: 1 },
  },
  tool: { text: 'send a new message; a tool asked for this stop.' },
  deadline: { text: 'give the run that started this agent more time.' },
};

const noRequest: ContinuationEvaluation = Object.freeze({
  criterion: name,
  decision: 'allow',
  reason: 'no stop requested',
  context: {},
});

/** Forbids after a stop request: from a user (signal or `stop()`), from a tool, or from a parent's deadline. */
export const stopRequestCheck = (): ContinuationCriterion => ({
  name,
  evaluate({ execution }): ContinuationEvaluation {
    const request = execution.stopRequest;
    if (request === null) return noRequest;
    const { by, reason, toolName } = request;
    return {
      criterion: name,
      decision: 'forbid',
      reason,
      context: { by },
      stopReason: reasons[by],
      remedy: remedies[by],
      facts: { kind: 'stop_request', source: by, ...(toolName && { toolName }), reason },
    };
  },
});
