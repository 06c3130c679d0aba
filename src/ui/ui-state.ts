import type { BroadcastStatus } from '../agent/agent-status.ts';
import type { EnvelopePayloads, StopPayload, WireUsage } from '../broadcasting/envelope.ts';
import type { ReducerState } from './reducer-state.ts';
import type { UiMessage } from './ui-message.ts';

type Requested = EnvelopePayloads['agent.approval.requested'];
type Asked = EnvelopePayloads['agent.input.requested'];

/** A call that waits for a person. */
export interface UiApproval extends Requested {
  readonly execution_id: string;
  readonly agent_id: string;
}

/** A question of a tool that waits for the user. */
export interface UiInput extends Asked {
  readonly execution_id: string;
  readonly agent_id: string;
}

/** Why the last run stopped or paused, and how to continue it. */
export interface UiStop extends StopPayload {
  readonly status: BroadcastStatus;
  readonly step_count: number;
  readonly timestamp: string;
}

/** A position in the log of an execution. */
export interface LogPlace {
  readonly executionId: string;
  /** Number up to which everything is known. */
  readonly after: number;
}

/** The view of a session. Immutable: every envelope creates a new one. */
export interface UiState {
  readonly sessionId: string | null;
  readonly executionId: string | null;
  readonly status: BroadcastStatus;
  /** Messages in the order of the conversation. */
  readonly messages: readonly UiMessage[];
  readonly approvals: readonly UiApproval[];
  /** Questions of tools; absent in states of earlier releases. */
  readonly inputs?: readonly UiInput[];
  /** Why it stopped; null while it runs and before the first run. */
  readonly stop: UiStop | null;
  /** Usage of the visible execution. */
  readonly usage: WireUsage;
  readonly stepCount: number;
  /**
   * Whether the worker of the visible run stopped answering, so that the run waits for another one. Then the last message
   * is a status row that says so. Only over server-sent events.
   */
  readonly isWorkerLost?: boolean;
  /** Number of invalid inputs: dropped envelopes and replaced fields. */
  readonly ignored?: number;
  /** Position after which something is missing; null if nothing is. */
  readonly gap: LogPlace | null;
  /** Id of an unfinished message or call with missing chunks: a refill may have them. */
  readonly textGap: string | null;
  /** Position up to which the newest execution has no gap; a reconnect continues there. */
  readonly place: LogPlace | null;
  /** Internal state of the reducer as plain JSON. Do not read it. Without it, it is rebuilt from the visible state. */
  readonly reducer?: ReducerState;
}
