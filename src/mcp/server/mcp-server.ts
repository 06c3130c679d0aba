import type { McpHttpHandler, McpServerFactory, ServerContext } from '@modelcontextprotocol/server';
import type { AnyAgent } from '../../agent/agent.ts';
import { httpStatuses } from '../../broadcasting/sse/sse-request.ts';
import { AgentError, invalidOption, whole } from '../../errors/agent-error.ts';
import { logMessage } from '../../errors/log-text.ts';
import { defaultRedactor } from '../../errors/redactor.ts';
import { isRecord } from '../../json.ts';
import { checkedOwner } from '../../sessions/check-names.ts';
import type { SessionRuntime } from '../../sessions/session-runtime.ts';
import { failedCall } from './agent-result.ts';
import { agentTools, type AgentTool, type McpAgent } from './agent-tools.ts';
import { AgentCaller } from './call-agent.ts';
import { answerCall, type Wire } from './wire-call.ts';

export interface AgentMcpServerOptions {
  readonly runtime: SessionRuntime;
  /** Agents to offer, with texts for clients. Default: all agents of the runtime. */
  readonly agents?: readonly (AnyAgent | McpAgent)[];
  /** Name of the server for clients. Default `onward`. */
  readonly name?: string;
  /** Milliseconds after which a call returns, though the agent still works: many clients give up after a minute. Default 45,000. */
  readonly waitMs?: number;
  /** Most calls of one owner at the same time. Default 20. */
  readonly maxCalls?: number;
  /** Called with unexpected errors; the client learns nothing about them. Default: console.error, redacted. */
  readonly onError?: (error: unknown) => void;
}

/** Where a stdio server reads and writes. */
export interface McpStdioOptions {
  /** Owner of all sessions of the client. */
  readonly owner: string;
  /** Streams of Node. Default: those of the process. */
  readonly stdin?: object;
  readonly stdout?: object;
}

/** The connection of one client over stdio. */
export interface McpStdioConnection {
  /** Resolves when the client has closed it. */
  readonly closed: Promise<void>;
  close(): Promise<void>;
}

/** Agents as tools of an MCP server. */
export interface AgentMcpServer {
  /**
   * Answers a request of the Streamable HTTP transport for its owner, whom you have authenticated. `body` is the parsed body
   * if it was read.
   */
  fetch(
    request: Request,
    options: { readonly owner: string; readonly body?: unknown },
  ): Promise<Response>;
  /** Serves one client over stdio. */
  stdio(options: McpStdioOptions): Promise<McpStdioConnection>;
  /** Ends all calls, with an answer, and all connections. Runs continue, and the runtime stays open. */
  close(): Promise<void>;
}

type ServerPackage = typeof import('@modelcontextprotocol/server');

/** Milliseconds that calls have for an answer when the server closes: one may wait for the user. */
const LAST_MS = 1_000;
/** Most bytes of one message over stdio. */
const MAX_MESSAGE_BYTES = 4_000_000;

/** Serves the agents of a runtime over the Model Context Protocol: each is a tool, and each call belongs to a session. */
export function mcpServer(options: AgentMcpServerOptions): AgentMcpServer {
  const { runtime, name = 'onward', onError = logError } = options;
  if (typeof runtime?.send !== 'function')
    throw invalidOption('mcpServer runtime', runtime, 'a SessionRuntime');
  const tools = agentTools(runtime.agents, options.agents);
  const definitions = [...tools.values()].map(({ definition }) => definition);
  const caller = new AgentCaller(runtime, whole('mcpServer waitMs', options.waitMs ?? 45_000));
  const slots = callSlots(whole('mcpServer maxCalls', options.maxCalls ?? 20));
  const connections = new Set<McpStdioConnection>();
  const running = new Set<Promise<unknown>>();
  let isClosed = false;
  let http: Promise<McpHttpHandler> | null = null;

  /** Answers a call; an error that is not for clients is reported, and the client gets no details. */
  const call = async (tool: AgentTool, wire: Wire): Promise<unknown> => {
    const { owner } = wire;
    if (!slots.take(owner))
      return failedCall(
        'Too many calls of this user are running. Wait for some of them, then try again.',
      );
    try {
      return await answerCall(caller, tool, wire, () => isClosed);
    } catch (error) {
      if (wire.context.mcpReq.signal.aborted) return failedCall('The call was cancelled.');
      const status = AgentError.is(error) ? httpStatuses[error.code] : undefined;
      if (status === undefined || status === 503) onError(error);
      if (status === 503) return failedCall('The server is not ready. Try again soon.');
      if (status === undefined) return failedCall('Something went wrong on the server.');
      return failedCall(defaultRedactor.text((error as AgentError).message));
    } finally {
      slots.release(owner);
    }
  };

  const factory =
    (mcp: ServerPackage, isHttp: boolean, ownerOf: (extra: unknown) => string): McpServerFactory =>
    ({ era, authInfo }) => {
      const owner = ownerOf(authInfo);
      const made = new mcp.McpServer(
        { name, version: '1' },
        { capabilities: { tools: {} }, inputRequired: { legacyShim: false } },
      );
      const { server } = made;
      server.setRequestHandler('tools/list', () => ({ tools: definitions as never }));
      server.setRequestHandler('tools/call', async ({ params }, context: ServerContext) => {
        const tool = tools.get(params.name);
        if (!tool)
          throw new mcp.ProtocolError(
            mcp.ProtocolErrorCode.InvalidParams,
            `There is no tool ${JSON.stringify(params.name.slice(0, 100))}.`,
          );
        const { envelope = {} } = context.mcpReq;
        const declared =
          Object.entries(envelope).find(([key]) => key === mcp.CLIENT_CAPABILITIES_META_KEY)?.[1] ??
          // oxlint-disable-next-line typescript/no-deprecated -- older clients say what they can once, not in each request
          server.getClientCapabilities();
        const wire: Wire = { mcp, owner, args: params.arguments, context, declared, era, isHttp };
        const calling = call(tool, wire);
        running.add(calling);
        try {
          return (await calling) as never; // what the protocol has, and the package checks it
        } finally {
          running.delete(calling);
        }
      });
      return made;
    };

  const openHttp = async (): Promise<McpHttpHandler> => {
    const mcp = await loadServer();
    return mcp.createMcpHandler(factory(mcp, true, ownerIn), {
      // a response that begins at once, so that a long run delays no other request of its owner
      responseMode: 'sse',
      onerror: () => {}, // each refused request has its answer
    });
  };

  return {
    async fetch(request, { owner, body }) {
      if (isClosed) return new Response(null, { status: 503, headers: { 'retry-after': '1' } });
      http ??= openHttp();
      const handler = await http.catch((error: unknown) => {
        http = null;
        throw error;
      });
      const response = await handler.fetch(request, {
        authInfo: { token: '', clientId: '', scopes: [], extra: { owner: checkedOwner(owner) } },
        ...(body !== undefined && { parsedBody: body }),
      });
      const headers = new Headers(response.headers);
      // a conversation of one owner
      headers.set('cache-control', 'no-store, no-transform');
      headers.delete('connection');
      return new Response(response.body, { status: response.status, headers });
    },
    async stdio({ owner, stdin, stdout }) {
      checkedOwner(owner);
      const mcp = await loadServer();
      const { serveStdio, StdioServerTransport } =
        await import('@modelcontextprotocol/server/stdio');
      const transport = new StdioServerTransport(stdin as never, stdout as never, {
        maxBufferSize: MAX_MESSAGE_BYTES,
      });
      const handle = serveStdio(
        factory(mcp, false, () => owner),
        { transport },
      );
      const { onclose } = transport;
      const closed = new Promise<void>((resolve) => {
        // not an event target
        Object.assign(transport, {
          onclose: () => {
            onclose?.();
            connections.delete(connection);
            resolve();
          },
        });
      });
      const connection: McpStdioConnection = { closed, close: () => handle.close() };
      connections.add(connection);
      return connection;
    },
    async close() {
      isClosed = true;
      caller.close();
      if (running.size > 0) {
        await Promise.race([Promise.all(running), after(LAST_MS)]);
        // the answers leave in a later turn
        await after(10);
      }
      await Promise.all([...connections].map((connection) => connection.close()));
      await (await http?.catch(() => null))?.close();
    },
  };
}

const after = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms));

/** The owner of a request, as `fetch` has passed it on. */
function ownerIn(authInfo: unknown): string {
  const extra = isRecord(authInfo) ? authInfo['extra'] : undefined;
  return checkedOwner(isRecord(extra) ? extra['owner'] : undefined);
}

/** Counts the calls of each owner. */
function callSlots(most: number): { take(owner: string): boolean; release(owner: string): void } {
  const counts = new Map<string, number>();
  return {
    take(owner) {
      const count = counts.get(owner) ?? 0;
      if (count >= most) return false;
      counts.set(owner, count + 1);
      return true;
    },
    release(owner) {
      const count = (counts.get(owner) ?? 1) - 1;
      if (count > 0) counts.set(owner, count);
      else counts.delete(owner);
    },
  };
}

const logError = (error: unknown): void => console.error(`mcpServer: ${logMessage(error)}`);

const loadServer = (): Promise<ServerPackage> =>
  import('@modelcontextprotocol/server').catch((cause: unknown) => {
    throw new AgentError(
      'package_missing',
      'mcpServer() needs the official MCP server package, which is not installed. Run: npm install @modelcontextprotocol/server',
      { cause },
    );
  });
