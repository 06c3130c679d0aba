import { defineTool } from '../tools/define-tool.ts';
import type { AnyTool, ToolContext } from '../tools/tool.ts';
import type { McpSettings } from './mcp-options.ts';
import type { McpSession } from './mcp-session.ts';

/** Creates the optional tools with which the model reads resources and prompts. */
export function contentTools(
  server: string,
  { resourceTool, promptTool, timeoutMs, maxResultChars }: McpSettings,
  session: McpSession,
  taken: ReadonlySet<string>,
): readonly AnyTool[] {
  const common = {
    timeoutMs,
    idempotent: true,
    ...(maxResultChars !== undefined && { maxResultChars }),
  };
  const tools: AnyTool[] = [];
  if (resourceTool)
    tools.push(
      defineTool({
        ...common,
        name: freeName(`${server}__resources`, taken),
        description: `Lists the resources of ${server}, or reads the one with the given uri.`,
        parameters: {
          type: 'object',
          properties: { uri: { type: 'string', description: 'Absent to list the resources.' } },
          additionalProperties: false,
        } as const,
        execute: ({ uri }, { signal }: ToolContext) =>
          uri === undefined ? session.resources({ signal }) : session.readResource(uri, { signal }),
      }),
    );
  if (promptTool)
    tools.push(
      defineTool({
        ...common,
        name: freeName(`${server}__prompts`, taken),
        description: `Lists the prompts of ${server}, or gets the one with the given name.`,
        parameters: {
          type: 'object',
          properties: {
            name: { type: 'string', description: 'Absent to list the prompts.' },
            arguments: { type: 'object', additionalProperties: { type: 'string' } },
          },
          additionalProperties: false,
        } as const,
        execute: ({ name, arguments: args = {} }, { signal }: ToolContext) =>
          name === undefined
            ? session.prompts({ signal })
            : session.prompt(name, args as Readonly<Record<string, string>>, { signal }),
      }),
    );
  return tools;
}

/** The server may have a tool of this name. */
const freeName = (name: string, taken: ReadonlySet<string>): string =>
  taken.has(name) ? `${name}_of_server` : name;
