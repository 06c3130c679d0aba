import type { OwnerHook } from '../broadcasting/sse/sse-request.ts';
import { DEFAULT_PORT, startAppServer } from './app-server.ts';
import type { OnwardConfig } from './config.ts';
import { consoleFiles, consoleFolder, hasConsole } from './console-files.ts';
import { bearerOf, checkedToken, ownerByToken } from './dev-token.ts';
import { healthOf } from './health.ts';
import { openProject, type Project, type ProjectOptions } from './project.ts';
import { usageError } from './usage-error.ts';

export interface ProductionServerOptions extends ProjectOptions {
  readonly config: OnwardConfig;
  /** Port; 0 selects any free one. Default: the config's, or 4111. */
  readonly port?: number;
  readonly host: string;
  /** Folder of the built console. Default: the one of this package. */
  readonly consoleDir?: string;
}

export interface ProductionServer {
  readonly url: string;
  readonly port: number;
  readonly project: Project;
  /**
   * Becomes unready and serves on for `delayMs` (default 0), in which a proxy can notice. Then it ends the streams, drains
   * the work within the grace, and stops listening.
   */
  close(options: { readonly graceMs: number; readonly delayMs?: number }): Promise<void>;
}

/** Milliseconds that responses in progress have at least. */
const LEAST_CLOSE_MS = 1_000;

/** Starts the API for the users of the config; with `isDetached` it leaves the work to other processes. */
export async function startProductionServer(
  options: ProductionServerOptions,
): Promise<ProductionServer> {
  const { config, host, consoleDir = consoleFolder() } = options;
  const owner = ownerHookOf(config);
  if (config.console && !hasConsole(consoleDir))
    throw usageError(
      `The config has console: true, and there is no console in ${consoleDir}. Reinstall onward, or build it with: npm run build`,
    );
  const project = await openProject({ ...options, isShared: true, isProduction: true });
  const health = healthOf(project.store);
  /** Whether requests are refused. */
  let isClosing = false;
  const { server, api } = await startAppServer({
    project,
    config,
    owner,
    ...(config.server && { api: config.server }),
    files: config.console ? consoleFiles(consoleDir) : null,
    host,
    ports: [options.port ?? config.port ?? DEFAULT_PORT],
    first: (request) => health.answer(request) ?? (isClosing ? Promise.resolve(draining()) : null),
    command: 'onward serve',
  });
  if (!options.isDetached) project.runtime.start();
  return {
    url: server.url,
    port: server.port,
    project,
    async close({ graceMs, delayMs = 0 }) {
      health.drain();
      if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs));
      isClosing = true;
      const endsAt = performance.now() + graceMs;
      // readers reconnect, and a load balancer sends them to another process
      await api.close();
      await project.runtime.close({ graceMs });
      await server.close({ graceMs: Math.max(LEAST_CLOSE_MS, endsAt - performance.now()) });
      await project.close();
    },
  };
}

/** Who may use the API is never a default. */
function ownerHookOf({ auth, tokens = {} }: OnwardConfig): OwnerHook {
  for (const token of Object.keys(tokens)) checkedToken(token, 'the config');
  const hasTokens = Object.keys(tokens).length > 0;
  if (!auth && !hasTokens)
    throw usageError(
      'onward serve has no users: the config has neither auth nor tokens. Add auth: (request) => ..., which returns the ' +
        'owner of a request or null, or tokens: { [token]: owner }. On your own machine use `onward dev`, which prints a token.',
    );
  const ownerOf = ownerByToken(tokens);
  return (request) => ownerOf(bearerOf(request)) ?? auth?.(request) ?? null;
}

const draining = (): Response =>
  Response.json(
    {
      error: { code: 'draining', message: 'The process is shutting down. Send the request again.' },
    },
    { status: 503, headers: { 'retry-after': '1', connection: 'close' } },
  );
