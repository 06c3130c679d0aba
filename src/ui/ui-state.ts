import type { BroadcastStatus } from '../agent/agent-status.ts';
import type { TruncatedValue, StopPayload, WireUsage } from '../broadcasting/envelope.ts';
import type { JsonValue } from '../json.ts';
import type { ReducerState } from './reducer-state.ts';
import type { UiMessage } from './ui-message.ts';

/** A call that waits for a person. */
export interface UiApproval {
  readonly tool: string;
  readonly tool_call_id: string;
  readonly args: JsonValue | TruncatedValue;
  /** Names the recorded arguments; an answer repeats it. */
  readonly args_hash?: string;
  readonly args_summary: string;
  /** JSON pointers to what is hidden in `args`; absent where nothing is. */
  readonly hidden?: readonly string[];
  readonly execution_id: string;
  readonly agent_id: string;
}

/** Why the last run stands still, and what would let it continue. */
export interface UiStop extends StopPayload {
  readonly status: BroadcastStatus;
  readonly step_count: number;
  readonly timestamp: string;
}

/** A place in the log of an execution. */
export interface LogPlace {
  readonly executionId: string;
  /** Everything up to here is known. */
  readonly after: number;
}

/** What a screen shows of a session. Never changed: every envelope makes a new one. */
export interface UiState {
  readonly sessionId: string | null;
  readonly executionId: string | null;
  readonly status: BroadcastStatus;
  /** In order of the conversation. */
  readonly messages: readonly UiMessage[];
  readonly approvals: readonly UiApproval[];
  /** Null while it works, and before the first run. */
  readonly stop: UiStop | null;
  /** Of the execution on screen. */
  readonly usage: WireUsage;
  readonly stepCount: number;
  /** How much came that could not be used: envelopes that are none, fields that were replaced. */
  readonly ignored?: number;
  /** Something is missing: ask for what follows this place. */
  readonly gap: LogPlace | null;
  /** The message or the call of which pieces are missing while it is made: a refill may have them. */
  readonly textGap: string | null;
  /** How far the newest execution is known without a hole; where a reconnect continues. */
  readonly place: LogPlace | null;
  /** What the reducer has to remember; plain JSON, not to be read. Without it a state is taken as it looks. */
  readonly reducer?: ReducerState;
}
