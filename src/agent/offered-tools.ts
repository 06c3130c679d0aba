import { invalidOption } from '../errors/agent-error.ts';
import type { ToolChoice } from '../inference/inference-driver.ts';
import type { AgentDefinition } from './agent-options.ts';

/** Tools, indexed once: those of an agent, or those of an agent together with its sources. */
export type ToolSet = Pick<
  AgentDefinition,
  'tools' | 'toolNames' | 'toolNameSet' | 'toolSchemas' | 'toolChoice'
>;

/** The tools of a run. The model sees only those in `toolNames`, and calls of other tools do not run. */
export type OfferedTools = ToolSet;

/**
 * Returns all tools of the set, or those that the caller of a run selected. With `isOpen` the set may still grow, so that
 * unknown names are no mistake.
 */
export function offeredTools(
  all: ToolSet,
  active: readonly string[] | undefined,
  isOpen: boolean,
): OfferedTools {
  if (active === undefined)
    return isOpen
      ? { ...all, toolChoice: choiceAmong(all.toolNameSet, all.toolChoice, isOpen) }
      : all;
  const { tools, toolNames, toolSchemas } = all;
  const known = `names of its tools (${toolNames.join(', ') || 'none'})`;
  if (!Array.isArray(active)) throw invalidOption('activeTools', active, `a list of ${known}`);
  if (!isOpen)
    for (const name of active)
      if (!tools.has(name)) throw invalidOption('activeTools', name, `only ${known}`);
  const toolNameSet = new Set(active.filter((name) => tools.has(name)));
  return {
    tools,
    toolNames: toolNames.filter((name) => toolNameSet.has(name)),
    toolNameSet,
    toolSchemas: toolSchemas.filter(({ name }) => toolNameSet.has(name)),
    toolChoice: choiceAmong(toolNameSet, all.toolChoice, isOpen),
  };
}

function choiceAmong(
  offered: ReadonlySet<string>,
  choice: ToolChoice,
  isOpen: boolean,
): ToolChoice {
  if (offered.size === 0) return 'none';
  if (typeof choice === 'string' || offered.has(choice.tool)) return choice;
  // the source of the chosen tool does not have it now
  if (isOpen) return 'auto';
  throw invalidOption(
    'activeTools',
    [...offered].join(', '),
    `"${choice.tool}" among them, because the tool choice of the agent requires it`,
  );
}
