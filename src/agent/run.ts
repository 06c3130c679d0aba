import { HandoverSignal, StopSignal } from './abort-reasons.ts';
import { Cancellation, type CancelCause } from '../cancellation.ts';
import { isoTime, msOf, runTime, syncSystemClock, type Clock } from '../clock.ts';
import type { GrantRecord } from '../continuation/grant-allowance.ts';
import type { StopRequest } from '../continuation/run-view.ts';
import { DEFAULT_STOP, type StopReason } from '../continuation/stop-reason.ts';
import type { ErrorRecord, ErrorReport } from '../errors/error-record.ts';
import { bothRedactors, type Redactor } from '../errors/redactor.ts';
import type { FieldsOf, PendingApproval, PendingInput } from '../events/agent-event.ts';
import type { EventBus } from '../events/event-bus.ts';
import { RunEvents } from '../events/run-events.ts';
import type { Message } from '../messages/message.ts';
import { truncatedReasoning } from '../reasoning-text.ts';
import type { CallFrame } from '../tools/call-tool.ts';
import type { ToolProgress } from '../tools/tool-progress.ts';
import type { AgentDefinition } from './agent-options.ts';
import type { AgentState } from './agent-state.ts';
import type { AgentStatus } from './agent-status.ts';
import { noAnswers, readAnswers, type Answers } from './approval-answer.ts';
import type { Compactor } from './compactor.ts';
import type { FamilyAccount } from './family-account.ts';
import type { HookContext } from './hooks.ts';
import type { Journal } from './journal.ts';
import type { DurableOptions } from './run-options.ts';
import { offeredTools, type OfferedTools } from './offered-tools.ts';
import type { RunObservation, RunObserver, RunOrigin } from './run-observer.ts';
import type { LoadedTools } from './sourced-tools.ts';
import { noInputs, type InputsGiven } from './open-inputs.ts';

/** One run or resume: everything that the loop needs besides the state. */
export class Run implements CallFrame {
  readonly agent: AgentDefinition;
  readonly parent: Run | null;
  readonly depth: number;
  readonly events: RunEvents;
  /** Redactor of the agent; in a nested agent also its parent's, because the parent's listeners get its events. */
  readonly redactor: Redactor;
  readonly cancellation: Cancellation;
  readonly deps: Readonly<Record<string, unknown>>;
  /** Name of the parent's tool behind which this agent runs; empty for a root. */
  viaTool = '';
  /** Id of the parent's call behind which this agent runs; null for a root. */
  viaCall: string | null = null;
  /** Changes between steps if the agent has tool sources. */
  offered!: OfferedTools; // set by `offer`
  readonly activeTools: readonly string[] | undefined;
  /** Tools of the sources; null before the first step. */
  loaded: LoadedTools | null = null;
  readonly owner: string | null;
  /** Answers to pending calls by call id, bound to their calls before the run continues. */
  answers: Answers;
  /** Answers to questions of tools by input id. */
  inputs: InputsGiven;
  /** Null outside of a session. */
  readonly journal: Journal | null;
  /** Null outside of a session, and in nested agents. */
  readonly origin: RunOrigin | null;
  /** Also that of the parent, if this agent has none. */
  readonly observer: RunObserver | null;
  /** Null if nothing records this run, which costs nothing. */
  observation: RunObservation | null = null;
  /** Call ids used in this execution. */
  usedIds: Set<string> = new Set();
  /** Status of the state at the start of the run. */
  readonly previousStatus: AgentStatus;
  readonly previousStopReason: StopReason | null;
  /** The grant with which this run continues; null without one. */
  grant: GrantRecord | null = null;
  /** Number of messages up to the input of the previous run. */
  readonly messagesBefore: number;
  state: AgentState;
  /** Milliseconds since the epoch, from the wall clock at the start; later clock changes have no effect. */
  now: () => number;
  stopRequest: StopRequest | null = null;
  pauseReason: string | null = null;
  /** Emits the events of the step that ends the run, which are written with its end; null if there are none. */
  announceLastStep: (() => void) | null = null;
  /** Complete message of the model that is not emitted yet. */
  pendingMessage: FieldsOf<'MessageAdded'> | null = null;
  /** New pending approvals: set by a pause, emitted at the end of the run. */
  newApprovals: readonly PendingApproval[] | null = null;
  /** New questions of tools, like `newApprovals`. */
  newInputs: readonly PendingInput[] = [];
  /** Set before the first model call, if the conversation is compacted. */
  compactor: Compactor | null = null;
  /** Set once this agent calls another. */
  family: FamilyAccount | null = null;
  /** Whether a model call of this nested agent was admitted and has not ended. */
  isAdmitted = false;
  /** Whether the caller left `iterate`: the loop then stops between steps, without an outcome. */
  handedOver = false;
  /** What the prompt says about tools to find, kept so that it stays the same in all steps. */
  #catalog: string | null = null;
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
    // first, because the rest may read the time
    this.now = timeOf(agent, state, parent);
    this.depth = parent ? parent.depth + 1 : 0;
    this.state = state;
    this.previousStatus = state.status;
    this.previousStopReason = state.stopReason;
    this.messagesBefore = state.execution.id === '' ? 0 : state.execution.firstMessage + 1;
    this.deps = depsOf(agent, options.deps ?? parent?.deps ?? {});
    this.activeTools = options.activeTools ?? agent.activeTools ?? undefined;
    const isOpen = agent.toolSources.length > 0;
    this.offer(offeredTools(agent, this.activeTools, isOpen), isOpen);
    this.owner = options.owner ?? parent?.owner ?? null;
    this.answers = parent?.answers ?? options.answers ?? this.#answersIn(options);
    this.inputs = parent?.inputs ?? options.givenInputs ?? noInputs;
    this.journal = options.journal ?? null;
    this.origin = options.origin ?? null;
    this.observer = agent.observer ?? parent?.observer ?? null;
    this.cancellation = parent?.cancellation ?? new Cancellation();
    this.redactor = parent ? bothRedactors(parent.redactor, agent.redactor) : agent.redactor;
    this.events = new RunEvents({
      bus,
      wiretap: options.wiretap,
      parent: parent?.events ?? null,
      now: () => this.now(),
      redactor: this.redactor,
      outlet: this.journal?.outlet ?? null,
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

  /** Offers tools, all of them or through the finder of the agent. `mayGrow`: sources are not loaded yet. */
  offer(whole: OfferedTools, mayGrow: boolean): void {
    const { toolFinder } = this.agent;
    this.offered = toolFinder === null ? whole : toolFinder.offer(whole, this.#catalog);
    if (!mayGrow) this.#catalog ??= this.offered.found?.catalog ?? null;
  }

  requestStop(reason: string, toolName?: string): void {
    const at = isoTime(this.now());
    const named = toolName === undefined ? {} : { toolName };
    this.stopRequest ??= { by: 'tool', reason: this.redactor.text(reason), ...named, at };
  }
  requestPause(reason: string): void {
    this.pauseReason ??= this.redactor.text(reason);
  }
  reportProgress(tool: string, toolCallId: string, progress: ToolProgress): void {
    const { events } = this;
    if (events.wants('ToolProgress'))
      events.emit('ToolProgress', { tool, toolCallId, ...events.redacted(progress) });
  }

  async earlierResult(messageId: string): Promise<Message | null> {
    return (await this.journal?.earlierResult?.(messageId)) ?? null;
  }

  get traceHeaders(): Readonly<Record<string, string>> {
    return this.observation?.traceHeaders ?? {};
  }
  record(report: ErrorReport): ErrorRecord {
    return {
      ...report,
      message: this.redactor.text(report.message),
      retryable: report.retryable ?? true,
      at: isoTime(this.now()),
    };
  }

  /** Emits the message when the step is saved, so that a log has it exactly once even if the process dies. */
  emitMessage(): void {
    const { pendingMessage, events } = this;
    if (pendingMessage === null) return;
    this.pendingMessage = null;
    const { reasoning } = pendingMessage;
    events.emit('MessageAdded', {
      ...pendingMessage,
      content: events.redacted(pendingMessage.content),
      // redact before truncating: half a secret would not be recognized
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

  /** Interrupts hanging work when the first time limit is reached. Nested agents use their root's deadline. */
  watchDeadline(now: number): void {
    if (this.parent) return;
    this.#dueAt = now + this.agent.criteria.remainingMs(this.state, now, this.deps);
    if (this.#dueAt < this.#timerDueAt) this.#arm(now);
  }

  /** Cancels the run if its time is up and the timer has not fired yet: a deadline beats a pause. */
  meetDeadline(now: number): void {
    if (now >= this.#dueAt) this.#arm(now);
  }

  /** Disarms the deadline between steps, where the criteria enforce it. */
  pauseDeadline(): void {
    this.#dueAt = Number.POSITIVE_INFINITY;
  }

  dispose(): void {
    this.#stopTimer?.();
    this.#unlinkSignal?.();
  }

  /** Sets the timer of the run. If it fires before a deadline that has moved, it is set again. */
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

/** Merges dependencies. Bound ones take precedence, because those of the caller may be meant for other agents. */
const depsOf = ({ deps }: AgentDefinition, given: Run['deps']): Run['deps'] =>
  deps === null ? given : { ...given, ...deps };

/** Returns the clock of a run. It never starts before the last update of the execution, even on another machine. */
function timeOf({ clock }: AgentDefinition, state: AgentState, parent: Run | null): () => number {
  if (parent?.clock === clock) return parent.now;
  const { updatedAt } = state.execution;
  const isNew = state.status === 'pending' || updatedAt === null;
  return runTime(clock, isNew ? 0 : msOf(updatedAt));
}

/** Reads the cause of an abort: a session names who requested it, other callers pass a text or any value. */
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
  if (given instanceof HandoverSignal) return { by: 'handover', reason: given.reason };
  const reason = typeof given === 'string' ? redactor.text(given) : DEFAULT_STOP;
  return { by: 'user', reason, at: now };
}
