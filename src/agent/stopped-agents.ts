import type { ContinuationOutcome, StoppedAgent } from '../continuation/outcome.ts';
import { forbidOrder, type StopReason } from '../continuation/stop-reason.ts';
import { isRecord } from '../json.ts';
import type { AgentStep } from './agent-step.ts';
import { definitionOf } from './nested-agent.ts';
import type { Run } from './run.ts';

/** Most agents that an outcome names. */
const MOST = 3;
/** Most steps searched, newest first. */
const MOST_STEPS = 200;

/** Adds the nested agents of this execution that stopped early. */
export function withStoppedAgents(run: Run, outcome: ContinuationOutcome): ContinuationOutcome {
  if (!run.agent.callsAgents) return outcome;
  const found = stoppedAgents(run);
  return found.length > 0 ? outcome.withStoppedAgents(found) : outcome;
}

function stoppedAgents({ agent, state }: Run): readonly StoppedAgent[] {
  const found = new Map<string, StoppedAgent>();
  for (let i = 1; i <= MOST_STEPS && found.size < MOST; i++) {
    const step = state.steps.at(-i);
    if (step?.executionId !== state.execution.id) break;
    for (const call of step.toolCalls) {
      const tool = agent.tools.get(call.name);
      const stopReason = tool?.agent === undefined ? null : stopReasonIn(step, call.id);
      if (!tool || stopReason === null || found.size >= MOST) continue;
      const { name } = definitionOf(tool);
      if (!found.has(name)) found.set(name, { agent: name, stopReason });
    }
  }
  return [...found.values()];
}

/** Reads the stop reason from the result of a stopped nested agent. */
function stopReasonIn({ results }: AgentStep, callId: string): StopReason | null {
  const value = results.find((result) => result.callId === callId)?.value;
  const stopped = isRecord(value) ? value['stopped'] : null;
  return forbidOrder.find((reason) => reason === stopped) ?? null;
}
