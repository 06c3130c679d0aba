import { msOf } from '../clock.ts';
import type { ContinuationOutcomeJSON } from '../continuation/outcome.ts';
import type { AgentEvent, EventOf } from '../events/agent-event.ts';
import type { JsonObject } from '../json.ts';

/** A time in which no process worked on the run. */
export interface Gap {
  readonly from: number;
  /** Null while it lasts. */
  to: number | null;
  /** As the pause was told; `grant` between an end and the grant that reopened it, `crash` after a process died. */
  readonly kind: string;
  readonly reason: string | null;
  /** The step in work, else the last one. */
  readonly step: number;
  /** Calls that waited for a person, or hold an agent that did. */
  readonly calls: readonly string[];
}

/** What the log knows of one tool call. */
export interface LoggedCall {
  readonly id: string;
  readonly tool: string;
  /** As the model gave them, or as a person changed them. */
  args: JsonObject;
  /** The step that was in work; 0 where its start is not in the log. */
  readonly step: number;
  requestedAt: number | null;
  firstStartAt: number | null;
  startedAt: number | null;
  completedAt: number | null;
  completed: EventOf<'ToolCallCompleted'> | null;
}

export interface LoggedStep {
  readonly number: number;
  readonly attempt: number;
  readonly startedAt: string;
  /** When the answer of the model was there. */
  answeredAt: number | null;
}

/** The log of an execution, or a part of it, by what a trace asks for. Agents behind calls are not in it. */
export interface RunLog {
  readonly gaps: readonly Gap[];
  readonly calls: ReadonlyMap<string, LoggedCall>;
  readonly lastStep: LoggedStep | null;
  readonly outcome: ContinuationOutcomeJSON | null;
  /** The last event of the run, if it ended and was not reopened. */
  readonly ending: EventOf<'AgentFinished'> | EventOf<'AgentFailed'> | null;
}

export function runLogOf(events: readonly AgentEvent[]): RunLog {
  const reading = new Reading();
  for (const event of events) reading.take(event);
  return reading;
}

class Reading implements RunLog {
  readonly gaps: Gap[] = [];
  readonly calls: Map<string, LoggedCall> = new Map();
  lastStep: LoggedStep | null = null;
  outcome: ContinuationOutcomeJSON | null = null;
  ending: RunLog['ending'] = null;
  #before: { readonly event: AgentEvent; readonly at: number } | null = null;

  take(event: AgentEvent): void {
    // the machine that continued may have been behind the one before
    const at = Math.max(msOf(event.at), this.#before?.at ?? 0);
    const open = this.gaps.at(-1);
    // after a pause or an end nothing happens until a worker continues it
    if (open?.to === null) open.to = at;
    if (event.parentAgentId === null) this.#takeOwn(event, at);
    this.#before = { event, at };
  }

  #takeOwn(event: AgentEvent, at: number): void {
    switch (event.type) {
      case 'AgentStarted':
        this.ending = null;
        if (event.resumed) this.#takenUp(event, at);
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

  /** A run that continues without a last event was interrupted with its process. */
  #takenUp(event: EventOf<'AgentStarted'>, at: number): void {
    const before = this.#before;
    if (!before || before.at >= at || this.#hasJustEnded(before.event)) return;
    this.#gap(before.at, 'crash', null, event.stepCount);
    const gap = this.gaps.at(-1);
    if (gap) gap.to = at;
  }

  #hasJustEnded({ type, parentAgentId }: AgentEvent): boolean {
    const isEnd = type === 'AgentPaused' || type === 'AgentFinished' || type === 'AgentFailed';
    return isEnd && parentAgentId === null;
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
      firstStartAt: null,
      startedAt: null,
      completedAt: null,
      completed: null,
    };
    this.calls.set(toolCallId, call);
    return call;
  }
}

/** The run's own calls: an agent behind one of them is found at the beginning of its path. */
function waitingCalls({ pendingApprovals }: EventOf<'AgentPaused'>): readonly string[] {
  // left out where it was too large for the log
  if (!Array.isArray(pendingApprovals)) return [];
  return pendingApprovals.map(({ callId, path }) => path[0] ?? callId);
}

/** Milliseconds of work between two times. */
export function workedBetween(gaps: readonly Gap[], from: number, to: number): number {
  let worked = Math.max(0, to - from);
  for (const gap of gaps) {
    const end = gap.to ?? Number.POSITIVE_INFINITY;
    worked -= Math.max(0, Math.min(end, to) - Math.max(gap.from, from));
  }
  return Math.max(0, worked);
}
