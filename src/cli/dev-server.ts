import { join } from 'node:path';
import { evalReportFolder } from '../evals/node.ts';
import type { SessionRuntime } from '../sessions/session-runtime.ts';
import { portsOf, startAppServer } from './app-server.ts';
import { consoleFiles, consoleFolder, hasConsole } from './console-files.ts';
import { bearerOf, checkedToken, storedToken, ownerByToken } from './dev-token.ts';
import { openProject, type Project, type ProjectOptions } from './project.ts';
import { usageError } from './usage-error.ts';

export interface DevServerOptions extends Omit<ProjectOptions, 'isDetached'> {
  /** Port; 0 selects any free one. Default: the config's, or 4111 and the ten after it. */
  readonly port?: number;
  /** Address to listen on. Default `127.0.0.1`. Any other than this machine requires a `token`. */
  readonly host?: string;
  /** Token. Default: the one in `.onward/token`. */
  readonly token?: string;
  /** Folder of the built console. Default: the one of this package. */
  readonly consoleDir?: string;
}

export interface DevServer {
  /** URL without the token and without a trailing slash. */
  readonly url: string;
  /** URL to open, with the token, which the page removes from the address. */
  readonly address: string;
  readonly token: string;
  readonly port: number;
  readonly runtime: SessionRuntime;
  readonly project: Project;
  readonly hasConsole: boolean;
  /** Ends the streams, finishes the running steps and releases their sessions. */
  close(options?: { readonly graceMs?: number }): Promise<void>;
}

/** Starts server, console and store in one process, and recovers unfinished sessions of an earlier one. */
export async function startDevServer(options: DevServerOptions): Promise<DevServer> {
  const { config, folder, host = '127.0.0.1', consoleDir = consoleFolder() } = options;
  if (!isLoopback(host) && options.token === undefined)
    throw usageError(
      `Other machines can reach the host ${host}. Set your own token with --token <secret> or ONWARD_TOKEN.`,
    );
  const token =
    options.token === undefined ? storedToken(folder) : checkedToken(options.token, '--token');
  const project = await openProject({ ...options, isShared: true });
  const { runtime, owner } = project;
  const ownerOf = ownerByToken({ ...config?.tokens, [token]: owner });
  const operatorOf = ownerByToken({ [token]: owner });
  const { server, api } = await startAppServer({
    project,
    config,
    owner: (request) => ownerOf(bearerOf(request)),
    // one user with a few tabs, on their own machine
    api: {
      rateLimit: { requests: 6_000, seconds: 60 },
      // the developer, and not users with a token of the config
      admin(request) {
        const by = operatorOf(bearerOf(request));
        return by === null ? null : { by };
      },
      evals: evalReportFolder(join(folder, '.onward', 'evals')),
    },
    files: consoleFiles(consoleDir),
    host,
    ports: portsOf(options.port ?? config?.port),
    command: 'onward dev',
  });
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
        // end streams first: they would keep the server open
        await api.close();
        await Promise.all([server.close({ graceMs }), project.close({ graceMs })]);
      })()),
  };
}

export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host);
