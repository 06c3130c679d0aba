import { invalidOption } from '../errors/agent-error.ts';
import type { ToolChoice } from '../inference/inference-driver.ts';
import type { AgentDefinition } from './agent-options.ts';
import { READ_RESULT } from './compaction.ts';

/** Tools, indexed once: those of an agent, or those of an agent together with its sources. */
export type ToolSet = Pick<
  AgentDefinition,
  'tools' | 'toolNames' | 'toolNameSet' | 'toolSchemas' | 'toolChoice'
>;

/** The tools of a run. The model sees only those in `toolNames`, and calls of other tools do not run. */
export interface OfferedTools extends ToolSet {
  /** Set if a finder keeps tools out of the requests. */
  readonly found?: FoundTools;
}

/** Tools that the model does not see, and calls through another tool. */
export interface FoundTools {
  /** The tools as they are without the finder. */
  readonly whole: ToolSet;
  /** Name of the tool through which they are called. */
  readonly callTool: string;
  /** Names that `callTool` accepts. */
  readonly callable: ReadonlySet<string>;
  /** What the system prompt says about them. The same in all steps of a run. */
  readonly catalog: string;
}

/** Keeps tools out of the requests of an agent. The model finds them with one tool, and calls them through another. */
export interface ToolFinder {
  /** Names of the tools that it offers, which no other tool may have. */
  readonly reserved: readonly string[];
  /** Returns what to offer in place of all tools. `catalog` is that of the run, or null before the first step. */
  offer(whole: ToolSet, catalog: string | null): OfferedTools;
}

/**
 * Returns all tools of the set, or those that the caller of a run selected. With `isOpen` the set may still grow, so that
 * unknown names are no mistake.
 */
export function offeredTools(
  all: ToolSet,
  active: readonly string[] | undefined,
  isOpen: boolean,
  option: string = 'activeTools',
): OfferedTools {
  if (active === undefined && !isOpen) return all;
  const kept =
    active === undefined ? all : selected(all, checkedNames(all, active, isOpen, option));
  const toolChoice = choiceAmong(kept.toolNameSet, all.toolChoice, isOpen, option);
  return { ...partsOf(kept), toolChoice };
}

/** Returns the tools of a step: those of the run, or the part of them that the step selected. */
export function toolsOfStep(
  given: OfferedTools,
  active: readonly string[] | undefined,
  choice: ToolChoice | undefined,
  isOpen: boolean,
  finder: ToolFinder | null = null,
): OfferedTools {
  if (active === undefined && choice === undefined) return given;
  const { found } = given;
  const whole = partOf(found?.whole ?? given, active, choice, isOpen);
  return found && finder ? finder.offer(whole, found.catalog) : whole;
}

function partOf(
  offered: ToolSet,
  active: readonly string[] | undefined,
  choice: ToolChoice | undefined,
  isOpen: boolean,
): ToolSet {
  const names = active === undefined ? null : checkedNames(offered, active, isOpen, 'activeTools');
  const kept = names === null ? offered : selected(offered, names);
  const toolChoice =
    choice === undefined
      ? choiceAmong(kept.toolNameSet, offered.toolChoice, isOpen, 'activeTools')
      : givenChoice(kept.toolNameSet, choice);
  return { ...partsOf(kept), toolChoice };
}

/** Returns the part of the tools that a request still has after hooks changed it. */
export function toolsSent(
  offered: OfferedTools,
  sent: readonly { readonly name: string }[],
): OfferedTools {
  const names = new Set(sent.map(({ name }) => name));
  const { toolChoice, found } = offered;
  return { ...selected(offered, names), toolChoice, ...(found && { found }) };
}

type Parts = Omit<ToolSet, 'toolChoice'>;

const partsOf = ({ tools, toolNames, toolNameSet, toolSchemas }: Parts): Parts => ({
  tools,
  toolNames,
  toolNameSet,
  toolSchemas,
});

/** Returns the part of a list with these names. `tools` stays whole: calls that were offered before may still run. */
function selected(all: Parts, names: ReadonlySet<string>): Parts {
  const { tools, toolNames, toolSchemas } = all;
  const kept = toolNames.filter((name) => names.has(name));
  if (kept.length === toolNames.length) return partsOf(all);
  return {
    tools,
    toolNames: kept,
    toolNameSet: new Set(kept),
    toolSchemas: toolSchemas.filter(({ name }) => names.has(name)),
  };
}

function checkedNames(
  { tools, toolNames }: ToolSet,
  active: readonly string[],
  isOpen: boolean,
  option: string,
): ReadonlySet<string> {
  const known = (): string => `names of its tools (${namesText(toolNames)})`;
  if (!Array.isArray(active)) throw invalidOption(option, active, `a list of ${known()}`);
  if (!isOpen)
    for (const name of active)
      if (!tools.has(name)) throw invalidOption(option, name, `only ${known()}`);
  // what the model was sent before must stay readable
  return new Set(active.length > 0 && tools.has(READ_RESULT) ? [...active, READ_RESULT] : active);
}

/** Most names that an error lists. */
const MAX_LISTED = 50;

function namesText(names: readonly string[]): string {
  const more = names.length - MAX_LISTED;
  const listed = names.slice(0, MAX_LISTED).join(', ') || 'none';
  return more > 0 ? `${listed} and ${more} more` : listed;
}

function choiceAmong(
  offered: ReadonlySet<string>,
  choice: ToolChoice,
  isOpen: boolean,
  option: string,
): ToolChoice {
  if (offered.size === 0) return 'none';
  if (typeof choice === 'string' || offered.has(choice.tool)) return choice;
  // the source of the chosen tool does not have it now
  if (isOpen) return 'auto';
  throw invalidOption(
    option,
    namesText([...offered]),
    `"${choice.tool}" among them, because the tool choice of the agent requires it`,
  );
}

/** Checks the tool choice of a step against what it offers. */
function givenChoice(offered: ReadonlySet<string>, choice: ToolChoice): ToolChoice {
  const isOffered =
    typeof choice === 'string'
      ? choice !== 'required' || offered.size > 0
      : offered.has(choice.tool);
  if (isOffered) return choice;
  throw invalidOption(
    'toolChoice',
    typeof choice === 'string' ? choice : choice.tool,
    `a choice among the tools of the step (${namesText([...offered])})`,
  );
}
