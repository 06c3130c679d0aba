import type { JsonObject } from '../../json.ts';
import type { AgentMcpServer } from '../../mcp/server/mcp-server.ts';
import type { OpenStreams } from '../open-streams.ts';
import { route, type Route } from '../route.ts';
import { text } from '../schemas/shapes.ts';
import { jsonRecord, oneOf, required, word } from './field-shapes.ts';

/** One message: several in a list would not be counted one by one. */
interface McpMessage {
  readonly jsonrpc: '2.0';
  readonly id?: string | number;
  readonly method: string;
  readonly params?: JsonObject;
}

/** Creates the route on which MCP clients call the agents. A request is open as long as its call. */
export const mcpRoute = (mcp: AgentMcpServer, streams: OpenStreams): Route =>
  route<object, McpMessage>({
    method: 'POST',
    path: '/mcp',
    name: 'mcp',
    summary: 'Serves the agents as tools over the Model Context Protocol (Streamable HTTP).',
    body: {
      jsonrpc: required(oneOf('2.0')),
      id: {
        schema: { type: ['string', 'number'], maxLength: 200 },
        expected: 'the id of a request; a notification has none',
      },
      method: required(word('the name of a method, such as tools/call')),
      params: jsonRecord('the parameters of the method'),
    },
    answer: {
      status: 200,
      about: 'The response as JSON, or as server-sent events.',
      schema: text,
      contentType: 'text/event-stream',
    },
    handle: ({ request, owner, body }) =>
      streams.open(request, owner, () => mcp.fetch(request, { owner, body })),
  });
