import { mcpServer } from '../../mcp/server/index.ts';
import { logMessage } from '../../errors/log-text.ts';
import { noteFailure, type CliContext } from '../cli-context.ts';
import { configuredProject } from '../configured-project.ts';
import { oneLine } from '../format.ts';
import { openProject } from '../project.ts';
import { untilSignal } from '../until-signal.ts';

export interface McpCommandOptions {
  /** Names of the only agents to offer. */
  readonly agents?: readonly string[];
  /** Seconds in which running work may finish at the end. */
  readonly grace: number;
}

/** Serves the agents to the MCP client that started the command, until it closes the input or a signal comes. */
export async function mcp(context: CliContext, options: McpCommandOptions): Promise<number> {
  const { agents: only, grace } = options;
  // before the config is loaded: what it prints must not reach the client
  const streams = context.io.takeStdio();
  const project = await openProject({
    ...(await configuredProject(context, 'mcp')),
    isShared: true,
    ...(only !== undefined && { agents: only }),
    onError: (error, sessionId) => noteFailure(context, error, sessionId),
  });
  const { runtime, owner, agents, name, storeLabel } = project;
  const server = mcpServer({
    runtime,
    agents,
    name,
    onError: (error) => context.note(`A call failed: ${logMessage(error)}`),
  });
  try {
    // report an unreadable store here, not with each call
    await runtime.list({ owner, limit: 1 });
    runtime.start();
    const ended = untilSignal(context);
    const { closed } = await server.stdio({ owner, ...streams });
    const names = agents.map(({ agent }) => agent.name).join(', ');
    context.note(`Serving ${oneLine(names, 200)} to an MCP client, ${storeLabel}`);
    await Promise.race([ended, closed]);
    await server.close();
    await runtime.close({ graceMs: grace * 1_000 });
  } finally {
    await server.close();
    await project.close();
  }
  return 0;
}
