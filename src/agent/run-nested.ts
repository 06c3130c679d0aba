import { isoTime } from '../clock.ts';
import { toJsonValue } from '../json.ts';
import { Message } from '../messages/message.ts';
import type { ToolCall } from '../messages/tool-call.ts';
import { sentence } from '../sentence.ts';
import type { AnyTool } from '../tools/tool.ts';
import { performObserved } from './perform-observed.ts';
import { AgentState } from './agent-state.ts';
import { isOpen } from './agent-status.ts';
import { FamilyAccount } from './family-account.ts';
import { since, spendingOf } from './family-shares.ts';
import { NestedPause, type AgentArgs, type Nested } from './nested-agent.ts';
import { startExecution, continueRun } from './open-run.ts';
import { Run } from './run.ts';
import type { StepDraft } from './step-draft.ts';

/** Deepest nesting of agents. */
const MAX_DEPTH = 8;

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
  child.viaCall = call.id;
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
