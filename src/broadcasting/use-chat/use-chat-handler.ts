import { invalidOption, positive, whole } from '../../errors/agent-error.ts';
import { feedsOf } from '../../sessions/feed/feeds-of.ts';
import type { SessionRuntime } from '../../sessions/session-runtime.ts';
import { checkedOrigins, isCrossSite } from '../cross-site.ts';
import type { OwnerHook } from '../sse/sse-request.ts';
import { askRuntime, type Asked } from './use-chat-ask.ts';
import { ChatRefusal, errorResponse, refusalOf } from './use-chat-errors.ts';
import { runEvents } from './use-chat-feed.ts';
import { readChatInput, readChatRequest } from './use-chat-request.ts';
import { badChatId, sessionFor } from './use-chat-session.ts';
import { chunksOf, uiMessageResponse } from './use-chat-stream.ts';

export interface ChatHandlerOptions {
  readonly runtime: SessionRuntime;
  /** Returns the owner of the sessions; null for a client that is not signed in (401), or your own response. */
  readonly owner: OwnerHook;
  /** Other origins that may send POST requests, such as `https://app.example.com`. Default: none. */
  readonly origins?: readonly string[];
  /** Agent of a new chat. Required if the runtime has several agents. */
  readonly agent?: string | ((request: Request) => MaybePromise<string>);
  /** Whether the first message of an unknown chat id creates a session with this id. Default true. */
  readonly createChats?: boolean;
  /** Maximum bytes of a request. Default 4,000,000, because the client sends the whole conversation by default. */
  readonly maxBodyBytes?: number;
  /** Decides which file URLs the model gets. Default: none, only files inside the message. */
  readonly allowFileUrl?: (url: URL) => boolean;
  /** Whether clients get the model's reasoning, as `reasoning` parts. Default: false. */
  readonly includeReasoning?: boolean;
  /** Whether a disconnect ends the run, for example `stop()` of the hook or a closed tab. Default false. */
  readonly stopOnAbort?: boolean;
  /** Milliseconds after its end in which a run is still sent to a client that reconnects. Default 60,000. */
  readonly replayFinishedMs?: number;
  /** Milliseconds between polls of the store while no event arrives. Default 500. */
  readonly pollMs?: number;
  /** Milliseconds between heartbeats. Default 15,000. */
  readonly heartbeatMs?: number;
  /** Called with errors of the server; the client gets only a sentence. */
  readonly onError?: (error: unknown) => void;
}

type MaybePromise<T> = T | Promise<T>;

/**
 * Creates the endpoint of `useChat` as a Fetch handler: POST takes a message or answers to approvals, POST
 * `…/{id}/inputs` answers to questions of tools, GET `…/{id}/stream` follows the run again, POST `…/{id}/stop` ends it.
 */
export function chatHandler(options: ChatHandlerOptions): (request: Request) => Promise<Response> {
  const handler = new ChatHandler(options);
  return (request) => handler.handle(request);
}

class ChatHandler {
  readonly #options: ChatHandlerOptions;
  readonly #pollMs: number;
  readonly #maxBodyBytes: number;
  readonly #origins: ReadonlySet<string>;

  constructor(options: ChatHandlerOptions) {
    const { owner, pollMs = 500, maxBodyBytes = 4_000_000, origins = [] } = options;
    if (typeof owner !== 'function')
      throw invalidOption(
        'chatHandler owner',
        owner,
        'a function that returns the owner of a request',
      );
    this.#options = options;
    this.#origins = checkedOrigins('chatHandler origins', origins);
    this.#pollMs = positive('chatHandler pollMs', pollMs);
    this.#maxBodyBytes = whole('chatHandler maxBodyBytes', maxBodyBytes);
  }

  async handle(request: Request): Promise<Response> {
    try {
      if (request.method !== 'GET' && isCrossSite(request, this.#origins)) throw crossSite();
      const owner = await this.#options.owner(request);
      if (owner instanceof Response) return owner;
      if (!owner) throw new ChatRefusal('unauthorized', 'Sign in to chat.');
      return await this.#route(request, owner);
    } catch (error) {
      const { refusal, isBug } = refusalOf(error);
      if (isBug) this.#options.onError?.(error);
      return errorResponse(refusal);
    }
  }

  #route(request: Request, owner: string): Promise<Response> {
    const path = new URL(request.url).pathname;
    const [, name, verb] = /\/([^/]+)\/(stream|stop|inputs)\/?$/.exec(path) ?? [];
    if (request.method === 'GET' && name && verb === 'stream')
      return this.#resume(chatIdOf(name), owner);
    if (request.method === 'POST') {
      if (name && verb === 'stop') return this.#stop(chatIdOf(name), owner);
      if (name && verb === 'inputs') return this.#answer(request, chatIdOf(name), owner);
      return this.#post(request, owner);
    }
    throw new ChatRefusal('method_not_allowed', 'A chat accepts POST, and GET …/{id}/stream.');
  }

  async #post(request: Request, owner: string): Promise<Response> {
    const { runtime, stopOnAbort, allowFileUrl, createChats = true, agent } = this.#options;
    const { chatId, ask } = await readChatRequest(request, {
      maxBodyBytes: this.#maxBodyBytes,
      ...(allowFileUrl && { allowFileUrl }),
    });
    const session = await sessionFor(runtime, {
      chatId,
      owner,
      mayCreate: createChats && ask.kind === 'message',
      agent: () => (typeof agent === 'function' ? agent(request) : agent),
    });
    // from now on the run is streamed, even if it starts later
    const unlisten = feedsOf(runtime).live.listen(chatId, () => {});
    try {
      const asked = await askRuntime(runtime, session, ask);
      return this.#respond(chatId, owner, asked, () => {
        if (stopOnAbort) this.#stopLeft(chatId, owner);
      });
    } finally {
      unlisten();
    }
  }

  /** Follows a run that is busy, paused or has just ended, from its beginning: the client replaces its message. */
  async #resume(chatId: string, owner: string): Promise<Response> {
    const { runtime, replayFinishedMs = 60_000 } = this.#options;
    const { status, executionId, updatedAt } = await runtime.get(chatId, { owner });
    const isOpen = status === 'in_progress' || status === 'paused';
    const isFresh = Date.now() - Date.parse(updatedAt) < replayFinishedMs;
    if (executionId === null || !(isOpen || isFresh)) return new Response(null, { status: 204 });
    return this.#respond(chatId, owner, { executionId, after: 0 });
  }

  async #stop(chatId: string, owner: string): Promise<Response> {
    await this.#options.runtime.stop(chatId, { owner, reason: 'the user stopped the chat' });
    return new Response(null, { status: 204 });
  }

  /** Takes the answer to a question of a tool. The client then follows the run with `resumeStream`. */
  async #answer(request: Request, chatId: string, owner: string): Promise<Response> {
    const { inputId, ...given } = await readChatInput(request, this.#maxBodyBytes);
    await this.#options.runtime.answer(chatId, inputId, { owner, ...given });
    return new Response(null, { status: 204 });
  }

  #stopLeft(chatId: string, owner: string): void {
    const { runtime, onError } = this.#options;
    runtime
      .stop(chatId, { owner, reason: 'the user stopped the chat' })
      .catch((error: unknown) => onError?.(error));
  }

  #respond(
    sessionId: string,
    owner: string,
    { executionId, after }: Asked,
    onLeave: () => void = () => {},
  ): Response {
    const { runtime, onError, heartbeatMs, includeReasoning = false } = this.#options;
    const leaving = new AbortController();
    const { signal } = leaving;
    const pollMs = this.#pollMs;
    const events = runEvents(runtime, { sessionId, owner, executionId, after, pollMs, signal });
    const chunks = chunksOf(events, { after, includeReasoning, ...(onError && { onError }) });
    return uiMessageResponse(chunks, {
      ...(heartbeatMs !== undefined && { heartbeatMs }),
      onLeave: () => {
        leaving.abort();
        onLeave();
      },
    });
  }
}

const crossSite = (): ChatRefusal =>
  new ChatRefusal(
    'cross_site',
    'Requests from other origins are refused. To allow an origin, add it to the origins option.',
  );

function chatIdOf(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw badChatId();
  }
}
