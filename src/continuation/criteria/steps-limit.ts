import type { ContinuationCriterion } from '../criterion.ts';
import { stepsOfFamily } from '../family-share.ts';
import { StopReason } from '../stop-reason.ts';
import { limitCriterion } from './limit.ts';

/** Limits the agent's own answered steps in this execution. The retry limit bounds failed model calls. */
export const stepsLimit = (
  maxSteps: number,
  option: string = 'stepsLimit(...)',
): ContinuationCriterion =>
  limitCriterion({
    name: 'StepsLimit',
    stopReason: StopReason.StepsLimitReached,
    max: maxSteps,
    isWhole: true,
    unit: 'steps',
    measure: 'steps',
    option,
    grant: 'steps',
    used: (state) => state.execution.answeredSteps,
    isOwn: true,
    reserve: () => 1,
  });

/** Limits the answered steps of the agent and all its nested agents in this execution. */
export const familyStepsLimit = (
  maxFamilySteps: number,
  option: string = 'familyStepsLimit(...)',
): ContinuationCriterion =>
  limitCriterion({
    name: 'FamilyStepsLimit',
    stopReason: StopReason.StepsLimitReached,
    max: maxFamilySteps,
    isWhole: true,
    unit: 'steps of all agents',
    measure: 'steps',
    scope: 'family',
    option,
    grant: 'steps',
    used: ({ execution }) => execution.answeredSteps + stepsOfFamily(execution.family),
    share: ({ steps }) => steps,
    reserve: () => 1,
  });

/** Limits the agent's own answered steps in the whole session. */
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
