import { AgentError, show } from '../errors/agent-error.ts';
import { messageOf, type ErrorReport } from '../errors/error-record.ts';
import type { FieldsOf } from '../events/agent-event.ts';
import { isRecord, sameJson } from '../json.ts';
import type { ToolCall } from '../messages/tool-call.ts';
import { sentence, withoutFullStop } from '../sentence.ts';
import type { AnyTool } from '../tools/tool.ts';
import type { AnyToolSource, ToolList, ToolSource } from '../tools/tool-source.ts';
import { toolSchema, type AgentDefinition } from './agent-options.ts';
import { offeredTools, type ToolSet } from './offered-tools.ts';
import { isComplete } from './open-inputs.ts';
import type { Run } from './run.ts';
import type { StepDraft } from './step-draft.ts';

/** A capability whose tools are only known at run time. */
export interface NamedSource {
  readonly name: string;
  readonly load: AnyToolSource;
}

/** Why the tools of a source are missing. */
export interface MissingTools {
  readonly source: string;
  readonly reason: string;
}

/** What the sources of an agent returned for a run. */
export interface LoadedTools {
  /** By source; null for one that failed. */
  readonly lists: readonly (ToolList | null)[];
  readonly all: ToolSet;
  readonly missing: readonly MissingTools[];
}

/** Maximum characters of a reason, and maximum names in an event. */
const MAX_REASON = 500;
const MAX_NAMES = 100;

/** What a step records about its sources. */
export interface ToolLoad {
  /** Error of the step; null if no required source failed. */
  readonly failure: ErrorReport | null;
  readonly notes: readonly string[];
}

const nothingLoaded: ToolLoad = { failure: null, notes: [] };

/** Asks the sources of the agent for their tools, and offers them from the next model call on. */
export async function loadTools(run: Run, stepNumber: number): Promise<ToolLoad> {
  const { toolSources } = run.agent;
  const context = sourceContext(run);
  const loading = toolSources.map(({ load }) => listed(load as ToolSource<never>, context));
  const results = await run.cancellation.race(Promise.allSettled(loading)).catch(() => null);
  if (results === null) return nothingLoaded; // canceled: no step follows
  const lists: (ToolList | null)[] = [];
  const missing: MissingTools[] = [];
  let failure: ErrorReport | null = null;
  for (const [i, { name: source }] of toolSources.entries()) {
    const result = results[i];
    const list = result?.status === 'fulfilled' ? result.value : null;
    const reason =
      list === null ? messageOf((result as PromiseRejectedResult).reason) : list.unavailable;
    lists.push(list);
    if (reason === undefined) continue;
    const text = run.redactor.text(reason).slice(0, MAX_REASON);
    missing.push({ source, reason: text });
    if (list === null)
      failure ??= {
        type: 'model',
        code: 'tools_unavailable',
        message: `The tools of "${source}" could not be loaded: ${sentence(text)}`,
      };
  }
  const isChanged = offer(run, { lists, missing }, stepNumber);
  const notes = missing.map(({ source }) => `toolsMissing:${source}`);
  return { failure, notes: isChanged ? [...notes, 'toolsChanged'] : notes };
}

/** Milliseconds between attempts to load the tools of answered calls. */
const WAITS_MS = [250, 500, 1_000, 2_000];

/**
 * Loads the tools for the rest of a step. Waits for a source whose tools answered calls need, and throws if it stays away:
 * the calls are then still open.
 */
export async function loadToolsAgain(run: Run, draft: StepDraft): Promise<void> {
  for (const waitMs of [...WAITS_MS, null]) {
    await loadTools(run, draft.number);
    const name = run.cancellation.cause ? undefined : neededTool(run, draft);
    const [gone] = run.loaded?.missing ?? [];
    if (name === undefined || gone === undefined) return;
    if (waitMs === null)
      throw new AgentError(
        'tools_unavailable',
        `The answered call of ${show(name)} cannot run now: the tools of "${gone.source}" are not available (${withoutFullStop(gone.reason)}). ` +
          'The call stays open. Continue the run when they are.',
        { details: { tool: name, source: gone.source } },
      );
    const { clock } = run.agent;
    const waiting = new Promise<void>((resolve) => void clock.after(waitMs, resolve));
    await run.cancellation.race(waiting).catch(() => {});
  }
}

/** Name of a tool that is missing and has a call to run: one that was approved, or whose questions are answered. */
function neededTool(run: Run, { openCalls, calls, inputs }: StepDraft): string | undefined {
  for (const place of openCalls) {
    const { id, name } = calls[place] as ToolCall; // a valid index
    if (run.offered.tools.has(name)) continue;
    const answer = run.answers.get(id);
    const open = inputs?.get(id);
    const isApproved = answer !== undefined && !('deny' in answer);
    if (isApproved || (open && !open.isRunning && isComplete(run, open))) return name;
  }
  return undefined;
}

async function listed(
  load: ToolSource<never>,
  context: ReturnType<typeof sourceContext>,
): Promise<ToolList> {
  const list: unknown = await load(context as never); // the caller of the run passes its dependencies
  if (!isRecord(list) || !Array.isArray(list['tools']))
    throw new AgentError(
      'invalid_tool',
      `A tool source returned ${show(list)}, expected { tools, unavailable? }.`,
    );
  if (known.has(list)) return list as unknown as ToolList;
  const wrong: unknown = list['tools'].find((tool) => !isTool(tool));
  if (wrong !== undefined)
    throw new AgentError(
      'invalid_tool',
      `A tool source returned ${show(wrong)} as a tool, expected the result of defineTool().`,
    );
  known.add(list);
  return list as unknown as ToolList;
}

/** Lists that are checked. */
const known = new WeakSet<object>();

const isTool = (tool: unknown): boolean =>
  isRecord(tool) && typeof tool['name'] === 'string' && typeof tool['check'] === 'function';

const sourceContext = ({ owner, state, deps, cancellation }: Run) => ({
  owner,
  agentId: state.agentId,
  executionId: state.execution.id,
  deps,
  get signal(): AbortSignal {
    return cancellation.signal;
  },
});

/** Offers the tools of the lists, and emits what is new to this run. Returns whether tools differ from those before. */
function offer(
  run: Run,
  { lists, missing }: Pick<LoadedTools, 'lists' | 'missing'>,
  stepNumber: number,
): boolean {
  const before = run.loaded;
  const isSame = before !== null && lists.every((list, i) => list === before.lists[i]);
  if (isSame && sameJson(missing, before.missing)) return false;
  const all = isSame ? before.all : withSources(run.agent, lists);
  run.loaded = { lists, all, missing };
  run.offer(offeredTools(all, run.activeTools, true), false);
  const { events } = run;
  const change = changeOf(before, run.loaded);
  if (change && events.wants('ToolsChanged'))
    events.emit('ToolsChanged', { stepNumber, ...change });
  return change !== null && change.added.length + change.removed.length + change.changed.length > 0;
}

const made = new WeakMap<
  ToolList,
  {
    readonly lists: LoadedTools['lists'];
    readonly of: ReadonlyMap<string, AnyTool>;
    readonly all: ToolSet;
  }
>();

/** Adds sourced tools to those of the agent. Of tools with the same name, the first counts. */
function withSources(agent: AgentDefinition, lists: LoadedTools['lists']): ToolSet {
  const last = lists.findLast((list) => list !== null);
  if (!last) return agent;
  const before = made.get(last);
  if (before && before.of === agent.tools && before.lists.every((list, i) => list === lists[i]))
    return before.all;
  const tools = new Map(agent.tools);
  // the loop runs agents from the definition only
  for (const list of lists)
    for (const tool of list?.tools ?? [])
      if (!tools.has(tool.name) && tool.agent === undefined) tools.set(tool.name, tool);
  const all: ToolSet = {
    tools,
    toolNames: [...tools.keys()],
    toolNameSet: new Set(tools.keys()),
    toolSchemas: Array.from(tools.values(), toolSchema),
    toolChoice: agent.toolChoice,
  };
  made.set(last, { lists, of: agent.tools, all });
  return all;
}

/** The difference to the tools before; null if there is none. The first list of a run is no change. */
function changeOf(
  before: LoadedTools | null,
  { all, missing }: LoadedTools,
): Omit<FieldsOf<'ToolsChanged'>, 'stepNumber'> | null {
  const old = before?.all.tools ?? all.tools;
  const added = all.toolNames.filter((name) => !old.has(name));
  const removed = [...old.keys()].filter((name) => !all.tools.has(name));
  const changed = [...all.tools.values()].filter((tool) => {
    const was = old.get(tool.name);
    return was !== undefined && was !== tool && !sameDefinition(was, tool);
  });
  const isSilent = sameJson(missing, before?.missing ?? []);
  if (isSilent && added.length + removed.length + changed.length === 0) return null;
  return {
    added: added.slice(0, MAX_NAMES),
    removed: removed.slice(0, MAX_NAMES),
    changed: changed.slice(0, MAX_NAMES).map(({ name }) => name),
    unavailable: missing,
  };
}

/** Whether two tools look the same to the model. */
const sameDefinition = (a: AnyTool, b: AnyTool): boolean =>
  a.description === b.description && sameJson(a.jsonSchema, b.jsonSchema);
