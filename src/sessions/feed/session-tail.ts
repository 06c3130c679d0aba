import type { Clock } from '../../clock.ts';
import { readEvents, type LogPage } from '../session-reads.ts';
import { hasLostWorker, type SessionRow } from '../session-rows.ts';
import type { FeedReader } from './feed-reader.ts';
import type { LiveEvent, LiveStreamed, LogPosition, TextSoFar } from './live-source.ts';
import type { SessionFeeds } from './session-feeds.ts';

/** How often the store is polled for the work of other processes, in milliseconds. */
export interface FeedPolling {
  /** Interval while another process works on the session. */
  readonly busyMs: number;
  /** Interval while no process or this one works on it, or a bus reports changes. */
  readonly idleMs: number;
  readonly clock: Clock;
  /** Called when a poll failed. The next one tries again. */
  failed?(error: unknown): void;
}

/** Events per page of the log. */
const PAGE = 200;
const MOST_REMEMBERED = 1_000;
/** Most texts from another process that wait until the log is read up to the event that they follow. */
const MOST_EARLY = 256;

/** Follows one session for all its readers in this process: live events, and one shared poll of the store. */
export class SessionTail {
  readonly sessionId: string;
  readonly #feeds: SessionFeeds;
  /** Readers with their polling options; null if a reader does not poll. */
  readonly #readers: Map<FeedReader, FeedPolling | null> = new Map();
  readonly #unlisten: () => void;
  /** The position after which each execution began. */
  readonly #before: Map<string, LogPosition> = new Map();
  /** The newest execution, and the last number of its log that this process has read. */
  #executionId: string | null = null;
  #seq = -1;
  #isBusy = false;
  #isLocal = false;
  #isWorkerLost = false;
  #isPolling = false;
  /** Whether the session has changed during a poll. */
  #isWoken = false;
  #early: LiveStreamed[] = [];
  #isFlushing = false;
  #cancel: (() => void) | null = null;

  constructor(feeds: SessionFeeds, sessionId: string) {
    this.#feeds = feeds;
    this.sessionId = sessionId;
    this.#unlisten = feeds.live.listen(sessionId, (live) => this.#notify(live), {
      text: (live) => this.#notifyRemote(live),
      changed: () => this.wake(),
    });
  }

  /** Whether the session is busy or waits for a worker, as far as this process knows. */
  get isBusy(): boolean {
    return this.#isBusy || this.#isLocal;
  }

  /** Whether the worker of the session stopped answering and no other one has taken over. */
  get isWorkerLost(): boolean {
    return this.#isWorkerLost;
  }

  join(reader: FeedReader, polling: FeedPolling | null): void {
    this.#readers.set(reader, polling);
    if (polling && this.#cancel === null && !this.#isPolling) this.#plan();
  }

  leave(reader: FeedReader): void {
    this.#readers.delete(reader);
    if (this.#readers.size > 0) return;
    this.#unlisten();
    this.#cancel?.();
    this.#cancel = null;
    this.#feeds.abandon(this);
  }

  end(): void {
    for (const reader of Array.from(this.#readers.keys())) reader.end();
  }

  async row(owner: string): Promise<SessionRow> {
    const row = await this.#feeds.lookup.owned(this.sessionId, owner);
    const isBusy = row.phase === 'open';
    if (isBusy && !this.#isBusy && this.#cancel) {
      // the next poll was scheduled with the idle interval, which is too late
      this.#cancel();
      this.#isBusy = true;
      this.#plan();
    }
    this.#isBusy = isBusy;
    this.#noteWorker(row);
    return row;
  }

  #noteWorker(row: SessionRow): void {
    const isLost = hasLostWorker(row);
    if (isLost === this.#isWorkerLost) return;
    this.#isWorkerLost = isLost;
    for (const reader of this.#readers.keys()) reader.noteWorker();
  }

  page(
    row: SessionRow,
    { executionId, seq: after }: LogPosition,
    limit: number = PAGE,
  ): Promise<LogPage> {
    return readEvents(this.#feeds.lookup, row, { executionId, after, limit });
  }

  /** Returns the position after which an execution began; null if the log does not have it. */
  async before(row: SessionRow, executionId: string): Promise<LogPosition | null> {
    const known = this.#before.get(executionId);
    if (known) return known;
    const { events } = await readEvents(this.#feeds.lookup, row, { executionId, limit: 1 });
    const [first] = events;
    this.#remember(first?.event);
    return this.#before.get(executionId) ?? null;
  }

  textSoFar(position: LogPosition): TextSoFar | null | Promise<TextSoFar | null> {
    return this.#feeds.live.textSoFar(this.sessionId, position);
  }

  /** Records that a reader has reached the end of the log. */
  reach({ executionId }: SessionRow, seq: number): void {
    // live readers have exactly the events that were sent to all readers
    if (!this.#live().next().done) return;
    this.#executionId = executionId;
    this.#seq = seq;
  }

  *#live(): Generator<FeedReader> {
    for (const reader of this.#readers.keys()) if (reader.isLive) yield reader;
  }

  /** Polls now. */
  wake(): void {
    this.#isWoken = true;
    if (this.#isPolling) return;
    this.#cancel?.();
    this.#cancel = null;
    void this.#poll();
  }

  #notify(live: LiveEvent): void {
    const { event, seq } = live;
    this.#isLocal = true;
    if (seq !== null) {
      this.#executionId = event.executionId;
      this.#seq = seq;
      this.#remember(event);
    }
    this.#publish(live);
  }

  #notifyRemote(live: LiveStreamed): void {
    // keep the order, even if the event that they follow was read in between
    if (this.#early.length === 0 && !this.#isAhead(live)) return this.#publish(live);
    if (this.#early.length < MOST_EARLY) this.#early.push(live);
    this.wake();
  }

  /** Whether the text follows an event that this process has not read. */
  #isAhead({ event, follows }: LiveStreamed): boolean {
    return event.executionId !== this.#executionId || follows > this.#seq;
  }

  /**
   * Publishes waiting texts after a poll. A text that is still ahead is dropped if it belongs to another execution;
   * otherwise it waits for the message about its log.
   */
  #publishEarly(): void {
    const early = this.#early;
    this.#early = [];
    for (const live of early)
      if (!this.#isAhead(live)) this.#publish(live);
      else if (live.event.executionId === this.#executionId) this.#early.push(live);
  }

  #publish(live: LiveEvent): void {
    for (const reader of this.#readers.keys()) reader.notify(live);
    if (this.#isFlushing) return;
    // events of the same tick are delivered together
    this.#isFlushing = true;
    queueMicrotask(() => {
      this.#isFlushing = false;
      for (const reader of this.#readers.keys()) reader.flush();
    });
  }

  #remember(event: LiveEvent['event'] | undefined): void {
    if (event?.type !== 'AgentStarted' || event.previous === undefined) return;
    if (this.#before.size >= MOST_REMEMBERED) this.#before.clear();
    this.#before.set(event.executionId, event.previous);
  }

  get #polling(): FeedPolling | null {
    let soonest: FeedPolling | null = null;
    for (const polling of this.#readers.values())
      if (polling && !(soonest && soonest.idleMs <= polling.idleMs)) soonest = polling;
    return soonest;
  }

  #plan(): void {
    const polling = this.#polling;
    this.#cancel = null;
    if (!polling) return;
    const isQuiet = !this.#isBusy || this.#isLocal || this.#feeds.live.isRemote;
    const ms = isQuiet ? polling.idleMs : polling.busyMs;
    this.#isLocal = false;
    this.#cancel = polling.clock.after(ms, () => void this.#poll());
  }

  async #poll(): Promise<void> {
    this.#isPolling = true;
    try {
      do {
        this.#isWoken = false;
        while (await this.#pollPage());
      } while (this.#isWoken);
      this.#publishEarly();
    } catch (error) {
      this.#polling?.failed?.(error);
    } finally {
      this.#isPolling = false;
      this.#plan();
    }
  }

  /** Reads one page. Returns true if there is more. */
  async #pollPage(): Promise<boolean> {
    const { store } = this.#feeds.lookup;
    const row = await store.find(this.sessionId);
    if (!row) {
      this.end();
      return false;
    }
    this.#isBusy = row.phase === 'open';
    this.#noteWorker(row);
    const { executionId, seq } = row;
    if (executionId === null || (executionId === this.#executionId && seq <= this.#seq))
      return false;
    const live = Array.from(this.#live());
    if (live.length === 0) return false;
    if (executionId !== this.#executionId) {
      // each reader finishes its execution, then reads the new one
      this.#executionId = executionId;
      this.#seq = seq;
      for (const reader of live) reader.goBack();
      return false;
    }
    const after = this.#seq;
    const page = await this.page(row, { executionId, seq: after });
    // this process may have started work on it in between
    if (this.#executionId !== executionId || this.#seq !== after) return false;
    this.#seq = page.events.at(-1)?.seq ?? page.seq;
    // written and pruned since the last poll: each reader emits a gap
    if (page.events.length === 0) for (const reader of live) reader.goBack();
    const { owner } = row;
    for (const { seq: number, event } of page.events)
      this.#publish({
        sessionId: this.sessionId,
        owner,
        seq: number,
        follows: number - 1,
        event,
      });
    return this.#seq < page.seq;
  }
}
