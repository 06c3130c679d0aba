import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { AgentError, invalidOption } from '../errors/agent-error.ts';
import { connectionsOf } from './node-connections.ts';
import { inUrl, isForUs, isLoopback, loopbackHosts } from './node-hosts.ts';
import { nodeListener, type FetchHandler, type NodeListenerOptions } from './node-listener.ts';
import { staticFiles } from './node-static.ts';

export interface ServeOptions extends NodeListenerOptions {
  readonly fetch: FetchHandler;
  /** Port; 0 selects any free one. */
  readonly port: number;
  /**
   * Address to listen on. Default `127.0.0.1`: only this machine. A loopback address refuses requests for other host
   * names.
   */
  readonly hostname?: string;
  /** Folder of a built web app. Its files take precedence over `fetch`. */
  readonly static?: string;
  /** Additional `Host` headers of a loopback server, such as that of a proxy or a forwarded port: `localhost:8080`. */
  readonly allowedHosts?: readonly string[];
}

export interface RunningServer {
  /** URL of the server, without a trailing slash. */
  readonly url: string;
  readonly port: number;
  /**
   * Accepts no new requests, waits for responses in progress for at most `graceMs` (default 10 seconds), and then
   * closes their connections. Streams end when the handler closes them: call `close()` of the `agentServer` first.
   */
  close(options?: { readonly graceMs?: number }): Promise<void>;
}

/**
 * Limits on receiving a request and on idle connections; a response may take any time. Idle connections outlive those
 * of common load balancers (60 seconds), so that no request meets a closing one.
 */
const timeouts = { headersTimeout: 30_000, requestTimeout: 120_000, keepAliveTimeout: 72_000 };

/** Serves a Fetch handler with `node:http`. Rejects if it cannot listen. */
export async function serve(options: ServeOptions): Promise<RunningServer> {
  const { hostname = '127.0.0.1', port: wanted } = options;
  if (!Number.isInteger(wanted) || wanted < 0 || wanted > 65_535)
    throw invalidOption('port', wanted, 'a whole number from 0 to 65535');
  const files = options.static === undefined ? null : staticFiles(options.static);
  let hosts: ReadonlySet<string> | null = null;

  const answer: FetchHandler = async (request) => {
    if (hosts && !isForUs(request, hosts)) return misdirected();
    return (await files?.(request)) ?? options.fetch(request);
  };
  const listener = nodeListener(answer, options);
  // keepAlive detects a peer that disappeared
  const server = createServer({ ...timeouts, keepAlive: true }, (req, res) => {
    connections.begin(req, res);
    listener(req, res);
  });
  const connections = connectionsOf(server);
  const port = await listen(server, wanted, hostname);
  if (isLoopback(hostname)) hosts = loopbackHosts(hostname, port, options.allowedHosts ?? []);
  return {
    url: `http://${inUrl(reachable(hostname))}:${port}`,
    port,
    close: ({ graceMs = 10_000 } = {}) => connections.close(graceMs),
  };
}

/** Returns an address that a browser can open: one that listens on all interfaces cannot be. */
const reachable = (hostname: string): string => {
  if (hostname === '0.0.0.0') return '127.0.0.1';
  return hostname === '::' ? '::1' : hostname;
};

function listen(server: Server, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const refuse = (error: NodeJS.ErrnoException): void => reject(cannotListen(error, port, host));
    server.once('error', refuse);
    server.listen({ port, host }, () => {
      server.off('error', refuse);
      resolve((server.address() as AddressInfo).port);
    });
  });
}

function cannotListen(error: NodeJS.ErrnoException, port: number, host: string): AgentError {
  const problem = (option: string, message: string): AgentError =>
    new AgentError('invalid_option', message, { cause: error, details: { option, port, host } });
  switch (error.code) {
    case 'EADDRINUSE':
      return problem(
        'port',
        `port got ${port}, which another program uses, expected a free one. ` +
          'Stop that program (this server may already run), choose another port, or use 0 for any free one.',
      );
    case 'EACCES':
      return problem(
        'port',
        `port got ${port}, which this user may not open, expected one above 1023.`,
      );
    default:
      return problem(
        'hostname',
        `hostname got ${JSON.stringify(host)}, expected an address of this machine, such as 127.0.0.1 or 0.0.0.0: ${error.code ?? 'unknown error'}.`,
      );
  }
}

const misdirected = (): Response =>
  Response.json(
    {
      error: {
        code: 'misdirected_request',
        message:
          'This server answers only on its loopback address. Open the address that it printed, or add this host to allowedHosts.',
      },
    },
    { status: 421 },
  );
