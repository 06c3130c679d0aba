import { AgentError, invalidOption, positive } from '../../errors/agent-error.ts';
import type { ConnectionOptions, PusherApp, PusherLike } from './pusher-connection.ts';
import { requestBytes } from './pusher-frame.ts';

/** Address of the server and credentials to publish with. */
export interface PusherOptions {
  readonly appId?: string;
  readonly key?: string;
  readonly secret?: string;
  /** Host of Reverb, soketi or another Pusher-protocol server. */
  readonly host?: string;
  readonly port?: number;
  /** Whether to use TLS. Default true: a conversation must not be sent in the clear. */
  readonly useTLS?: boolean;
  /** Path before `/apps`, if the server has one (Reverb: REVERB_SERVER_PATH). */
  readonly path?: string;
  /** Cluster of hosted Pusher, instead of host, port and path. */
  readonly cluster?: string;
  /** Your own `Pusher` instead of all of these, for example with an agent for a proxy. */
  readonly client?: PusherLike;
  /** Maximum bytes of one request, headers included. Default 10,000, the limit of Reverb. */
  readonly maxRequestBytes?: number;
  /** Bytes of it that are reserved for headers that proxies add. Default 400. */
  readonly proxyBytes?: number;
  /** Maximum events of one request. Default 10, the limit of hosted Pusher; Reverb has no limit. */
  readonly batchSize?: number;
  /** Milliseconds for a request and its response. Default 8,000, less than a queue waits for a call. */
  readonly timeoutMs?: number;
}

export interface PusherSettings extends ConnectionOptions {
  readonly frameBytes: number;
  /** Bytes of a request without its events. */
  readonly fixedBytes: number;
  readonly batchSize: number;
}

/** Bytes that the smallest envelopes need. */
const MIN_FRAME = 1_000;
/** Assumed for a client that does not expose its app. */
const DEFAULT_FIXED_BYTES = 800;

export function checkedOptions(options: PusherOptions): PusherSettings {
  const { client, maxRequestBytes = 10_000, proxyBytes = 400 } = options;
  const { batchSize = 10, timeoutMs = 8_000 } = options;
  whole('maxRequestBytes', maxRequestBytes);
  whole('batchSize', batchSize);
  positive('pusherBroadcaster timeoutMs', timeoutMs);
  if (!Number.isInteger(proxyBytes) || proxyBytes < 0)
    throw invalidOption('pusherBroadcaster proxyBytes', proxyBytes, 'a whole number from 0');

  const { via, server, fixedBytes } = client
    ? { via: checkedClient(client), server: 'The Pusher server', fixedBytes: DEFAULT_FIXED_BYTES }
    : addressed(checkedApp(options), maxRequestBytes);
  const frameBytes = maxRequestBytes - fixedBytes - proxyBytes;
  if (frameBytes < MIN_FRAME)
    throw invalidOption(
      'pusherBroadcaster maxRequestBytes',
      maxRequestBytes,
      `at least ${MIN_FRAME + fixedBytes + proxyBytes}: the headers take ${fixedBytes} and proxies ${proxyBytes}`,
    );
  return { via, server, frameBytes, fixedBytes, batchSize, timeoutMs };
}

function addressed(
  app: PusherApp,
  maxRequestBytes: number,
): Pick<PusherSettings, 'via' | 'server' | 'fixedBytes'> {
  const authority = `${app.host}${app.port === undefined ? '' : `:${app.port}`}`;
  return {
    via: app,
    server: `http${app.useTLS ? 's' : ''}://${authority}`,
    fixedBytes: requestBytes({ ...app, authority }, maxRequestBytes),
  };
}

function checkedClient(client: PusherLike): PusherLike {
  if (typeof client.trigger === 'function' && typeof client.triggerBatch === 'function')
    return client;
  throw invalidOption('pusherBroadcaster client', client, 'a Pusher of the package pusher');
}

function checkedApp(options: PusherOptions): PusherApp {
  const { host, cluster, port, path = '', useTLS = true, secret } = options;
  if (typeof secret !== 'string' || secret.trim() === '')
    throw new AgentError(
      'invalid_option',
      'pusherBroadcaster secret is missing. Pass the secret of the app (Reverb: REVERB_APP_SECRET).',
    );
  if (typeof useTLS !== 'boolean')
    throw invalidOption('pusherBroadcaster useTLS', useTLS, 'true or false');
  if (port !== undefined && !(Number.isInteger(port) && port > 0 && port < 65_536))
    throw invalidOption('pusherBroadcaster port', port, 'a port number');
  if (!/^(?:\/[\w.~-]+)*$/.test(path))
    throw invalidOption('pusherBroadcaster path', path, 'a path such as /reverb, or none');
  return {
    appId: name('appId', options.appId),
    key: name('key', options.key),
    secret,
    host: cluster === undefined ? checkedHost(host) : `api-${name('cluster', cluster)}.pusher.com`,
    port,
    path,
    useTLS,
  };
}

/** The SDK inserts these into an address without escaping. */
function name(option: string, value: unknown): string {
  if (typeof value === 'string' && /^[\w.~@-]{1,200}$/.test(value)) return value;
  throw invalidOption(
    `pusherBroadcaster ${option}`,
    value,
    'up to 200 letters, digits and -._~@, as configured on the server',
  );
}

function checkedHost(host: unknown): string {
  if (typeof host === 'string' && host !== '') {
    const bare = host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
    if (/^[\w.:[\]-]+$/.test(bare) && URL.canParse(`http://${bare}`)) return bare;
  }
  throw invalidOption(
    'pusherBroadcaster host',
    host,
    'a host name such as ws.example.com without scheme, port and path, or { cluster } for hosted Pusher',
  );
}

function whole(option: string, value: number): void {
  if (!Number.isInteger(value) || value < 1)
    throw invalidOption(`pusherBroadcaster ${option}`, value, 'a whole number above 0');
}
