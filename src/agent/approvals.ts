import { AgentError, show } from '../errors/agent-error.ts';
import { isRecord, own, type JsonObject } from '../json.ts';
import type { ToolCall } from '../messages/tool-call.ts';
import { argumentsIn } from '../tools/arguments.ts';
import type { AgentDefinition } from './agent-options.ts';
import { AgentState } from './agent-state.ts';
import { checkAgentName, definitionOf } from './nested-agent.ts';

/** A person's answer to one call: run it, perhaps with other arguments, or do not. */
export type ApprovalAnswer =
  | { readonly approve: true; readonly args?: JsonObject }
  | { readonly deny: string };

/** Answers by call id; calls of nested agents are addressed by their own id. */
export type Approvals = Readonly<Record<string, ApprovalAnswer>>;

/** The same, read once: ids are foreign strings, and must not find what every object inherits. */
export type Answers = ReadonlyMap<string, ApprovalAnswer>;

export const noAnswers: Answers = new Map();

/** Answers as they were given, by call id. */
export function readAnswers(approvals: Approvals | undefined): Answers {
  if (approvals === undefined) return noAnswers;
  const prototype: unknown = isRecord(approvals) && Object.getPrototypeOf(approvals);
  if (prototype !== null && prototype !== Object.prototype && !isOfOtherRealm(prototype))
    throw new AgentError(
      'invalid_approval',
      `approvals is ${show(approvals)} with a prototype, expected a plain object { [callId]: answer }. ` +
        'Write the id in brackets: { ["__proto__"]: answer } names a call, { __proto__: answer } does not.',
    );
  return new Map(Object.entries(approvals));
}

const isOfOtherRealm = (prototype: unknown): boolean =>
  isRecord(prototype) && Object.getPrototypeOf(prototype) === null;

/** Refuses answers that nobody waits for, malformed ones and edits that do not fit the tool, before anything runs. */
export async function checkApprovals(
  agent: AgentDefinition,
  state: AgentState,
  answers: Answers,
): Promise<void> {
  const pending = new Set(state.pendingApprovals.map(({ callId }) => callId));
  for (const [callId, answer] of answers) {
    if (!pending.has(callId)) throw unknownApproval(callId, state, pending);
    checkAnswer(callId, answer);
  }
  await checkCalls(agent, state, answers);
}

/** The same for one answer to a call of which is known that it waits, be it in an agent whose root works on. */
export async function checkOneAnswer(
  agent: AgentDefinition,
  state: AgentState,
  callId: string,
  answer: ApprovalAnswer,
): Promise<void> {
  checkAnswer(callId, answer);
  await checkCalls(agent, state, new Map([[callId, answer]]));
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
  answers: Answers,
): Promise<void> {
  const { toolCalls = [], children = {} } = state.unfinishedStep ?? {};
  for (const call of toolCalls) {
    const tool = agent.tools.get(call.name);
    const inner = own(children, call.id);
    if (inner) {
      const child = AgentState.from(inner);
      if (!tool?.agent) throw agentGone(agent, call, child);
      const inside = definitionOf(tool);
      checkAgentName(inside, child);
      await checkCalls(inside, child, answers);
    }
    const answer = answers.get(call.id);
    if (!tool || !answer || !('args' in answer) || answer.args === undefined) continue;
    const args = argumentsIn(answer.args);
    if (typeof args === 'string') throw badEdit(call, args);
    const checked = await tool.check(args);
    if (!checked.ok) throw badEdit(call, `${checked.message}.`);
  }
}

const badEdit = ({ id: callId, name }: ToolCall, problem: string): AgentError =>
  new AgentError(
    'invalid_approval',
    `The edited arguments for ${name} (${callId}) do not fit: ${problem} The call still waits.`,
    { details: { callId } },
  );

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
