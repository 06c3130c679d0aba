import type { EventOf, FollowedEvent, InferenceDriver, LogPosition, SessionRuntime } from 'onward';
import { onTestFinished } from 'vitest';
import type { FeedReader } from '../../src/sessions/feed/feed-reader.ts';
import type { FeedSink } from '../../src/sessions/feed/feed-sink.ts';
import { type FollowOptions, followSession } from '../../src/sessions/feed/follow-session.ts';
import type { LiveStreamed } from '../../src/sessions/feed/live-source.ts';
import { feedsOf } from '../../src/sessions/feed/feeds-of.ts';
import { systemClock } from '../../src/clock.ts';
import { ann, until, type Gate } from './sessions.ts';

/** A consumer of `follow` that reads everything, and the events it received. */
export interface Follower {
  readonly seen: FollowedEvent[];
  /** The position to continue from. */
  readonly position: LogPosition | undefined;
  /** Resolves when the feed ends. */
  readonly ended: Promise<void>;
  leave(): void;
}

export function followerOf(
  runtime: SessionRuntime,
  sessionId: string,
  options: Partial<FollowOptions> & { readonly pace?: () => Promise<unknown> | undefined } = {},
): Follower {
  const { pace, ...more } = options;
  const leaving = new AbortController();
  const seen: FollowedEvent[] = [];
  const read = async (): Promise<void> => {
    const feed = runtime.follow(sessionId, { ...ann, ...more, signal: leaving.signal });
    for await (const event of feed) {
      seen.push(event);
      await pace?.();
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

/** A model that streams these chunks and waits at each gate. */
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

/** Numbered events as text, including gaps. */
export const numberedIn = (seen: readonly FollowedEvent[]): string[] =>
  seen.filter(({ seq }) => seq !== null).map(({ seq, event }) => `${seq} ${event.type}`);

/** The text of all chunks. */
export function textIn(seen: readonly FollowedEvent[]): string {
  return seen.map(({ event }) => (event.type === 'StreamChunk' ? event.content : '')).join('');
}

/** The text of all answers: a finished message replaces its chunks, of which the last may come after it and be dropped. */
export function answerIn(seen: readonly FollowedEvent[]): string {
  const answers = new Map<string, string>();
  for (const { event } of seen)
    if (event.type === 'StreamChunk')
      answers.set(event.messageId, (answers.get(event.messageId) ?? '') + event.content);
    else if (event.type === 'MessageAdded' && event.role === 'assistant')
      answers.set(event.messageId, event.content);
  return [...answers.values()].join('');
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

/** The reasoning and text of a message so far. */
export interface Said {
  readonly reasoning: string;
  readonly text: string;
}

/** The events that a client received over all its connections. Throws if a chunk is missing or repeated. */
export class FeedView {
  /** Events of the log, and gaps. */
  readonly log: FollowedEvent[] = [];
  /** Finished assistant messages, by id. */
  readonly messages: Map<string, string> = new Map();
  /** Messages whose text was not streamed before. */
  readonly unstreamed: string[] = [];
  /** The message in progress, also from an earlier connection. */
  shown: (Said & { readonly messageId: string }) | null = null;
  /** Texts and arguments of this connection. */
  readonly #parts: Map<string, Shown> = new Map();

  get position(): LogPosition | undefined {
    const last = this.log.at(-1);
    return last && { executionId: last.event.executionId, seq: last.seq ?? 0 };
  }

  get said(): Said {
    const { reasoning = '', text = '' } = this.shown ?? {};
    return { reasoning, text };
  }

  newVisit(): void {
    this.#parts.clear();
  }

  take(followed: FollowedEvent): void {
    const { seq, event } = followed;
    if (event.type === 'StreamChunk' || event.type === 'ReasoningDelta') {
      const { type, messageId, attempt, restart = 0, content, offset } = event;
      const text = this.#add(type, `${messageId} ${attempt} ${restart}`, content, offset);
      const before = this.shown?.messageId === messageId ? this.said : { reasoning: '', text: '' };
      const part = type === 'StreamChunk' ? { text } : { reasoning: text };
      this.shown = { messageId, ...before, ...part };
    } else if (event.type === 'ToolCallDelta')
      this.#add(`call ${event.toolCallId}`, '', event.argsDelta, event.offset);
    if (seq === null) return;
    this.log.push(followed);
    if (event.type === 'MessageAdded') this.#finish(event);
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

  #finish({ messageId, role, content, reasoning = '' }: EventOf<'MessageAdded'>): void {
    if (role !== 'assistant') return;
    const { shown, said } = this;
    const isPart = content.startsWith(said.text) && reasoning.startsWith(said.reasoning);
    if (shown?.messageId === messageId && !isPart)
      throw new Error(`${JSON.stringify(said)} was shown of "${content}" and "${reasoning}"`);
    this.messages.set(messageId, content);
    if (said.text !== content || said.reasoning !== reasoning) this.unstreamed.push(content);
    this.#clear();
  }

  #clear(): void {
    this.shown = null;
    this.#parts.clear();
  }
}

/** How a client reads: `follow` at a pace, or with a small buffer. */
export interface Reading {
  readonly isSmall: boolean;
  /** Event loop turns per event. */
  readonly pace: number;
}

const POLLING = { busyMs: 2, idleMs: 2, clock: systemClock };
const nextTurn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

/** A client that connects, disconnects, and continues at its position. */
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
        // events in transit when the client disconnects are lost
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

/** A sink with a small buffer that passes live events on one by one. */
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
    // a UI that has part of the text takes the rest
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
