import type { Clock } from '../../clock.ts';
import type { SessionLookup } from '../session-lookup.ts';
import { readEvents, type LogPage } from '../session-reads.ts';
import type { SessionRow } from '../session-rows.ts';
import type { FeedReader } from './feed-reader.ts';
import type { LiveEvent, LiveSource, LogPosition, TextSoFar } from './live-source.ts';

/** How often the store is polled for the work of other processes. */
export interface FeedPolling {
  /** While another process works on the session. */
  readonly busyMs: number;
  /** While none does, or this one. */
  readonly idleMs: number;
  readonly clock: Clock;
  /** Called when a poll failed; the next one tries again. */
  failed?(error: unknown): void;
}

export interface TailHost {
  readonly lookup: SessionLookup;
  readonly live: LiveSource;
  /** The last reader has left. */
  abandoned(tail: SessionTail): void;
}

/** Events of the log that are read at once. */
const PAGE = 200;
const MOST_REMEMBERED = 1_000;

/** One session as its readers in this process follow it: live events, and one poll of the store for all of them. */
export class SessionTail {
  readonly sessionId: string;
  readonly #host: TailHost;
  /** Each with how it polls; null where it does not. */
  readonly #readers: Map<FeedReader, FeedPolling | null> = new Map();
  readonly #unlisten: () => void;
  /** Where each execution began: behind which position. */
  readonly #before: Map<string, LogPosition> = new Map();
  /** The newest execution, and up to where its log is known here. */
  #executionId: string | null = null;
  #seq = -1;
  #isBusy = false;
  #isLocal = false;
  #isPolling = false;
  #isFlushing = false;
  #cancel: (() => void) | null = null;

  constructor(host: TailHost, sessionId: string) {
    this.#host = host;
    this.sessionId = sessionId;
    this.#unlisten = host.live.listen(sessionId, (live) => this.#notify(live));
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
    this.#host.abandoned(this);
  }

  end(): void {
    for (const reader of Array.from(this.#readers.keys())) reader.end();
  }

  async row(owner: string): Promise<SessionRow> {
    const row = await this.#host.lookup.owned(this.sessionId, owner);
    const isBusy = row.phase === 'open';
    if (isBusy && !this.#isBusy && this.#cancel) {
      // what was planned while it was idle comes too late
      this.#cancel();
      this.#isBusy = true;
      this.#plan();
    }
    this.#isBusy = isBusy;
    return row;
  }

  page(
    row: SessionRow,
    { executionId, seq: after }: LogPosition,
    limit: number = PAGE,
  ): Promise<LogPage> {
    return readEvents(this.#host.lookup, row, { executionId, after, limit });
  }

  /** The position behind which an execution began; null where the log does not tell. */
  async before(row: SessionRow, executionId: string): Promise<LogPosition | null> {
    const known = this.#before.get(executionId);
    if (known) return known;
    const { events } = await readEvents(this.#host.lookup, row, { executionId, limit: 1 });
    const [first] = events;
    this.#remember(first?.event);
    return this.#before.get(executionId) ?? null;
  }

  textSoFar(): TextSoFar | null | Promise<TextSoFar | null> {
    return this.#host.live.textSoFar(this.sessionId);
  }

  /** A reader has come to the end of the log. */
  reach({ executionId }: SessionRow, seq: number): void {
    // others that are live know what was sent to all, and no more
    if (!this.#live().next().done) return;
    this.#executionId = executionId;
    this.#seq = seq;
  }

  *#live(): Generator<FeedReader> {
    for (const reader of this.#readers.keys()) if (reader.isLive) yield reader;
  }

  /** Polls now. */
  wake(): void {
    if (this.#isPolling || this.#cancel === null) return;
    this.#cancel();
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

  #publish(live: LiveEvent): void {
    for (const reader of this.#readers.keys()) reader.notify(live);
    if (this.#isFlushing) return;
    // what comes in the same moment goes out together
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
    const ms = this.#isBusy && !this.#isLocal ? polling.busyMs : polling.idleMs;
    this.#isLocal = false;
    this.#cancel = polling.clock.after(ms, () => void this.#poll());
  }

  async #poll(): Promise<void> {
    this.#isPolling = true;
    try {
      while (await this.#pollPage());
    } catch (error) {
      this.#polling?.failed?.(error);
    } finally {
      this.#isPolling = false;
      this.#plan();
    }
  }

  /** True if there is more. */
  async #pollPage(): Promise<boolean> {
    const { store } = this.#host.lookup;
    const row = await store.find(this.sessionId);
    if (!row) {
      this.end();
      return false;
    }
    this.#isBusy = row.phase === 'open';
    const { executionId, seq } = row;
    if (executionId === null || (executionId === this.#executionId && seq <= this.#seq))
      return false;
    const live = Array.from(this.#live());
    if (live.length === 0) return false;
    if (executionId !== this.#executionId) {
      // each reads the rest of what it has, and then the new one
      this.#executionId = executionId;
      this.#seq = seq;
      for (const reader of live) reader.goBack();
      return false;
    }
    const after = this.#seq;
    const page = await this.page(row, { executionId, seq: after });
    // meanwhile this process may work on it
    if (this.#executionId !== executionId || this.#seq !== after) return false;
    this.#seq = page.events.at(-1)?.seq ?? page.seq;
    // written and pruned since the last poll: each finds its gap
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
