export {
  mcpServer,
  type AgentMcpServer,
  type AgentMcpServerOptions,
  type McpStdioConnection,
  type McpStdioOptions,
} from './mcp-server.ts';
export type { McpAgent } from './agent-tools.ts';
