import type { ContinuationCriterion } from '../criterion.ts';
import { StopReason } from '../stop-reason.ts';
import { limitCriterion } from './limit.ts';

/** Limits the known cost of this execution. Without a price the limit is not enforced, and its reason says so. */
export const costLimit = (
  maxCost: number,
  option: string = 'costLimit(...)',
): ContinuationCriterion =>
  limitCriterion({
    name: 'CostLimit',
    stopReason: StopReason.GuardForbade,
    max: maxCost,
    unit: 'cost units',
    measure: 'cost',
    option,
    grant: 'cost',
    used: (state) => state.execution.cost,
    share: ({ cost }) => cost,
  });

/** Limits the known cost of the whole session. */
export const sessionCostLimit = (maxCost: number): ContinuationCriterion =>
  limitCriterion({
    name: 'SessionCostLimit',
    stopReason: StopReason.GuardForbade,
    max: maxCost,
    unit: 'cost units of the session',
    measure: 'cost',
    scope: 'session',
    option: 'sessionCostLimit(...)',
    used: (state) => state.info.cost,
  });
