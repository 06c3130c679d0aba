import type {
  FollowedEvent,
  FollowOptions,
  InferenceDriver,
  LogPosition,
  SessionRuntime,
} from 'onward';
import { onTestFinished } from 'vitest';
import type { FeedReader } from '../../src/sessions/feed/feed-reader.ts';
import type { FeedSink } from '../../src/sessions/feed/feed-sink.ts';
import { followSession } from '../../src/sessions/feed/follow-session.ts';
import type { LiveStreamed } from '../../src/sessions/feed/live-source.ts';
import { feedsOf } from '../../src/sessions/feed/feeds-of.ts';
import { systemClock } from '../../src/clock.ts';
import { ann, until, type Gate } from './sessions.ts';

/** A reader of `follow` that takes everything, and what it has seen. */
export interface Follower {
  readonly seen: FollowedEvent[];
  /** Where it would continue. */
  readonly position: LogPosition | undefined;
  /** Resolves when the feed has ended. */
  readonly ended: Promise<void>;
  leave(): void;
}

export function followerOf(
  runtime: SessionRuntime,
  sessionId: string,
  options: Partial<FollowOptions> & { readonly paceMs?: () => number } = {},
): Follower {
  const { paceMs, ...more } = options;
  const leaving = new AbortController();
  const seen: FollowedEvent[] = [];
  const read = async (): Promise<void> => {
    const feed = runtime.follow(sessionId, { ...ann, ...more, signal: leaving.signal });
    for await (const event of feed) {
      seen.push(event);
      const ms = paceMs?.() ?? 0;
      if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms));
    }
  };
  const ended = read();
  ended.catch(() => {});
  onTestFinished(() => leaving.abort());
  return {
    seen,
    ended,
    get position() {
      const last = seen.findLast(({ seq }) => seq !== null);
      return last && { executionId: last.event.executionId, seq: last.seq ?? 0 };
    },
    leave: () => leaving.abort(),
  };
}

/** A model that says its pieces, and stops before those that have a gate. */
export function speaking(pieces: readonly (string | Pick<Gate, 'passed'>)[]): InferenceDriver {
  return {
    name: 'speaking',
    infer: () => Promise.reject(new Error('not streamed')),
    async *stream() {
      let content = '';
      for (const piece of pieces) {
        if (typeof piece !== 'string') {
          await piece.passed;
          continue;
        }
        content += piece;
        yield { type: 'content', text: piece };
      }
      const response = { content, toolCalls: [], finishReason: 'stop', usage: null } as const;
      yield { type: 'done', response };
    },
  };
}

/** Numbered events as text, gaps included. */
export const numberedIn = (seen: readonly FollowedEvent[]): string[] =>
  seen.filter(({ seq }) => seq !== null).map(({ seq, event }) => `${seq} ${event.type}`);

/** The text that chunks have brought, by message. */
export function textIn(seen: readonly FollowedEvent[]): string {
  return seen.map(({ event }) => (event.type === 'StreamChunk' ? event.content : '')).join('');
}

export const endsIn = (seen: readonly FollowedEvent[]): number =>
  seen.filter(
    ({ event }) =>
      (event.type === 'AgentFinished' || event.type === 'AgentPaused') &&
      event.parentAgentId === null,
  ).length;

export const hasEnded = (follower: Follower, times = 1): Promise<unknown> =>
  until(() => endsIn(follower.seen) >= times);

interface Shown {
  readonly key: string;
  readonly text: string;
}

/** What a client has of a session over all its visits; throws where a piece is there twice, or one is missing. */
export class FeedView {
  /** Events of the log, and gaps. */
  readonly log: FollowedEvent[] = [];
  /** Finished messages of the model, by id. */
  readonly messages: Map<string, string> = new Map();
  /** Those whose text had not come before them. */
  readonly unstreamed: string[] = [];
  /** The text that is being made, also from an earlier visit. */
  shown: { readonly messageId: string; readonly text: string } | null = null;
  /** Texts and arguments of this visit. */
  readonly #parts: Map<string, Shown> = new Map();

  get position(): LogPosition | undefined {
    const last = this.log.at(-1);
    return last && { executionId: last.event.executionId, seq: last.seq ?? 0 };
  }

  newVisit(): void {
    this.#parts.clear();
  }

  take(followed: FollowedEvent): void {
    const { seq, event } = followed;
    if (event.type === 'StreamChunk' || event.type === 'ReasoningDelta') {
      const { type, messageId, attempt, restart = 0, content, offset } = event;
      const text = this.#add(type, `${messageId} ${attempt} ${restart}`, content, offset);
      if (type === 'StreamChunk') this.shown = { messageId, text };
    } else if (event.type === 'ToolCallDelta')
      this.#add(`call ${event.toolCallId}`, '', event.argsDelta, event.offset);
    if (seq === null) return;
    this.log.push(followed);
    if (event.type === 'MessageAdded') this.#finish(event.messageId, event.role, event.content);
    if (event.type === 'StreamDiscarded' || event.type === 'gap') this.#clear();
  }

  #add(part: string, key: string, content: string, offset: number): string {
    const before = this.#parts.get(part);
    const known = before?.key === key ? before.text : '';
    if (offset !== known.length)
      throw new Error(`"${content}" came at ${offset}, behind "${known}" (${part} ${key})`);
    const text = known + content;
    this.#parts.set(part, { key, text });
    return text;
  }

  #finish(messageId: string, role: string, content: string): void {
    if (role !== 'assistant') return;
    const { shown } = this;
    if (shown?.messageId === messageId && !content.startsWith(shown.text))
      throw new Error(`"${shown.text}" was shown of "${content}"`);
    this.messages.set(messageId, content);
    if (shown?.text !== content) this.unstreamed.push(content);
    this.#clear();
  }

  #clear(): void {
    this.shown = null;
    this.#parts.clear();
  }
}

/** How a client reads: `follow` at a pace, or as a client whose buffer takes a few events. */
export interface Reading {
  readonly isSmall: boolean;
  /** Turns of the event loop for each event. */
  readonly pace: number;
}

const POLLING = { busyMs: 2, idleMs: 2, clock: systemClock };
const nextTurn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

/** A client that comes, goes, and continues where it was. */
export class FeedClient {
  readonly view: FeedView = new FeedView();
  readonly failures: unknown[] = [];
  readonly #reading: Reading;
  #leave: (() => void) | null = null;

  constructor(reading: Reading) {
    this.#reading = reading;
  }

  get isPresent(): boolean {
    return this.#leave !== null;
  }

  join(runtime: SessionRuntime, sessionId: string): void {
    const after = this.view.position;
    this.view.newVisit();
    const options = { ...ann, ...(after && { after }), polling: POLLING };
    const failed = (error: unknown): void => void this.failures.push(error);
    if (this.#reading.isSmall) {
      const sink = new SmallSink(this.view, this.#reading.pace, failed);
      const reader = feedsOf(runtime).open(sessionId, sink, { ...options, pageSize: 3 });
      this.#leave = sink.follow(reader);
      return;
    }
    const leaving = new AbortController();
    const { signal } = leaving;
    this.#leave = () => leaving.abort();
    const read = async (): Promise<void> => {
      for await (const event of followSession(feedsOf(runtime), sessionId, {
        ...options,
        signal,
      })) {
        // what was on its way when the client left is lost
        if (signal.aborted) return;
        this.view.take(event);
        for (let i = 0; i < this.#reading.pace; i++) await nextTurn();
      }
    };
    read().catch(failed);
  }

  leave(): void {
    this.#leave?.();
    this.#leave = null;
  }
}

/** Has capacity for a few live events, and hands them on one by one. */
class SmallSink implements FeedSink {
  readonly #view: FeedView;
  readonly #pace: number;
  readonly #failed: (error: unknown) => void;
  #reader: FeedReader | null = null;
  #inbox: FollowedEvent[] = [];
  #isBusy = false;

  constructor(view: FeedView, pace: number, failed: (error: unknown) => void) {
    this.#view = view;
    this.#pace = pace;
    this.#failed = failed;
  }

  get isWanted(): boolean {
    return this.#inbox.length === 0;
  }

  follow(reader: FeedReader): () => void {
    this.#reader = reader;
    reader.readOn();
    return () => {
      this.#reader = null;
      reader.close();
    };
  }

  take(event: FollowedEvent, isLive: boolean): void {
    this.#inbox.push(event);
    if (isLive && this.#inbox.length > 2) this.#reader?.fallBehind();
  }

  takeText(events: readonly LiveStreamed[], known: ReadonlySet<LiveStreamed>): void {
    // a screen that has a part of the text takes the rest
    for (const live of events) if (!known.has(live)) this.#inbox.push(live);
  }

  flush(): void {
    if (!this.#isBusy) this.#drain().catch(this.#failed);
  }

  end(error: unknown): void {
    if (error !== null) this.#failed(error);
  }

  async #drain(): Promise<void> {
    this.#isBusy = true;
    for (let event = this.#inbox.shift(); event && this.#reader; event = this.#inbox.shift()) {
      this.#view.take(event);
      for (let i = 0; i <= this.#pace; i++) await nextTurn();
    }
    this.#isBusy = false;
    this.#reader?.readOn();
  }
}
