import type { AgentState } from '../agent/agent-state.ts';
import { AgentStatus } from '../agent/agent-status.ts';
import type { ContinuationEvaluation } from '../continuation/evaluation.ts';
import type { LimitFacts } from '../continuation/facts.ts';
import { ContinuationOutcome } from '../continuation/outcome.ts';
import { StopReason } from '../continuation/stop-reason.ts';
import { Message } from '../messages/message.ts';
import type { ToolCall } from '../messages/tool-call.ts';
import { resultText, type ToolResult } from '../tools/tool-result.ts';

const criterion = 'SlimAgentStateSerializer';

/** Returns the calls at the end of the conversation that have no result. */
export function openCallsOf({ messages }: AgentState): readonly ToolCall[] {
  const answered = new Set<string | null>();
  for (let i = messages.length - 1; i >= 0; i--) {
    const message = messages.at(i);
    if (!message?.isTool()) return (message?.toolCalls ?? []).filter(({ id }) => !answered.has(id));
    answered.add(message.toolCallId);
  }
  return [];
}

/** Ends an execution that cannot continue. Closes every open call, and the outcome lists the missing data. */
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

/** Removes the grants from the outcome of an ended execution that cannot be reopened because data is missing. */
export function withoutGrants(state: AgentState, missing: readonly string[]): AgentState {
  const outcome = state.lastContinuationOutcome;
  if (!outcome) return state;
  const { text } = notResumable(missing).remedy;
  const evaluations = outcome.evaluations.map((e) =>
    e.remedy?.grant || grantable(e) ? withoutGrant(e, text) : e,
  );
  return state.with({
    lastContinuationOutcome: ContinuationOutcome.from({ ...outcome.toJSON(), evaluations }),
  });
}

function withoutGrant(evaluation: ContinuationEvaluation, text: string): ContinuationEvaluation {
  const shown = evaluation.remedy?.grant ? { ...evaluation, remedy: { text } } : evaluation;
  const facts = grantable(evaluation);
  if (!facts) return shown;
  const { grant: _, minimum: __, ...limit } = facts;
  return { ...shown, facts: limit };
}

/** The facts of a limit that a grant raises. */
const grantable = ({ facts }: ContinuationEvaluation): LimitFacts | null =>
  facts?.kind === 'limit' && facts.grant !== undefined ? facts : null;

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
