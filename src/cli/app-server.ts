import type { OwnerHook } from '../broadcasting/sse/sse-request.ts';
import { AgentError } from '../errors/agent-error.ts';
import { agUiServer } from '../ag-ui/index.ts';
import { mcpServer } from '../mcp/server/index.ts';
import { agentServer, type AgentServer, type AgentServerOptions } from '../server/index.ts';
import { serve, type FetchHandler, type RunningServer, type StaticFiles } from '../server/node.ts';
import { exitCodeNamed } from './exit-codes.ts';
import type { Project, ProjectOptions } from './project.ts';

export const DEFAULT_PORT = 4111;
/** Number of ports to try after the default one. */
const MORE_PORTS = 10;

export interface AppServerOptions {
  readonly project: Project;
  readonly config: ProjectOptions['config'];
  readonly owner: OwnerHook;
  /** Further options of the API. */
  readonly api?: Partial<AgentServerOptions>;
  /** Files of the console; null for none. */
  readonly files: StaticFiles | null;
  readonly host: string;
  readonly ports: readonly number[];
  /** More `Host` headers to accept on a loopback address. */
  readonly allowedHosts?: readonly string[];
  /** Answers a request before API and console do; null leaves it to them. */
  readonly first?: (request: Request) => Promise<Response> | null;
  /** Command that runs the server, for errors. */
  readonly command: string;
}

/** The API and the console of a project at one address. */
export interface AppServer {
  readonly server: RunningServer;
  readonly api: AgentServer;
}

/** Starts to listen. On failure it closes the project and rejects. */
export async function startAppServer(options: AppServerOptions): Promise<AppServer> {
  const { project, config, files, first } = options;
  const { runtime, agents, name, owner, storeLabel } = project;
  const api = agentServer({
    runtime,
    owner: options.owner,
    agents,
    name,
    store: storeLabel,
    // the console is for those who build the product
    payloads: files !== null,
    ...(config?.mcp && { mcp: mcpServer({ runtime, agents, name }) }),
    ...(config?.agUi && { agUi: agUiServer({ runtime }) }),
    ...(config?.pusher && { pusher: config.pusher }),
    ...options.api,
  });
  const fetch = async (request: Request): Promise<Response> => {
    const early = first?.(request);
    if (early) return early;
    const { pathname } = new URL(request.url);
    if (pathname === '/api' || pathname.startsWith('/api/')) return api.fetch(request);
    return (await files?.(request)) ?? notFound();
  };
  try {
    // report an unreadable store here, not with each request
    await runtime.list({ owner, limit: 1 });
    const allowedHosts = config?.allowedHosts ?? [];
    return { server: await listen(fetch, { ...options, allowedHosts }), api };
  } catch (error) {
    await api.close();
    await project.close();
    throw error;
  }
}

const notFound = (): Response =>
  new Response('Not found\n', {
    status: 404,
    headers: { 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' },
  });

/** Returns the named port, or the default one and those after it. */
export function portsOf(port: number | undefined): readonly number[] {
  if (port !== undefined) return [port];
  return Array.from({ length: MORE_PORTS + 1 }, (_, i) => DEFAULT_PORT + i);
}

/** Listens on the first free port. */
export async function listen(
  fetch: FetchHandler,
  options: Pick<AppServerOptions, 'host' | 'ports' | 'allowedHosts' | 'command'>,
): Promise<RunningServer> {
  const { host, ports, allowedHosts = [], command } = options;
  let problem: unknown;
  for (const port of ports)
    try {
      return await serve({ fetch, port, hostname: host, allowedHosts });
    } catch (error) {
      problem = error;
      if (codeOf(error) !== 'EADDRINUSE') break;
    }
  const isTaken = codeOf(problem) === 'EADDRINUSE';
  const tried =
    ports.length === 1 ? `Port ${ports[0]} is` : `Ports ${ports[0]} to ${ports.at(-1)} are`;
  throw new AgentError(
    'invalid_option',
    isTaken
      ? `${tried} in use on ${host}. \`${command}\` may already run; otherwise choose another port with --port, or any free one with --port 0.`
      : `Cannot listen on ${host}: ${problem instanceof Error ? problem.message : String(problem)}`,
    { cause: problem, details: { exitCode: exitCodeNamed('address_in_use') } },
  );
}

const codeOf = (error: unknown): unknown =>
  ((error as { cause?: { code?: unknown } } | null)?.cause ?? (error as { code?: unknown } | null))
    ?.code;
