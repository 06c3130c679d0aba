export { mcp, type McpCapability } from './mcp.ts';
export type {
  McpAuthProvider,
  McpHttpServer,
  McpOptions,
  McpOwner,
  McpServer,
  McpStdioServer,
  McpToolFilter,
  McpToolInfo,
  PerOwner,
} from './mcp-options.ts';
export type { McpReadOptions, McpSession } from './mcp-session.ts';
