import { toolSchema } from '../agent/agent-options.ts';
import { READ_RESULT } from '../agent/compaction.ts';
import type { Capability } from '../agent/hooks.ts';
import type { FoundTools, OfferedTools, ToolFinder, ToolSet } from '../agent/offered-tools.ts';
import { invalidOption, whole as wholeNumber } from '../errors/agent-error.ts';
import { defineTool } from '../tools/define-tool.ts';
import type { AnyTool, ToolSchema } from '../tools/tool.ts';
import { toolCatalog } from './tool-catalog.ts';
import { ToolIndex } from './tool-index.ts';
import { describeFound, type FoundTool } from './found-tools.ts';

export interface ToolSearchOptions {
  /** Names of tools that the model always sees. Default: none. */
  readonly always?: readonly string[];
  /** Most tools that one search returns. Default 5. */
  readonly maxResults?: number;
  /** Most characters of the list of tools in the system prompt. Default 20,000; 0 for no list. */
  readonly catalogChars?: number;
}

const SEARCH = 'search_tools';
const CALL = 'call_tool';
const MAX_QUERY = 500;

/**
 * Lets the model search the tools of an agent instead of seeing all of them: the request has `search_tools`, `call_tool`
 * and the `always` tools, and stays the same while the model uses other tools.
 */
export function toolSearch(options: ToolSearchOptions = {}): Capability<{}, never> {
  const { always = [], maxResults = 5, catalogChars = 20_000 } = options;
  if (!Array.isArray(always) || always.some((name) => typeof name !== 'string'))
    throw invalidOption('toolSearch always', always, 'a list of tool names');
  const settings: Settings = {
    searcher: searchTool(),
    caller: callTool(),
    always: new Set(always),
    maxResults: wholeNumber('toolSearch maxResults', maxResults),
    catalogChars: catalogChars === 0 ? 0 : wholeNumber('toolSearch catalogChars', catalogChars),
  };
  const made = new WeakMap<readonly ToolSchema[], OfferedTools>();
  const toolFinder: ToolFinder = {
    reserved: [SEARCH, CALL],
    offer(all, catalog) {
      const forced = typeof all.toolChoice === 'object' ? all.toolChoice.tool : null;
      const known = forced === null ? made.get(all.toolSchemas) : undefined;
      const offered = known ?? offeredOf(all, settings, forced);
      if (forced === null) made.set(all.toolSchemas, offered);
      const { found } = offered;
      if (!found) return all;
      return {
        ...offered,
        toolChoice: all.toolChoice,
        found: { ...found, whole: all, catalog: catalog ?? found.catalog },
      };
    },
  };
  return { name: 'tool-search', toolFinder };
}

interface Settings {
  readonly searcher: AnyTool;
  readonly caller: AnyTool;
  readonly always: ReadonlySet<string>;
  readonly maxResults: number;
  readonly catalogChars: number;
}

/** Offers the tools that the model always sees, and two in place of the others; all if there are no others. */
function offeredOf(all: ToolSet, settings: Settings, forced: string | null): OfferedTools {
  const { always, catalogChars } = settings;
  const isSeen = (name: string): boolean =>
    always.has(name) || name === forced || name === READ_RESULT;
  const names = all.toolNames.filter((name) => !reserved.has(name));
  const hidden = names.filter((name) => !isSeen(name));
  if (hidden.length === 0) return all;
  const callable = new Set(names);
  const { searcher, caller } = settings;
  const execute = (args: unknown): FoundToolList =>
    search(all, callable, settings.maxResults, (args as { readonly query: string }).query);
  const own: readonly AnyTool[] = [Object.freeze({ ...searcher, execute }), caller];
  const seen = names.filter(isSeen);
  const toolNames = [...seen, SEARCH, CALL];
  const listed = hidden.flatMap((name) => all.tools.get(name) ?? []);
  const found: FoundTools = {
    whole: all,
    callTool: CALL,
    callable,
    catalog: catalogChars === 0 ? '' : toolCatalog(listed, catalogChars),
  };
  return {
    tools: new Map([...all.tools, ...own.map((tool) => [tool.name, tool] as const)]),
    toolNames,
    toolNameSet: new Set(toolNames),
    toolSchemas: [
      ...all.toolSchemas.filter(({ name }) => isSeen(name) && callable.has(name)),
      ...own.map(toolSchema),
    ],
    toolChoice: all.toolChoice,
    found,
  };
}

const reserved: ReadonlySet<string> = new Set([SEARCH, CALL]);

/** Indexes by list of tools, which many runs share. Made with the first search. */
const indexes = new WeakMap<ReadonlyMap<string, AnyTool>, ToolIndex>();

function indexOf(tools: ReadonlyMap<string, AnyTool>): ToolIndex {
  const known = indexes.get(tools);
  if (known) return known;
  const index = new ToolIndex(tools.values());
  indexes.set(tools, index);
  return index;
}

/** Tools whose name is a word of the query come first, in its order; then those that match its words. */
function search(
  { tools }: ToolSet,
  callable: ReadonlySet<string>,
  maxResults: number,
  given: string,
): FoundToolList {
  const query = given.slice(0, MAX_QUERY);
  const named = query
    .split(/[\s,;"'`]+/)
    .flatMap((name) => (callable.has(name) ? (tools.get(name) ?? []) : []));
  const matching = indexOf(tools).search(query, (name) => callable.has(name));
  const all = [...new Set([...named, ...matching])];
  const shown = all.slice(0, Math.max(maxResults, Math.min(named.length, MAX_NAMED)));
  return {
    tools: describeFound(shown),
    ...(all.length > shown.length && { more: all.length - shown.length }),
    ...(all.length === 0 && { hint: 'No tool matches. Search with other words.' }),
  };
}

/** Most tools that a query may name. */
const MAX_NAMED = 10;

/** The result of `search_tools`. */
interface FoundToolList {
  readonly tools: readonly FoundTool[];
  /** Number of further matches. */
  readonly more?: number;
  readonly hint?: string;
}

const searchTool = (): AnyTool =>
  defineTool({
    name: SEARCH,
    description:
      'Finds tools by what they do. Returns names, descriptions and parameters, to be called with call_tool.',
    parameters: {
      type: 'object',
      properties: {
        query: {
          type: 'string',
          description: 'Words that say what the tool should do, or exact names of tools.',
        },
      },
      required: ['query'],
      additionalProperties: false,
    },
    idempotent: true,
    maxResultChars: 100_000,
    execute: () => null,
  });

/** Never runs: the loop runs the tool that a call names, under the name of that tool. */
const callTool = (): AnyTool =>
  defineTool({
    name: CALL,
    description: 'Calls a tool that search_tools has found.',
    parameters: {
      type: 'object',
      properties: {
        name: { type: 'string', description: 'The name of the tool.' },
        arguments: {
          type: 'object',
          description: 'The arguments of the tool, as its parameters say.',
        },
      },
      required: ['name', 'arguments'],
      additionalProperties: false,
    },
    execute: () => null,
  });
