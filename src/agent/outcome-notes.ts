import type {
  ContinuationOutcome,
  DeniedCall,
  OutcomeNotes,
  StoppedAgent,
} from '../continuation/outcome.ts';
import { forbidOrder, type StopReason } from '../continuation/stop-reason.ts';
import { isRecord } from '../json.ts';
import type { AgentStep } from './agent-step.ts';
import { definitionOf } from './nested-agent.ts';
import type { Run } from './run.ts';

/** Most agents that an outcome names. */
const MOST_AGENTS = 3;
/** Most denied tools that an outcome names. */
const MOST_DENIED = 4;
/** Most steps searched, newest first. */
const MOST_STEPS = 200;

/** Adds the nested agents of this execution that stopped early, and the calls that were denied. */
export function withNotes(run: Run, outcome: ContinuationOutcome): ContinuationOutcome {
  const agents = new Map<string, StoppedAgent>();
  const denied = new Map<string, DeniedCall>();
  const hasRun = new Set<string>();
  const { state } = run;
  for (let i = 1; i <= MOST_STEPS; i++) {
    const step = state.steps.at(-i);
    if (step?.executionId !== state.execution.id) break;
    if (step.results.length === 0) continue;
    addStoppedAgents(agents, run, step);
    addDenied(denied, hasRun, step);
  }
  if (agents.size === 0 && denied.size === 0) return outcome;
  const notes: OutcomeNotes = {
    ...(agents.size > 0 && { stoppedAgents: [...agents.values()] }),
    ...(denied.size > 0 && { deniedCalls: [...denied.values()] }),
  };
  return outcome.withNotes(notes);
}

function addStoppedAgents(found: Map<string, StoppedAgent>, { agent }: Run, step: AgentStep): void {
  if (!agent.callsAgents) return;
  for (const call of step.toolCalls) {
    const tool = agent.tools.get(call.name);
    const stopReason = tool?.agent === undefined ? null : stopReasonIn(step, call.id);
    if (!tool || stopReason === null || found.size >= MOST_AGENTS) continue;
    const { name } = definitionOf(tool);
    if (!found.has(name)) found.set(name, { agent: name, stopReason });
  }
}

/** Reads the stop reason from the result of a stopped nested agent. */
function stopReasonIn({ results }: AgentStep, callId: string): StopReason | null {
  const value = results.find((result) => result.callId === callId)?.value;
  const stopped = isRecord(value) ? value['stopped'] : null;
  return forbidOrder.find((reason) => reason === stopped) ?? null;
}

/** Adds the tools that were denied in this step and did not run in it or in a later one. */
function addDenied(
  found: Map<string, DeniedCall>,
  hasRun: Set<string>,
  { toolCalls, results }: AgentStep,
): void {
  for (const { callId, kind } of results) if (kind === 'ok') hasRun.add(nameOf(toolCalls, callId));
  for (const { callId, approval } of results) {
    if (approval?.decision !== 'denied' || found.size >= MOST_DENIED) continue;
    const tool = nameOf(toolCalls, callId);
    if (!hasRun.has(tool) && !found.has(tool)) found.set(tool, { tool, by: approval.by });
  }
}

const nameOf = (calls: AgentStep['toolCalls'], callId: string): string =>
  calls.find(({ id }) => id === callId)?.name ?? '';
