import type { BroadcastStatus } from '../agent/agent-status.ts';
import type { ContinuationDecision } from '../continuation/decision.ts';
import type { Remedy } from '../continuation/evaluation.ts';
import type { ExplanationAction } from '../continuation/explanation.ts';
import type { Grants } from '../continuation/grants.ts';
import type { StopReason } from '../continuation/stop-reason.ts';
import type { FinishReason } from '../inference/inference-driver.ts';
import type { JsonValue } from '../json.ts';

/** A value that did not fit into a frame: its beginning, and the name under which the whole can be fetched. */
export interface TruncatedValue {
  readonly summary: string;
  readonly ref: string;
}

export interface WireUsage {
  readonly input: number;
  readonly output: number;
  readonly total: number;
}

export interface WireEvaluation {
  readonly criterion: string;
  readonly decision: ContinuationDecision;
  readonly reason: string;
  readonly context: JsonValue;
  readonly remedy: Remedy | null;
}

/** What each type of envelope carries. Names are those of the wire. */
export interface EnvelopePayloads {
  readonly 'agent.status': {
    readonly status: BroadcastStatus;
    readonly previous_status: BroadcastStatus;
    readonly step_count: number;
  } & Partial<StopPayload>;
  readonly 'agent.message': {
    readonly message_id: string;
    readonly role: 'user' | 'assistant';
    readonly content: string | TruncatedValue;
    readonly step: number;
    /** How the model came to it; only where the config includes reasoning. `content` may be '' beside it. */
    readonly reasoning?: string;
  };
  readonly 'agent.step.started': {
    readonly step: number;
    readonly message_count: number;
    readonly available_tools: readonly string[];
  };
  readonly 'agent.step.completed': {
    readonly step: number;
    readonly has_tool_calls: boolean;
    readonly errors: number;
    readonly finish_reason: FinishReason | null;
    readonly usage: WireUsage;
    readonly duration_ms: number;
    readonly continuation?: {
      readonly should_continue: boolean;
      readonly stop_reason: StopReason | null;
      readonly resolved_by: string;
    };
  };
  readonly 'agent.tool.started': {
    readonly tool: string;
    readonly tool_call_id: string;
    readonly args_summary: string;
    /** With `includeToolArgs`. */
    readonly args?: JsonValue | TruncatedValue;
  };
  readonly 'agent.tool.completed': {
    readonly tool: string;
    readonly tool_call_id: string;
    readonly success: boolean;
    readonly error: string | null;
    readonly duration_ms: number;
    readonly result_summary: string | TruncatedValue;
    /** Of a call that did not run: nothing else has told them. */
    readonly args_summary?: string;
    readonly args?: JsonValue | TruncatedValue;
  };
  readonly 'agent.approval.requested': {
    readonly tool: string;
    readonly tool_call_id: string;
    readonly args: JsonValue | TruncatedValue;
    /** Names the recorded arguments, hidden parts included; an answer repeats it. Absent in logs of release 0.1.0. */
    readonly args_hash?: string;
    readonly args_summary: string;
    /** JSON pointers to what is hidden in `args`; absent where nothing is. */
    readonly hidden?: readonly string[];
  };
  readonly 'agent.continuation': {
    readonly step: number;
    readonly should_continue: boolean;
    readonly stop_reason: StopReason | null;
    readonly resolved_by: string;
    readonly evaluations: readonly WireEvaluation[] | TruncatedValue;
  };
  readonly 'agent.stream.chunk': {
    readonly message_id: string;
    readonly step: number;
    readonly attempt: number;
    readonly chunk_index: number;
    readonly content: string;
    /** Characters of the text before it. Absent from earlier releases. */
    readonly offset?: number;
    /** How often the text was begun anew in this attempt, after a discard each; absent where it was not. */
    readonly restart?: number;
    readonly is_complete: boolean;
  };
  /** Of the agent that the user talks to; only where the config includes reasoning. */
  readonly 'agent.reasoning.chunk': {
    readonly message_id: string;
    readonly step: number;
    readonly attempt: number;
    readonly content: string;
    /** Characters of the reasoning before it. */
    readonly offset: number;
    /** As on `agent.stream.chunk`. */
    readonly restart?: number;
  };
  readonly 'agent.stream.discarded': { readonly step: number; readonly attempt: number };
  readonly 'agent.tool.delta': {
    readonly tool_call_id: string;
    readonly args_delta: string;
    /** Characters of the arguments before it. Absent from earlier releases. */
    readonly offset?: number;
  };
}

/** On a status that ends or pauses the run. */
export interface StopPayload {
  readonly stop_reason: StopReason | null;
  /** Why, in a sentence for a person. */
  readonly stop_message: string;
  readonly resolved_by: string | null;
  /** What would let it continue. */
  readonly remedy: Remedy | null;
  readonly error_message: string | null;
  readonly last_response: string | TruncatedValue | null;
  /** The same in full: what happened, and what can be done. Absent from earlier releases. */
  readonly explanation?: WireExplanation;
}

/** An explanation for the person in front of the screen. */
export interface WireExplanation {
  readonly headline: string;
  readonly detail: string;
  readonly decided_by: string | null;
  readonly stop_reason: StopReason | null;
  readonly actions: readonly WireAction[];
}

/** What can be done. Which fields there are depends on `kind`. */
export interface WireAction {
  readonly kind: ExplanationAction['kind'];
  readonly text: string;
  readonly grant?: Grants;
  readonly minimum?: Grants;
  readonly call_ids?: readonly string[];
  readonly until?: string;
  readonly option?: string | null;
}

export type EnvelopeType = keyof EnvelopePayloads;

export interface EnvelopeOf<T extends EnvelopeType> {
  readonly type: T;
  readonly session_id: string;
  readonly execution_id: string;
  readonly agent_id: string;
  /** Only on envelopes of an agent that runs as another one's tool. */
  readonly parent_agent_id?: string;
  /** Number in the log of the execution; null on chunks and deltas, which are not in it. */
  readonly seq: number | null;
  /** Number of the envelope before, whatever was filtered out between; a reader that has not seen it was away. */
  readonly prev: number | null;
  readonly timestamp: string;
  readonly payload: EnvelopePayloads[T];
}

/** One message for a user's screen. */
export type Envelope = { [T in EnvelopeType]: EnvelopeOf<T> }[EnvelopeType];

/** What a client that was away gets: everything of one execution after a number, as the log has it. */
export interface Refill {
  readonly session_id: string;
  readonly execution_id: string | null;
  readonly envelopes: readonly Envelope[];
  /** The log is read up to here: nothing before it is missing. */
  readonly seq: number;
  /** There is more: ask again after `seq`. */
  readonly more: boolean;
  /**
   * With the end of the log: what is being said right now, as one chunk for each text and one delta for each call from
   * their beginning. Absent where nothing is, and where another process works on the session.
   */
  readonly unfinished?: readonly (
    | EnvelopeOf<'agent.stream.chunk'>
    | EnvelopeOf<'agent.tool.delta'>
  )[];
}

/** A run or resume ends or pauses with it. Agents behind a call have no status of their own. */
export const isLast = (envelope: Envelope): boolean =>
  envelope.type === 'agent.status' && envelope.payload.status !== 'processing';

export const channelOf = (sessionId: string): string => `agent.${sessionId}`;
