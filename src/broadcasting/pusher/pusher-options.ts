import { AgentError, invalidOption, positive } from '../../errors/agent-error.ts';
import type { ConnectionOptions, PusherApp, PusherLike } from './pusher-connection.ts';
import { requestBytes } from './pusher-frame.ts';

/** Where the server is, and as whom to publish. */
export interface PusherOptions {
  readonly appId?: string;
  readonly key?: string;
  readonly secret?: string;
  /** Of Reverb, soketi or another server that speaks the protocol. */
  readonly host?: string;
  readonly port?: number;
  /** Default true: what is said in a conversation is not sent in the open. */
  readonly useTLS?: boolean;
  /** Before `/apps`, where the server has one (Reverb: REVERB_SERVER_PATH). */
  readonly path?: string;
  /** Of hosted Pusher, in the place of host, port and path. */
  readonly cluster?: string;
  /** A `Pusher` of your own in the place of all of these, with an agent for a proxy. */
  readonly client?: PusherLike;
  /** What the server takes as one request, head and all. Default 10,000, as Reverb has it. */
  readonly maxRequestBytes?: number;
  /** Room in it for the headers that proxies before the server add. Default 400. */
  readonly proxyBytes?: number;
  /** Default 10, the most that hosted Pusher takes; Reverb takes any number. */
  readonly batchSize?: number;
  /** For a request and its answer. Default 8 seconds, less than a queue waits for a call. */
  readonly timeoutMs?: number;
}

export interface PusherSettings extends ConnectionOptions {
  readonly frameBytes: number;
  /** What a request takes beside its events. */
  readonly fixedBytes: number;
  readonly batchSize: number;
}

/** Less would not hold the smallest envelopes. */
const LEAST_FRAME = 1_000;
/** Of a client that does not show its app. */
const USUAL_REQUEST = 800;

export function checkedOptions(options: PusherOptions): PusherSettings {
  const { client, maxRequestBytes = 10_000, proxyBytes = 400 } = options;
  const { batchSize = 10, timeoutMs = 8_000 } = options;
  whole('maxRequestBytes', maxRequestBytes);
  whole('batchSize', batchSize);
  positive('pusherBroadcaster timeoutMs', timeoutMs);
  if (!Number.isInteger(proxyBytes) || proxyBytes < 0)
    throw invalidOption('pusherBroadcaster proxyBytes', proxyBytes, 'a whole number from 0');

  const { via, server, fixedBytes } = client
    ? { via: checkedClient(client), server: 'The Pusher server', fixedBytes: USUAL_REQUEST }
    : addressed(checkedApp(options), maxRequestBytes);
  const frameBytes = maxRequestBytes - fixedBytes - proxyBytes;
  if (frameBytes < LEAST_FRAME)
    throw invalidOption(
      'pusherBroadcaster maxRequestBytes',
      maxRequestBytes,
      `at least ${LEAST_FRAME + fixedBytes + proxyBytes}, for the head alone takes ${fixedBytes} and proxies ${proxyBytes}`,
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

/** The SDK puts these into an address as they are. */
function name(option: string, value: unknown): string {
  if (typeof value === 'string' && /^[\w.~@-]{1,200}$/.test(value)) return value;
  throw invalidOption(
    `pusherBroadcaster ${option}`,
    value,
    'up to 200 letters, digits and -._~@, as the server has it',
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
    'the name of the server, such as ws.example.com, without scheme, port and path; or { cluster } of hosted Pusher',
  );
}

function whole(option: string, value: number): void {
  if (!Number.isInteger(value) || value < 1)
    throw invalidOption(`pusherBroadcaster ${option}`, value, 'a whole number above 0');
}
