import { AgentError } from '../../errors/agent-error.ts';
import type { AgentEvent } from '../../events/agent-event.ts';
import type { SessionRuntime } from '../../sessions/session-runtime.ts';
import type { SessionEvent } from '../../sessions/session-worker.ts';
import { isLastWord } from './use-chat-ending.ts';
import type { FeedEvent } from './use-chat-stream.ts';
import { LiveTails, type Seat } from './use-chat-tails.ts';

/** A reader that is further behind reads the log instead. */
const MOST_WAITING = 5_000;

export interface FeedOptions {
  readonly runtime: SessionRuntime;
  readonly sessionId: string;
  readonly owner: string;
  /** How often the store is asked while nothing is heard: another process may be at work. */
  readonly pollMs: number;
}

/**
 * One execution from its beginning: what the log has, then what is told, each once and in order, until the run stands
 * still. Made before the run is asked for, so that nothing is missed.
 */
export class SessionFeed {
  readonly #options: FeedOptions;
  readonly #seat: Seat;
  readonly #inbox: SessionEvent[];
  /** The number told before what is next in the inbox. */
  #position: number;
  #last = 0;
  /** The log may have something that was not told. */
  #isBehind = true;
  /** Where something was missing before. */
  #gap = 0;
  /** Nothing was told for a while. */
  #isQuiet = false;
  #hasEnded = false;
  #isClosed = false;
  #wake: () => void = () => {};

  private constructor(options: FeedOptions, inbox: SessionEvent[], seat: Seat) {
    this.#options = options;
    this.#inbox = inbox;
    this.#seat = seat;
    this.#position = seat.position;
  }

  static async open(tails: LiveTails, options: FeedOptions): Promise<SessionFeed> {
    const inbox: SessionEvent[] = [];
    let heard = (): void => {};
    const seat = await tails.join(options.sessionId, options.owner, (event) => {
      inbox.push(event);
      heard();
    });
    const feed = new SessionFeed(options, inbox, seat);
    inbox.unshift(...seat.kept);
    heard = () => feed.#heard();
    return feed;
  }

  /** Ends the reading, at once. */
  close(): void {
    this.#isClosed = true;
    this.#seat.leave();
    this.#wake();
  }

  /** `after`: where the client stopped reading; the run does not end there. */
  async *read(executionId: string, after: number = 0): AsyncGenerator<FeedEvent> {
    if (this.#seat.executionId !== executionId) this.#position = -1;
    try {
      while (!this.#isClosed) {
        if (this.#isBehind) yield* this.#fromLog(executionId);
        yield* this.#told(executionId);
        if (this.#isBehind) continue;
        if (await this.#isOver(executionId, after)) return;
        await this.#more();
      }
    } finally {
      this.close();
    }
  }

  #heard(): void {
    if (this.#inbox.length > MOST_WAITING) {
      this.#inbox.length = 0;
      this.#position = -1;
      this.#isBehind = true;
    }
    this.#wake();
  }

  async *#fromLog(executionId: string): AsyncGenerator<FeedEvent> {
    const { runtime, sessionId, owner } = this.#options;
    this.#isBehind = false;
    for (;;) {
      const page = await runtime.events(sessionId, { owner, executionId, after: this.#last });
      for (const entry of page.events) yield this.#next(entry);
      if (page.events.length === 0 || this.#last >= page.seq) return;
    }
  }

  /** What the log has is not told again, and chunks of a text that the log has whole are stale. */
  *#told(executionId: string): Generator<FeedEvent> {
    for (let told = this.#inbox.shift(); told; told = this.#inbox.shift()) {
      const { seq, event } = told;
      if (event.executionId !== executionId) continue;
      if (seq === null) {
        if (this.#position >= this.#last) yield told;
        continue;
      }
      if (seq > this.#last + 1 && seq !== this.#gap) {
        // somebody else has worked in between: the log has it, unless it was pruned
        this.#gap = seq;
        this.#inbox.unshift(told);
        this.#isBehind = true;
        return;
      }
      this.#position = seq;
      if (seq > this.#last) yield this.#next(told);
    }
  }

  #next({ seq, event }: FeedEvent): FeedEvent {
    this.#last = seq ?? this.#last;
    if (event.parentAgentId === null) this.#hasEnded = isLastWord(event);
    return { seq, event };
  }

  /** A run that was answered, or given more, goes on behind its last word. */
  async #isOver(executionId: string, after: number): Promise<boolean> {
    const isSaid = this.#hasEnded && this.#last > after;
    if (!isSaid && !this.#isQuiet) return false;
    const { runtime, sessionId, owner } = this.#options;
    const session = await runtime.get(sessionId, { owner });
    // before its first commit the session has the name of the execution before
    const isIts = session.executionId === executionId || this.#last === 0;
    if (isIts && session.status === 'in_progress') return false;
    const { seq } = await runtime.events(sessionId, { owner, executionId, after: this.#last });
    // it may have said its last word since the log was read
    this.#isBehind = seq > this.#last;
    if (this.#last === 0 && !this.#isBehind) throw neverBegun(executionId);
    return !this.#isBehind;
  }

  /** Waits until something is told, or for the next look at the store. */
  #more(): Promise<void> {
    if (this.#inbox.length > 0 || this.#isBehind || this.#isClosed) return Promise.resolve();
    return new Promise((resolve) => {
      const over = (isQuiet: boolean): void => {
        clearTimeout(timer);
        this.#wake = () => {};
        this.#isQuiet = isQuiet;
        this.#isBehind ||= isQuiet;
        resolve();
      };
      const timer = setTimeout(over, this.#options.pollMs, true);
      this.#wake = () => over(false);
    });
  }
}

/** The events of a session's newest execution, or of a given one, for `uiMessageStream`. Leaving it stops nothing. */
export async function* sessionEvents(
  runtime: SessionRuntime,
  options: Pick<FeedOptions, 'sessionId' | 'owner'> & {
    readonly executionId?: string;
    readonly pollMs?: number;
  },
): AsyncGenerator<AgentEvent> {
  const { sessionId, owner, pollMs = 500 } = options;
  const tails = new LiveTails(runtime);
  const feed = await SessionFeed.open(tails, { runtime, sessionId, owner, pollMs });
  try {
    const executionId =
      options.executionId ?? (await runtime.get(sessionId, { owner })).executionId;
    if (executionId === null) return;
    for await (const { event } of feed.read(executionId)) yield event;
  } finally {
    feed.close();
    tails.close();
  }
}

const neverBegun = (executionId: string): AgentError =>
  new AgentError('conflict', `Execution ${executionId} was dropped before it began.`);
