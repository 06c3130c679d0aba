import { isoTime, type Clock } from '../clock.ts';
import { AgentError } from '../errors/agent-error.ts';
import { isNumbered, type AgentEventType } from '../events/agent-event.ts';
import { eventOf, type EventNote, type EventOutlet } from '../events/event-outlet.ts';
import { CommitBatch, commitOf, type StagedEvent } from './commit-batch.ts';
import { withFields, withoutArgs } from './event-notes.ts';
import { RequestWriter } from './requests/request-writer.ts';
import { RowWriter } from './row-writer.ts';
import type { RunSignals } from './run-signals.ts';
import { isOfContent, notWritable } from './session-errors.ts';
import type { SessionListeners } from './session-listeners.ts';
import type { Commit, CommitReceipt, SessionStore } from './session-store.ts';
import { runRow } from './run-row.ts';
import type { WrittenExecution } from './written-execution.ts';
import type { SessionWorker } from './session-worker.ts';
import { isRefusedValue } from './stores/store-errors.ts';

/** Waits between tries, in milliseconds, for a store that fails temporarily. */
const RETRY_WAITS_MS = [20, 100, 500, 2_000];
const BEGINNINGS: ReadonlySet<AgentEventType> = new Set([
  'StreamChunk',
  'ReasoningDelta',
  'ToolCallDelta',
  'AgentStarted',
  'AgentStepStarted',
  'ToolCallStarted',
  'StreamDiscarded',
]);

/**
 * Writes one execution to the store, in order. Rows that are staged in the same tick go into one commit. Listeners get
 * an event only after it is in the log.
 */
export class ExecutionWriter implements EventOutlet {
  readonly store: SessionStore;
  readonly rows: RowWriter;
  readonly requests: RequestWriter;
  readonly signals: RunSignals;
  readonly execution: WrittenExecution;
  /** Last number in the log at first. */
  readonly firstSeq: number;
  receipt: CommitReceipt | null = null;
  /** Whether an agent of the session has compactions, which earlier releases would not read. */
  hasCompactions = false;
  /** Whether the store refused a value, other than for its size. */
  hasUnwritable = false;
  readonly #clock: Clock;
  readonly #listeners: SessionListeners;
  #seq: number;
  #notifiedSeq: number;
  #revision: number;
  #batch: CommitBatch = new CommitBatch();
  /** Whole steps that are written together with the next batch, unless that is too large. */
  #closed: CommitBatch[] = [];
  #tail: Promise<void> = Promise.resolve();
  #isWriting = false;
  #isPlanned = false;
  #definition: string | null;

  constructor(
    { lookup, listeners }: Pick<SessionWorker, 'lookup' | 'listeners'>,
    signals: RunSignals,
    execution: WrittenExecution,
  ) {
    const { row, isNew, salt, named } = execution;
    const { definition = null, requestFrame = null } = named ?? {};
    this.store = lookup.store;
    this.rows = new RowWriter(lookup.store, salt);
    this.requests = new RequestWriter(this.rows, requestFrame, definition);
    this.signals = signals;
    this.execution = execution;
    this.firstSeq = isNew ? 0 : row.seq;
    [this.#clock, this.#listeners] = [lookup.clock, listeners];
    this.#seq = this.#notifiedSeq = this.firstSeq;
    this.#revision = row.revision;
    this.#definition = execution.definition === null ? definition : null;
  }

  get batch(): CommitBatch {
    return this.#batch;
  }

  get #hasListeners(): boolean {
    return this.#listeners.wants(this.execution.row.id);
  }

  wants(type: AgentEventType): boolean {
    return isNumbered(type) || this.#hasListeners;
  }

  publish(given: EventNote, deliver: () => void): void {
    if (this.signals.failure) return;
    const seq = isNumbered(given.type) ? ++this.#seq : null;
    const staged = { note: this.#logged(given, seq), seq, deliver };
    const isFirst = this.#batch.events.length === 0 && this.#closed.length === 0;
    if (seq === null && isFirst && !this.#isWriting) return this.#deliver(staged);
    this.#batch.events.push(staged);
    this.soon();
  }

  #logged(note: EventNote, seq: number | null): EventNote {
    const { hidesText, isNew, row } = this.execution;
    const { executionId, seq: last } = row;
    if (hidesText && 'outputText' in note.fields) return withFields(note, { outputText: '' });
    if (seq !== 1 || !isNew || executionId === null || note.type !== 'AgentStarted') return note;
    return withFields(note, { previous: { executionId, seq: last } });
  }

  #deliver({ note, seq, deliver }: StagedEvent): void {
    deliver();
    const follows = this.#notifiedSeq;
    this.#notifiedSeq = seq ?? follows;
    if (!this.#hasListeners) return;
    const { id: sessionId, owner } = this.execution.row;
    this.#listeners.notify({ sessionId, owner, seq, follows, event: eventOf(note) });
  }

  /** Schedules a write of the staged rows, unless a commit includes them first. */
  soon(): void {
    if (this.#isPlanned) return;
    this.#isPlanned = true;
    // a timer that finds nothing to do costs less than clearing it with every commit
    setTimeout(() => {
      this.#isPlanned = false;
      if (this.#batch.isEmpty && this.#closed.length === 0) return;
      this.commit().catch(() => {}); // the next commit reports the failure
    }, 0);
  }

  /** Closes the staged batch as a whole step. It is written soon, or with the next commit if that is earlier. */
  closeBatch(): void {
    this.#closed.push(this.#batch);
    this.#batch = new CommitBatch();
    this.soon();
  }

  /** Resolves when everything staged up to now is in the store. */
  commit(): Promise<void> {
    if (this.signals.failure) return Promise.reject(this.signals.failure);
    const batch = this.#batch;
    if (batch.written === null) {
      batch.written = this.#tail.then(() => this.#write(batch));
      this.#tail = batch.written.catch(() => {});
    }
    return batch.written;
  }

  /** Returns the name of the stored prompt and tools. They are written with the first commit that has a state. */
  async definition(): Promise<string | null> {
    const { definition } = this.execution;
    return (this.#definition ??= definition && (await this.requests.definition(definition)));
  }

  async #write(batch: CommitBatch): Promise<void> {
    const { signals } = this;
    if (signals.failure) throw signals.failure;
    const parts = this.#take(batch);
    this.#isWriting = true;
    try {
      await this.#writeParts(parts);
    } catch (error) {
      if (!isOfContent(error)) signals.fail(error);
      throw error;
    } finally {
      this.#isWriting = false;
    }
  }

  /** Removes and returns all batches up to this one, which may have been closed while it waited for its turn. */
  #take(batch: CommitBatch): readonly CommitBatch[] {
    const place = this.#closed.indexOf(batch);
    if (place !== -1) return this.#closed.splice(0, place + 1);
    this.#batch = new CommitBatch();
    // a command is done with the first state that has what it asked for
    if (batch.states.size === 0) [this.#batch.done, batch.done] = [batch.done, undefined];
    return [...this.#closed.splice(0), batch];
  }

  /**
   * Writes the batches together, or else one by one, so that a batch that cannot be written does not affect whole ones
   * before it.
   */
  async #writeParts(parts: readonly CommitBatch[]): Promise<void> {
    if (parts.length > 1)
      try {
        return await this.#writeTogether(parts);
      } catch (error) {
        this.#forgetRefused(error);
      }
    for (const [i, part] of parts.entries())
      try {
        await this.#writeTogether([part]);
      } catch (error) {
        this.#forgetRefused(error);
        this.#undo(parts.slice(i));
        throw error;
      }
  }

  async #writeTogether(parts: readonly CommitBatch[]): Promise<void> {
    const written = parts.filter((part) => part.hasRows);
    if (written.length > 0) await this.#store(written);
    for (const { events } of parts) for (const staged of events) this.#deliver(staged);
  }

  async #store(parts: readonly CommitBatch[]): Promise<void> {
    const { rows, signals } = this;
    const { stay } = this.execution;
    const commit = await commitOf(parts, this, this.#revision).catch((error: unknown) => {
      // caused by the content: another try would fail the same way
      throw AgentError.is(error, 'state_too_large') ? error : notWritable(error);
    });
    const isCleared = stay?.isAlone === true && parts.some(({ hasWholeStep }) => hasWholeStep);
    if (isCleared) commit.endsQuarantine = true;
    if (commit.done !== undefined || commit.end !== undefined)
      commit.at = isoTime(this.#clock.now());
    if (commit.end !== undefined) {
      signals.isEnding = true;
      const run = await runRow(parts, this, commit.at ?? '');
      if (run) commit.run = run;
    }
    const receipt = await this.#sent(commit);
    this.#revision += 1;
    this.receipt = receipt;
    rows.stored(commit.blobs ?? []);
    for (const part of parts) part.keep();
    if (isCleared) stay.share();
    if (receipt.stopReason !== null || receipt.pauseReason !== null) signals.signalled(receipt);
  }

  /** Sends a commit, and retries if the store fails temporarily. A commit that is sent twice is written once. */
  async #sent(commit: Commit): Promise<CommitReceipt> {
    for (const waitMs of RETRY_WAITS_MS)
      try {
        return await this.store.commit(commit);
      } catch (error) {
        if (isRefusedValue(error)) throw notWritable(error);
        if (AgentError.is(error) && error.code !== 'store_failed') throw error;
        await new Promise((resolve) => setTimeout(resolve, waitMs));
        if (this.signals.failure) throw this.signals.failure;
      }
    return this.store.commit(commit);
  }

  /**
   * Resets the run to what is stored, after a row could not be written. Start events are still emitted; results are
   * not, because they were not stored.
   */
  #undo(parts: readonly CommitBatch[]): void {
    const staged = parts.flatMap(({ events }) => events);
    for (const part of parts) part.discard();
    const next = this.#batch;
    const began = staged
      .filter(({ note }) => BEGINNINGS.has(note.type))
      .map((event) => (this.hasUnwritable ? { ...event, note: withoutArgs(event.note) } : event));
    this.#seq -= [...staged, ...next.events].filter(({ seq }) => seq !== null).length;
    next.events = [...began, ...next.events].map((event) =>
      event.seq === null ? event : { ...event, seq: ++this.#seq },
    );
    for (const { done } of parts) next.done ??= done;
  }

  /** Drops the large values of a refused commit: nothing of it was written. */
  #forgetRefused(error: unknown): void {
    if (!isOfContent(error)) throw error;
    this.hasUnwritable ||= error.code !== 'state_too_large';
    this.rows.takeBlobs();
    this.requests.forget();
    if (this.execution.definition !== null) this.#definition = null;
  }
}
