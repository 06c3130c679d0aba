import type { Capability } from '../agent/hooks.ts';
import type { ToolSourceContext } from '../tools/tool-source.ts';
import { ConnectionPool } from './connection-pool.ts';
import {
  checkedServer,
  checkedSettings,
  type McpOptions,
  type McpOwner,
  type McpServer,
} from './mcp-options.ts';
import type { McpSession } from './mcp-session.ts';

/** The tools of an MCP server. */
export interface McpCapability extends Capability {
  /** Returns the resources and prompts of the server for an owner. Connects with the first request. */
  connection(who?: Partial<McpOwner>): Promise<McpSession>;
  /** Closes all connections and ends child processes. A later call opens them again. */
  close(): Promise<void>;
}

/**
 * Connects an agent with an MCP server: `createAgent({ capabilities: [mcp({ name, command, args })] })`, or with `{ name,
 * url }` for Streamable HTTP. Each owner has a connection of their own, which opens with the first step.
 */
export function mcp(server: McpServer, options: McpOptions = {}): McpCapability {
  const known = checkedServer(server);
  const settings = checkedSettings(known, options);
  const pool = new ConnectionPool(known, settings);
  return {
    name: known.name,
    tools: async ({ owner, signal }: ToolSourceContext) =>
      (await pool.forOwner(owner)).list(signal),
    connection: async ({ owner = null } = {}) => (await pool.forOwner(owner)).session,
    close: () => pool.close(),
  };
}
