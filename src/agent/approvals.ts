import { AgentError, show } from '../errors/agent-error.ts';
import type { Redactor } from '../errors/redactor.ts';
import { own, type JsonObject } from '../json.ts';
import type { ToolCall } from '../messages/tool-call.ts';
import { argsHash, argumentsIn } from '../tools/arguments.ts';
import { readySchema, type ReadySchema } from '../tools/schema.ts';
import type { ToolSchema } from '../tools/tool.ts';
import { visibleText } from '../visible-text.ts';
import type { AgentDefinition } from './agent-options.ts';
import { AgentState } from './agent-state.ts';
import { checkAnswer, type Answers, type GivenAnswer } from './approval-answer.ts';
import { checkRuleCapacity, ruleId } from './approval-rules.ts';
import { maskedPath } from './edited-args.ts';
import { familyRedactor } from './family-redactor.ts';
import { canContinue, checkAgentName, definitionOf } from './nested-agent.ts';
import { sentence } from '../sentence.ts';

/** An answer that is bound to a call with these arguments. */
export type BoundAnswer = GivenAnswer & { readonly executionId: string; readonly argsHash: string };

/**
 * Binds answers to pending calls. Before anything runs, rejects answers without a pending call, malformed answers,
 * answers for another execution or other arguments, and edits that do not match the tool's schema. Accepted answers
 * were checked before, and those that were given at the same time may ask for more rules than a session may have.
 */
export async function boundAnswers(
  agent: AgentDefinition,
  state: AgentState,
  answers: Answers,
  areAccepted: boolean,
): Promise<ReadonlyMap<string, BoundAnswer>> {
  const pending = new Set(state.pendingApprovals.map(({ callId }) => callId));
  for (const [callId, answer] of answers) {
    checkAnswer(callId, answer);
    checkExecution(callId, answer, state);
    if (!pending.has(callId)) throw unknownApproval(callId, state, pending);
  }
  const bound = new Map<string, BoundAnswer>();
  const binding = new Binding(agent, answers, bound, state);
  if (state.unfinishedStep) await binding.bindAll(agent, state);
  if (!areAccepted) binding.checkCapacity();
  return bound;
}

/** Binds one answer, also while the root agent is running; null if the state has no such open call. */
export async function boundAnswer(
  agent: AgentDefinition,
  state: AgentState,
  callId: string,
  answer: GivenAnswer,
): Promise<BoundAnswer | null> {
  checkAnswer(callId, answer);
  checkExecution(callId, answer, state);
  const bound = new Map<string, BoundAnswer>();
  const binding = new Binding(agent, new Map([[callId, answer]]), bound, state);
  await binding.bindAll(agent, state);
  binding.checkCapacity();
  return bound.get(callId) ?? null;
}

/** Rejects an answer for another execution. */
export function checkExecution(
  callId: string,
  { executionId }: GivenAnswer,
  { execution }: AgentState,
): void {
  if (executionId !== undefined && executionId !== execution.id)
    throw staleApproval(
      callId,
      `is for execution ${show(executionId)}, and this is execution ${show(execution.id)}`,
      { executionId: execution.id },
    );
}

const staleApproval = (
  callId: string,
  why: string,
  details: Readonly<Record<string, unknown>>,
): AgentError =>
  new AgentError(
    'stale_approval',
    `The answer for call ${show(callId)} ${why}. Nothing was run. ` +
      'Read the pending approvals again, and answer with their executionId and argsHash.',
    { details: { callId, ...details } },
  );

class Binding {
  readonly #answers: Answers;
  readonly #bound: Map<string, BoundAnswer>;
  readonly #root: AgentState;
  /** Ids of the rules that answers ask for, by call id. */
  readonly #remembered: Map<string, string> = new Map();
  /** Redactors of the two views of an approval: the root agent's, and the whole family's. */
  readonly #redactors: readonly Redactor[];
  /** Whether the root was interrupted in its work: an agent that is gone gives its call a result, and refuses nothing. */
  readonly #isInterrupted: boolean;

  constructor(
    root: AgentDefinition,
    answers: Answers,
    bound: Map<string, BoundAnswer>,
    rootState: AgentState,
  ) {
    this.#root = rootState;
    this.#answers = answers;
    this.#bound = bound;
    this.#isInterrupted = rootState.status === 'in_progress';
    this.#redactors = [root.redactor, familyRedactor(root)];
  }

  /** Binds the answers of the root and its paused nested agents, which must still exist. */
  bindAll(agent: AgentDefinition, state: AgentState): Promise<void> {
    return this.#bind(agent, state, [agent.name]);
  }

  /** Rejects answers that ask for more rules than a session may have. */
  checkCapacity(): void {
    checkRuleCapacity(this.#root, this.#remembered);
  }

  async #bind(
    agent: AgentDefinition,
    state: AgentState,
    agentPath: readonly string[],
  ): Promise<void> {
    const { toolCalls = [], children = {}, results = [], toolSchemas } = state.unfinishedStep ?? {};
    for (const call of toolCalls) {
      const tool = agent.tools.get(call.name);
      const inner = own(children, call.id);
      if (inner) {
        const child = AgentState.from(inner);
        if (this.#isInterrupted && !canContinue(child, tool)) continue;
        if (!tool?.agent) throw agentGone(agent, call, child);
        const inside = definitionOf(tool);
        checkAgentName(inside, child);
        await this.#bind(inside, child, [...agentPath, tool.name, inside.name]);
        continue;
      }
      const answer = this.#answers.get(call.id);
      if (!answer || results.some(({ callId }) => callId === call.id)) continue;
      if ('remember' in answer && answer.remember)
        this.#remembered.set(call.id, ruleId({ agentPath, tool: call.name }));
      const hash = checkedHash(call, answer, state);
      this.#bound.set(call.id, { ...answer, executionId: state.execution.id, argsHash: hash });
      const check = tool?.check ?? storedCheck(call, toolSchemas);
      if (!check || !('args' in answer) || answer.args === undefined) continue;
      const args = argumentsIn(answer.args);
      if (typeof args === 'string') throw badEdit(call, args);
      this.#checkMarks(call, args);
      const checked = await check(args);
      if (!checked.ok) throw badEdit(call, checked.message);
    }
  }

  #checkMarks(call: ToolCall, args: JsonObject): void {
    const path = maskedPath(args, call.args, this.#redactors);
    if (path === null) return;
    const place = JSON.stringify(visibleText(path).slice(0, 200));
    throw badEdit(
      call,
      `${place} holds the placeholder of a redacted value, which is not the value of the call. ` +
        'Write the real value, or approve without an edit to run the call unchanged.',
    );
  }
}

/** Checks an edit without the source of the tool: by the schema that was stored when the call began to wait. */
function storedCheck(
  { name }: ToolCall,
  schemas: readonly ToolSchema[] = [],
): ReadySchema['check'] | undefined {
  const stored = schemas.find((schema) => schema.name === name);
  return stored && readySchema(`Tool "${name}"`, stored.parameters).check;
}

/** Returns the hash of the recorded arguments, after checking that the answer is for them. */
function checkedHash(
  call: ToolCall,
  answer: GivenAnswer,
  { pendingApprovals }: AgentState,
): string {
  const recorded = argsHash(call.args);
  const shown = pendingApprovals.find(
    ({ callId, path }) => callId === call.id && path.length === 0,
  );
  const edited = 'args' in answer && answer.args !== undefined ? argsHash(answer.args) : null;
  // an edit that was applied before a process died is already recorded
  const isIt = (hash: string): boolean => hash === recorded || recorded === edited;
  if (shown && !isIt(argsHash(shown.args)))
    throw staleApproval(
      call.id,
      'is for a call whose recorded arguments differ from those that were shown',
      {
        argsHash: recorded,
      },
    );
  if (answer.argsHash !== undefined && !isIt(answer.argsHash))
    throw staleApproval(
      call.id,
      `was given for arguments with the hash ${show(answer.argsHash)}, and those of the call have ${show(recorded)}`,
      { argsHash: recorded },
    );
  return recorded;
}

const badEdit = ({ id: callId, name }: ToolCall, problem: string): AgentError =>
  new AgentError(
    'invalid_approval',
    `The edited arguments for ${name} (${callId}) do not fit: ${sentence(problem)} The call still waits.`,
    { details: { callId } },
  );

const agentGone = (agent: AgentDefinition, call: ToolCall, child: AgentState): AgentError =>
  new AgentError(
    'not_resumable',
    `Agent "${child.agentName}" waits inside call ${call.id} of "${call.name}", and agent "${agent.name}" has no such ` +
      `agent among its tools (${agent.toolNames.join(', ') || 'none'}). Resume with an agent that has it, or end it with stop(state).`,
    { details: { callId: call.id, tool: call.name, agent: child.agentName, missing: [] } },
  );

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
