import { AgentError } from '../errors/agent-error.ts';
import { isNumbered, type AgentEvent, type AgentEventType } from '../events/agent-event.ts';
import { eventOf, type EventNote } from '../events/event-outlet.ts';
import { CommitBatch, type AgentFrame, type StagedEvent } from './commit-batch.ts';
import { commitOf, joined, type CommitDraft } from './commit-rows.ts';
import type { LogPosition } from './feed/live-source.ts';
import { afterExecution, withoutArgs, withoutText } from './logged-notes.ts';
import type { LostStreams } from './lost-streams.ts';
import type { RowWriter } from './row-writer.ts';
import { isOfContent, notWritable } from './session-errors.ts';
import type { CommitReceipt, SessionStore } from './session-store.ts';
import { isRefusedValue } from './stores/store-errors.ts';

/** Waits between tries at a store that fails for a moment. */
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

export interface ExecutionWriterOptions {
  readonly store: SessionStore;
  readonly rows: RowWriter;
  readonly sessionId: string;
  readonly executionId: string;
  readonly token: number;
  readonly revision: number;
  /** Last sequence number of this execution's log. */
  readonly seq: number;
  /** Of a new execution: where the log of the one before ended. */
  readonly previous?: LogPosition | undefined;
  readonly salt: string;
  readonly definition: string;
  readonly title?: string | undefined;
  now(): string;
  /** Hears of every event after it was written down. */
  onEvent(event: AgentEvent, seq: number | null, follows: number): void;
  /** Whether anybody hears the events of this session. */
  hasListeners(): boolean;
  /** The work must end at once: nothing more can be written. */
  failed(error: unknown): void;
  signalled(receipt: CommitReceipt): void;
  /** Whether the last text of the model stays out of the log: its agent's redactor is not known here. */
  readonly hidesText?: boolean;
  /** Given where the session runs alone: a step that was begun and done so is written down. */
  quarantineEnded?(): void;
}

/**
 * Writes one execution down, in order: what is staged in the same moment goes into one commit, and listeners hear of
 * an event only when it is in the log.
 */
export class ExecutionWriter {
  readonly options: ExecutionWriterOptions;
  failure: unknown = null;
  receipt: CommitReceipt | null = null;
  /** Something could not be written whatever its size. */
  hasUnwritable = false;
  /** The last commit is on its way: the lease may be given back from now on. */
  hasEnded = false;
  seq: number;
  #notifiedSeq: number;
  /** Calls that another process has started and whose end is unknown. */
  readonly lostCalls: Set<string> = new Set();
  /** What an earlier worker of this execution may have streamed. */
  lost: LostStreams | null = null;
  readonly nestedFrames: Map<string, AgentFrame> = new Map();
  #revision: number;
  #batch: CommitBatch = new CommitBatch();
  /** Whole steps that are written together with what follows, unless that is too large. */
  #sealed: CommitBatch[] = [];
  #tail: Promise<void> = Promise.resolve();
  #isWriting = false;
  #timer: ReturnType<typeof setTimeout> | null = null;
  #definitionKept: Promise<string> | null = null;
  /** The name under which prompt and tools are kept, as soon as it is known. */
  definition: string | null = null;

  constructor(options: ExecutionWriterOptions) {
    this.options = options;
    this.#revision = options.revision;
    this.seq = options.seq;
    this.#notifiedSeq = options.seq;
  }

  get batch(): CommitBatch {
    return this.#batch;
  }

  wants(type: AgentEventType): boolean {
    return isNumbered(type) || this.options.hasListeners();
  }

  publish(given: EventNote, tell: () => void): void {
    if (this.failure) return;
    const shown = this.options.hidesText ? withoutText(given) : given;
    const seq = isNumbered(shown.type) ? ++this.seq : null;
    const { previous } = this.options;
    const note = seq === 1 && previous ? afterExecution(shown, previous) : shown;
    if (seq === null && !this.#isWriting && this.#hasNoEvents)
      return this.#tell({ note, seq, tell });
    this.#batch.events.push({ note, seq, tell });
    this.soon();
  }

  get #hasNoEvents(): boolean {
    return this.#batch.events.length === 0 && this.#sealed.length === 0;
  }

  #tell({ note, seq, tell }: StagedEvent): void {
    tell();
    const follows = this.#notifiedSeq;
    this.#notifiedSeq = seq ?? follows;
    if (this.options.hasListeners()) this.options.onEvent(eventOf(note), seq, follows);
  }

  /** Writes what is staged shortly, unless a commit takes it along before. */
  soon(): void {
    // one that finds nothing to do costs less than to stop it with every commit
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      if (this.#batch.isEmpty && this.#sealed.length === 0) return;
      this.commit().catch(() => {}); // the next commit reports it
    }, 0);
  }

  /** What is staged is whole; it is written shortly, or with the next commit if that comes before. */
  seal(): void {
    this.#sealed.push(this.#batch);
    this.#batch = new CommitBatch();
    this.soon();
  }

  /** Resolves when everything staged up to now is in the store. */
  commit(): Promise<void> {
    if (this.failure) return Promise.reject(this.failure);
    const batch = this.#batch;
    if (batch.written === null) {
      batch.written = this.#tail.then(() => this.#write(batch));
      this.#tail = batch.written.catch(() => {});
    }
    return batch.written;
  }

  /** Prompt and tools go with the first commit that has a state. */
  keepDefinition(): Promise<string> {
    const { rows, definition } = this.options;
    return (this.#definitionKept ??= rows
      .keep(definition, '')
      .then((name) => (this.definition = name)));
  }

  async #write(batch: CommitBatch): Promise<void> {
    if (this.failure) throw this.failure;
    const parts = this.#take(batch);
    this.#isWriting = true;
    try {
      await this.#writeParts(parts);
    } catch (error) {
      if (!isOfContent(error)) this.fail(error);
      throw error;
    } finally {
      this.#isWriting = false;
    }
  }

  /** Everything up to this batch. While its turn had not come, it may have been sealed, and another one begun. */
  #take(batch: CommitBatch): readonly CommitBatch[] {
    const place = this.#sealed.indexOf(batch);
    if (place !== -1) return this.#sealed.splice(0, place + 1);
    this.#batch = new CommitBatch();
    return [...this.#sealed.splice(0), batch];
  }

  /** Together, else one by one: what cannot be written must not take along what was whole before it. */
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
    await this.#store(parts);
    for (const { events } of parts) for (const staged of events) this.#tell(staged);
  }

  async #store(parts: readonly CommitBatch[]): Promise<void> {
    const written = parts.filter((part) => part.hasRows);
    if (written.length === 0) return;
    const { rows, store, quarantineEnded } = this.options;
    const commit = await this.#draft(written);
    const isCleared = quarantineEnded && written.some(({ hasWholeStep }) => hasWholeStep);
    if (isCleared) commit.endsQuarantine = true;
    if (commit.end !== undefined) this.hasEnded = true;
    const blobs = rows.takeBlobs();
    const isSeen = commit.done !== undefined || commit.end !== undefined;
    commit.revision = this.#revision;
    commit.blobs = blobs;
    if (isSeen) commit.at = this.options.now();
    const receipt = await this.#tried(() => store.commit(commit));
    this.#revision += 1;
    rows.stored(blobs);
    for (const { states } of written)
      for (const [frame, staged] of states) {
        const { state } = staged;
        const { messages, steps } = frame.placement;
        frame.saved = staged;
        frame.stored = {
          messages: state.messages.length + messages,
          steps: state.steps.length + steps,
        };
      }
    this.receipt = receipt;
    if (isCleared) quarantineEnded();
    if (receipt.stopReason !== null || receipt.pauseReason !== null)
      this.options.signalled(receipt);
  }

  /** What is thrown here is about what was to be written: the next try would come to the same. */
  async #draft(parts: readonly CommitBatch[]): Promise<CommitDraft> {
    try {
      const drafts: CommitDraft[] = [];
      for (const [i, part] of parts.entries())
        drafts.push(await commitOf(part, this, parts.slice(i + 1)));
      return joined(drafts);
    } catch (error) {
      throw AgentError.is(error, 'state_too_large') ? error : notWritable(error);
    }
  }

  /** A commit that is sent again is written once, so a store that fails for a moment is asked again. */
  async #tried<T>(work: () => Promise<T>): Promise<T> {
    for (const waitMs of RETRY_WAITS_MS)
      try {
        return await work();
      } catch (error) {
        if (isRefusedValue(error)) throw notWritable(error);
        if (AgentError.is(error) && error.code !== 'store_failed') throw error;
        await new Promise((resolve) => setTimeout(resolve, waitMs));
        if (this.failure) throw this.failure;
      }
    return work();
  }

  /**
   * A row cannot be written: nothing was, and the run goes back to what is written down. What began is still told; what
   * became of it is not, for it has not happened.
   */
  #undo(parts: readonly CommitBatch[]): void {
    const staged = parts.flatMap(({ events }) => events);
    for (const { states } of parts)
      for (const frame of states.keys()) Object.assign(frame, frame.stored);
    const next = this.#batch;
    const began = staged
      .filter(({ note }) => BEGINNINGS.has(note.type))
      .map((event) => (this.hasUnwritable ? { ...event, note: withoutArgs(event.note) } : event));
    this.seq -= [...staged, ...next.events].filter(({ seq }) => seq !== null).length;
    next.events = [...began, ...next.events].map((event) =>
      event.seq === null ? event : { ...event, seq: ++this.seq },
    );
    for (const { done } of parts) next.done ??= done;
  }

  /** Nothing of the commit was written, its large values neither. */
  #forgetRefused(error: unknown): void {
    if (!isOfContent(error)) throw error;
    this.hasUnwritable ||= error.code !== 'state_too_large';
    this.options.rows.takeBlobs();
    this.definition = null;
    this.#definitionKept = null;
  }

  /** Nothing more is written, and the work ends. */
  fail(error: unknown): void {
    this.failure ??= error;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.options.failed(error);
  }
}
