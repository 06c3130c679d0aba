import { toJsonValue, type JsonObject } from '../json.ts';
import { defineTool } from '../tools/define-tool.ts';
import type { AnyTool, ToolContext } from '../tools/tool.ts';
import type { ToolProgress } from '../tools/tool-progress.ts';
import { callValue, errorText } from './call-result.ts';
import { endForInput, inputNeededBy, urlNeededBy } from './input-needed.ts';
import type { ListedTool } from './list-tools.ts';
import type { McpConnection } from './mcp-connection.ts';
import { mcpFailure } from './mcp-failure.ts';
import { selects, type McpSettings, type McpToolInfo } from './mcp-options.ts';

/** Our timeout ends a call, not that of the client package. */
const MAX_TIMEOUT = 2_147_483_647;

/** Creates the tool of an agent from a tool of a server. */
export function mcpTool(
  { info, schema, definition }: ListedTool,
  name: string,
  settings: McpSettings,
  connection: McpConnection,
  server: string,
): AnyTool {
  const { timeoutMs, maxResultChars } = settings;
  const idempotent = isIdempotent(info, settings);
  const what = `"${info.name}" of ${server}`;
  const tool = defineTool({
    name,
    description: info.description,
    parameters: schema.jsonSchema,
    timeoutMs,
    idempotent,
    ...(maxResultChars !== undefined && { maxResultChars }),
    async execute(args: unknown, { signal, progress }: ToolContext) {
      const params = { name: info.name, arguments: toJsonValue(args) as JsonObject };
      const sending = connection.request(
        (client) =>
          client.callTool(params, {
            signal,
            timeout: MAX_TIMEOUT,
            allowInputRequired: true,
            toolDefinition: definition as never, // the part that the package reads
            onprogress: (report) => progress(connection.value(report) as ToolProgress),
          }),
        { signal, isRepeatable: idempotent, what },
      );
      const result = await sending.catch((error: unknown) => {
        const asked = urlNeededBy(server, info.name, error);
        throw asked ? endForInput(asked) : error;
      });
      const answer = connection.value(result) as Readonly<Record<string, unknown>>;
      const needed = inputNeededBy(server, info.name, answer);
      if (needed) throw endForInput(needed);
      if (answer['isError'] === true) throw mcpFailure('mcp_tool_error', errorText(answer));
      return callValue(answer);
    },
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
