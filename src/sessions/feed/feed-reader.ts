import { AgentError } from '../../errors/agent-error.ts';
import type { AgentEvent } from '../../events/agent-event.ts';
import { pacer } from '../../pacing.ts';
import type { LogPage } from '../session-reads.ts';
import type { SessionRow } from '../session-rows.ts';
import type { FeedSink, FeedStart } from './feed-sink.ts';
import {
  beginsAfter,
  isLiveStreamed,
  type LiveEvent,
  type LiveStreamed,
  type LogPosition,
  type TextSoFar,
} from './live-source.ts';
import type { SessionTail } from './session-tail.ts';
import { TextMarks } from './text-marks.ts';
import { TextQuestion } from './text-question.ts';

type Pause = () => Promise<void> | undefined;

/** Most live events that are kept while a page is read, and most executions between a position and the newest. */
const MOST_KEPT = 256;
const MOST_BETWEEN = 100;

/** One reader of a session. Reads the log, then accepts live events until one does not follow the previous one. */
export class FeedReader {
  readonly #tail: SessionTail;
  readonly #owner: string;
  readonly #sink: FeedSink;
  readonly #isOnlyOne: boolean;
  readonly #pageSize: number | undefined;
  readonly #marks: TextMarks = new TextMarks();
  readonly #question: TextQuestion = new TextQuestion();
  #executionId: string | null;
  #seq: number;
  #isLive = false;
  #isReading = false;
  #isEnded = false;
  /** Whether the session had no execution when the reader last read it. */
  #wasEmpty = false;
  #wasFound = false;
  #isLost: boolean;
  #isWorkerLost = false;
  #kept: LiveEvent[] | null = null;

  constructor(tail: SessionTail, owner: string, sink: FeedSink, start: FeedStart) {
    const { executionId, after, seq = 0, isLost = false } = start;
    this.#tail = tail;
    this.#owner = owner;
    this.#sink = sink;
    this.#isOnlyOne = executionId !== undefined;
    this.#executionId = executionId ?? after?.executionId ?? null;
    this.#seq = after?.seq ?? seq;
    this.#isLost = isLost;
    this.#pageSize = start.pageSize;
  }

  get isLive(): boolean {
    return this.#isLive;
  }

  /** Accepts a new event of the session. `flush` delivers it. */
  notify(live: LiveEvent): void {
    if (this.#isLive) this.#accept(live);
    else if (this.#kept && live.seq !== null) {
      if (this.#kept.length < MOST_KEPT) this.#kept.push(live);
      else this.#kept = null;
    }
  }

  flush(): void {
    if (!this.#isReading) this.#sink.flush();
  }

  /** Notifies the sink whether the session has lost its worker, if that has changed and the sink has all of the log. */
  noteWorker(): void {
    const { isWorkerLost: isLost, sessionId } = this.#tail;
    if (!this.#isLive || this.#executionId === null || isLost === this.#isWorkerLost) return;
    this.#isWorkerLost = isLost;
    const event = { type: 'worker', executionId: this.#executionId, isLost } as const;
    this.#sink.take({ sessionId, owner: this.#owner, seq: null, event }, false);
    this.flush();
  }

  /** Drops live events until the sink has capacity and reads the log again. */
  fallBehind(): void {
    this.#isLive = false;
    this.#question.cancel();
  }

  /** Continues to read the log, page by page, as long as the sink wants pages. */
  readOn(): void {
    if (this.#isLive || this.#isReading || this.#isEnded) return;
    this.#fill().catch((error: unknown) => {
      // deleted in between: the feed ends without an error
      const isGone = this.#wasFound && AgentError.is(error, 'session_not_found');
      this.end(isGone ? null : error);
    });
  }

  /** Reads the log again, because it has events that were not sent live. */
  goBack(): void {
    this.fallBehind();
    if (this.#sink.isWanted) this.readOn();
  }

  /** Closes the reader without notifying the sink. */
  close(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#isLive = false;
    this.#tail.leave(this);
  }

  end(error: unknown = null): void {
    if (this.#isEnded) return;
    this.close();
    this.#sink.end(error);
  }

  async #fill(): Promise<void> {
    this.#isReading = true;
    // an in-memory store answers immediately: other work must get a turn between pages
    const pause = pacer(this.#owner);
    try {
      do {
        await pause();
        this.#kept = [];
        const isAtEnd = await this.#readPage(pause);
        if (this.#isEnded) return;
        if (isAtEnd) this.#goLive();
        this.#sink.flush();
      } while (!this.#isLive && !this.#isEnded && this.#sink.isWanted);
    } finally {
      this.#isReading = false;
      this.#kept = null;
    }
  }

  /** Reads a page. Returns true at the end of the newest execution. */
  async #readPage(pause: Pause): Promise<boolean> {
    const row = await this.#tail.row(this.#owner);
    this.#wasFound = true;
    const newest = row.executionId;
    if (this.#executionId === null && newest !== null) {
      if (this.#wasEmpty) await this.#enterNext(null, row, newest);
      else this.#executionId = newest;
      if (this.#isLost) this.#takeGap(newest, 0);
      this.#isLost = false;
    }
    const executionId = this.#executionId;
    this.#wasEmpty = executionId === null;
    if (executionId === null) return this.#reachEnd(row);
    const position = { executionId, seq: this.#seq };
    const page = await this.#tail.page(row, position, this.#pageSize);
    if (this.#isEnded) return false;
    const hasMore = await this.#takePage(executionId, page, pause);
    if (hasMore || this.#isEnded) return false;
    if (executionId === newest) return this.#reachEnd(row);
    if (this.#isOnlyOne) {
      // before its first event, another execution may be the newest
      if (this.#seq > 0) this.end();
      return true;
    }
    if (newest !== null) await this.#enterNext(executionId, row, newest);
    return false;
  }

  #reachEnd(row: SessionRow): true {
    this.#tail.reach(row, this.#seq);
    return true;
  }

  /** Takes the events of a page. Returns true if the execution has more. */
  async #takePage(
    executionId: string,
    { events, seq: newest }: LogPage,
    pause: Pause,
  ): Promise<boolean> {
    const first = events[0]?.seq ?? newest + 1;
    // pruned, or a position that never existed
    if (first > this.#seq + 1 || newest < this.#seq) this.#takeGap(executionId, first - 1);
    for (const { seq, event } of events) {
      this.#take({ seq, event }, null);
      const turn = pause();
      if (turn) await turn;
      if (this.#isEnded) return false;
    }
    return this.#seq < newest;
  }

  /** Enters the execution after this one: the newest, or an earlier one if the log names it. */
  async #enterNext(executionId: string | null, row: SessionRow, newest: string): Promise<void> {
    let next: string | null = newest;
    let isPruned = false;
    for (let i = 0; next !== null; i++) {
      const before: LogPosition | null = await this.#tail.before(row, next);
      if ((before?.executionId ?? null) === executionId) {
        // an empty log does not have its former length
        isPruned = before !== null && before.seq > this.#seq;
        break;
      }
      next = i < MOST_BETWEEN ? (before?.executionId ?? null) : null;
    }
    if (this.#isEnded) return;
    this.#enter(next ?? newest);
    if (next === null || isPruned) this.#takeGap(next ?? newest, 0);
  }

  #enter(executionId: string): void {
    this.#executionId = executionId;
    this.#seq = 0;
    this.#marks.clear();
  }

  #takeGap(executionId: string, seq: number): void {
    this.#seq = seq;
    this.#marks.clear();
    const { sessionId } = this.#tail;
    const event = { type: 'gap', executionId } as const;
    this.#sink.take({ sessionId, owner: this.#owner, seq, event }, false);
  }

  #take(entry: { readonly seq: number; readonly event: AgentEvent }, live: LiveEvent | null): void {
    const { seq, event } = entry;
    this.#seq = seq;
    this.#marks.finish(event);
    this.#question.cancel();
    if (live) return this.#sink.take(live, true);
    this.#sink.take({ sessionId: this.#tail.sessionId, owner: this.#owner, seq, event }, false);
  }

  #goLive(): void {
    const kept = this.#kept;
    if (!kept) return;
    this.#isLive = true;
    for (const live of kept) {
      this.#accept(live);
      if (!this.#isLive) return;
    }
    this.noteWorker();
    if (this.#tail.isBusy) this.#askText();
  }

  #accept(live: LiveEvent): void {
    const { event, seq } = live;
    const isSame = event.executionId === this.#executionId;
    if (seq === null) {
      if (isSame && isLiveStreamed(live)) this.#acceptStreamed(live);
    } else if (isSame) {
      if (seq === this.#seq + 1) this.#take({ seq, event }, live);
      else if (seq > this.#seq) this.goBack();
    } else if (this.#isOnlyOne) {
      // before its first event, events of other executions are older
      if (this.#seq > 0) this.end();
    } else if (beginsAfter(event, this.#executionId, this.#seq)) {
      this.#enter(event.executionId);
      this.#take({ seq, event }, live);
    } else this.goBack();
  }

  #acceptStreamed(live: LiveStreamed): void {
    // the log already has the whole text
    if (live.follows < this.#seq) return;
    if (live.follows > this.#seq) return this.goBack();
    const what = this.#marks.take(live.event);
    if (what === 'next') this.#sink.take(live, true);
    else if (what === 'missing') this.#askText(live);
  }

  /** Asks the worker for texts that the reader misses. Without an answer, the finished message has them. */
  #askText(missing: LiveStreamed | null = null): void {
    const position = { executionId: this.#executionId ?? '', seq: this.#seq };
    const ask = () => this.#tail.textSoFar(position);
    this.#question.ask(ask, missing, (text, kept) => {
      if (!this.#isLive) return;
      this.#takeText(text, kept);
      this.flush();
    });
  }

  /** Takes the worker's answer. `kept` are pieces that came before it: they continue its text, or are lost. */
  #takeText(text: TextSoFar | null, kept: readonly LiveStreamed[]): void {
    if (text?.executionId === this.#executionId && text.follows > this.#seq) return this.goBack();
    const isCurrent = (executionId: string, follows: number): boolean =>
      executionId === this.#executionId && follows === this.#seq;
    const sent = text && isCurrent(text.executionId, text.follows) ? text.events : [];
    const events = sent.map((live) => ({ ...live, event: this.#marks.rest(live.event) }));
    const known = new Set(events.filter(({ event }) => this.#marks.take(event) !== 'next'));
    for (const live of kept) {
      const { event, follows } = live;
      if (!isCurrent(event.executionId, follows)) continue;
      const what = this.#marks.take(event);
      if (what === 'next') events.push(live);
      else if (what === 'missing') this.#marks.lose(event);
    }
    if (known.size < events.length) this.#sink.takeText(events, known);
  }
}
