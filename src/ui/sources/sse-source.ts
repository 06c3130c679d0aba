import { parseJson } from '../../json.ts';
import type { LogPlace } from '../ui-state.ts';
import { backoff, sleep, type BackoffOptions } from './backoff.ts';
import { placeText, type EnvelopeSink, type EnvelopeSource } from './envelope-source.ts';
import { get, readsOf, shown, type ReadOptions } from './http-reads.ts';
import { isEnvelopeType, readEnvelope } from '../read-envelope.ts';
import { SourceError, toError } from './source-error.ts';
import { sseParser, type SseMessage } from './sse-parser.ts';

export interface SseSourceOptions extends ReadOptions {
  /** URL of the event stream of one session. */
  readonly url: string;
  /** Milliseconds without a byte, heartbeats included, after which the connection counts as lost. Default: 45,000. */
  readonly silenceMs?: number;
  readonly backoff?: BackoffOptions;
}

/** Event by which the server says that its log cannot fill the gap: read the conversation again. */
const resetEvent = 'onward.reset';

/**
 * Reads a session's server-sent events with `fetch`, so that headers can be sent. Reconnects after every loss at the
 * last known position, and stops permanently if access is refused.
 */
export function sseSource(options: SseSourceOptions): EnvelopeSource {
  return {
    key: `sse ${options.url}`,
    replays: true,
    open(sink, place) {
      const end = new AbortController();
      void stayConnected(options, sink, place, end.signal);
      return () => end.abort();
    },
    ...readsOf(options),
  };
}

async function stayConnected(
  options: SseSourceOptions,
  sink: EnvelopeSink,
  place: () => LogPlace | null,
  signal: AbortSignal,
): Promise<void> {
  let failures = 0;
  let retryMs: number | null = null;
  let lastId: string | null = null;
  let beganAt: number | null = null;
  sink.connection('connecting');
  const handlers: StreamHandlers = {
    began: () => {
      beganAt = performance.now();
      sink.connection('live');
    },
    message: (message) => {
      lastId = message.id ?? lastId;
      deliver(message, sink);
    },
    retry: (ms) => {
      retryMs = ms;
    },
  };
  while (!signal.aborted) {
    const from = place();
    let thrown: unknown = null;
    try {
      await readStream(options, from ? placeText(from) : lastId, handlers, signal);
    } catch (error) {
      thrown = error;
    }
    if (signal.aborted) return;
    const reason = reasonOf(options.url, thrown);
    // wait longer each time also for a server that accepts the connection and drops it
    failures = beganAt !== null && performance.now() - beganAt >= steadyMs ? 0 : failures + 1;
    beganAt = null;
    // the first loss is often short: report only a second failure
    const isLost = failures >= 2 || reason.isFinal;
    if (isLost || reason.code === 'unreadable') sink.failed(reason);
    sink.connection(isLost ? 'offline' : 'connecting');
    if (reason.isFinal) return;
    const first = retryMs === null ? {} : { minMs: retryMs };
    const wait = backoff(Math.max(0, failures - 1), { ...first, ...options.backoff });
    await sleep(Math.max(wait, reason.retryAfterMs), signal, 'online');
  }
}

/** Returns why the stream has ended; what was thrown may contain a URL with a token. */
function reasonOf(url: string, thrown: unknown): SourceError {
  if (SourceError.is(thrown)) return thrown;
  const [what, options] =
    thrown === null ? ['ended', {}] : ['was interrupted', { cause: toError(thrown) }];
  return new SourceError(
    'unreachable',
    `The stream of ${shown(url)} ${what}. Reconnecting.`,
    options,
  );
}

/** Whether a connection that lasted this long counts as good. */
const steadyMs = 5_000;

interface StreamHandlers {
  readonly began: () => void;
  readonly message: (message: SseMessage) => void;
  readonly retry: (ms: number) => void;
}

/** Reads until the stream ends, breaks or is silent. */
async function readStream(
  options: SseSourceOptions,
  after: string | null,
  handlers: StreamHandlers,
  signal: AbortSignal,
): Promise<void> {
  const { url, silenceMs = 45_000 } = options;
  const connection = new AbortController();
  const hangUp = (): void => connection.abort();
  signal.addEventListener('abort', hangUp);
  let timer = setTimeout(hangUp, silenceMs);
  try {
    const response = await get(
      url,
      options,
      { accept: 'text/event-stream', ...(after !== null && { 'last-event-id': after }) },
      connection.signal,
    );
    const type = response.headers.get('content-type') ?? 'no content type';
    if (!type.startsWith('text/event-stream') || !response.body)
      throw new SourceError(
        'unreadable',
        `GET ${shown(url)} answered ${type}, expected text/event-stream. Check that the URL is the event stream, and that no sign-in page or proxy answers instead.`,
      );
    handlers.began();
    const reader = response.body.getReader();
    const decoder = new TextDecoder();
    const parser = sseParser(handlers.message, handlers.retry);
    for (;;) {
      const { done, value } = await reader.read();
      if (done || signal.aborted) return;
      clearTimeout(timer);
      timer = setTimeout(hangUp, silenceMs);
      parser.feed(decoder.decode(value, { stream: true }));
    }
  } catch (thrown) {
    if (connection.signal.aborted && !signal.aborted)
      throw new SourceError(
        'unreachable',
        `${shown(url)} was silent for ${silenceMs} ms, heartbeats included. Reconnecting.`,
      );
    throw thrown;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', hangUp);
    connection.abort();
  }
}

function deliver({ event, data }: SseMessage, sink: EnvelopeSink): void {
  if (event === resetEvent) return sink.stale();
  // a newer server may send unknown events
  if (event !== 'message' && !isEnvelopeType(event)) return;
  const parsed = parseJson(data);
  const read = parsed.ok ? readEnvelope(parsed.value) : null;
  if (read) return sink.envelope(read.envelope);
  if (parsed.ok && event === 'message') return;
  sink.failed(
    new SourceError(
      'unreadable',
      `The event stream sent ${event} with ${parsed.ok ? 'something that is no envelope' : 'text that is not JSON'}. It was skipped; a refill brings it.`,
    ),
  );
}
