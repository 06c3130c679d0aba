import type { AgentState } from '../agent/agent-state.ts';
import type { AgentStep } from '../agent/agent-step.ts';
import type { SentRequest } from '../agent/journal.ts';
import type { EventNote } from '../events/event-outlet.ts';
import type { Message } from '../messages/message.ts';
import type { ToolResult } from '../tools/tool-result.ts';
import { logBody, type OutcomePlace } from './event-log.ts';
import { storedCompaction } from './earlier-result.ts';
import type { ExecutionWriter } from './execution-writer.ts';
import type { StepRequest, StoredRequest } from './requests/stored-request.ts';
import type { AgentRow, CompactionRow, EventRow, MessageRow, StepRow } from './session-rows.ts';
import type { CallWrite, Commit } from './session-store.ts';
import {
  compactionCount,
  headState,
  markOf,
  placedCompaction,
  requirementOf,
  rowRole,
} from './state-rows.ts';
import type { ForkPoint, Placement, StateHeader, StoredCompaction } from './state-rows.ts';

/** One agent of the session, and how much of its state is staged or stored. */
export interface AgentFrame {
  /** The call that runs this agent; null for the session's own agent. */
  readonly callId: string | null;
  /** Its id if it was loaded, with which its rows are read; null if it began in this run. */
  readonly loadedAs: string | null;
  readonly placement: Placement;
  /** Number of messages, steps and compactions that are staged or stored. */
  messages: number;
  steps: number;
  compactions: number;
  /** Number of those that are stored. */
  stored: FrameCounts;
  /** Whether an earlier try began the current step. */
  isMidStep: boolean;
  /** The request of the newest model call; null if this run made none. */
  sent: SentRequest | null;
  /** The record of the request of the step that an earlier run began. */
  readonly keptRequest: StepRequest | null;
  /** The newest state in the store. */
  saved: StagedState | null;
}

export type FrameCounts = Readonly<Pick<AgentFrame, 'messages' | 'steps' | 'compactions'>>;

interface StagedState {
  readonly state: AgentState;
  /** Messages of the current step that are not in the state yet. */
  readonly pending: readonly Message[];
  /** The request of the unfinished step; absent without one. */
  readonly sent?: StagedRequest;
}

/** The request of a step, or its record from an earlier run. */
interface StagedRequest {
  readonly sent: SentRequest | null;
  readonly kept: StoredRequest | null;
}

function requestOf({ sent, keptRequest }: AgentFrame, step: AgentStep): StagedRequest {
  const kept = keptRequest?.step === step.id ? keptRequest.request : null;
  return { sent: sent?.stepId === step.id ? sent : null, kept };
}

export type StagedCall = Pick<CallWrite, 'callId' | 'tool' | 'state'> & {
  readonly frame: AgentFrame;
  readonly again: boolean;
  result: ToolResult | null;
};

export interface StagedEvent {
  readonly note: EventNote;
  /** Number in the log; null for chunks and deltas, which are not stored. */
  readonly seq: number | null;
  readonly deliver: () => void;
}

/** Rows that are staged together and written atomically. */
export class CommitBatch {
  readonly states: Map<AgentFrame, StagedState> = new Map();
  readonly messages: { frame: AgentFrame; position: number; message: Message }[] = [];
  readonly steps: (StagedRequest & {
    frame: AgentFrame;
    position: number;
    step: AgentStep;
    mark: ForkPoint;
  })[] = [];
  readonly compactions: { frame: AgentFrame; position: number; compaction: StoredCompaction }[] =
    [];
  readonly calls: StagedCall[] = [];
  events: StagedEvent[] = [];
  done: number | undefined;
  end: Commit['end'];
  /** Whether the batch has a step that this try began and finished. */
  hasWholeStep = false;
  /** Resolves when the batch is written. */
  written: Promise<void> | null = null;

  get hasRows(): boolean {
    return (
      this.states.size > 0 ||
      this.calls.length > 0 ||
      this.end !== undefined ||
      this.done !== undefined ||
      this.events.some(({ seq }) => seq !== null)
    );
  }

  get isEmpty(): boolean {
    return !this.hasRows && this.events.length === 0;
  }

  /** Adds the messages, steps and compactions that are not staged yet, and replaces an earlier state of the same agent. */
  addState(frame: AgentFrame, state: AgentState, pending: readonly Message[] = []): void {
    const { placement } = frame;
    const { unfinishedStep: open } = state;
    this.states.set(frame, { state, pending, ...(open && { sent: requestOf(frame, open) }) });
    const messages = state.messages.slice(frame.messages - placement.messages);
    for (const message of messages)
      this.messages.push({ frame, position: frame.messages++, message });
    for (const compaction of state.compactions.slice(frame.compactions - placement.compactions)) {
      const placed = placedCompaction(compaction, placement);
      const stored = storedCompaction(placed, state.messages, placement);
      this.compactions.push({ frame, position: frame.compactions++, compaction: stored });
    }
    for (const step of state.steps.slice(frame.steps - placement.steps)) {
      this.steps.push({
        ...requestOf(frame, step),
        frame,
        position: frame.steps++,
        step,
        mark: markOf(state, placement),
      });
      this.hasWholeStep ||= !frame.isMidStep;
      frame.isMidStep = false;
      for (const call of this.calls)
        // the step holds the result
        if (step.results.some(({ callId }) => callId === call.callId)) call.result = null;
    }
  }

  /** Marks the batch as stored. */
  keep(): void {
    for (const [frame, staged] of this.states) {
      frame.saved = staged;
      frame.stored = countsOf(frame, staged);
    }
  }

  /** Resets the agents to what is stored, after the batch could not be written. */
  discard(): void {
    for (const frame of this.states.keys()) Object.assign(frame, frame.stored);
  }
}

/** Returns the number of messages, steps and compactions that the session has with this state. */
const countsOf = ({ placement }: AgentFrame, { state }: StagedState): FrameCounts => ({
  messages: state.messages.length + placement.messages,
  steps: state.steps.length + placement.steps,
  compactions: state.compactions.length + placement.compactions,
});

/** A commit under construction. Optional fields are set only if they apply. */
export type CommitDraft = { -readonly [K in keyof Commit]: Commit[K] };

/**
 * Builds the rows of batches that are written together, in order. The rows of the conversation come first, so that
 * other rows can refer to their large values.
 */
export async function commitOf(
  parts: readonly CommitBatch[],
  writer: ExecutionWriter,
  revision: number,
): Promise<CommitDraft> {
  const { store, rows, execution, firstSeq } = writer;
  const { row, executionId } = execution;
  const states = new Map(parts.flatMap((part) => [...part.states]));
  const keyOf = (frame: AgentFrame): string =>
    frame.callId === null ? '' : (states.get(frame)?.state.agentId ?? '');
  const scopeOf = ({ callId }: AgentFrame): string => (callId === null ? '' : executionId);

  const messages: MessageRow[] = [];
  const calls: CallWrite[] = [];
  const steps: StepRow[] = [];
  const compactions: CompactionRow[] = [];
  const outcomes = new Map<unknown, OutcomePlace>();
  for (const part of parts) {
    for (const { frame, position, message } of part.messages) {
      const body = await rows.body('message', message, scopeOf(frame));
      messages.push({ agentId: keyOf(frame), position, role: rowRole(message), body });
    }
    for (const { frame, callId, tool, state, again, result } of part.calls) {
      const body = result && (await rows.body(`result of ${tool}`, result, scopeOf(frame)));
      calls.push({ executionId, callId, tool, state, again, result: body });
    }
    for (const { frame, position, compaction } of part.compactions) {
      const { kind, toPosition } = compaction;
      const body = await rows.body('compaction', compaction, scopeOf(frame));
      compactions.push({ agentId: keyOf(frame), position, kind, toPosition, body });
    }
    for (const { frame, position, step, mark, ...request } of part.steps) {
      const agentId = keyOf(frame);
      outcomes.set(step.outcome, [agentId, position]);
      const body = await rows.body('step', step, scopeOf(frame));
      const sent = await recordOf(frame, request, writer);
      const marked = await rows.body(
        'step',
        sent ? { ...mark, request: sent } : mark,
        scopeOf(frame),
      );
      steps.push({ agentId, position, executionId: step.executionId, body, mark: marked });
    }
  }

  writer.hasCompactions ||= [...states].some((of) => countsOf(...of).compactions > 0);
  let root: Commit['root'];
  const agents: AgentRow[] = [];
  for (const [frame, staged] of states) {
    const { state } = staged;
    const head = await rows.body('state', await headerOf(frame, staged, writer), scopeOf(frame));
    const { messages: messageCount, steps: stepCount } = countsOf(frame, staged);
    const common = { executionId, head, messageCount, stepCount };
    const { callId } = frame;
    if (callId === null)
      root = { ...common, status: state.status, ...requirementOf(state, writer.hasCompactions) };
    else agents.push({ ...common, agentId: state.agentId, callId });
  }

  const events: EventRow[] = [];
  for (const part of parts) {
    const logged = part.events.filter(({ seq }) => seq !== null).map(({ note }) => note);
    const last = part.events.findLast((event) => event.seq !== null);
    if (!last) continue;
    const body = await logBody(logged, outcomes, store.maxBytes, (entry) =>
      rows.body('event', entry, executionId),
    );
    events.push({ executionId, seq: last.seq ?? 0, type: last.note.type, body });
  }
  const draft: CommitDraft = {
    sessionId: row.id,
    token: row.token,
    revision,
    messages,
    steps,
    agents,
    calls,
    events,
    blobs: rows.takeBlobs(),
  };
  const done = parts.findLast((part) => part.done !== undefined)?.done;
  const end = parts.findLast((part) => part.end !== undefined)?.end;
  const seq = events.at(-1)?.seq ?? (done === undefined ? undefined : firstSeq);
  if (root) draft.root = root;
  if (compactions.length > 0) draft.compactions = compactions;
  if (seq !== undefined) draft.seq = seq;
  if (done !== undefined) draft.done = done;
  if (end !== undefined) draft.end = end;
  return draft;
}

async function headerOf(
  frame: AgentFrame,
  { state, pending, sent }: StagedState,
  writer: ExecutionWriter,
): Promise<StateHeader> {
  const { callId, placement } = frame;
  const isRoot = callId === null;
  const { salt, title, origin } = writer.execution;
  const header: { -readonly [K in keyof StateHeader]: StateHeader[K] } = {
    version: 1,
    salt,
    definition: isRoot ? await writer.definition() : null,
    ...compactionCount(state, placement),
    state: headState(state, placement),
  };
  if (isRoot && title !== undefined) header.title = title;
  if (isRoot && writer.requests.frame !== null) header.requestFrame = writer.requests.frame;
  if (isRoot && origin !== undefined) header.origin = origin;
  if (pending.length > 0) header.pending = pending;
  const request = sent && (await recordOf(frame, sent, writer));
  if (request) header.request = { step: state.unfinishedStep?.id ?? '', request };
  return header;
}

/** Returns the record of a request; null if the step called no model. */
async function recordOf(
  { callId, placement }: AgentFrame,
  { sent, kept }: StagedRequest,
  { requests, execution: { executionId } }: ExecutionWriter,
): Promise<StoredRequest | null> {
  if (sent === null) return kept;
  return requests.stored(sent, placement, {
    scope: callId === null ? '' : executionId,
    executionId,
  });
}
