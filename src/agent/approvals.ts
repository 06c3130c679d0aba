import { AgentError, show } from '../errors/agent-error.ts';
import { isRecord, toJsonValue, type JsonObject } from '../json.ts';
import type { AgentDefinition } from './agent-options.ts';
import { AgentState } from './agent-state.ts';
import { definitionOf } from './nested-agent.ts';

/** A person's answer to one call: run it, perhaps with other arguments, or do not. */
export type ApprovalAnswer =
  | { readonly approve: true; readonly args?: JsonObject }
  | { readonly deny: string };

/** Answers by call id; calls of nested agents are addressed by their own id. */
export type Approvals = Readonly<Record<string, ApprovalAnswer>>;

/** Refuses answers that nobody waits for, malformed ones and edits that do not fit the tool, before anything runs. */
export async function checkApprovals(
  agent: AgentDefinition,
  state: AgentState,
  approvals: Approvals,
): Promise<void> {
  const pending = new Set(state.pendingApprovals.map(({ callId }) => callId));
  for (const [callId, answer] of Object.entries(approvals)) {
    if (!pending.has(callId)) throw unknownApproval(callId, state, pending);
    if (!isAnswer(answer))
      throw new AgentError(
        'invalid_approval',
        `The answer for ${callId} is ${show(answer)}, expected { approve: true, args? } or { deny: reason }.`,
        { details: { callId } },
      );
  }
  await checkEdits(agent, state, approvals);
}

async function checkEdits(
  agent: AgentDefinition,
  state: AgentState,
  approvals: Approvals,
): Promise<void> {
  for (const call of state.unfinishedStep?.toolCalls ?? []) {
    const tool = agent.tools.get(call.name);
    const answer = approvals[call.id];
    const child = state.unfinishedStep?.children[call.id];
    if (child && tool?.agent)
      await checkEdits(definitionOf(tool), AgentState.from(child), approvals);
    if (!tool || !answer || !('args' in answer)) continue;
    const checked = await tool.check(toJsonValue(answer.args));
    if (!checked.ok)
      throw new AgentError(
        'invalid_approval',
        `The edited arguments for ${call.name} (${call.id}) do not fit: ${checked.message}. The call still waits.`,
        { details: { callId: call.id } },
      );
  }
}

const isAnswer = (answer: unknown): answer is ApprovalAnswer =>
  isRecord(answer) &&
  ((answer['approve'] === true &&
    (answer['args'] === undefined || isRecord(answer['args'])) &&
    !('deny' in answer)) ||
    (typeof answer['deny'] === 'string' && !('approve' in answer)));

function unknownApproval(
  callId: string,
  state: AgentState,
  pending: ReadonlySet<string>,
): AgentError {
  const ran = state.unfinishedStep?.results.some((result) => result.callId === callId);
  const why = ran
    ? 'was answered before; each call is answered once'
    : 'is not waiting for approval';
  const waiting = [...pending].join(', ') || 'none';
  return new AgentError('unknown_approval', `Call ${callId} ${why}. Waiting: ${waiting}.`, {
    details: { callId, pending: [...pending] },
  });
}
