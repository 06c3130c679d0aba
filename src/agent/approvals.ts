import { AgentError, show } from '../errors/agent-error.ts';
import { isRecord, toJsonValue, type JsonObject } from '../json.ts';
import type { ToolCall } from '../messages/tool-call.ts';
import type { AgentDefinition } from './agent-options.ts';
import { AgentState, type AgentStateJSON } from './agent-state.ts';
import { checkAgentName, definitionOf } from './nested-agent.ts';

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
    checkAnswer(callId, answer);
  }
  await checkCalls(agent, state, approvals);
}

/** The same for one answer to a call of which is known that it waits, be it in an agent whose root works on. */
export async function checkOneAnswer(
  agent: AgentDefinition,
  state: AgentState,
  callId: string,
  answer: ApprovalAnswer,
): Promise<void> {
  checkAnswer(callId, answer);
  await checkCalls(agent, state, { [callId]: answer });
}

function checkAnswer(callId: string, answer: unknown): void {
  if (isAnswer(answer)) return;
  throw new AgentError(
    'invalid_approval',
    `The answer for ${callId} is ${show(answer)}, expected { approve: true, args? } or { deny: reason }.`,
    { details: { callId } },
  );
}

/** Down to the agents that wait inside a call: those must still be there, and edits must fit. */
async function checkCalls(
  agent: AgentDefinition,
  state: AgentState,
  approvals: Approvals,
): Promise<void> {
  const { toolCalls = [], children = {} } = state.unfinishedStep ?? {};
  for (const call of toolCalls) {
    const tool = agent.tools.get(call.name);
    if (Object.hasOwn(children, call.id)) {
      const child = AgentState.from(children[call.id] as AgentStateJSON);
      if (!tool?.agent) throw agentGone(agent, call, child);
      const inside = definitionOf(tool);
      checkAgentName(inside, child);
      await checkCalls(inside, child, approvals);
    }
    const answer = Object.hasOwn(approvals, call.id) ? approvals[call.id] : undefined;
    if (!tool || !answer || !('args' in answer) || answer.args === undefined) continue;
    const checked = await tool.check(toJsonValue(answer.args));
    if (!checked.ok)
      throw new AgentError(
        'invalid_approval',
        `The edited arguments for ${call.name} (${call.id}) do not fit: ${checked.message}. The call still waits.`,
        { details: { callId: call.id } },
      );
  }
}

const agentGone = (agent: AgentDefinition, call: ToolCall, child: AgentState): AgentError =>
  new AgentError(
    'not_resumable',
    `Agent "${child.agentName}" waits inside call ${call.id} of "${call.name}", and agent "${agent.name}" has no such ` +
      `agent among its tools (${agent.toolNames.join(', ') || 'none'}). Resume with an agent that has it, or end it with stop(state).`,
    { details: { callId: call.id, tool: call.name, agent: child.agentName, missing: [] } },
  );

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
