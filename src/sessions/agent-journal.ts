import type { AgentState } from '../agent/agent-state.ts';
import type { UnfinishedStep } from '../agent/agent-step.ts';
import type { Checkpoint, Journal, SentRequest } from '../agent/journal.ts';
import type { EventOutlet } from '../events/event-outlet.ts';
import type { Message } from '../messages/message.ts';
import type { AnyTool } from '../tools/tool.ts';
import type { ToolResult } from '../tools/tool-result.ts';
import type { AgentFrame, StagedCall } from './commit-batch.ts';
import { findEarlierResult } from './earlier-result.ts';
import type { ExecutionWriter } from './execution-writer.ts';
import type { Lease } from './lease.ts';
import type { LoadedSession } from './load-session.ts';
import type { LostStreams } from './lost-streams.ts';
import type { RowReader } from './row-reader.ts';
import { wholeConversation } from './state-rows.ts';

/** State that all journals of a run share. */
export interface JournaledRun {
  readonly writer: ExecutionWriter;
  readonly reader: RowReader;
  readonly lease: Lease;
  /** Unfinished work of an earlier worker: nested agents, and calls that were started and whose end is unknown. */
  readonly left: Pick<LoadedSession, 'nestedFrames' | 'lostCalls'>;
  /** Text that the earlier worker may have streamed. */
  readonly lostStreams: LostStreams | null;
  isHandedOver(): boolean;
  isRevoking(): Promise<boolean>;
}

const newFrame = (callId: string | null): AgentFrame => ({
  callId,
  loadedAs: null,
  placement: wholeConversation,
  messages: 0,
  steps: 0,
  compactions: 0,
  stored: { messages: 0, steps: 0, compactions: 0 },
  isMidStep: false,
  sent: null,
  keptRequest: null,
  saved: null,
});

const TOO_LARGE = 'The tool ran, but its result was too large to store.';
const UNWRITABLE = 'The tool ran, but its result could not be stored.';

/** Stages the work of one agent. All agents of a run share one writer and one fencing token. */
export class AgentJournal implements Journal {
  readonly #run: JournaledRun;
  readonly #writer: ExecutionWriter;
  readonly #frame: AgentFrame;
  /** Results of the current step since its last checkpoint. */
  #results: ToolResult[] = [];

  constructor(run: JournaledRun, frame: AgentFrame) {
    this.#run = run;
    this.#writer = run.writer;
    this.#frame = frame;
  }

  get outlet(): EventOutlet {
    return this.#writer;
  }

  begin(state: AgentState): Promise<void> {
    this.#stage(state);
    return this.#writer.commit();
  }

  save(state: AgentState): Promise<void> | undefined {
    this.#stage(state);
    if (!this.#run.lease.isLeaseValid) return this.#writer.commit();
    this.#writer.closeBatch();
    return undefined;
  }

  compacted(state: AgentState): Promise<void> {
    this.#stage(state);
    return this.#writer.commit();
  }

  get leading(): number {
    return this.#frame.placement.leading;
  }

  earlierResult(messageId: string): Promise<Message | null> {
    const { loadedAs, stored, saved } = this.#frame;
    const agentId = loadedAs ?? saved?.state.agentId;
    if (agentId === undefined || stored.compactions === 0) return Promise.resolve(null);
    const sessionId = this.#writer.execution.row.id;
    return findEarlierResult(this.#run.reader, { sessionId, agentId, messageId });
  }

  sent(sent: SentRequest): void {
    this.#frame.sent = sent;
  }

  start(
    callId: string,
    tool: AnyTool,
    checkpoint: Checkpoint | null,
    isContinued: boolean,
  ): Promise<void> {
    this.#stageCheckpoint(checkpoint);
    const again = tool.idempotent || tool.agent !== undefined || isContinued;
    this.#stageCall(callId, tool.name, 'started', null, again);
    return this.#writer.commit();
  }

  keep(checkpoint: Checkpoint): void {
    this.#stageCheckpoint(checkpoint);
  }

  answered(inputIds: readonly string[], tool: string, checkpoint: Checkpoint): void {
    this.#stageCheckpoint(checkpoint);
    for (const inputId of inputIds) this.#stageCall(inputId, tool, 'committed');
  }

  confirm(): Promise<void> | undefined {
    const { signals } = this.#writer;
    if (signals.failure) return Promise.reject(signals.failure);
    return this.#run.lease.confirm()?.catch((error: unknown) => {
      signals.fail(error);
      throw error;
    });
  }

  finish(result: ToolResult, tool: string, checkpoint: Checkpoint | null): void {
    const { callId } = result;
    this.#stageCheckpoint(checkpoint);
    this.#run.left.lostCalls.delete(callId);
    this.#results.push(result);
    this.#stageCall(callId, tool, 'committed', result);
    this.#writer.soon();
  }

  end(state: AgentState): Promise<void> {
    this.#stage(state);
    this.#writer.batch.end = endOf(state);
    return this.#writer.commit();
  }

  nested(callId: string): Journal {
    const { nestedFrames } = this.#run.left;
    const frame = nestedFrames.get(callId) ?? newFrame(callId);
    nestedFrames.set(callId, frame);
    return new AgentJournal(this.#run, frame);
  }

  isRevoking(): Promise<boolean> {
    return this.#run.isRevoking();
  }

  wasStarted(callId: string): boolean {
    return this.#run.left.lostCalls.has(callId);
  }

  lostTexts(agentId: string, stepNumber: number, attempt: number): number {
    return this.#run.lostStreams?.countOf({ agentId, stepNumber, attempt }) ?? 0;
  }

  get saved(): AgentState | null {
    const { saved } = this.#frame;
    if (!saved) return null;
    const { state, pending } = saved;
    const { unfinishedStep } = state;
    return state.with({
      messages: state.messages.append(...pending),
      unfinishedStep: unfinishedStep && this.#withResults(unfinishedStep),
    });
  }
  get failure(): unknown {
    return this.#writer.signals.failure;
  }
  get pauseReason(): string | null {
    return this.#writer.signals.pauseReason;
  }
  get isHandedOver(): boolean {
    return this.#run.isHandedOver();
  }

  #stageCheckpoint(checkpoint: Checkpoint | null): void {
    if (!checkpoint) return;
    const { state, messages } = checkpoint;
    this.#results = [];
    // a copy: the step continues to collect messages
    this.#writer.batch.addState(this.#frame, state, [...messages]);
  }

  /** Adds the results since the checkpoint. A result that cannot be stored is replaced by a note that the tool ran. */
  #withResults(step: UnfinishedStep): UnfinishedStep {
    let space = this.#writer.store.maxBytes / 4;
    const since = this.#results.map((result): ToolResult => {
      const { callId, kind, durationMs } = result;
      // one of the results may be the value that the store, its codec or JSON refused
      if (this.#writer.hasUnwritable) return { callId, kind, value: UNWRITABLE, durationMs };
      const { length } = JSON.stringify(result);
      if (length > space) return { callId, kind, value: TOO_LARGE, durationMs };
      space -= length;
      return result;
    });
    const known = [...step.results, ...since];
    const results = step.toolCalls.flatMap(({ id }) => known.find((r) => r.callId === id) ?? []);
    return { ...step, results };
  }

  #stage(state: AgentState): void {
    this.#writer.batch.addState(this.#frame, state);
    if (state.status !== 'paused') return;
    // a nested agent asks before its root has paused, and the answer may arrive immediately
    for (const { callId, tool } of state.pendingApprovals) this.#stageCall(callId, tool, 'waiting');
    for (const { inputId, tool } of state.pendingInputs) this.#stageCall(inputId, tool, 'waiting');
  }

  #stageCall(
    callId: string,
    tool: string,
    state: StagedCall['state'],
    result: ToolResult | null = null,
    again: boolean = false,
  ): void {
    this.#writer.batch.calls.push({ frame: this.#frame, callId, tool, state, again, result });
  }
}

function endOf({ status }: AgentState): 'ended' | 'paused' | 'handover' {
  if (status === 'in_progress') return 'handover';
  return status === 'paused' ? 'paused' : 'ended';
}
