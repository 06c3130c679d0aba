import { isHarmless, isRecord, type JsonObject } from '../json.ts';
import { messageOf } from '../errors/error-record.ts';
import { readySchema, type ReadySchema } from '../tools/schema.ts';
import { visibleText } from '../visible-text.ts';
import type { McpToolInfo } from './mcp-options.ts';
import type { McpClient } from './open-client.ts';

/** A tool of a server, within bounds. */
export interface ListedTool {
  readonly info: McpToolInfo;
  readonly schema: ReadySchema;
  /** The definition for the client package, which reads header rules from it. */
  readonly definition: JsonObject;
}

/** Tools of a server, and sentences on those that are left out. */
export interface ListedTools {
  readonly tools: readonly ListedTool[];
  readonly problems: readonly string[];
}

const MAX_PAGES = 50;
const MAX_NAME = 128;
const MAX_DESCRIPTION = 4_000;
const MAX_SCHEMA = 65_536;

/** Reads all pages of the list, up to the bounds. */
export async function listTools(
  client: McpClient,
  server: string,
  maxTools: number,
  signal: AbortSignal,
): Promise<ListedTools> {
  const tools = new Map<string, ListedTool>();
  const problems: string[] = [];
  let cursor: string | undefined;
  for (let pages = 1; ; pages++) {
    const page = await client.request(
      { method: 'tools/list', ...(cursor !== undefined && { params: { cursor } }) },
      { signal, timeout: MAX_TIMEOUT },
    );
    for (const tool of page.tools) {
      if (tools.size >= maxTools) {
        problems.push(`it lists more than ${maxTools} tools, and the others are left out`);
        return { tools: [...tools.values()], problems };
      }
      const read = readTool(server, tool);
      if (typeof read === 'string') problems.push(read);
      else if (!tools.has(read.info.name)) tools.set(read.info.name, read);
    }
    cursor = page.nextCursor;
    if (cursor === undefined) return { tools: [...tools.values()], problems };
    if (pages === MAX_PAGES) {
      problems.push(`its list has more than ${MAX_PAGES} pages, and the others are left out`);
      return { tools: [...tools.values()], problems };
    }
  }
}

/** The caller's signal ends a request. */
const MAX_TIMEOUT = 2_147_483_647;

/** Returns a tool, or a sentence on why it is left out. */
function readTool(server: string, tool: Readonly<Record<string, unknown>>): ListedTool | string {
  const { name, description, inputSchema, annotations } = tool;
  if (typeof name !== 'string' || name === '' || name.length > MAX_NAME)
    return `a tool is left out because its name is not 1 to ${MAX_NAME} characters long`;
  const what = `tool ${JSON.stringify(visibleText(name))} is left out because`;
  if (!isRecord(inputSchema)) return `${what} it has no schema`;
  const text = JSON.stringify(inputSchema);
  if (text.length > MAX_SCHEMA) return `${what} its schema has ${text.length} characters`;
  const parameters = JSON.parse(text) as JsonObject;
  if (!isHarmless(parameters)) return `${what} its schema is nested too deeply`;
  const { $schema: _dialect, ...plain } = parameters;
  let schema: ReadySchema;
  try {
    schema = readySchema(`Tool "${name}" of ${server}`, plain);
  } catch (error) {
    return `${what} its schema cannot be checked (${messageOf(error).slice(0, 200)})`;
  }
  const { readOnlyHint, destructiveHint, idempotentHint } = isRecord(annotations)
    ? annotations
    : {};
  const hints = {
    ...(typeof readOnlyHint === 'boolean' && { readOnly: readOnlyHint }),
    ...(typeof destructiveHint === 'boolean' && { destructive: destructiveHint }),
    ...(typeof idempotentHint === 'boolean' && { idempotent: idempotentHint }),
  };
  const described = typeof description === 'string' ? description.slice(0, MAX_DESCRIPTION) : '';
  return {
    info: { name, description: described.trim() || `${name} of ${server}`, hints },
    schema,
    definition: { name, inputSchema: parameters },
  };
}
