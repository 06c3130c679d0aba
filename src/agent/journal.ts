import type { EventOutlet } from '../events/event-outlet.ts';
import type { Message } from '../messages/message.ts';
import type { AnyTool } from '../tools/tool.ts';
import type { ToolResult } from '../tools/tool-result.ts';
import type { AgentState } from './agent-state.ts';

/** A state on its way: the step in work and, beside the state, the messages that it already has. */
export interface Checkpoint {
  readonly state: AgentState;
  readonly messages: readonly Message[];
}

/**
 * Makes a run durable: the loop says what happens, and waits where continuing would not be safe before it is written
 * down. A run without one waits for nothing.
 */
export interface Journal extends EventOutlet {
  /** At the start of a run, before anything else. */
  begin(state: AgentState): Promise<void>;
  /**
   * After a step. It is written down while the next model call runs, at the latest before a tool begins; to be waited
   * for where it is in doubt whether the run may continue.
   */
  save(state: AgentState): Promise<void> | undefined;
  /**
   * Undefined if this process may begin something now; else to be awaited, and asked again. Rejects if it may not: then
   * `failure` says why.
   */
  confirm(): Promise<void> | undefined;
  /** Before a tool begins. The checkpoint is given where the step, as it is, was not written down yet. */
  start(callId: string, tool: AnyTool, checkpoint: Checkpoint | null): Promise<void>;
  /** What became of a call; written down soon, at the latest with the step. The checkpoint as with `start`. */
  finish(result: ToolResult, tool: string, checkpoint: Checkpoint | null): void;
  /** The last word of a run, with its state: a pause is heard of only after it was written down. */
  end(state: AgentState): Promise<void>;
  /** The journal of an agent behind a call. */
  nested(callId: string): Journal;
  /** Whether an earlier process has started this call with an unknown end. */
  wasStarted(callId: string): boolean;
  /** How often earlier processes have begun the text of an attempt at a step, which was lost with them. */
  lostTexts(agentId: string, stepNumber: number, attempt: number): number;
  /** The newest state that is written down. */
  readonly saved: AgentState | null;
  /** Why nothing can be written any more; the run is over then. */
  readonly failure: unknown;
  readonly pauseReason: string | null;
  /** Whether another process continues: stop between steps, without an outcome. */
  readonly isHandedOver: boolean;
}
