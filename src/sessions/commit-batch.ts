import type { AgentState } from '../agent/agent-state.ts';
import type { EventNote } from '../events/event-outlet.ts';
import type { Message } from '../messages/message.ts';
import type { ToolResult } from '../tools/tool-result.ts';
import type { AgentStep } from '../agent/agent-step.ts';
import { markOf, type ForkPoint, type Placement } from './state-rows.ts';
import type { CallWrite, Commit } from './session-store.ts';

/** One agent of the session and how much of it was handed to the store. */
export interface AgentFrame {
  /** Null for the session's own agent, else the call it runs behind. */
  readonly callId: string | null;
  readonly placement: Placement;
  /** Messages and steps of the session that are staged or stored. */
  messages: number;
  steps: number;
  /** Those of them that are stored. */
  stored: { readonly messages: number; readonly steps: number };
  /** Whether the step in work was begun by an earlier try. */
  isMidStep: boolean;
  /** The newest state in the store. */
  saved: StagedState | null;
}

export interface StagedState {
  readonly frame: AgentFrame;
  readonly state: AgentState;
  /** Messages of the step in work that the state does not have yet. */
  readonly pending: readonly Message[];
}

type StagedCall = Pick<CallWrite, 'callId' | 'tool' | 'state' | 'again'> & {
  readonly isNested: boolean;
  result: ToolResult | null;
};

export interface StagedEvent {
  readonly note: EventNote;
  /** Null for chunks and deltas, which are not written down. */
  readonly seq: number | null;
  readonly tell: () => void;
}

/** What goes into the next commit. */
export class CommitBatch {
  readonly states: Map<AgentFrame, StagedState> = new Map();
  readonly messages: { frame: AgentFrame; position: number; message: Message }[] = [];
  readonly steps: { frame: AgentFrame; position: number; step: AgentStep; mark: ForkPoint }[] = [];
  readonly calls: StagedCall[] = [];
  events: StagedEvent[] = [];
  done: number | undefined;
  end: Commit['end'];
  /** Whether it has a step that was begun and done in this try. */
  hasWholeStep = false;
  /** Resolves when it is written. */
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

  /** Only what the store does not have yet is added; an earlier state of the same agent in here is replaced. */
  addState(staged: StagedState): void {
    const { frame, state } = staged;
    const { placement } = frame;
    this.states.set(frame, staged);
    const messages = state.messages.slice(frame.messages - placement.messages);
    for (const message of messages)
      this.messages.push({ frame, position: frame.messages++, message });
    for (const step of state.steps.slice(frame.steps - placement.steps)) {
      this.steps.push({ frame, position: frame.steps++, step, mark: markOf(state, placement) });
      this.hasWholeStep ||= !frame.isMidStep;
      frame.isMidStep = false;
      for (const call of this.calls)
        // the step has it
        if (step.results.some(({ callId }) => callId === call.callId)) call.result = null;
    }
  }

  addCall(call: StagedCall): void {
    this.calls.push(call);
  }
}
