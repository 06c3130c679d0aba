import type { ContinuationCriterion } from '../criterion.ts';
import { StopReason } from '../stop-reason.ts';
import { limitCriterion } from './limit.ts';

/** Counts answered steps of this execution; failed model calls are bounded by the retry limit instead. */
export const stepsLimit = (maxSteps: number): ContinuationCriterion =>
  limitCriterion({
    name: 'StepsLimit',
    stopReason: StopReason.StepsLimitReached,
    max: maxSteps,
    isWhole: true,
    unit: 'steps',
    option: 'withMaxSteps(...)',
    grant: 'steps',
    used: (state) => state.execution.answeredSteps,
    reserve: () => 1,
  });

/** The same over the whole session. */
export const sessionStepsLimit = (maxSteps: number): ContinuationCriterion =>
  limitCriterion({
    name: 'SessionStepsLimit',
    stopReason: StopReason.StepsLimitReached,
    max: maxSteps,
    isWhole: true,
    unit: 'steps of the session',
    option: 'sessionStepsLimit(...)',
    used: (state) => state.info.answeredSteps,
    reserve: () => 1,
  });
