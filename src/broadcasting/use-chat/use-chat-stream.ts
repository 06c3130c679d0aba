import type { AgentEvent } from '../../events/agent-event.ts';
import { AgentError } from '../../errors/agent-error.ts';
import type { FeedWorker } from '../../sessions/feed/live-source.ts';
import type { UiMessageChunk } from './use-chat-chunk.ts';
import { UiMessageEncoder } from './use-chat-encoder.ts';

export interface UiMessageStreamOptions {
  /** Id of the assistant message. Default: derived from the id of the user message, so every read has the same id. */
  readonly messageId?: string;
  /** Whether the client gets the model's reasoning, as `reasoning` parts. Default: false. */
  readonly includeReasoning?: boolean;
  /** Called with the error of a source that fails; the client gets only a sentence. */
  readonly onError?: (error: unknown) => void;
}

/** Converts the events of one run to a UI message stream of the AI SDK. Leaving it leaves the source. */
export function uiMessageStream(
  events: AsyncIterable<AgentEvent>,
  options: UiMessageStreamOptions = {},
): ReadableStream<UiMessageChunk> {
  const chunks = chunksOf(numberless(events), { ...options, after: 0 });
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await chunks.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      await chunks.return();
    },
  });
}

async function* numberless(events: AsyncIterable<AgentEvent>): AsyncGenerator<FeedEvent> {
  for await (const event of events) yield { seq: null, event };
}

export interface FeedEvent {
  /** Number in the log; null for an event that is not logged. */
  readonly seq: number | null;
  readonly event: AgentEvent | FeedWorker;
}

/** Converts events to chunks. Events up to `after` are read but not sent: the client has them. */
export async function* chunksOf(
  feed: AsyncIterable<FeedEvent>,
  options: UiMessageStreamOptions & { readonly after: number },
): AsyncGenerator<UiMessageChunk, void, undefined> {
  const { after, messageId, includeReasoning, onError } = options;
  const encoder = new UiMessageEncoder(messageId, includeReasoning);
  let isSilent = after > 0;
  try {
    for await (const { seq, event } of feed) {
      if (event.type === 'worker') {
        if (!isSilent) yield* encoder.worker(event.isLost);
        continue;
      }
      const chunks = encoder.push(event);
      if (isSilent && seq !== null && seq <= after) continue;
      if (isSilent) yield* encoder.begin();
      isSilent = false;
      yield* chunks;
    }
    if (isSilent) yield* encoder.begin();
    yield* encoder.close();
  } catch (error) {
    onError?.(error);
    yield { type: 'error', errorText: clientText(error) };
  }
}

/** Returns a text for the client that says what to do. Server errors are not disclosed. */
export const clientText = (error: unknown): string =>
  AgentError.is(error, 'session_not_found')
    ? 'This chat no longer exists.'
    : 'The run can no longer be followed. Reload the chat.';

/** Headers that `useChat` expects of a streamed response. */
export const UI_MESSAGE_STREAM_HEADERS: Readonly<Record<string, string>> = Object.freeze({
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  'x-vercel-ai-ui-message-stream': 'v1',
  'x-accel-buffering': 'no',
});

export interface UiMessageResponseOptions extends ResponseInit {
  /** Milliseconds between comments on a silent stream, so that proxies keep the connection. Default 15,000. */
  readonly heartbeatMs?: number;
  /** Called once if the client leaves before the end. */
  readonly onLeave?: () => void;
}

/** Creates a response with a UI message stream as server-sent events, as `DefaultChatTransport` reads them. */
export function uiMessageResponse(
  chunks: AsyncIterable<UiMessageChunk>,
  options: UiMessageResponseOptions = {},
): Response {
  const { heartbeatMs = 15_000, onLeave, ...init } = options;
  const headers = new Headers(init.headers);
  for (const [name, value] of Object.entries(UI_MESSAGE_STREAM_HEADERS)) headers.set(name, value);
  const events = eventStream(chunks, { heartbeatMs, last: '[DONE]', ...(onLeave && { onLeave }) });
  return new Response(events, { ...init, headers });
}

export interface EventStreamOptions {
  readonly heartbeatMs: number;
  readonly onLeave?: () => void;
  /** Data of a last event; absent if nothing follows the values. */
  readonly last?: string;
}

/** Writes values as server-sent events, one each time the client pulls. */
export function eventStream(
  source: AsyncIterable<unknown>,
  { heartbeatMs, onLeave, last }: EventStreamOptions,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const chunks = source[Symbol.asyncIterator]();
  let beat: ReturnType<typeof setInterval> | undefined;
  let isQuiet = true;
  /** Whether the client pulls: then write a chunk directly. */
  let isAsked = false;
  return new ReadableStream(
    {
      start(controller) {
        beat = setInterval(() => {
          if (isQuiet && isAsked) controller.enqueue(encoder.encode(': still here\n\n'));
          isQuiet = true;
        }, heartbeatMs);
      },
      async pull(controller) {
        isAsked = true;
        const { done, value } = await chunks.next().catch((error: unknown) => {
          clearInterval(beat);
          throw error;
        });
        isAsked = false;
        isQuiet = false;
        const data = done ? last : JSON.stringify(value);
        if (data !== undefined) controller.enqueue(encoder.encode(`data: ${data}\n\n`));
        if (!done) return;
        clearInterval(beat);
        controller.close();
      },
      async cancel() {
        clearInterval(beat);
        onLeave?.();
        await chunks.return?.();
      },
    },
    { highWaterMark: 0 },
  );
}
