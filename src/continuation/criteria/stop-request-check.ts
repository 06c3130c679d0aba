import type { ContinuationCriterion } from '../criterion.ts';
import type { ContinuationEvaluation, Remedy } from '../evaluation.ts';
import { grantRemedy } from '../grant-remedy.ts';
import type { RunView, StopRequest } from '../run-view.ts';
import { StopReason } from '../stop-reason.ts';

const name = 'StopRequestCheck';

const reasons: Readonly<Record<StopRequest['by'], StopReason>> = {
  user: StopReason.UserRequested,
  tool: StopReason.GuardForbade,
  deadline: StopReason.TimeLimitReached,
};

const remedies: Readonly<Record<StopRequest['by'], (state: RunView) => Remedy>> = {
  user: (state) => grantRemedy(state, { steps: 1 }, { ways: ['send a new message'] }),
  tool: () => ({ text: 'send a new message; a tool asked for this stop.' }),
  deadline: () => ({ text: 'give the run that started this agent more time.' }),
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
  evaluate(state): ContinuationEvaluation {
    const request = state.execution.stopRequest;
    if (request === null) return noRequest;
    const { by, reason, toolName } = request;
    return {
      criterion: name,
      decision: 'forbid',
      reason,
      context: { by },
      stopReason: reasons[by],
      remedy: remedies[by](state),
      facts: { kind: 'stop_request', source: by, ...(toolName && { toolName }), reason },
    };
  },
});
