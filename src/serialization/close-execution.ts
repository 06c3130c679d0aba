import type { AgentState } from '../agent/agent-state.ts';
import { AgentStatus } from '../agent/agent-status.ts';
import type { ContinuationEvaluation } from '../continuation/evaluation.ts';
import { ContinuationOutcome } from '../continuation/outcome.ts';
import { StopReason } from '../continuation/stop-reason.ts';
import { Message } from '../messages/message.ts';
import type { ToolCall } from '../messages/tool-call.ts';
import { resultText, type ToolResult } from '../tools/tool-result.ts';

const criterion = 'SlimAgentStateSerializer';

/** Calls at the end of the conversation without a result. */
export function openCallsOf({ messages }: AgentState): readonly ToolCall[] {
  const answered = new Set<string | null>();
  for (let i = messages.length - 1; i >= 0; i--) {
    const message = messages.at(i);
    if (!message?.isTool()) return (message?.toolCalls ?? []).filter(({ id }) => !answered.has(id));
    answered.add(message.toolCallId);
  }
  return [];
}

/** Ends an execution that cannot continue: every open call gets an answer, and the outcome says what is missing. */
export function closeExecution(
  state: AgentState,
  missing: readonly string[],
  results: readonly ToolResult[],
): AgentState {
  const createdAt = state.pause?.at ?? state.execution.updatedAt ?? state.info.updatedAt;
  const answers = openCallsOf(state).map(({ id, name }) => {
    const result = results.find(({ callId }) => callId === id);
    return Message.from({
      role: 'tool',
      content: result
        ? resultText(result.value)
        : 'Not finished: aborted, because this state was stored in a shortened form.',
      toolCallId: id,
      name,
      createdAt,
    });
  });
  return state.with({
    status: AgentStatus.Stopped,
    messages: state.messages.append(...answers),
    unfinishedStep: null,
    pause: null,
    lastContinuationOutcome: ContinuationOutcome.resolve([notResumable(missing)]),
  });
}

/** An ended execution that lacks something cannot be reopened: its outcome stays and offers no grant. */
export function withoutGrants(state: AgentState, missing: readonly string[]): AgentState {
  const outcome = state.lastContinuationOutcome;
  if (!outcome) return state;
  const { text } = notResumable(missing).remedy;
  const evaluations = outcome.evaluations.map((e) =>
    e.remedy?.grant || e.facts?.kind === 'limit' ? withoutGrant(e, text) : e,
  );
  return state.with({
    lastContinuationOutcome: ContinuationOutcome.from({ ...outcome.toJSON(), evaluations }),
  });
}

function withoutGrant(evaluation: ContinuationEvaluation, text: string): ContinuationEvaluation {
  const { remedy, facts } = evaluation;
  const shown = remedy?.grant ? { ...evaluation, remedy: { text } } : evaluation;
  if (facts?.kind !== 'limit') return shown;
  const { grant: _, minimum: __, ...limit } = facts;
  return { ...shown, facts: limit };
}

const notResumable = (missing: readonly string[]) =>
  ({
    criterion,
    decision: 'forbid',
    reason: `not_resumable: the slim form left out ${missing.join('; ')}`,
    context: { not_resumable: missing },
    stopReason: StopReason.GuardForbade,
    remedy: {
      text: `send a new message; to resume, store state.toJSON() or a slim form that keeps ${missing.join('; ')}.`,
    },
    facts: { kind: 'runtime', what: 'shortened' },
  }) satisfies ContinuationEvaluation;
