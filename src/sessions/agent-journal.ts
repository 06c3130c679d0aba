import type { AgentState } from '../agent/agent-state.ts';
import type { UnfinishedStep } from '../agent/agent-step.ts';
import type { Checkpoint, Journal } from '../agent/journal.ts';
import type { AgentEventType } from '../events/agent-event.ts';
import type { EventNote } from '../events/event-outlet.ts';
import type { AnyTool } from '../tools/tool.ts';
import type { ToolResult } from '../tools/tool-result.ts';
import type { AgentFrame } from './commit-batch.ts';
import type { ExecutionWriter } from './execution-writer.ts';
import { wholeConversation } from './state-rows.ts';

/** What the runtime tells a running execution. */
export interface JournalSignals {
  pauseReason: string | null;
  isHandedOver(): boolean;
  /** Undefined where the session is ours beyond doubt; else asks the store, and rejects if it does not say so. */
  confirm(): Promise<void> | undefined;
  /** Whether it is ours beyond doubt. */
  isLeaseValid(): boolean;
}

const newFrame = (callId: string | null): AgentFrame => ({
  callId,
  placement: wholeConversation,
  messages: 0,
  steps: 0,
  stored: { messages: 0, steps: 0 },
  isMidStep: false,
  saved: null,
});

const TOO_LARGE = 'It ran, and what it returned was too large to be kept.';
const UNWRITABLE = 'It ran, and what it returned could not be kept.';

/** The journal of one agent of a session; all of them write through one writer, under one fencing token. */
export class AgentJournal implements Journal {
  readonly #writer: ExecutionWriter;
  readonly #frame: AgentFrame;
  readonly #signals: JournalSignals;
  /** Results of the step in work since its last checkpoint. */
  #results: ToolResult[] = [];

  constructor(writer: ExecutionWriter, frame: AgentFrame, signals: JournalSignals) {
    this.#writer = writer;
    this.#frame = frame;
    this.#signals = signals;
  }

  wants(type: AgentEventType): boolean {
    return this.#writer.wants(type);
  }
  publish(note: EventNote, tell: () => void): void {
    this.#writer.publish(note, tell);
  }

  begin(state: AgentState): Promise<void> {
    this.#stage(state);
    return this.#writer.commit();
  }

  save(state: AgentState): Promise<void> | undefined {
    this.#stage(state);
    if (!this.#signals.isLeaseValid()) return this.#writer.commit();
    this.#writer.seal();
    return undefined;
  }

  async start(callId: string, tool: AnyTool, checkpoint: Checkpoint | null): Promise<void> {
    const { batch } = this.#writer;
    this.#stageCheckpoint(checkpoint);
    const again = tool.idempotent || tool.agent !== undefined;
    batch.addCall({ callId, tool: tool.name, state: 'started', again, ...this.#callFields });
    await this.#writer.commit();
  }

  confirm(): Promise<void> | undefined {
    if (this.#writer.failure) return Promise.reject(this.#writer.failure);
    return this.#signals.confirm()?.catch((error: unknown) => {
      this.#writer.fail(error);
      throw error;
    });
  }

  finish(result: ToolResult, tool: string, checkpoint: Checkpoint | null): void {
    const { callId } = result;
    this.#stageCheckpoint(checkpoint);
    this.#writer.lostCalls.delete(callId);
    this.#results.push(result);
    const call = { callId, tool, state: 'committed', isNested: this.#isNested } as const;
    this.#writer.batch.addCall({ ...call, result });
    this.#writer.soon();
  }

  end(state: AgentState): Promise<void> {
    this.#stage(state);
    this.#writer.batch.end = endOf(state);
    return this.#writer.commit();
  }

  nested(callId: string): Journal {
    const { nestedFrames } = this.#writer;
    const frame = nestedFrames.get(callId) ?? newFrame(callId);
    nestedFrames.set(callId, frame);
    return new AgentJournal(this.#writer, frame, this.#signals);
  }

  wasStarted(callId: string): boolean {
    return this.#writer.lostCalls.has(callId);
  }

  lostTexts(agentId: string, stepNumber: number, attempt: number): number {
    return this.#writer.lost?.countOf({ agentId, stepNumber, attempt }) ?? 0;
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
    return this.#writer.failure;
  }
  get pauseReason(): string | null {
    return this.#signals.pauseReason;
  }
  get isHandedOver(): boolean {
    return this.#signals.isHandedOver();
  }

  get #isNested(): boolean {
    return this.#frame.callId !== null;
  }
  get #callFields(): { readonly isNested: boolean; readonly result: null } {
    return { isNested: this.#isNested, result: null };
  }

  #stageCheckpoint(checkpoint: Checkpoint | null): void {
    if (!checkpoint) return;
    const { state, messages } = checkpoint;
    this.#results = [];
    // a copy: the step continues to collect messages
    this.#writer.batch.addState({ frame: this.#frame, state, pending: [...messages] });
  }

  /** What ran has run, though it may be told only in short. */
  #withResults(step: UnfinishedStep): UnfinishedStep {
    let room = this.#writer.options.store.maxBytes / 4;
    const since = this.#results.map((result): ToolResult => {
      const { callId, kind, durationMs } = result;
      // one of them may be what the store, its codec or JSON did not take
      if (this.#writer.hasUnwritable) return { callId, kind, value: UNWRITABLE, durationMs };
      const { length } = JSON.stringify(result);
      if (length > room) return { callId, kind, value: TOO_LARGE, durationMs };
      room -= length;
      return result;
    });
    const known = [...step.results, ...since];
    const results = step.toolCalls.flatMap(({ id }) => known.find((r) => r.callId === id) ?? []);
    return { ...step, results };
  }

  #stage(state: AgentState): void {
    const { batch } = this.#writer;
    batch.addState({ frame: this.#frame, state, pending: [] });
    if (state.status !== 'paused') return;
    // an agent behind a call asks before its root has paused: the answer may come at once
    for (const { callId, tool } of state.pendingApprovals)
      batch.addCall({ callId, tool, state: 'waiting', ...this.#callFields });
  }
}

function endOf({ status }: AgentState): 'ended' | 'paused' | 'handover' {
  if (status === 'in_progress') return 'handover';
  return status === 'paused' ? 'paused' : 'ended';
}
