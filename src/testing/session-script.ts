import type { ApprovalAnswer } from '../agent/approval-answer.ts';
import type { AgentStepJSON } from '../agent/agent-state.ts';
import type { Grants } from '../continuation/grants.ts';
import type { SessionExport } from '../exports/session-export.ts';
import { isRecord, type JsonObject, type JsonValue } from '../json.ts';
import type { MessageContent } from '../messages/content-part.ts';
import type { MessageJSON } from '../messages/message.ts';
import type { ToolResult } from '../tools/tool-result.ts';
import type { ScenarioStep } from './scenario-step.ts';
import { modelsOf } from './script-models.ts';
import { turnsOf } from './script-turns.ts';
import { notRepeatable, unrepeatable } from './unrepeatable.ts';

/** What a person or a program did with a session. */
export type ScriptTurn =
  | { readonly send: MessageContent }
  | {
      readonly resume: {
        readonly grant?: Grants;
        readonly approvals?: Readonly<Record<string, ApprovalAnswer>>;
      };
    }
  | { readonly stop: string };

/** The answers of the model of one agent. */
export interface ScriptedAgent {
  /** The tools that lead to the agent, from the session's own one; empty for that one. */
  readonly path: readonly string[];
  /** What the agent was asked; null for the session's own one. */
  readonly input: string | null;
  readonly answers: readonly ScenarioStep[];
}

/** A recorded result, in place of a tool. */
export interface RecordedResult {
  readonly callId: string;
  readonly tool: string;
  readonly kind: string;
  readonly value: JsonValue;
}

/** A recorded session that can be repeated: what was done, and what the models answered. */
export interface SessionScript {
  readonly agent: string;
  readonly metadata: JsonObject;
  /** The conversation that the session began with. */
  readonly messages: readonly Pick<MessageJSON, 'role' | 'content'>[];
  readonly turns: readonly ScriptTurn[];
  readonly models: readonly ScriptedAgent[];
  /** Recorded results of tools that do not run, in order. */
  readonly results: readonly RecordedResult[];
  /** Tools that answer with those results. */
  readonly recordedTools: readonly string[];
}

export interface ScriptOptions {
  /** Tools that are not run. Default: those that needed approval, whose results differ, or that the agent may not have. */
  readonly recordedTools?: readonly string[] | 'all';
}

/** Makes the script of an exported session, or throws with what cannot be repeated. */
export function scriptOf(session: SessionExport, options: ScriptOptions = {}): SessionScript {
  const problems = unrepeatable(session);
  if (problems.length > 0) throw notRepeatable(problems);
  const recordedTools = recordedOf(session, options.recordedTools);
  const recorded = new Set(recordedTools);
  const results: RecordedResult[] = [];
  for (const { step } of session.steps) {
    for (const { id, name } of step.toolCalls) {
      const result = recorded.has(name) ? resultOf(step, id) : undefined;
      if (!result) continue;
      const { kind, error, value } = result;
      results.push({ callId: id, tool: name, kind, value: error?.message ?? value });
    }
  }
  const { agent } = session.session;
  return {
    agent,
    metadata: session.state.metadata,
    messages: firstMessages(session),
    turns: turnsOf(session),
    models: modelsOf(session),
    results,
    recordedTools,
  };
}

const resultOf = (step: AgentStepJSON, callId: string): ToolResult | undefined =>
  step.results.find((result) => result.callId === callId);

/** Returns the tools that are not run again: running them again could do harm, or gives something else. */
function recordedOf(
  { steps, agents, definition }: SessionExport,
  chosen: ScriptOptions['recordedTools'],
): readonly string[] {
  const nested = new Set(agents.map(({ callId }) => callId));
  const own = ownTools(definition);
  const seen = new Map<string, string>();
  const found = new Set<string>();
  for (const { agentId, step } of steps)
    for (const { id, name, args } of step.toolCalls) {
      if (nested.has(id)) continue;
      const result = resultOf(step, id);
      const key = `${name} ${JSON.stringify(args)}`;
      const value = JSON.stringify(result?.value);
      const differs = seen.has(key) && seen.get(key) !== value;
      seen.set(key, value);
      const isSourced = agentId === '' && own?.has(name) === false && result?.kind === 'ok';
      const isRisky = Boolean(result?.approval) || result?.kind === 'timeout';
      if (chosen === 'all' || differs || isSourced || isRisky) found.add(name);
    }
  if (chosen !== undefined && chosen !== 'all') for (const name of chosen) found.add(name);
  return [...found].toSorted();
}

/** Returns the names of the tools that the agent has without its sources; undefined if they are not known. */
function ownTools(definition: JsonValue): ReadonlySet<string> | undefined {
  const tools = isRecord(definition) ? definition['tools'] : undefined;
  return Array.isArray(tools)
    ? new Set(tools.map((tool: unknown) => (isRecord(tool) ? String(tool['name']) : '')))
    : undefined;
}

/** Returns the messages before the first execution. */
function firstMessages({ messages, steps }: SessionExport): SessionScript['messages'] {
  const own = messages.filter(({ agentId }) => agentId === '');
  const first = steps.find(({ agentId }) => agentId === '')?.totals.execution.firstMessage;
  const sent = own.slice(0, first ?? own.length).map(({ message }) => message);
  const isAnswered = sent.findLastIndex(({ role }) => role !== 'user') + 1;
  return sent
    .slice(0, first === undefined ? sent.length : isAnswered)
    .map(({ role, content }) => ({ role, content }));
}
