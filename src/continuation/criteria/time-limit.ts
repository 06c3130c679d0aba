import { msOf } from '../../clock.ts';
import { invalidOption } from '../../errors/agent-error.ts';
import { isRecord } from '../../json.ts';
import type { ContinuationCriterion } from '../criterion.ts';
import { StopReason } from '../stop-reason.ts';
import { limitCriterion } from './limit.ts';

export interface TimeLimit {
  readonly seconds: number;
}

/**
 * Limits the wall-clock time since the last run or resume. The time is 0 while no run is active: counting from the
 * start of the session would time out every conversation on its second day.
 */
export const executionTimeLimit = (
  limit: TimeLimit,
  option: string = 'executionTimeLimit({ seconds })',
): ContinuationCriterion =>
  limitCriterion({
    ...time('ExecutionTimeLimit', limit),
    unit: 'seconds',
    option,
    grant: 'seconds',
    used: ({ executionStartedAt }, now) =>
      executionStartedAt === null ? 0 : Math.max(0, now - msOf(executionStartedAt)) / 1000,
    limit: ({ execution }, { grants }) =>
      execution.stretchSeconds ?? limit.seconds + (grants.seconds ?? 0),
  });

/** Limits the working time of this execution, across pauses. Time spent waiting for a user does not count. */
export const cumulativeExecutionTimeLimit = (
  limit: TimeLimit,
  option: string = 'cumulativeExecutionTimeLimit({ seconds })',
): ContinuationCriterion =>
  limitCriterion({
    ...time('CumulativeExecutionTimeLimit', limit),
    unit: 'working seconds',
    option,
    grant: 'seconds',
    used: (state) => state.execution.cumulativeSeconds,
  });

/** Limits the working time of the whole session. */
export const sessionTimeLimit = (limit: TimeLimit): ContinuationCriterion =>
  limitCriterion({
    ...time('SessionTimeLimit', limit),
    unit: 'working seconds of the session',
    scope: 'session',
    option: 'sessionTimeLimit({ seconds })',
    used: (state) => state.info.cumulativeExecutionSeconds,
  });

function time(name: string, limit: TimeLimit) {
  if (!isRecord(limit)) throw invalidOption(name, limit, '{ seconds: <number> }');
  return {
    name,
    stopReason: StopReason.TimeLimitReached,
    max: limit.seconds,
    measure: 'seconds' as const,
    isTime: true,
    reserve: ({ seconds }: { readonly seconds: number }) => seconds,
  };
}
