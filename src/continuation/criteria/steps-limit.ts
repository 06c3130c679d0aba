import type { ContinuationCriterion } from '../criterion.ts';
import { stepsOfFamily } from '../family-share.ts';
import { StopReason } from '../stop-reason.ts';
import { limitCriterion } from './limit.ts';

/** Counts the agent's own answered steps of this execution; failed model calls are bounded by the retry limit instead. */
export const stepsLimit = (maxSteps: number): ContinuationCriterion =>
  limitCriterion({
    name: 'StepsLimit',
    stopReason: StopReason.StepsLimitReached,
    max: maxSteps,
    isWhole: true,
    unit: 'steps',
    measure: 'steps',
    option: 'withMaxSteps(...)',
    grant: 'steps',
    used: (state) => state.execution.answeredSteps,
    isOwn: true,
    reserve: () => 1,
  });

/** Counts the answered steps of the agent and of all agents behind its calls. */
export const familyStepsLimit = (maxFamilySteps: number): ContinuationCriterion =>
  limitCriterion({
    name: 'FamilyStepsLimit',
    stopReason: StopReason.StepsLimitReached,
    max: maxFamilySteps,
    isWhole: true,
    unit: 'steps of all agents',
    measure: 'steps',
    scope: 'family',
    option: 'withMaxFamilySteps(...)',
    grant: 'steps',
    used: ({ execution }) => execution.answeredSteps + stepsOfFamily(execution.family),
    share: ({ steps }) => steps,
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
    measure: 'steps',
    scope: 'session',
    option: 'sessionStepsLimit(...)',
    used: (state) => state.info.answeredSteps,
    isOwn: true,
    reserve: () => 1,
  });
