import { defineTool } from '../tools/define-tool.ts';
import type { AnyTool, ToolContext } from '../tools/tool.ts';
import { callServer } from './call-server.ts';
import type { ListedTool } from './list-tools.ts';
import type { McpConnection } from './mcp-connection.ts';
import { selects, type McpServer, type McpSettings, type McpToolInfo } from './mcp-options.ts';

/** Creates the tool of an agent from a tool of a server. */
export function mcpTool(
  { info, schema, definition }: ListedTool,
  name: string,
  settings: McpSettings,
  connection: McpConnection,
  server: McpServer,
): AnyTool {
  const { timeoutMs, holdMs, maxResultChars } = settings;
  const isRepeatable = isIdempotent(info, settings);
  const target = { server, connection, tool: info.name, definition, isRepeatable, holdMs };
  const tool = defineTool({
    name,
    description: info.description,
    parameters: schema.jsonSchema,
    timeoutMs,
    idempotent: isRepeatable,
    ...(maxResultChars !== undefined && { maxResultChars }),
    execute: (args: unknown, context: ToolContext) => callServer(target, args, context),
  });
  const needsApproval = approvalFor(info, settings);
  return Object.freeze({ ...tool, needsApproval });
}

const isIdempotent = (
  info: McpToolInfo,
  { idempotent, trustHints = false }: McpSettings,
): boolean => {
  if (idempotent !== undefined && selects(idempotent, info)) return true;
  return trustHints && (info.hints.readOnly === true || info.hints.idempotent === true);
};

function approvalFor(info: McpToolInfo, { needsApproval }: McpSettings): AnyTool['needsApproval'] {
  const isDestructive = info.hints.destructive === true;
  if (typeof needsApproval === 'function')
    return (args) => needsApproval(info, args) ?? isDestructive;
  const isNamed = Array.isArray(needsApproval) && needsApproval.includes(info.name);
  const isNeeded = typeof needsApproval === 'boolean' ? needsApproval : isNamed || isDestructive;
  return isNeeded ? () => true : null;
}
