import { AgentError } from '../errors/agent-error.ts';
import { parseJson, sameJson, toJsonValue, withoutFence } from '../json.ts';
import type { ReadySchema } from '../tools/schema.ts';
import type { AgentDefinition } from './agent-options.ts';
import { AgentState } from './agent-state.ts';
import { checkAgentName } from './nested-agent.ts';
import { sentence } from '../sentence.ts';

/**
 * Revives a state of this agent. Validates the final answer with the response format again, because JSON does not keep
 * types such as dates.
 */
export async function restoreState(agent: AgentDefinition, json: unknown): Promise<AgentState> {
  const state = AgentState.from(json as AgentState); // throws on anything else
  checkAgentName(agent, state);
  const { response } = agent;
  if (response === null || state.output === null) return state;
  const said = parseJson(withoutFence(state.outputText));
  const fromText = said.ok ? await outputIn(response.schema, said.value) : null;
  // a hook may have replaced the output
  if (fromText && sameJson(toJsonValue(fromText.value), toJsonValue(state.output)))
    return state.with({ output: fromText.value });
  const checked = await response.schema.check(state.output);
  if (checked.ok) return state.with({ output: checked.value });
  throw new AgentError(
    'foreign_state',
    `The output of this state does not match the response format of agent "${agent.name}": ${sentence(checked.message)} ` +
      'Restore it with the agent that created it.',
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
