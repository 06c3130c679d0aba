import type { ContinuationCriterion } from '../criterion.ts';
import { sharedEvaluations, type ContinuationEvaluation } from '../evaluation.ts';
import { stepToJudge, type RunView, type StepView } from '../run-view.ts';

const name = 'ToolCallPresenceCheck';

/** Requests continuation while the model has work to do, such as an unread tool result; else allows the stop. */
export const toolCallPresenceCheck = (): ContinuationCriterion => ({
  name,
  evaluate(state): ContinuationEvaluation {
    const step = stepToJudge(state);
    if (step?.toolCalls.length === 1) return calledOne(step.toolCalls[0]?.name ?? '');
    const work = pendingWork(state);
    const isRetry = step?.type === 'error' || step?.type === 'cut';
    const context = {
      toolCalls: step?.toolCalls.length ?? 0,
      ...(work !== null &&
        step?.toolCalls.length === 0 && {
          work: isRetry ? 'retry' : isPaused(step) ? 'paused_turn' : 'format',
        }),
    };
    if (work !== null) return { criterion: name, decision: 'request', reason: work, context };
    return { criterion: name, decision: 'stop', reason: 'the answer asks for no tools', context };
  },
});

const calledOne = sharedEvaluations((tool: string) => ({
  criterion: name,
  decision: 'request',
  reason: `the model called ${tool}`,
  context: { toolCalls: 1 },
}));

function pendingWork(state: RunView): string | null {
  const step = stepToJudge(state);
  if (step === null)
    return state.execution.handledStep > 0
      ? 'more budget was granted, continue where you left off'
      : 'a new request waits for an answer';
  if (step.toolCalls.length > 0) return `the model called ${names(step.toolCalls)}`;
  if (step.type === 'error') return 'the model call failed, so there is no answer yet';
  if (step.type === 'cut') return 'the model call was cut off before it ended';
  const [error] = step.errors;
  if (error === undefined) return isPaused(step) ? 'the provider paused the turn' : null;
  return error.type === 'validation'
    ? 'the answer does not match the response format'
    : 'the step failed after its answer, so the answer does not count';
}

/** Whether the provider continues the same turn with the next request. */
const isPaused = (step: StepView | null): boolean => step?.finishReason === 'pause_turn';

const names = (calls: readonly { readonly name: string }[]): string =>
  [...new Set(calls.map((call) => call.name))].join(', ');
