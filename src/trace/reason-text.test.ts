import { expect, it } from 'vitest';
import { session, outcomeWith } from '../../test/trace/records.ts';
import type { ContinuationEvaluation } from '../continuation/evaluation.ts';
import { ContinuationOutcome } from '../continuation/outcome.ts';
import type { StopReason } from '../continuation/stop-reason.ts';
import type { Session } from '../sessions/session.ts';
import { reasonText } from './reason-text.ts';

const pending = (tool: string) => ({ callId: tool, tool, args: {}, path: [] });

const stopped = (
  stopReason: StopReason,
  criterion: string,
  context: ContinuationEvaluation['context'] = {},
): Partial<Session> => ({
  status: stopReason === 'error' || stopReason === 'retry_limit' ? 'failed' : 'stopped',
  stopReason,
  executionStepCount: 2,
  outcome: ContinuationOutcome.from(
    outcomeWith({ criterion, decision: 'forbid', stopReason, context }),
  ),
});

it.each<[string, Partial<Session>]>([
  ['Nothing sent yet', { status: 'pending' }],
  ['Working · step 1', { status: 'in_progress' }],
  ['Working · step 2', { status: 'in_progress', executionStepCount: 1, stepCount: 9 }],
  ['Paused', { status: 'paused' }],
  ['delete_lead needs approval', { status: 'paused', pendingApprovals: [pending('delete_lead')] }],
  ['3 approvals needed', { status: 'paused', pendingApprovals: ['a', 'b', 'c'].map(pending) }],
  ['Completed · 1 step', { status: 'completed', executionStepCount: 1, stepCount: 9 }],
  ['Completed · 3 steps', { status: 'completed', executionStepCount: 3 }],
  ['Step limit · 5 / 5', stopped('steps_limit', 'StepsLimit', { used: 5, limit: 5 })],
  [
    'Session step limit · 20 / 20',
    stopped('steps_limit', 'SessionStepsLimit', { used: 20, limit: 20 }),
  ],
  [
    'Step limit of all agents · 10 / 10',
    stopped('steps_limit', 'FamilyStepsLimit', { used: 10, limit: 10 }),
  ],
  [
    'Token limit · 40,212 / 40,000',
    stopped('token_limit', 'TokenUsageLimit', { used: 40_212, limit: 40_000 }),
  ],
  [
    'Time limit · 120.1 / 120 s',
    stopped('time_limit', 'ExecutionTimeLimit', { used: 120.0612, limit: 120 }),
  ],
  ['Cost limit · $0.10 / $0.10', stopped('guard', 'CostLimit', { used: 0.1, limit: 0.1 })],
  [
    'Session cost limit · $2.013 / $2.00',
    stopped('guard', 'SessionCostLimit', { used: 2.013, limit: 2 }),
  ],
  [
    'Retry limit · 3 / 3 · timeout',
    stopped('retry_limit', 'ErrorPolicyCriterion', {
      consecutiveFailures: 4,
      maxRetries: 3,
      errorType: 'timeout',
    }),
  ],
  [
    'create_lead failed',
    stopped('error', 'ErrorPolicyCriterion', { errorType: 'tool', toolName: 'create_lead' }),
  ],
  [
    'Model call failed · rate limit',
    stopped('error', 'ErrorPolicyCriterion', { errorType: 'rate_limit', toolName: null }),
  ],
  ['Failed', stopped('error', 'SessionRuntime')],
  [
    'Answer cut off · length',
    stopped('finish_reason', 'FinishReasonCheck', { finishReason: 'length' }),
  ],
  [
    'No progress · search',
    stopped('guard', 'NoProgressLimit', { used: 3, limit: 3, toolName: 'search' }),
  ],
  ['Stopped · OfficeHours', stopped('guard', 'OfficeHours')],
  ['Stopped · StepsLimit', stopped('steps_limit', 'StepsLimit')],
  ['Stopped by you at step 2', stopped('user_requested', 'StopRequestCheck', { by: 'user' })],
  ['Stopped by you', { ...stopped('user_requested', 'StopRequestCheck'), executionStepCount: 0 }],
  ['Failed', { status: 'failed' }],
])('%s', (text, more) => {
  expect(reasonText(session(more))).toBe(text);
});
