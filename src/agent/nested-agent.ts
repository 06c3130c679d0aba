import { isoTime } from '../clock.ts';
import { ContinuationCriteria } from '../continuation/continuation-criteria.ts';
import { AgentError } from '../errors/agent-error.ts';
import type { ErrorHandlingDecision } from '../errors/error-type.ts';
import { toJsonValue } from '../json.ts';
import type { CacheMark } from '../messages/cache-mark.ts';
import { Message } from '../messages/message.ts';
import type { ToolCall } from '../messages/tool-call.ts';
import type { EventBus } from '../events/event-bus.ts';
import { defineTool } from '../tools/define-tool.ts';
import type { AnyTool } from '../tools/tool.ts';
import type { AgentDefinition } from './agent-options.ts';
import { AgentState } from './agent-state.ts';
import { isOpen } from './agent-status.ts';
import { FamilyAccount } from './family-account.ts';
import { since, spendingOf } from './family-shares.ts';
import { startExecution, continueRun } from './open-run.ts';
import { Run } from './run.ts';
import { performObserved } from './perform-observed.ts';
import type { StepDraft } from './step-draft.ts';
import { sentence } from '../sentence.ts';

/** Deepest nesting of agents. */
const MAX_DEPTH = 8;

interface Nested {
  readonly definition: AgentDefinition;
  readonly bus: EventBus;
}

export interface AsToolOptions<Name extends string = string> {
  readonly name: Name;
  readonly description: string;
  readonly needsApproval?: boolean | ((args: AgentArgs) => boolean | Promise<boolean>);
  readonly maxResultChars?: number;
  /** How a failure of the agent is handled. A child that stopped at a limit is not a failure. */
  readonly onError?: ErrorHandlingDecision;
  /** Retries after failures of the agent in a row. Default: the count of the error policy. */
  readonly maxRetries?: number;
  /** Cache mark at the end of this tool, which covers the tools before it too. */
  readonly cache?: CacheMark;
}

/** The arguments of an agent that is a tool. */
export interface AgentArgs {
  readonly input: string;
}

const parameters = {
  type: 'object',
  properties: { input: { type: 'string', description: 'What the agent should do, in full.' } },
  required: ['input'],
  additionalProperties: false,
} as const;

/** Returns the agent as a tool of another agent: the model passes a task and gets the answer. */
export function agentAsTool({ definition, bus }: Nested, options: AsToolOptions): AnyTool {
  const tool = defineTool({ ...options, parameters, execute: () => null });
  const agent: Nested = { definition: withoutTimeLimits(definition), bus };
  return Object.freeze({ ...tool, timeoutMs: Number.POSITIVE_INFINITY, agent });
}

/** Removes the time limits of a nested agent. The root's deadline applies to it instead. */
function withoutTimeLimits(definition: AgentDefinition): AgentDefinition {
  const criteria = definition.criteria.list.filter((c) => c.remainingMs === undefined);
  return Object.freeze({ ...definition, criteria: ContinuationCriteria.from(...criteria) });
}

export const definitionOf = (tool: AnyTool): AgentDefinition => (tool.agent as Nested).definition;

/** Whether the agent inside a call is still the one behind its tool: another version of the root may have replaced it. */
export const canContinue = ({ agentName }: AgentState, tool: AnyTool | undefined): boolean =>
  tool?.agent !== undefined && (agentName === null || agentName === definitionOf(tool).name);

/** A call that continues later: after an approval, or in another process. Holds the agent's state. */
export class NestedPause {
  readonly state: AgentState;
  constructor(state: AgentState) {
    this.state = state;
  }
}

/** Runs a nested agent under the parent's execution and limits; its usage counts in the parent's step. */
export async function runNested(
  parent: Run,
  draft: StepDraft,
  call: ToolCall,
  tool: AnyTool,
  args: unknown,
): Promise<unknown> {
  if (parent.depth + 1 >= MAX_DEPTH)
    throw new Error(`Agents are nested deeper than ${MAX_DEPTH}. Let this one answer by itself.`);
  const { definition, bus } = tool.agent as Nested;
  const paused = draft.children?.get(call.id);
  const state = paused ?? firstState(parent, args);
  const journal = parent.journal?.nested(call.id);
  const options = journal ? { journal } : {};
  const child = new Run(definition, bus, state, options, parent);
  child.viaTool = tool.name;
  const before = paused ? (draft.childAccounts?.get(call.id) ?? spendingOf(paused)) : null;
  FamilyAccount.open(parent, draft);
  // an agent that ended before its process died only returns its result
  const ended = paused && !isOpen(paused.status) ? paused : await runChild(child, paused);
  draft.childAccounts?.delete(call.id);
  draft.addSpending(since(spendingOf(ended), before));
  return valueOf(ended, tool.name);
}

function runChild(child: Run, paused: AgentState | undefined): Promise<AgentState> {
  if (paused) continueRun(child);
  else startExecution(child, child.parent?.state.execution.id);
  return performObserved(child, paused !== undefined);
}

function firstState(parent: Run, args: unknown): AgentState {
  const { input } = args as AgentArgs; // checked against the schema above
  const now = parent.now();
  return AgentState.empty({ now })
    .with({ parentAgentId: parent.state.agentId, metadata: parent.state.metadata })
    .withMessages(Message.trusted({ role: 'user', content: input, createdAt: isoTime(now) }));
}

function valueOf(ended: AgentState, name: string): unknown {
  if (isOpen(ended.status)) return new NestedPause(ended);
  if (ended.status === 'completed') return toJsonValue(ended.output);
  if (ended.status === 'stopped') return { stopped: ended.stopReason, text: lastText(ended) };
  const why = ended.lastContinuationOutcome?.decisive?.reason ?? 'it failed';
  throw new Error(`The agent behind "${name}" failed: ${sentence(why)}`);
}

/** Last text of an execution; skips steps that only called tools. */
function lastText({ messages, execution }: AgentState): string {
  for (let i = messages.length - 1; i >= execution.firstMessage; i--) {
    const message = messages.at(i);
    if (message?.isAssistant() && message.text.trim() !== '') return message.text;
  }
  return '';
}

/** Throws if the state belongs to another agent. */
export function checkAgentName(agent: AgentDefinition, state: AgentState): void {
  if (state.agentName === null || state.agentName === agent.name) return;
  throw new AgentError(
    'foreign_state',
    `This state belongs to agent "${state.agentName}", and this is agent "${agent.name}". ` +
      'Run it with the agent that created it, or reassign it with state.withAgentName(...).',
    { details: { stateAgent: state.agentName, agent: agent.name } },
  );
}
