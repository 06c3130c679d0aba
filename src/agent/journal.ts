import type { EventOutlet } from '../events/event-outlet.ts';
import type { InferenceRequest } from '../inference/inference-driver.ts';
import type { Message } from '../messages/message.ts';
import type { Messages } from '../messages/messages.ts';
import type { AnyTool } from '../tools/tool.ts';
import type { ToolResult } from '../tools/tool-result.ts';
import type { AgentState } from './agent-state.ts';
import type { Compaction } from './compaction.ts';

/** A state in the middle of a step, and the new messages of that step. */
export interface Checkpoint {
  readonly state: AgentState;
  readonly messages: readonly Message[];
}

/** A request as the driver got it, with what rebuilds it from the conversation. */
export interface SentRequest {
  readonly stepId: string;
  readonly request: InferenceRequest;
  /** Messages of the request before the budget note and hooks. */
  readonly view: Messages;
  /** Number of messages of the conversation, and its compactions; null if the request has the messages unchanged. */
  readonly messages: number;
  readonly compactions: readonly Compaction[] | null;
  /** The system prompt, if it is the one of the agent and not of the step. */
  readonly prompt?: string | null;
}

/**
 * Makes a run durable: the loop reports what happens, and waits for the write where it is not safe to continue before.
 */
export interface Journal {
  /** Where the events of the run go. */
  readonly outlet: EventOutlet;
  /** Records the start of a run, before anything else. */
  begin(state: AgentState): Promise<void>;
  /**
   * Saves a step. The write happens during the next model call, at the latest before a tool starts. Returns a promise
   * to await if it is uncertain whether the run may continue.
   */
  save(state: AgentState): Promise<void> | undefined;
  /** Writes the state, whose compactions the next model call uses, and waits for the write. */
  compacted(state: AgentState): Promise<void>;
  /** Number of first messages of this agent's conversation that come from before its loaded part. Default 0. */
  readonly leading?: number;
  /**
   * Returns the tool message of this agent's conversation with this id, if the loaded part does not have it; null if
   * there is none.
   */
  earlierResult?(messageId: string): Promise<Message | null>;
  /**
   * Returns undefined if this process may start work now; else a promise to await before asking again. The promise
   * rejects if the process may not continue, and `failure` says why.
   */
  confirm(): Promise<void> | undefined;
  /** Notes the request of a model call, which is stored with its step. The last one of a step counts. */
  sent?(sent: SentRequest): void;
  /** Records the start of a tool. The checkpoint is null if the current step is already saved. */
  start(
    callId: string,
    tool: AnyTool,
    checkpoint: Checkpoint | null,
    /** Whether the call runs again, with the input that it has asked for. */
    isContinued: boolean,
  ): Promise<void>;
  /** Records the step with the event of its message. */
  keep(checkpoint: Checkpoint): void;
  /** Records that answers of the user are in the state of the checkpoint, so that they are not read again. */
  answered(inputIds: readonly string[], tool: string, checkpoint: Checkpoint): void;
  /** Records the result of a call, at the latest with the step. The checkpoint is as in `start`. */
  finish(result: ToolResult, tool: string, checkpoint: Checkpoint | null): void;
  /** Writes the end of a run with its state. Events of a pause are published only after that. */
  end(state: AgentState): Promise<void>;
  /** Returns the journal of a nested agent. */
  nested(callId: string): Journal;
  /** Whether a revoke of a remembered approval was accepted and is not in the state yet. */
  isRevoking(): Promise<boolean>;
  /** Whether an earlier process started this call and its result is unknown. */
  wasStarted(callId: string): boolean;
  /** Number of times that earlier processes started the text of this attempt and lost it. */
  lostTexts(agentId: string, stepNumber: number, attempt: number): number;
  /** The last saved state. */
  readonly saved: AgentState | null;
  /** Error after which the journal cannot write any more; it ends the run. */
  readonly failure: unknown;
  readonly pauseReason: string | null;
  /** Whether another process continues the run: the loop then stops between steps, without an outcome. */
  readonly isHandedOver: boolean;
}
