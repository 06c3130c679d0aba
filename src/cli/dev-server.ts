import { AgentError } from '../errors/agent-error.ts';
import { agentServer } from '../server/index.ts';
import { serve, type RunningServer } from '../server/node.ts';
import type { SessionRuntime } from '../sessions/session-runtime.ts';
import { consoleFiles, consoleFolder, hasConsole } from './console-files.ts';
import { bearerOf, checkedToken, keptToken, ownerByToken } from './dev-token.ts';
import { exitCodeNamed } from './exit-codes.ts';
import { openProject, type Project, type ProjectOptions } from './project.ts';
import { usageError } from './usage-error.ts';

const DEFAULT_PORT = 4111;
/** How many ports after the default one are tried. */
const MORE_PORTS = 10;

export interface DevServerOptions extends Omit<ProjectOptions, 'isDetached'> {
  /** 0 takes any free one. Left out: the config's, or 4111 and the ten after it. */
  readonly port?: number;
  /** Default `127.0.0.1`. Another than this machine needs a `token`. */
  readonly host?: string;
  /** Default: the one kept in `.onward/token`. */
  readonly token?: string;
  /** The built console. Default: the one of this package. */
  readonly consoleDir?: string;
}

export interface DevServer {
  /** Without the token, and without a slash at the end. */
  readonly url: string;
  /** What to open: with the token, which the page takes out of the address. */
  readonly address: string;
  readonly token: string;
  readonly port: number;
  readonly runtime: SessionRuntime;
  readonly project: Project;
  readonly hasConsole: boolean;
  /** Ends the streams, finishes the running steps and gives their sessions back. */
  close(options?: { readonly graceMs?: number }): Promise<void>;
}

/** Server, console and store in one process. It takes up what an earlier one left. */
export async function startDevServer(options: DevServerOptions): Promise<DevServer> {
  const { config, folder, host = '127.0.0.1', consoleDir = consoleFolder() } = options;
  if (!isLoopback(host) && options.token === undefined)
    throw usageError(
      `The host ${host} can be reached from other machines, so choose the token yourself: --token <secret> or ONWARD_TOKEN.`,
    );
  const token =
    options.token === undefined ? keptToken(folder) : checkedToken(options.token, '--token');
  const project = await openProject(options);
  const { runtime, agents, name, owner, storeLabel } = project;
  const ownerOf = ownerByToken({ ...config?.tokens, [token]: owner });
  const api = agentServer({
    runtime,
    owner: (request) => ownerOf(bearerOf(request)),
    agents,
    name,
    store: storeLabel,
    // one person with a few tabs, on their own machine
    rateLimit: { requests: 6_000, seconds: 60 },
    ...(config?.pusher && { pusher: config.pusher }),
  });
  const files = consoleFiles(consoleDir);
  const fetch = async (request: Request): Promise<Response> => {
    const { pathname } = new URL(request.url);
    if (pathname === '/api' || pathname.startsWith('/api/')) return api.fetch(request);
    return (await files(request)) ?? notFound();
  };
  let server: RunningServer;
  try {
    // a store that cannot be read is told here, not by each request
    await runtime.list({ owner, limit: 1 });
    server = await listen(fetch, host, portsOf(options));
  } catch (error) {
    await api.close();
    await project.close();
    throw error;
  }
  runtime.start();
  let closing: Promise<void> | null = null;
  return {
    url: server.url,
    address: `${server.url}/#token=${token}`,
    token,
    port: server.port,
    runtime,
    project,
    hasConsole: hasConsole(consoleDir),
    close: ({ graceMs = 10_000 } = {}) =>
      (closing ??= (async () => {
        // streams first: they would hold the server open
        await api.close();
        await Promise.all([server.close({ graceMs }), project.close({ graceMs })]);
      })()),
  };
}

const notFound = (): Response =>
  new Response('Not found\n', {
    status: 404,
    headers: { 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' },
  });

export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host);

function portsOf({ port, config }: DevServerOptions): readonly number[] {
  const only = port ?? config?.port;
  if (only !== undefined) return [only];
  return Array.from({ length: MORE_PORTS + 1 }, (_, i) => DEFAULT_PORT + i);
}

async function listen(
  fetch: (request: Request) => Promise<Response>,
  hostname: string,
  ports: readonly number[],
): Promise<RunningServer> {
  let problem: unknown;
  for (const port of ports)
    try {
      return await serve({ fetch, port, hostname });
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
      ? `${tried} taken on ${hostname}. Perhaps \`onward dev\` runs already; else choose another with --port, or any free one with --port 0.`
      : `Cannot listen on ${hostname}: ${problem instanceof Error ? problem.message : String(problem)}`,
    { cause: problem, details: { exitCode: exitCodeNamed('address_in_use') } },
  );
}

const codeOf = (error: unknown): unknown =>
  ((error as { cause?: { code?: unknown } } | null)?.cause ?? (error as { code?: unknown } | null))
    ?.code;
