import { AgentError } from '../errors/agent-error.ts';
import { parseJson, sameJson, toJsonValue, withoutFence } from '../json.ts';
import type { ReadySchema } from '../tools/schema.ts';
import type { AgentDefinition } from './agent-options.ts';
import { AgentState } from './agent-state.ts';
import { checkAgentName } from './nested-agent.ts';

/**
 * Revives a state of this agent. Its output went through JSON: the final answer is read through the response format
 * again, so that a date is a date.
 */
export async function restoreState(agent: AgentDefinition, json: unknown): Promise<AgentState> {
  const state = AgentState.from(json as AgentState); // refuses what is no state
  checkAgentName(agent, state);
  const { response } = agent;
  if (response === null || state.output === null) return state;
  const said = parseJson(withoutFence(state.outputText));
  const fromText = said.ok ? await outputIn(response.schema, said.value) : null;
  // a hook may have put another output in the place of the answer
  if (fromText && sameJson(toJsonValue(fromText.value), toJsonValue(state.output)))
    return state.with({ output: fromText.value });
  const checked = await response.schema.check(state.output);
  if (checked.ok) return state.with({ output: checked.value });
  throw new AgentError(
    'foreign_state',
    `The output of this state does not match the response format of agent "${agent.name}": ${checked.message}. ` +
      'Restore it with the agent that made it.',
    { details: { agent: agent.name } },
  );
}

async function outputIn(
  schema: ReadySchema,
  value: unknown,
): Promise<{ readonly value: unknown } | null> {
  const checked = await schema.check(value);
  return checked.ok ? checked : null;
}
