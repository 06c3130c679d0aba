import { inTime } from '../../sessions/in-time.ts';
import type { SessionJob } from './shared-turns.ts';

/** A connection to the queue server, until it breaks. */
export interface QueueLink {
  /** Whether the link takes jobs. */
  readonly isWorker: boolean;
  /** Adds a job. The lowest priority comes first, and 0 before all others. */
  add(job: SessionJob, priority: number): Promise<void>;
  /** Returns the number of waiting jobs. Rejects if the link is unusable. */
  count(): Promise<number>;
  /** Takes no more jobs. Jobs that were taken stay with this process until their work ends. */
  stopTaking(): void;
  /** Closes within seconds. If orderly, waits for jobs that are about to end and for pending requests. */
  close(isOrderly: boolean): Promise<void>;
}

export interface QueueServerOptions {
  /** Connects to the server. Rejects if it does not answer. `failed` is called with later errors. */
  connect(isWorker: boolean, failed: (error: unknown) => void): Promise<QueueLink>;
  /** Called once for each outage. */
  report(error: unknown): void;
}

const ADD_MS = 1_000;
const CHECK_MS = 3_000;
const CLOSE_MS = 6_000;
const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 3_000;
/** How often the server is polled for the number of waiting jobs, in milliseconds: with work, and without. */
const BUSY_MS = 1_000;
const IDLE_MS = 5_000;
/** Least time between two polls that errors cause, in milliseconds. */
const CHECK_PAUSE_MS = 250;
/** Most jobs that are kept for an unreachable server, and most that are sent to it at a time. */
const MOST_OWED = 10_000;
const OWED_AT_A_TIME = 500;
/** Milliseconds without an error after which an outage is over. */
const CALM_MS = 10_000;

/** Keeps a connection to the queue server and reconnects after each outage. */
export class QueueServer {
  readonly #options: QueueServerOptions;
  #link: QueueLink | null = null;
  #isWorker = false;
  #isClosed = false;
  #ended: Promise<void> | null = null;
  /** Resolves when the first attempt to connect has succeeded or failed. */
  #firstAttempt: Promise<void> = Promise.resolve();
  /** Jobs that the server did not accept, by session id. */
  readonly #owed: Map<string, { readonly job: SessionJob; readonly priority: number }> = new Map();
  #counted = 0;
  #addedSince = 0;
  /** Number of jobs that are being added. */
  #adding = 0;
  #checkedAt = 0;
  #failedAt = 0;
  #isReported = false;
  /** Ends the wait before the next check or attempt. */
  #wake: () => void = ignore;

  constructor(options: QueueServerOptions) {
    this.#options = options;
  }

  /** Number of jobs that wait on the server, as far as this process knows: none while the server is unreachable. */
  get waiting(): number {
    return this.#link ? this.mostWaiting : 0;
  }

  /** Most jobs that may wait, also while the server is unreachable or has not answered yet. */
  get mostWaiting(): number {
    return this.#counted + this.#addedSince + this.#adding;
  }

  /** Whether the server is unreachable, so that only a sweep or the bus brings sessions to other processes. */
  get isDown(): boolean {
    return this.#ended !== null && this.#link === null;
  }

  /** Connects, and reconnects after each loss, until `close`. A worker also takes jobs. */
  open(isWorker: boolean): void {
    if (this.#isClosed || (this.#ended && !isWorker)) return;
    this.#isWorker = isWorker;
    if (this.#ended) this.#wake();
    else this.#ended = this.#keepConnected();
  }

  /** Adds a job. Resolves with false if the server does not accept it within a second. */
  async add(job: SessionJob, priority: number): Promise<boolean> {
    this.#adding++;
    try {
      await inTime(this.#firstAttempt, ADD_MS, noAnswer).catch(ignore);
      if (!this.#link) return false;
      await inTime(this.#link.add(job, priority), ADD_MS, noAnswer);
      this.#addedSince++;
      return true;
    } catch (error) {
      this.#failed(error);
      return false;
    } finally {
      this.#adding--;
    }
  }

  /** Adds the job when the server is available, if this process still runs. */
  addLater(job: SessionJob, priority: number): void {
    if (this.#owed.size < MOST_OWED) this.#owed.set(job.sessionId, { job, priority });
  }

  stopTaking(): void {
    this.#isWorker = false;
    this.#link?.stopTaking();
  }

  /** Closes the connection within seconds. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#wake();
    await inTime(this.#ended ?? Promise.resolve(), CLOSE_MS, noAnswer).catch(ignore);
  }

  async #keepConnected(): Promise<void> {
    let endFirst: () => void = ignore;
    this.#firstAttempt = new Promise((resolve) => (endFirst = resolve));
    let waitMs = FIRST_WAIT_MS;
    while (!this.#isClosed) {
      let link: QueueLink | null = null;
      try {
        link = await this.#options.connect(this.#isWorker, (error) => {
          if (link && link === this.#link) this.#failed(error);
        });
        await this.#check(link);
        waitMs = FIRST_WAIT_MS;
        this.#link = link;
        endFirst();
        await this.#watch(link);
      } catch (error) {
        this.#failed(error);
      }
      this.#link = null;
      endFirst();
      await link?.close(this.#isClosed);
      if (this.#isClosed) return;
      await this.#sleep(waitMs);
      waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS);
    }
  }

  /** Polls the link. Resolves when another link or none is needed, and rejects when the server is lost. */
  async #watch(link: QueueLink): Promise<void> {
    const isNeeded = (): boolean => !this.#isClosed && (link.isWorker || !this.#isWorker);
    while (isNeeded()) {
      if (link.isWorker && !this.#isWorker) link.stopTaking();
      await this.#addOwed(link);
      do await this.#sleep(BUSY_MS);
      while (isNeeded() && this.#isQuiet());
      if (isNeeded()) await this.#check(link);
    }
  }

  async #check(link: QueueLink): Promise<void> {
    const added = this.#addedSince;
    this.#counted = await inTime(link.count(), CHECK_MS, noAnswer);
    this.#addedSince -= added;
    this.#checkedAt = performance.now();
    if (this.#checkedAt - this.#failedAt > CALM_MS) this.#isReported = false;
  }

  /** Whether no job waits and nothing has failed since a recent poll. */
  #isQuiet(): boolean {
    const isRecent = performance.now() - this.#checkedAt < IDLE_MS;
    const isEmpty = this.waiting === 0 && this.#owed.size === 0;
    return isRecent && isEmpty && this.#failedAt < this.#checkedAt;
  }

  async #addOwed(link: QueueLink): Promise<void> {
    for (const { job, priority } of Array.from(this.#owed.values()).slice(0, OWED_AT_A_TIME))
      try {
        await inTime(link.add(job, priority), ADD_MS, noAnswer);
        this.#owed.delete(job.sessionId);
        this.#addedSince++;
      } catch (error) {
        return this.#failed(error);
      }
  }

  /** Records an error. The next check shows whether the server is lost. */
  #failed(error: unknown): void {
    if (this.#isClosed) return;
    this.#failedAt = performance.now();
    if (!this.#isReported) this.#options.report(error);
    this.#isReported = true;
    if (this.#link && this.#failedAt - this.#checkedAt > CHECK_PAUSE_MS) this.#wake();
  }

  #sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

const ignore = (): void => {};

const noAnswer = (): Error => new Error('the server did not answer in time');
