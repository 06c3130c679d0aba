import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createParser } from 'eventsource-parser';
import type { SessionRuntime } from 'onward';
import {
  sseEndpoint,
  sseHub,
  type BroadcastConfig,
  type Envelope,
  type SseEndpoint,
  type SseHubOptions,
} from 'onward/broadcasting';
import { onTestFinished } from 'vitest';

/** One message as a browser emits it. */
export interface SseEvent {
  readonly id: string | null;
  readonly event: string;
  readonly data: unknown;
}

/** A client: the events it received and its position. */
export class SseClient {
  readonly events: SseEvent[] = [];
  text = '';
  retryMs: number | null = null;
  isEnded = false;
  /** Number of ended runs that it has received. */
  ends = 0;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #parser = createParser({
    onEvent: ({ id, event = 'message', data }) => {
      const parsed = JSON.parse(data) as Envelope;
      this.events.push({ id: id ?? null, event, data: parsed });
      if (isEnd(parsed)) this.ends += 1;
    },
    onRetry: (ms) => (this.retryMs = ms),
  });
  readonly #decoder = new TextDecoder();

  constructor(body: ReadableStream<Uint8Array>) {
    this.#reader = body.getReader();
  }

  /** Reads one chunk. False at the end. */
  async read(): Promise<boolean> {
    const { done, value } = await this.#reader.read();
    if (done) {
      this.isEnded = true;
      return false;
    }
    const text = this.#decoder.decode(value, { stream: true });
    this.text += text;
    this.#parser.feed(text);
    return true;
  }

  /** Reads until the condition holds or the stream ends. */
  async until(look: () => boolean): Promise<this> {
    while (!look() && (await this.read()));
    return this;
  }

  /** Keeps reading in the background. */
  follow(): this {
    void this.until(() => false).catch(() => {});
    return this;
  }

  leave(): Promise<void> {
    return this.#reader.cancel();
  }

  get envelopes(): Envelope[] {
    return this.events
      .filter(({ event }) => event.startsWith('agent.'))
      .map(({ data }) => data as Envelope);
  }
  get numbered(): Envelope[] {
    return this.envelopes.filter(({ seq }) => seq !== null);
  }
  get lastId(): string | null {
    return this.events.findLast(({ id }) => id !== null)?.id ?? null;
  }
}

export const isEnd = (envelope: Envelope): boolean =>
  envelope.type === 'agent.status' && envelope.payload.status !== 'processing';

export interface Ask {
  readonly user?: string;
  readonly lastEventId?: string | null;
  readonly query?: string;
  readonly signal?: AbortSignal;
}

export function request(sessionId: string, ask: Ask = {}): Request {
  const { user = 'ann', lastEventId, query = '', signal } = ask;
  return new Request(`http://localhost/sessions/${sessionId}/live${query}`, {
    headers: { 'x-user': user, ...(lastEventId && { 'last-event-id': lastEventId }) },
    ...(signal && { signal }),
  });
}

/** Calls an endpoint in this process, without a socket. */
export async function connect(
  endpoint: SseEndpoint,
  sessionId: string,
  ask: Ask = {},
): Promise<SseClient> {
  const response = await endpoint(request(sessionId, ask), sessionId);
  if (!response.body || response.status !== 200) throw new Error(`answered ${response.status}`);
  return new SseClient(response.body);
}

/** An endpoint with its own hub, fed by the runtime. Users identify themselves in a header. */
export function liveOn(
  runtime: SessionRuntime,
  options: SseHubOptions & {
    readonly config?: BroadcastConfig;
    readonly pageSize?: number;
  } = {},
): SseEndpoint {
  const { config, pageSize, ...hubOptions } = options;
  const hub = sseHub({ random: () => 0.5, ...hubOptions });
  const endpoint = sseEndpoint({
    runtime,
    hub,
    owner: ({ headers }) => headers.get('x-user'),
    ...(config && { config }),
    ...(pageSize && { pageSize }),
  });
  onTestFinished(() => endpoint.close());
  return endpoint;
}

type FetchHandler = (request: Request) => Promise<Response>;

/** A Node adapter: passes on one request and its response with backpressure and disconnects. */
async function bridge(
  handler: FetchHandler,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const gone = new AbortController();
  outgoing.on('close', () => gone.abort());
  const headers = new Headers();
  for (const [name, value] of Object.entries(incoming.headers)) headers.set(name, String(value));
  const { method = 'GET', url = '/' } = incoming;
  const asked = new Request(`http://localhost${url}`, { method, headers, signal: gone.signal });
  const response = await handler(asked);
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  outgoing.flushHeaders();
  if (response.body)
    for await (const piece of response.body) {
      if (gone.signal.aborted) break;
      if (!outgoing.write(piece) && !gone.signal.aborted)
        await new Promise<void>((resolve) => {
          const go = (): void => {
            outgoing.off('drain', go).off('close', go);
            resolve();
          };
          outgoing.on('drain', go).on('close', go);
        });
    }
  outgoing.end();
}

export interface FetchServer {
  readonly url: string;
  readonly server: Server;
}

/** A real local server, closed when the test ends. */
export async function serveFetch(handler: FetchHandler): Promise<FetchServer> {
  const server = createServer((incoming, outgoing) => {
    bridge(handler, incoming, outgoing).catch(() => outgoing.destroy());
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(
    () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  );
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, server };
}
