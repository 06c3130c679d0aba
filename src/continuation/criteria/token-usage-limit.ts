import type { ContinuationCriterion } from '../criterion.ts';
import { StopReason } from '../stop-reason.ts';
import { limitCriterion } from './limit.ts';

/** Limits the input and output tokens of this execution. Each step counts its input again, as providers bill it. */
export const tokenUsageLimit = (
  maxTokens: number,
  option: string = 'tokenUsageLimit(...)',
): ContinuationCriterion =>
  limitCriterion({
    name: 'TokenUsageLimit',
    stopReason: StopReason.TokenLimitReached,
    max: maxTokens,
    unit: 'tokens',
    measure: 'tokens',
    option,
    grant: 'tokens',
    used: (state) => state.execution.usage.total,
    share: ({ tokens }) => tokens,
    reserve: ({ tokens }) => tokens,
  });

/** Limits the input and output tokens of the whole session. */
export const sessionTokenUsageLimit = (maxTokens: number): ContinuationCriterion =>
  limitCriterion({
    name: 'SessionTokenUsageLimit',
    stopReason: StopReason.TokenLimitReached,
    max: maxTokens,
    unit: 'tokens of the session',
    measure: 'tokens',
    scope: 'session',
    option: 'sessionTokenUsageLimit(...)',
    used: (state) => state.info.usage.total,
    reserve: ({ tokens }) => tokens,
  });
