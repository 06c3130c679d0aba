import type { AgentState } from '../agent/agent-state.ts';
import { standInFor, type DurableAgent } from '../agent/durable-agent.ts';
import { StopSignal } from '../agent/run.ts';
import { isoTime } from '../clock.ts';
import { AgentError } from '../errors/agent-error.ts';
import { AgentJournal, type JournalSignals } from './agent-journal.ts';
import { ExecutionWriter } from './execution-writer.ts';
import type { Lease } from './lease.ts';
import { loadSession, type LoadedSession } from './load-state.ts';
import { lostStreams, type LostStreams } from './lost-streams.ts';
import type { Stay } from './quarantine.ts';
import { RowReader } from './row-reader.ts';
import { RowWriter } from './row-writer.ts';
import type { SessionPhase, SessionRow } from './session-rows.ts';
import { titleOf } from './session-title.ts';
import {
  answersTo,
  askedBy,
  askedIn,
  grantOf,
  hasWork,
  taskOf,
  type Task,
} from './session-task.ts';
import type { WorkerContext } from './session-worker.ts';
import { stopNote } from './stop-note.ts';

/** One run or resume of a session under a lease, or its end where a stop was requested. */
export class LeasedRun {
  readonly #context: WorkerContext;
  readonly #agent: DurableAgent;
  readonly #row: SessionRow;
  readonly #stay: Stay;
  readonly #abort: AbortController = new AbortController();
  readonly #signals: JournalSignals;
  readonly #release: () => void;
  /** Null where the agent is not here: then the session can be stopped, and nothing else. */
  readonly #known: DurableAgent | null;
  #stopReason: string | null = null;
  #writer: ExecutionWriter | null = null;
  #lost: unknown = null;

  constructor(context: WorkerContext, row: SessionRow, lease: Lease, stay: Stay) {
    this.#context = context;
    this.#known = context.agentNamed(row.agent) ?? null;
    this.#agent = this.#known ?? standInFor(row.agent, context.clock);
    this.#row = row;
    this.#stay = stay;
    this.#signals = {
      pauseReason: null,
      isHandedOver: () => context.isDraining() || stay.mustLeave,
      confirm: () => context.keeper.confirm(lease),
      isLeaseValid: () => lease.isLeaseValid,
    };
    this.#signalled(row);
    this.#release = lease.listen({
      signalled: (signal) => this.#signalled(signal),
      lost: (error) => this.#lose(error),
    });
  }

  async work(): Promise<SessionPhase | null> {
    try {
      const { loaded, task, journal } = await this.#prepared();
      if (this.#isToEnd) await this.#end(task, loaded, journal);
      else await this.#perform(task, loaded, journal);
      return this.#writer?.receipt?.phase ?? null;
    } finally {
      this.#release();
    }
  }

  /** Stores a message whose work cannot begin, so that the log has it. */
  async begin(): Promise<void> {
    try {
      const { loaded, task, journal } = await this.#prepared();
      if (task.kind !== 'run') return;
      const { executionId } = task;
      await journal.begin(this.#agent.open(askedIn(loaded, task), { journal, executionId }));
    } finally {
      this.#release();
    }
  }

  async #prepared(): Promise<Prepared> {
    const { store, window } = this.#context;
    const row = this.#row;
    const command = await store.nextCommand(row.id);
    const reader = new RowReader(store, row);
    const wholeExecution = command?.kind === 'resume';
    const loaded = await loadSession(reader, row, { ...window, wholeExecution });
    const task = await taskOf(this.#context, { row, reader, state: loaded.state, command });
    // a run that was neither paused nor ended was left by a worker that is gone
    const isLeft = task.kind === 'resume' && loaded.state.status === 'in_progress';
    const at = isoTime(this.#context.clock.now());
    const lost = isLeft ? await lostStreams(reader, row, at) : null;
    return { loaded, task, journal: this.#open(loaded, task, lost) };
  }

  get #isToEnd(): boolean {
    return this.#stopReason !== null || this.#row.closeReason !== null;
  }

  #open(loaded: LoadedSession, task: Task, lost: LostStreams | null): AgentJournal {
    const { head, frame, nestedFrames, lostCalls } = loaded;
    const { store, clock } = this.#context;
    const row = this.#row;
    const isNew = task.kind === 'run';
    const writer = new ExecutionWriter({
      store,
      rows: new RowWriter(store, head.salt),
      sessionId: row.id,
      executionId: task.executionId,
      token: row.token,
      revision: row.revision,
      seq: isNew ? 0 : row.seq,
      previous:
        isNew && row.executionId !== null
          ? { executionId: row.executionId, seq: row.seq }
          : undefined,
      salt: head.salt,
      definition: JSON.stringify(this.#agent.definition),
      title: head.title ?? this.#titleOf(loaded, task),
      now: () => isoTime(clock.now()),
      onEvent: (event, seq, follows) =>
        this.#context.onEvent({ sessionId: row.id, owner: row.owner, seq, follows, event }),
      hasListeners: () => this.#context.hasListeners(row.id),
      failed: (error) => this.#lose(error),
      signalled: (receipt) => this.#signalled(receipt),
      hidesText: this.#known === null,
      ...(this.#stay.isAlone && { quarantineEnded: () => this.#stay.share() }),
    });
    for (const id of lostCalls) writer.lostCalls.add(id);
    for (const [id, nested] of nestedFrames) writer.nestedFrames.set(id, nested);
    if (task.done !== undefined) writer.batch.done = task.done;
    // what the model was told stays as it was
    if (this.#known === null) writer.definition = head.definition;
    writer.lost = lost;
    for (const note of lost?.notes ?? []) writer.publish(note, () => {});
    this.#writer = writer;
    if (this.#lost) this.#lose(this.#lost);
    return new AgentJournal(writer, frame, this.#signals);
  }

  /** Of a session that has none yet; what is said later is no title of one whose beginning is out of sight. */
  #titleOf({ state, frame }: LoadedSession, task: Task): string | undefined {
    if (frame.placement.messages > 0) return undefined;
    const asked = task.kind === 'run' ? [task.message] : [];
    return titleOf([...state.messages, ...asked], this.#agent.redactor);
  }

  async #perform(task: Task, loaded: LoadedSession, journal: AgentJournal): Promise<void> {
    const { state } = loaded;
    const answers = answersTo(loaded);
    const isResumed = task.kind === 'resume' && hasWork(state, answers, task);
    if (task.kind !== 'run' && !isResumed) return journal.end(state);
    const deps = await this.#deps();
    if (deps === null) return this.#end(task, loaded, journal);
    const options = { journal, deps, signal: this.#abort.signal };
    const { executionId } = task;
    try {
      if (task.kind === 'run')
        await this.#agent.run(askedIn(loaded, task), { ...options, executionId });
      else
        await this.#agent.resume(state, {
          ...options,
          ...(state.unfinishedStep && { answers }),
          ...grantOf(task.order),
        });
    } catch (error) {
      const left = journal.saved ?? state;
      if (journal.failure || !AgentError.is(error) || left.status === 'in_progress') throw error;
      // the agent refuses: what was asked is dropped, the session stays as it was
      await journal.end(left);
      this.#context.failed(error, this.#row.id);
    }
  }

  /** Null where a stop came before they were there. */
  async #deps(): Promise<Record<string, unknown> | null> {
    const { signal } = this.#abort;
    let unlink = (): void => {};
    const aborted = new Promise<null>((resolve) => {
      const wake = (): void => resolve(null);
      if (signal.aborted) return wake();
      signal.addEventListener('abort', wake, { once: true });
      unlink = () => signal.removeEventListener('abort', wake);
    });
    const deps = await Promise.race([this.#context.depsFor(this.#row), aborted]).finally(unlink);
    if (this.#lost) throw this.#lost;
    return this.#isToEnd ? null : deps;
  }

  /** Needs neither live things nor hooks, and where it must be, not even the agent. */
  async #end(task: Task, loaded: LoadedSession, journal: AgentJournal): Promise<void> {
    const { closeReason } = this.#row;
    const asked = { journal, ...askedBy(closeReason ?? this.#stopReason ?? '') };
    const endedBy = (agent: DurableAgent): AgentState =>
      task.kind === 'run'
        ? agent.stop(
            agent.open(askedIn(loaded, task), { journal, executionId: task.executionId }),
            asked,
          )
        : agent.stop(loaded.state, asked);
    let ended: AgentState;
    try {
      ended = endedBy(this.#agent);
    } catch {
      ended = endedBy(standInFor(loaded.state.agentName ?? this.#row.agent, this.#context.clock));
    }
    await journal.end(ended);
  }

  #signalled({ stopReason, pauseReason }: Pick<SessionRow, 'stopReason' | 'pauseReason'>): void {
    this.#signals.pauseReason = pauseReason;
    this.#stopReason ??= stopReason;
    if (stopReason !== null && !this.#abort.signal.aborted)
      this.#abort.abort(new StopSignal(stopNote(stopReason)));
  }

  /** Another worker has the session now: end the work, write nothing. */
  #lose(error: unknown): void {
    this.#lost = error;
    const writer = this.#writer;
    if (writer && !writer.hasEnded) writer.failure ??= error;
    if (!this.#abort.signal.aborted) this.#abort.abort('the session was taken over');
  }
}

interface Prepared {
  readonly loaded: LoadedSession;
  readonly task: Task;
  readonly journal: AgentJournal;
}
