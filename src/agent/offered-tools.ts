import { invalidOption } from '../errors/agent-error.ts';
import type { ToolChoice } from '../inference/inference-driver.ts';
import type { AgentDefinition } from './agent-options.ts';

/** The tools that the model of a run can see. Calls of other tools do not run. */
export type OfferedTools = Pick<
  AgentDefinition,
  'toolNames' | 'toolNameSet' | 'toolSchemas' | 'toolChoice'
>;

/** Returns all tools of the agent, or those that the caller of a run selected. */
export function offeredTools(
  agent: AgentDefinition,
  active: readonly string[] | undefined,
): OfferedTools {
  if (active === undefined) return agent;
  const { tools, toolNames, toolSchemas } = agent;
  const known = `names of its tools (${toolNames.join(', ') || 'none'})`;
  if (!Array.isArray(active)) throw invalidOption('activeTools', active, `a list of ${known}`);
  for (const name of active)
    if (!tools.has(name)) throw invalidOption('activeTools', name, `only ${known}`);
  const toolNameSet = new Set(active);
  return {
    toolNames: toolNames.filter((name) => toolNameSet.has(name)),
    toolNameSet,
    toolSchemas: toolSchemas.filter(({ name }) => toolNameSet.has(name)),
    toolChoice: choiceAmong(toolNameSet, agent.toolChoice),
  };
}

function choiceAmong(offered: ReadonlySet<string>, choice: ToolChoice): ToolChoice {
  if (offered.size === 0) return 'none';
  if (typeof choice === 'string' || offered.has(choice.tool)) return choice;
  throw invalidOption(
    'activeTools',
    [...offered].join(', '),
    `"${choice.tool}" among them, because the tool choice of the agent requires it`,
  );
}
