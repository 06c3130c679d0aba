import { Cancellation, type CancelCause } from '../cancellation.ts';
import { isoTime, msOf, stretchTime, syncSystemClock, type Clock } from '../clock.ts';
import type { StopRequest } from '../continuation/run-view.ts';
import { DEFAULT_STOP, type StopReason } from '../continuation/stop-reason.ts';
import type { GrantRecord } from '../continuation/grant-allowance.ts';
import type { Grants } from '../continuation/grants.ts';
import type { ErrorRecord, ErrorReport } from '../errors/error-record.ts';
import { bothRedactors, type Redactor } from '../errors/redactor.ts';
import type { EventListener, FieldsOf, PendingApproval } from '../events/agent-event.ts';
import type { EventBus } from '../events/event-bus.ts';
import { RunEvents } from '../events/run-events.ts';
import { truncatedReasoning } from '../reasoning-text.ts';
import type { CallFrame } from '../tools/call-tool.ts';
import type { AgentDefinition } from './agent-options.ts';
import type { AgentState } from './agent-state.ts';
import type { AgentStatus } from './agent-status.ts';
import { noAnswers, readAnswers, type Answers, type Approvals } from './approval-answer.ts';
import type { FamilyAccount } from './family-account.ts';
import type { HookContext } from './hooks.ts';
import type { Journal } from './journal.ts';
import { offeredTools, type OfferedTools } from './offered-tools.ts';

/** Options of every way to run an agent. Without the names of its tools they fit every agent. */
export interface RunOptions<ToolName extends string = never> {
  readonly executionId?: string;
  readonly signal?: AbortSignal;
  /** Gets every event of this run, nested agents included. */
  readonly wiretap?: EventListener;
  /** The tools that the model is shown in this run. Default: all. A call of any other tool is not run. */
  readonly activeTools?: readonly ToolName[];
}

export interface ResumeOptions<ToolName extends string = never> extends RunOptions<ToolName> {
  readonly approvals?: Approvals;
  readonly grant?: Grants;
  /** Who gives the grant and the answers, for `execution.grantLog` and the results of those calls. */
  readonly by?: string;
}

/**
 * The options of a call, with `deps` exactly where the agent needs some. `deps` are dependencies of tools, hooks and
 * criteria, such as connections and clients; they are never stored.
 */
export type WithDeps<Options, Deps> = {} extends Deps
  ? [options?: Options & { readonly deps?: Deps }]
  : [options: Options & { readonly deps: Deps }];

/** What a session adds. */
export interface DurableOptions extends ResumeOptions<string> {
  readonly deps?: Readonly<Record<string, unknown>>;
  readonly journal?: Journal;
  /** Answers that were stored with who gave them; in place of `approvals`. */
  readonly answers?: Answers;
  /** Whose grant it is, and since when. Default: an operator's, now. */
  readonly granted?: Pick<GrantRecord, 'authority' | 'at'>;
}

/** One stretch of work on a state: what the loop needs besides the state itself. */
export class Run implements CallFrame {
  readonly agent: AgentDefinition;
  readonly parent: Run | null;
  readonly depth: number;
  readonly events: RunEvents;
  /** Of a nested agent: its own and its parent's, whose listeners hear it too. */
  readonly redactor: Redactor;
  readonly cancellation: Cancellation;
  readonly deps: Readonly<Record<string, unknown>>;
  readonly offered: OfferedTools;
  /** People's answers to calls that wait, by call id; bound to their calls before the run continues. */
  answers: Answers;
  /** Null unless a session keeps the run. */
  readonly journal: Journal | null;
  /** Call ids used in this execution. */
  usedIds: Set<string> = new Set();
  /** What the state was when the run took it up. */
  readonly previousStatus: AgentStatus;
  readonly previousStopReason: StopReason | null;
  /** How much of the conversation earlier runs have begun with. */
  readonly messagesBefore: number;
  state: AgentState;
  /** Milliseconds since the epoch, by the wall clock of the beginning: it follows no change of that clock. */
  now: () => number;
  stopRequest: StopRequest | null = null;
  pauseReason: string | null = null;
  /** A complete text of the model that is not emitted yet. */
  untold: FieldsOf<'MessageAdded'> | null = null;
  /** Approvals not requested yet: set by a pause, emitted at the end of the run. */
  newApprovals: readonly PendingApproval[] | null = null;
  /** Set once this agent has called another. */
  family: FamilyAccount | null = null;
  /** A nested agent has been let begin a model call that has not ended. */
  isAdmitted = false;
  /** The caller of `iterate` is gone: stop between steps, without an outcome. */
  handedOver = false;
  #dueAt: number = Number.POSITIVE_INFINITY;
  #timerDueAt: number = Number.POSITIVE_INFINITY;
  #stopTimer: (() => void) | null = null;
  #unlinkSignal: (() => void) | null = null;

  constructor(
    agent: AgentDefinition,
    bus: EventBus,
    state: AgentState,
    options: DurableOptions,
    parent: Run | null = null,
  ) {
    if (!parent) syncSystemClock();
    this.agent = agent;
    this.parent = parent;
    // first: the rest may ask for the time
    this.now = timeOf(agent, state, parent);
    this.depth = parent ? parent.depth + 1 : 0;
    this.state = state;
    this.previousStatus = state.status;
    this.previousStopReason = state.stopReason;
    this.messagesBefore = state.execution.id === '' ? 0 : state.execution.firstMessage + 1;
    this.deps = depsOf(agent, options.deps ?? parent?.deps ?? {});
    this.offered = offeredTools(agent, options.activeTools);
    this.answers = parent?.answers ?? options.answers ?? this.#answersIn(options);
    this.journal = options.journal ?? null;
    this.cancellation = parent?.cancellation ?? new Cancellation();
    this.redactor = parent ? bothRedactors(parent.redactor, agent.redactor) : agent.redactor;
    this.events = new RunEvents({
      bus,
      wiretap: options.wiretap,
      parent: parent?.events ?? null,
      now: () => this.now(),
      redactor: this.redactor,
      outlet: this.journal,
    });
    if (options.signal) this.#link(options.signal);
  }

  #answersIn({ approvals, by }: DurableOptions): Answers {
    if (approvals === undefined) return noAnswers;
    return readAnswers(approvals, { by: by ?? null, at: isoTime(this.now()) });
  }

  get clock(): Clock {
    return this.agent.clock;
  }

  requestStop(reason: string, toolName?: string): void {
    const at = isoTime(this.now());
    const named = toolName === undefined ? {} : { toolName };
    this.stopRequest ??= { by: 'tool', reason: this.redactor.text(reason), ...named, at };
  }
  requestPause(reason: string): void {
    this.pauseReason ??= this.redactor.text(reason);
  }

  record(report: ErrorReport): ErrorRecord {
    return {
      ...report,
      message: this.redactor.text(report.message),
      retryable: report.retryable ?? true,
      at: isoTime(this.now()),
    };
  }

  /** Told where the step is written down, in the same moment: a log has it once, whenever a process dies. */
  emitMessage(): void {
    const { untold, events } = this;
    if (untold === null) return;
    this.untold = null;
    const { reasoning } = untold;
    events.emit('MessageAdded', {
      ...untold,
      content: events.redacted(untold.content),
      // hidden before it is truncated: half a secret would not be recognized
      ...(reasoning !== undefined && { reasoning: truncatedReasoning(events.redacted(reasoning)) }),
    });
  }

  get hookContext(): HookContext<Readonly<Record<string, unknown>>> {
    const { cancellation, deps, state } = this;
    return {
      agentId: state.agentId,
      executionId: state.execution.id,
      deps,
      get signal() {
        return cancellation.signal;
      },
    };
  }

  /** Cuts hanging work when the first time limit is reached. A nested agent is bound by its root's deadline. */
  watchDeadline(now: number): void {
    if (this.parent) return;
    this.#dueAt = now + this.agent.criteria.remainingMs(this.state, now, this.deps);
    if (this.#dueAt < this.#timerDueAt) this.#arm(now);
  }

  /** Between steps a deadline cuts nothing: the criteria see it. */
  pauseDeadline(): void {
    this.#dueAt = Number.POSITIVE_INFINITY;
  }

  dispose(): void {
    this.#stopTimer?.();
    this.#unlinkSignal?.();
  }

  /** One timer per run: when it fires early for a deadline that has moved, it is set anew. */
  #arm(now: number): void {
    this.#stopTimer?.();
    if (this.#dueAt <= now)
      return this.cancellation.cancel({ by: 'deadline', reason: 'The time limit was reached.' });
    this.#timerDueAt = this.#dueAt;
    this.#stopTimer = this.agent.clock.after(this.#dueAt - now, () => {
      this.#stopTimer = null;
      this.#timerDueAt = Number.POSITIVE_INFINITY;
      if (Number.isFinite(this.#dueAt)) this.#arm(this.now());
    });
  }

  #link(signal: AbortSignal): void {
    const cancel = (): void => {
      this.cancellation.cancel(causeOf(signal, this.redactor, isoTime(this.now())));
    };
    if (signal.aborted) return cancel();
    signal.addEventListener('abort', cancel, { once: true });
    this.#unlinkSignal = () => signal.removeEventListener('abort', cancel);
  }
}

/** What an agent was bound to is of the type that it needs; what comes from outside may belong to others. */
const depsOf = ({ deps }: AgentDefinition, given: Run['deps']): Run['deps'] =>
  deps === null ? given : { ...given, ...deps };

/** What an open execution has written down is not in the future, whichever machine continues it. */
function timeOf({ clock }: AgentDefinition, state: AgentState, parent: Run | null): () => number {
  if (parent?.clock === clock) return parent.now;
  const { updatedAt } = state.execution;
  const isNew = state.status === 'pending' || updatedAt === null;
  return stretchTime(clock, isNew ? 0 : msOf(updatedAt));
}

/** A session aborts with who asked, others with a text or anything else. */
function causeOf(signal: AbortSignal, redactor: Redactor, now: string): CancelCause {
  const { reason: given } = signal as { reason: unknown };
  if (given instanceof StopSignal) {
    const { reason, by, at } = given;
    return {
      by: 'user',
      reason: redactor.text(reason),
      ...(by !== null && { requestedBy: by }),
      at: at ?? now,
    };
  }
  const reason = typeof given === 'string' ? redactor.text(given) : DEFAULT_STOP;
  return { by: 'user', reason, at: now };
}

/** The reason that a session aborts with. */
export class StopSignal {
  readonly reason: string;
  readonly by: string | null;
  readonly at: string | null;
  constructor(note: Pick<StopSignal, 'reason' | 'by' | 'at'>) {
    this.reason = note.reason;
    this.by = note.by;
    this.at = note.at;
  }
}
