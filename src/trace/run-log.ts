import { msOf } from '../clock.ts';
import type { ContinuationOutcomeJSON } from '../continuation/outcome.ts';
import type { AgentEvent, EventOf, PendingApproval } from '../events/agent-event.ts';
import type { JsonObject } from '../json.ts';
import { LoggedAgents, type LoggedAgent } from './logged-agents.ts';

/** A time in which no process worked on the run. */
export interface Gap {
  readonly from: number;
  /** End; null while it lasts. */
  to: number | null;
  /** Kind of the pause; `grant` between an end and the grant that reopened it, `crash` after a process died. */
  readonly kind: string;
  readonly reason: string | null;
  /** The current step, else the last one. */
  readonly step: number;
  /** Calls that needed approval or input, or contain a nested agent that did. */
  readonly calls: readonly string[];
}

/** Log facts of one tool call. */
export interface LoggedCall {
  readonly id: string;
  readonly tool: string;
  /** Arguments from the model, or changed by the approver. */
  args: JsonObject;
  /** The current step; 0 if its start is not in the log. */
  readonly step: number;
  requestedAt: number | null;
  /** When the call last asked the user; null if it never did. */
  askedAt: number | null;
  firstStartAt: number | null;
  startedAt: number | null;
  completedAt: number | null;
  completed: EventOf<'ToolCallCompleted'> | null;
}

export interface LoggedStep {
  readonly number: number;
  readonly attempt: number;
  readonly startedAt: string;
  /** When the model's answer was complete. */
  answeredAt: number | null;
}

/** The log of one agent, or a part of it, indexed for a trace. Of nested agents it has only the totals. */
export interface RunLog {
  readonly gaps: readonly Gap[];
  readonly calls: ReadonlyMap<string, LoggedCall>;
  readonly lastStep: LoggedStep | null;
  readonly outcome: ContinuationOutcomeJSON | null;
  /** The last event of the run, if it ended and was not reopened. */
  readonly ending: EventOf<'AgentFinished'> | EventOf<'AgentFailed'> | null;
  /** Returns the agent behind a call; undefined if the call ran no agent, or the log does not name it. */
  agentBehind(callId: string): LoggedAgent | undefined;
}

/** Indexes the log of an agent. The events may include those of agents behind its calls. Default: the root. */
export function runLogOf(events: readonly AgentEvent[], agentId: string | null = null): RunLog {
  const reading = new Reading(agentId);
  for (const event of events) reading.take(event);
  return reading;
}

class Reading implements RunLog {
  readonly gaps: Gap[] = [];
  readonly calls: Map<string, LoggedCall> = new Map();
  lastStep: LoggedStep | null = null;
  outcome: ContinuationOutcomeJSON | null = null;
  ending: RunLog['ending'] = null;
  readonly #agentId: string | null;
  readonly #agents: LoggedAgents = new LoggedAgents();
  #before: { readonly event: AgentEvent; readonly at: number } | null = null;

  constructor(agentId: string | null) {
    this.#agentId = agentId;
  }

  agentBehind(callId: string): LoggedAgent | undefined {
    return this.#agents.behind(callId);
  }

  take(event: AgentEvent): void {
    // the clock of the machine that continued may be behind that of the previous one
    const at = Math.max(msOf(event.at), this.#before?.at ?? 0);
    const open = this.gaps.at(-1);
    // after a pause or an end nothing happens until a worker continues it
    if (open?.to === null) open.to = at;
    this.#agents.take(event);
    if (this.#isOwn(event)) this.#takeOwn(event, at);
    this.#before = { event, at };
  }

  #isOwn({ agentId, parentAgentId }: AgentEvent): boolean {
    return this.#agentId === null ? parentAgentId === null : agentId === this.#agentId;
  }

  #takeOwn(event: AgentEvent, at: number): void {
    switch (event.type) {
      case 'AgentStarted':
        this.ending = null;
        if (event.resumed) this.#continuedAt(event, at);
        return;
      case 'AgentStepStarted':
        this.lastStep = {
          number: event.stepNumber,
          attempt: event.attempt,
          startedAt: event.at,
          answeredAt: null,
        };
        return;
      case 'MessageAdded':
        if (event.role === 'assistant') this.#answered(at);
        return;
      case 'ToolApprovalRequested':
        this.#answered(at);
        this.#call(event).requestedAt ??= at;
        this.#call(event).args = event.args;
        return;
      case 'ToolInputRequested':
        this.#answered(at);
        this.#call(event).askedAt = at;
        return;
      case 'ToolCallStarted': {
        this.#answered(at);
        const call = this.#call(event);
        call.firstStartAt ??= at;
        call.startedAt = at;
        call.args = event.args;
        return;
      }
      case 'ToolCallCompleted': {
        this.#answered(at);
        const call = this.#call(event);
        call.completedAt = at;
        call.completed = event;
        if (typeof event.args === 'object') call.args = event.args;
        return;
      }
      case 'ContinuationEvaluated':
        this.outcome = event.outcome;
        return;
      case 'AgentPaused':
        this.#answered(at);
        this.#gap(at, event.kind, event.reason, event.stepCount, waitingCalls(event));
        return;
      case 'AgentFinished':
      case 'AgentFailed':
        this.ending = event;
        this.#gap(at, 'grant', event.stopReason, event.stepCount);
    }
  }

  /** Adds a gap for a crash: a run that resumes without an ending event was interrupted with its process. */
  #continuedAt(event: EventOf<'AgentStarted'>, at: number): void {
    const before = this.#before;
    if (!before || before.at >= at || this.#hasJustEnded(before.event)) return;
    this.#gap(before.at, 'crash', null, event.stepCount);
    const gap = this.gaps.at(-1);
    if (gap) gap.to = at;
  }

  #hasJustEnded(event: AgentEvent): boolean {
    const { type } = event;
    const isEnd = type === 'AgentPaused' || type === 'AgentFinished' || type === 'AgentFailed';
    return isEnd && this.#isOwn(event);
  }

  #gap(
    from: number,
    kind: string,
    reason: string | null,
    stepCount: number,
    calls: readonly string[] = [],
  ): void {
    const step = Math.max(stepCount, this.lastStep?.number ?? 0);
    this.gaps.push({ from, to: null, kind, reason, step, calls });
  }

  #answered(at: number): void {
    if (this.lastStep) this.lastStep.answeredAt ??= at;
  }

  #call({ toolCallId, tool }: { readonly toolCallId: string; readonly tool: string }): LoggedCall {
    const known = this.calls.get(toolCallId);
    if (known) return known;
    const call: LoggedCall = {
      id: toolCallId,
      tool,
      args: {},
      step: this.lastStep?.number ?? 0,
      requestedAt: null,
      askedAt: null,
      firstStartAt: null,
      startedAt: null,
      completedAt: null,
      completed: null,
    };
    this.calls.set(toolCallId, call);
    return call;
  }
}

/** Returns the agent's own calls: a nested agent is found at the start of its path. */
function waitingCalls(event: EventOf<'AgentPaused'>): readonly string[] {
  // missing if they were too large for the log
  const { pendingApprovals, pendingInputs } = event;
  const waiting = [pendingApprovals, pendingInputs].flatMap((calls) =>
    Array.isArray(calls) ? (calls as readonly WaitingCall[]) : [],
  );
  return [...new Set(waiting.map(({ callId, path }) => path[0] ?? callId))];
}

type WaitingCall = Pick<PendingApproval, 'callId' | 'path'>;

/** Milliseconds of work between two times. */
export function workedBetween(gaps: readonly Gap[], from: number, to: number): number {
  let worked = Math.max(0, to - from);
  for (const gap of gaps) {
    const end = gap.to ?? Number.POSITIVE_INFINITY;
    worked -= Math.max(0, Math.min(end, to) - Math.max(gap.from, from));
  }
  return Math.max(0, worked);
}
