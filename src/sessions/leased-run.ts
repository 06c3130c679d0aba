import type { AgentState } from '../agent/agent-state.ts';
import { placeholderFor, type DurableAgent } from '../agent/durable-agent.ts';
import { isoTime } from '../clock.ts';
import { AgentError } from '../errors/agent-error.ts';
import { AgentJournal } from './agent-journal.ts';
import { ExecutionWriter } from './execution-writer.ts';
import type { Lease } from './lease.ts';
import { loadSession, type LoadedSession } from './load-session.ts';
import { findLostStreams } from './lost-streams.ts';
import type { Stay } from './quarantine.ts';
import { RowReader } from './row-reader.ts';
import { RunSignals } from './run-signals.ts';
import type { SessionPhase, SessionRow } from './session-rows.ts';
import { titleOf } from './session-title.ts';
import {
  answersTo,
  askedBy,
  askedIn,
  grantOf,
  hasWork,
  revokedBy,
  inputsTo,
  taskOf,
  type Task,
} from './session-task.ts';
import type { SessionWorker } from './session-worker.ts';

/** One run or resume of a session under a lease, or its end where a stop was requested. */
export class LeasedRun {
  readonly #worker: SessionWorker;
  readonly #row: SessionRow;
  readonly #lease: Lease;
  readonly #stay: Stay;
  readonly #signals: RunSignals = new RunSignals();
  readonly #unlisten: () => void;
  /** Null where the agent is not here: then the session can be stopped, and nothing else. */
  readonly #known: DurableAgent | null;
  readonly #agent: DurableAgent;

  constructor(worker: SessionWorker, row: SessionRow, lease: Lease, stay: Stay) {
    const { lookup } = worker;
    this.#worker = worker;
    this.#row = row;
    this.#lease = lease;
    this.#stay = stay;
    this.#known = lookup.agentNamed(row.agent) ?? null;
    this.#agent = this.#known ?? placeholderFor(row.agent, lookup.clock);
    this.#signals.signalled(row);
    if (worker.isHandingOver) this.#signals.handOver();
    this.#unlisten = lease.listen(this.#signals);
  }

  /** The phase that it leaves the session in; null where it has written nothing. */
  async work(): Promise<SessionPhase | null> {
    try {
      const run = await this.#prepared();
      if (this.#isToEnd) await this.#end(run);
      else await this.#perform(run);
      return run.writer.receipt?.phase ?? null;
    } finally {
      this.#unlisten();
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
      this.#unlisten();
    }
  }

  get #isToEnd(): boolean {
    return this.#signals.stopReason !== null || this.#row.closeReason !== null;
  }

  async #prepared(): Promise<Prepared> {
    const worker = this.#worker;
    const { store, window, clock } = worker.lookup;
    const row = this.#row;
    const command = await store.nextCommand(row.id);
    const reader = new RowReader(store, row);
    const wholeExecution = command?.kind === 'resume';
    const compacts = this.#agent.compacts;
    const found = await loadSession(reader, row, { ...window, compacts, wholeExecution });
    const { frame } = found;
    const at = isoTime(clock.now());
    const task = await taskOf({ row, reader, state: found.state, command, at });
    const { revoked = [] } = task;
    const state = revoked.reduce((left, id) => left.withoutApprovalRule(id), found.state);
    const loaded = { ...found, state };
    // a run that was neither paused nor ended was left by a worker that is gone
    const isLeft = task.kind === 'resume' && state.status === 'in_progress';
    const lostStreams = isLeft ? await findLostStreams(reader, row, at) : null;
    const writer = this.#writerFor(loaded, task);
    writer.hasCompactions = [frame, ...found.nestedFrames.values()].some(
      ({ compactions }) => compactions > 0,
    );
    for (const note of lostStreams?.notes ?? []) writer.publish(note, () => {});
    const isHandedOver = (): boolean => worker.isDraining || this.#stay.mustLeave;
    const isRevoking = async (): Promise<boolean> => (await revokedBy(reader, row.id)) !== null;
    const run = {
      writer,
      reader,
      lease: this.#lease,
      left: loaded,
      lostStreams,
      isHandedOver,
      isRevoking,
    };
    return { loaded, task, writer, journal: new AgentJournal(run, frame) };
  }

  #writerFor(loaded: LoadedSession, task: Task): ExecutionWriter {
    const { salt, title, origin } = loaded.head;
    const writer = new ExecutionWriter(this.#worker, this.#signals, {
      row: this.#row,
      executionId: task.executionId,
      isNew: task.kind === 'run',
      salt,
      title: title ?? this.#titleOf(loaded, task),
      ...(this.#known && { model: this.#known.model }),
      origin,
      // without the agent, the prompt and tools that the model got stay as they were
      definition: this.#known === null ? null : this.#agent.definition,
      named: loaded.head,
      hidesText: this.#known === null,
      stay: this.#stay,
    });
    writer.batch.done = task.done;
    return writer;
  }

  /** Of a session that has none yet; what is said later is no title of one whose beginning is out of sight. */
  #titleOf({ state, frame }: LoadedSession, task: Task): string | undefined {
    if (frame.placement.messages > 0) return undefined;
    const asked = task.kind === 'run' ? [task.message] : [];
    return titleOf([...state.messages, ...asked], this.#agent.redactor);
  }

  async #perform(run: Prepared): Promise<void> {
    const { loaded, task, journal } = run;
    const { state } = loaded;
    const answers = answersTo(loaded);
    const givenInputs = inputsTo(loaded);
    const isResumed =
      task.kind === 'resume' && hasWork(state, answers.size + givenInputs.size, task);
    if (task.kind !== 'run' && !isResumed) return journal.end(state);
    const deps = await this.#deps();
    if (deps === null) return this.#isToEnd ? this.#end(run) : undefined;
    const { owner } = this.#row;
    const { executionId, traceparent } = task;
    const answeredIn = [...answers.values(), ...givenInputs.values()].flatMap((answer) =>
      answer.traceparent === undefined ? [] : [answer.traceparent],
    );
    const origin = {
      sessionId: this.#row.id,
      ...(traceparent !== undefined && { traceparent }),
      ...(answeredIn.length > 0 && { answeredIn }),
    };
    const options = { journal, deps, owner, origin, signal: this.#signals.abortSignal };
    try {
      if (task.kind === 'run')
        await this.#agent.run(askedIn(loaded, task), { ...options, executionId });
      else
        await this.#agent.resume(state, {
          ...options,
          ...(state.unfinishedStep && { answers, givenInputs }),
          ...grantOf(task.order),
        });
    } catch (error) {
      const left = journal.saved ?? state;
      if (journal.failure || !AgentError.is(error) || left.status === 'in_progress') throw error;
      // the agent refuses: what was asked is dropped, the session stays as it was
      await journal.end(left);
      this.#worker.failed(error, this.#row.id);
    }
  }

  /** Null where a stop or a handover came before they were there. */
  async #deps(): Promise<Record<string, unknown> | null> {
    const { abortSignal } = this.#signals;
    const aborted = new Promise<null>((resolve) => {
      if (abortSignal.aborted) resolve(null);
      else abortSignal.addEventListener('abort', () => resolve(null), { once: true });
    });
    const deps = await Promise.race([this.#worker.depsFor(this.#row), aborted]);
    if (this.#signals.failure) throw this.#signals.failure;
    return this.#isToEnd ? null : deps;
  }

  /** Needs neither dependencies nor hooks, and where it must be, not even the agent. */
  async #end({ loaded, task, journal }: Prepared): Promise<void> {
    const { closeReason } = this.#row;
    const reason = askedBy(closeReason ?? this.#signals.stopReason ?? '');
    const asked = { journal, origin: { sessionId: this.#row.id }, ...reason };
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
      ended = endedBy(
        placeholderFor(loaded.state.agentName ?? this.#row.agent, this.#worker.lookup.clock),
      );
    }
    await journal.end(ended);
  }
}

interface Prepared {
  readonly loaded: LoadedSession;
  readonly task: Task;
  readonly writer: ExecutionWriter;
  readonly journal: AgentJournal;
}
