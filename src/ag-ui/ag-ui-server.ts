import { askRuntime, type Asked } from '../broadcasting/use-chat/use-chat-ask.ts';
import {
  chatNotFound,
  ChatRefusal,
  errorResponse,
  refusalOf,
  type ChatErrorCode,
} from '../broadcasting/use-chat/use-chat-errors.ts';
import { runEvents } from '../broadcasting/use-chat/use-chat-feed.ts';
import { sessionFor } from '../broadcasting/use-chat/use-chat-session.ts';
import { clientText, eventStream } from '../broadcasting/use-chat/use-chat-stream.ts';
import { invalidOption, positive, whole } from '../errors/agent-error.ts';
import { logMessage } from '../errors/log-text.ts';
import { checkedOwner } from '../sessions/check-names.ts';
import { feedsOf } from '../sessions/feed/feeds-of.ts';
import type { SessionRuntime } from '../sessions/session-runtime.ts';
import type { Session } from '../sessions/session.ts';
import type { AgUiEvent } from './ag-ui-event.ts';
import { giveResume } from './interrupts.ts';
import { snapshotOf } from './messages-snapshot.ts';
import { OwnerRuns } from './owner-runs.ts';
import { restFacts } from './rest-facts.ts';
import { RunEvents } from './run-events.ts';
import { readRunInput, type RunAsk, type RunInput } from './run-input.ts';

export interface AgUiServerOptions {
  readonly runtime: SessionRuntime;
  /**
   * Agent of a new thread. Default: the agent that the request names with `?agent=`, or the only one of the runtime. With
   * this option, requests name no other.
   */
  readonly agent?: string;
  /** Whether the first message of an unknown thread creates a session with this id. Default true. */
  readonly createThreads?: boolean;
  /** Maximum bytes of a request. Default 4,000,000, because clients send the whole conversation each time. */
  readonly maxBodyBytes?: number;
  /** Decides which file URLs the model gets. Default: none, only files inside the message. */
  readonly allowFileUrl?: (url: URL) => boolean;
  /** Whether clients get the model's reasoning. Default: false. */
  readonly includeReasoning?: boolean;
  /** Whether a client that leaves ends the run, for example with `abortRun()` or a closed tab. Default false. */
  readonly stopOnAbort?: boolean;
  /** Milliseconds between polls of the store while no event arrives. Default 500. */
  readonly pollMs?: number;
  /** Milliseconds between comments on a silent stream. Default 15,000. */
  readonly heartbeatMs?: number;
  /** Most runs that one owner has open at a time; more are refused with 429. Default 20. */
  readonly maxStreams?: number;
  /** Called with unexpected errors; the client learns nothing about them. Default: console.error, redacted. */
  readonly onError?: (error: unknown) => void;
}

/** A runtime as an agent of AG-UI clients. */
export interface AgUiServer {
  /** Answers one run of a client for its owner, whom you have authenticated. */
  fetch(request: Request, options: { readonly owner: string }): Promise<Response>;
}

/** Most messages of a snapshot. */
const SNAPSHOT_MESSAGES = 200;

/** Serves the sessions of a runtime to AG-UI clients: a thread is a session, and each run is streamed as events. */
export function agUiServer(options: AgUiServerOptions): AgUiServer {
  const { runtime, onError = logError } = options;
  if (typeof runtime?.send !== 'function')
    throw invalidOption('agUiServer runtime', runtime, 'a SessionRuntime');
  const server = new ThreadServer(options, onError);
  return {
    async fetch(request, { owner }) {
      checkedOwner(owner);
      try {
        return await server.run(request, owner);
      } catch (error) {
        const { refusal, isBug } = refusalOf(error);
        if (isBug) onError(error);
        return refused(refusal);
      }
    },
  };
}

class ThreadServer {
  readonly #options: AgUiServerOptions;
  readonly #onError: (error: unknown) => void;
  readonly #pollMs: number;
  readonly #heartbeatMs: number;
  readonly #maxBodyBytes: number;
  readonly #maxStreams: number;
  readonly #runs: OwnerRuns;

  constructor(options: AgUiServerOptions, onError: (error: unknown) => void) {
    this.#options = options;
    this.#onError = onError;
    this.#pollMs = positive('agUiServer pollMs', options.pollMs ?? 500);
    this.#heartbeatMs = positive('agUiServer heartbeatMs', options.heartbeatMs ?? 15_000);
    this.#maxBodyBytes = whole('agUiServer maxBodyBytes', options.maxBodyBytes ?? 4_000_000);
    this.#maxStreams = whole('agUiServer maxStreams', options.maxStreams ?? 20);
    this.#runs = new OwnerRuns(this.#maxStreams);
  }

  async run(request: Request, owner: string): Promise<Response> {
    if (request.method !== 'POST')
      throw new ChatRefusal('method_not_allowed', 'A run of an AG-UI client is a POST.');
    const { allowFileUrl } = this.#options;
    const input = await readRunInput(request, {
      maxBodyBytes: this.#maxBodyBytes,
      ...(allowFileUrl && { allowFileUrl }),
    });
    const release = this.#runs.open(owner);
    if (!release) return tooManyRuns(this.#maxStreams);
    try {
      return await this.#start(request, owner, input, release);
    } catch (error) {
      release();
      throw error;
    }
  }

  async #start(
    request: Request,
    owner: string,
    input: RunInput,
    release: () => void,
  ): Promise<Response> {
    const { runtime, createThreads = true } = this.#options;
    const { threadId, ask } = input;
    const agent = this.#agentOf(request);
    const session = await sessionFor(runtime, {
      chatId: threadId,
      owner,
      mayCreate: createThreads && ask.kind === 'message',
      agent: () => agent ?? this.#onlyAgent(),
    });
    if (agent !== undefined && session.agent !== agent) throw chatNotFound();
    // from now on the run is streamed, even if it starts later
    const unlisten = feedsOf(runtime).live.listen(threadId, () => {});
    try {
      const asked = await this.#ask(session, ask);
      return this.#respond(session, input, asked, release);
    } finally {
      unlisten();
    }
  }

  #agentOf(request: Request): string | undefined {
    const named = new URL(request.url).searchParams.get('agent') ?? undefined;
    const { agent } = this.#options;
    if (agent !== undefined && named !== undefined && named !== agent) throw chatNotFound();
    return agent ?? named;
  }

  #onlyAgent(): undefined {
    if (this.#options.runtime.agents.length === 1) return undefined;
    throw new ChatRefusal('invalid_request', 'There are several agents. Name one with ?agent=.');
  }

  /** Returns the execution to follow; null if the thread is only shown. */
  async #ask(session: Session, ask: RunAsk): Promise<Asked | null> {
    const { runtime } = this.#options;
    if (ask.kind === 'resume') return giveResume(runtime, session, ask);
    if (ask.kind === 'message')
      return askRuntime(runtime, session, { ...ask, isNamed: false, isAgain: false });
    const { executionId, status } = session;
    const isOpen = status === 'in_progress' || status === 'paused';
    return executionId !== null && isOpen ? { executionId, after: 0 } : null;
  }

  #respond(session: Session, input: RunInput, asked: Asked | null, release: () => void): Response {
    const { id, owner } = session;
    const { runtime, stopOnAbort = false } = this.#options;
    const leaving = new AbortController();
    const headers = {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store, no-transform',
      'x-accel-buffering': 'no',
    };
    const onLeave = (): void => {
      leaving.abort();
      release();
      if (!stopOnAbort) return;
      runtime
        .stop(id, { owner, reason: 'the user stopped the run' })
        .catch((error: unknown) => this.#onError(error));
    };
    const events = this.#released(this.#events(session, input, asked, leaving.signal), release);
    const body = eventStream(events, { heartbeatMs: this.#heartbeatMs, onLeave });
    return new Response(body, { headers });
  }

  /** Counts the run as open until its last event. */
  async *#released(
    events: AsyncGenerator<AgUiEvent>,
    release: () => void,
  ): AsyncGenerator<AgUiEvent> {
    try {
      yield* events;
    } finally {
      release();
    }
  }

  async *#events(
    session: Session,
    { threadId, runId, state, ask }: RunInput,
    asked: Asked | null,
    signal: AbortSignal,
  ): AsyncGenerator<AgUiEvent> {
    const { runtime, includeReasoning = false } = this.#options;
    const executionId = asked?.executionId ?? '';
    const after = asked?.after ?? 0;
    const { owner } = session;
    const rest = asked ? {} : { rest: restFacts(session) };
    const run = new RunEvents({ threadId, runId, executionId, state, includeReasoning, ...rest });
    yield* run.begin();
    try {
      if (ask.kind === 'attach') {
        // clients keep the places of messages that they know, and these have ids of the client
        yield { type: 'MESSAGES_SNAPSHOT', messages: [] };
        yield await this.#snapshot(threadId, owner, asked !== null);
      }
      if (asked) {
        const pollMs = this.#pollMs;
        const followed = { sessionId: threadId, owner, executionId, after, pollMs, signal };
        let isSilent = after > 0;
        for await (const { seq, event } of runEvents(runtime, followed)) {
          if (isSilent && event.type !== 'worker' && seq !== null && seq > after) {
            isSilent = false;
            run.renew();
          }
          const events = run.push(event);
          if (!isSilent) yield* events;
        }
      }
      yield* run.close();
    } catch (error) {
      this.#onError(error);
      yield* run.fail(clientText(error));
    }
  }

  /** The conversation up to where the events of the open execution continue. */
  async #snapshot(threadId: string, owner: string, isOpen: boolean): Promise<AgUiEvent> {
    const { runtime, includeReasoning = false } = this.#options;
    const { items } = await runtime.messages(threadId, { owner, limit: SNAPSHOT_MESSAGES });
    const isQuestion = ({ role, metadata }: (typeof items)[number]): boolean =>
      role === 'user' && metadata['synthetic'] !== true;
    const shown = isOpen ? items.slice(0, items.findLastIndex(isQuestion) + 1) : items;
    return { type: 'MESSAGES_SNAPSHOT', messages: snapshotOf(shown, includeReasoning) };
  }
}

/** Codes of a chat that have another name in every other route. */
const codes: Readonly<Partial<Record<ChatErrorCode, string>>> = {
  chat_not_found: 'session_not_found',
  approval_mismatch: 'stale_approval',
  overloaded: 'runtime_closed',
};

function refused(refusal: ChatRefusal): Response {
  const { status, headers } = errorResponse(refusal);
  const { code, message } = refusal;
  return Response.json({ error: { code: codes[code] ?? code, message } }, { status, headers });
}

const tooManyRuns = (most: number): Response =>
  Response.json(
    {
      error: {
        code: 'too_many_streams',
        message: `You already have ${most} open runs. Close one of them first.`,
      },
    },
    { status: 429, headers: { 'cache-control': 'no-store', 'retry-after': '5' } },
  );

const logError = (error: unknown): void => console.error(`agUiServer: ${logMessage(error)}`);
