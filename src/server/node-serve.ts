import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { AgentError, invalidOption } from '../errors/agent-error.ts';
import { connectionsOf } from './node-connections.ts';
import { inUrl, isForUs, isLoopback, loopbackHosts } from './node-hosts.ts';
import { nodeListener, type FetchHandler, type NodeListenerOptions } from './node-listener.ts';
import { staticFiles } from './node-static.ts';

export interface ServeOptions extends NodeListenerOptions {
  readonly fetch: FetchHandler;
  /** 0 takes any free one. */
  readonly port: number;
  /** Default `127.0.0.1`: only this machine. On a loopback address, requests for other host names are refused. */
  readonly hostname?: string;
  /** A folder of a built web app; its files come before `fetch`. */
  readonly static?: string;
  /** Further `Host` headers of a loopback server, such as that of a proxy or a forwarded port: `localhost:8080`. */
  readonly allowedHosts?: readonly string[];
}

export interface RunningServer {
  /** Without a slash at the end. */
  readonly url: string;
  readonly port: number;
  /**
   * Takes no new requests, waits for the answers under way, at most `graceMs` (default 10 seconds), and then cuts them
   * off. Streams end when their side closes them: call `close()` of the `agentServer` first.
   */
  close(options?: { readonly graceMs?: number }): Promise<void>;
}

/**
 * A request must arrive within these, and an idle connection is kept; an answer may take as long as it likes. Idle
 * connections outlive those of common load balancers (60 seconds), so that no request meets a closing one.
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
  // keepAlive: a peer that vanished without a word is noticed
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

/** An address that listens for all is not one that can be opened. */
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
          'Stop that program (perhaps this server is already running), choose another port, or 0 for any free one.',
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
          'This server answers on its loopback address alone. Open the address it printed, or name this host in allowedHosts.',
      },
    },
    { status: 421 },
  );
