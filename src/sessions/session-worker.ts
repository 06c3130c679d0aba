import { AgentState } from '../agent/agent-state.ts';
import { isOpen } from '../agent/agent-status.ts';
import type { Answers } from '../agent/approval-answer.ts';
import type { DurableAgent } from '../agent/durable-agent.ts';
import type { StopOptions } from '../agent/enter-run.ts';
import { StopSignal, type DurableOptions } from '../agent/run.ts';
import { isoTime, type Clock } from '../clock.ts';
import { AgentError } from '../errors/agent-error.ts';
import type { AgentEvent } from '../events/agent-event.ts';
import type { MessageInput } from '../messages/message.ts';
import { AgentJournal, type JournalSignals } from './agent-journal.ts';
import { ExecutionWriter } from './execution-writer.ts';
import { grantWithin, type GrantOrder } from './grant-order.ts';
import type { Lease } from './lease.ts';
import type { LeaseKeeper } from './lease-keeper.ts';
import { loadSession, type HistoryWindow, type LoadedSession } from './load-state.ts';
import { hasLog } from './log-events.ts';
import { RowReader } from './row-reader.ts';
import { RowWriter } from './row-writer.ts';
import type { CommandRow, SessionPhase, SessionRow } from './session-rows.ts';
import type { SessionStore } from './session-store.ts';
import { titleOf } from './session-title.ts';
import { stopNote } from './stop-note.ts';

export interface SessionEvent {
  readonly sessionId: string;
  readonly owner: string;
  /** Place in the log of the execution; null for chunks and deltas, which are not kept. */
  readonly seq: number | null;
  readonly event: AgentEvent;
}

export interface WorkerContext {
  readonly store: SessionStore;
  readonly worker: string;
  readonly keeper: LeaseKeeper;
  readonly window: HistoryWindow;
  readonly clock: Clock;
  agentNamed(name: string): DurableAgent | undefined;
  depsFor(row: SessionRow): Promise<Record<string, unknown>>;
  isDraining(): boolean;
  told(event: SessionEvent): void;
  isHeard(sessionId: string): boolean;
}

/** What a session may be asked to do. */
export type CommandBody =
  | { readonly message: MessageInput }
  | { readonly grant: null }
  /** Earlier releases wrote the grant alone. */
  | (Pick<GrantOrder, 'grant'> & Partial<GrantOrder>);

/** Works on a session as long as there is something to do and the lease is ours. */
export async function workOn(context: WorkerContext, sessionId: string): Promise<void> {
  const { store, worker, keeper } = context;
  const found = await store.find(sessionId);
  const agent = found && context.agentNamed(found.agent);
  if (found?.phase !== 'open' || !agent || context.isDraining()) return;
  const lease = await keeper.claim(sessionId, { alone: true });
  if (!lease) return;
  let row: SessionRow | null = lease.row;
  try {
    while (row?.token === lease.token && row.worker === worker) {
      const phase: SessionPhase | null = await new Stretch(context, agent, row, lease).work();
      if (phase !== 'open') return;
      if (context.isDraining()) break;
      row = await store.find(sessionId);
    }
  } catch (error) {
    if (!isTakenOver(error)) await keeper.giveBack(lease);
    throw error;
  } finally {
    keeper.drop(lease);
  }
  await keeper.giveBack(lease);
}

/** One run or resume of a session under a lease. */
class Stretch {
  readonly #context: WorkerContext;
  readonly #agent: DurableAgent;
  readonly #row: SessionRow;
  readonly #abort: AbortController = new AbortController();
  readonly #signals: JournalSignals;
  readonly #release: () => void;
  #writer: ExecutionWriter | null = null;
  #lost: unknown = null;

  constructor(context: WorkerContext, agent: DurableAgent, row: SessionRow, lease: Lease) {
    this.#context = context;
    this.#agent = agent;
    this.#row = row;
    this.#signals = {
      pauseReason: null,
      isHandedOver: () => context.isDraining(),
      confirm: () => context.keeper.confirm(lease),
      isSure: () => lease.isSure,
    };
    this.#signalled(row);
    this.#release = lease.listen({
      signalled: (signal) => this.#signalled(signal),
      lost: (error) => this.#lose(error),
    });
  }

  async work(): Promise<SessionPhase | null> {
    const { store, window } = this.#context;
    const row = this.#row;
    try {
      const command = await store.nextCommand(row.id);
      const reader = new RowReader(store, row);
      const wholeExecution = command?.kind === 'resume';
      const loaded = await loadSession(reader, row, { ...window, wholeExecution });
      const task = await this.#task(reader, loaded, command);
      const deps = await this.#context.depsFor(row);
      const journal = this.#open(loaded, task);
      await this.#perform(task, loaded, { journal, deps }).catch(async (error: unknown) => {
        if (this.#writer?.failure) throw error;
        // the agent refuses: what was asked is dropped, the session stays as it was
        await journal.end(journal.saved ?? loaded.state);
        throw error;
      });
      return this.#writer?.receipt?.phase ?? null;
    } finally {
      this.#release();
    }
  }

  /** What there is to do, by what the session was asked and how far it had come. */
  async #task(
    reader: RowReader,
    { state }: LoadedSession,
    command: CommandRow | null,
  ): Promise<Task> {
    const body = command ? (await reader.values<CommandBody>([command]))[0] : undefined;
    const isFork = state.pause?.kind === 'fork';
    if (command && body && 'message' in body && (isFork || !isOpen(state.status)))
      return (await this.#hasRun(command.executionId, state))
        ? { kind: 'none', executionId: state.execution.id, done: command.number }
        : { kind: 'run', message: body.message, ...idOf(command) };
    if (command && body && 'grant' in body) {
      const order = this.#orderOf(body, state);
      // others beside it have used up what owners may grant
      if (order === null && body.grant !== null && !isOpen(state.status))
        return { kind: 'none', executionId: state.execution.id, done: command.number };
      return { kind: 'resume', order, ...idOf(command) };
    }
    if (isOpen(state.status))
      return { kind: 'resume', order: null, executionId: state.execution.id };
    return { kind: 'none', executionId: state.execution.id };
  }

  /** The grant as far as it may still be given; null where that is nothing. */
  #orderOf(
    body: Exclude<CommandBody, { readonly message: MessageInput }>,
    { execution }: AgentState,
  ): GrantOrder | null {
    if (body.grant === null) return null;
    const at = isoTime(this.#context.clock.now());
    const order: GrantOrder = { by: null, at, authority: 'owner', ...body };
    const grant = grantWithin(order, execution);
    return grant && { ...order, grant };
  }

  /** A message that waited twice under one id is carried out once. */
  async #hasRun(executionId: string, state: AgentState): Promise<boolean> {
    if (executionId === state.execution.id) return true;
    return hasLog(this.#context.store, this.#row.id, executionId);
  }

  #open(loaded: LoadedSession, task: Task): AgentJournal {
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
      salt: head.salt,
      definition: JSON.stringify(this.#agent.definition),
      title: head.title ?? this.#titleOf(loaded, task),
      now: () => isoTime(clock.now()),
      told: (event, seq) => this.#context.told({ sessionId: row.id, owner: row.owner, seq, event }),
      isHeard: () => this.#context.isHeard(row.id),
      failed: (error) => this.#lose(error),
      signalled: (receipt) => this.#signalled(receipt),
    });
    for (const id of lostCalls) writer.lostCalls.add(id);
    for (const [id, nested] of nestedFrames) writer.nestedFrames.set(id, nested);
    if (task.done !== undefined) writer.batch.done = task.done;
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

  async #perform(
    task: Task,
    loaded: LoadedSession,
    given: { readonly journal: AgentJournal; readonly deps: Record<string, unknown> },
  ): Promise<void> {
    const { journal } = given;
    const { state } = loaded;
    const answers = answersTo(loaded);
    const options = { ...given, signal: this.#abort.signal };
    const { stopReason } = this.#row;
    const { executionId } = task;
    if (task.kind === 'run') {
      const asked = readyForMessage(state).withMessages(task.message);
      await this.#agent.run(asked, { ...options, executionId });
    } else if (stopReason !== null && isOpen(state.status))
      await journal.end(this.#agent.stop(state, { ...options, ...askedBy(stopReason) }));
    else if (task.kind === 'resume' && hasWork(state, answers, task))
      await this.#agent.resume(state, {
        ...options,
        ...(state.unfinishedStep && { answers }),
        ...grantOf(task.order),
      });
    else await journal.end(state);
  }

  #signalled({ stopReason, pauseReason }: Pick<SessionRow, 'stopReason' | 'pauseReason'>): void {
    this.#signals.pauseReason = pauseReason;
    if (stopReason !== null && !this.#abort.signal.aborted)
      this.#abort.abort(new StopSignal(stopNote(stopReason)));
  }

  /** Somebody else has the session now: end the work, write nothing. */
  #lose(error: unknown): void {
    this.#lost = error;
    const writer = this.#writer;
    if (writer && !writer.hasEnded) writer.failure ??= error;
    if (!this.#abort.signal.aborted) this.#abort.abort('the session was taken over');
  }
}

type Task = {
  readonly executionId: string;
  /** The command that it carries out. */
  readonly done?: number;
} & (
  | { readonly kind: 'run'; readonly message: MessageInput }
  | { readonly kind: 'resume'; readonly order: GrantOrder | null }
  | { readonly kind: 'none' }
);

function grantOf(order: GrantOrder | null): Partial<DurableOptions> {
  if (order === null) return {};
  const { grant, by, at, authority } = order;
  return { grant, granted: { at, authority }, ...(by !== null && { by }) };
}

function askedBy(text: string): Pick<StopOptions, 'reason' | 'by' | 'at'> {
  const { reason, by, at } = stopNote(text);
  return { reason, ...(by !== null && { by }), ...(at !== null && { at }) };
}

const idOf = ({ executionId, number }: CommandRow) => ({ executionId, done: number });

/** An agent behind a call may be answered before its root has paused: the root pauses first, and then goes on. */
const answersTo = ({ state, answers }: LoadedSession): Answers =>
  new Map(
    state.pendingApprovals.flatMap(({ callId }) => {
      const answer = answers.get(callId);
      return answer ? [[callId, answer]] : [];
    }),
  );

/** A pause without answers goes on waiting. */
const hasWork = (state: AgentState, answers: Answers, { done }: Task): boolean =>
  state.status !== 'paused' || done !== undefined || answers.size > 0;

/** A fork stands between two steps: a new message begins a new execution there. */
const readyForMessage = (state: AgentState): AgentState =>
  state.status === 'paused' ? state.with({ status: 'pending', pause: null }) : state;

/** Errors that say that the work goes on elsewhere. */
export const isTakenOver = (error: unknown): boolean => AgentError.is(error, 'stale_owner');
