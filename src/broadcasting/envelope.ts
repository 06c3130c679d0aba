import type { BroadcastStatus } from '../agent/agent-status.ts';
import type { ContinuationDecision } from '../continuation/decision.ts';
import type { Remedy } from '../continuation/evaluation.ts';
import type { ExplanationAction } from '../continuation/explanation.ts';
import type { GrantAuthority } from '../continuation/grant-allowance.ts';
import type { Grants } from '../continuation/grants.ts';
import type { StopReason } from '../continuation/stop-reason.ts';
import type { FinishReason } from '../inference/inference-driver.ts';
import type { JsonValue } from '../json.ts';

/** A value that did not fit into a frame: its beginning, and the ref that fetches the whole value. */
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

/** A grant, and who gave it. */
export interface WireGrant {
  readonly amounts: Grants;
  /** Null if it is not recorded. */
  readonly by: string | null;
  readonly authority: GrantAuthority;
  readonly at: string;
}

/** An image or a file of a tool result. */
export interface WireFile {
  readonly type: 'image' | 'file';
  readonly media_type?: string;
  readonly filename?: string;
  /** Address of one that was not given as bytes. It may come from a model or a user: do not load it unasked. */
  readonly url?: string;
  readonly bytes?: number;
}

/** Payload of each envelope type, with the names of the wire. */
export interface EnvelopePayloads {
  readonly 'agent.status': {
    readonly status: BroadcastStatus;
    readonly previous_status: BroadcastStatus;
    readonly step_count: number;
    /** The grant that continues the run; absent without one, and from earlier releases. */
    readonly grant?: WireGrant;
  } & Partial<StopPayload>;
  readonly 'agent.message': {
    readonly message_id: string;
    readonly role: 'user' | 'assistant';
    readonly content: string | TruncatedValue;
    /** The images and files of a user's message, without their bytes; absent if it has none. */
    readonly files?: readonly WireFile[];
    readonly step: number;
    /** The model's reasoning, if the config includes it. `content` may then be ''. */
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
  /** A model failed, and the run continues with another one. */
  readonly 'agent.model.fallback': {
    /** Number of the failed step. */
    readonly step: number;
    readonly attempt: number;
    readonly from: string;
    readonly to: string;
    readonly error_code: string;
    readonly reason: string;
  };
  /** Earlier messages were left out of what the model is sent. Not sent by earlier releases. */
  readonly 'agent.context.compacted': {
    readonly step: number;
    readonly kind: 'tool_results' | 'summary';
    readonly reason: 'threshold' | 'context_length';
    readonly compaction_id: string;
    /** Ref of the text of a summary. */
    readonly summary_ref?: string;
    /** Number of messages that it covers. */
    readonly messages: number;
    readonly tokens_before: number;
    readonly tokens_after: number;
  };
  readonly 'agent.tool.started': {
    readonly tool: string;
    readonly tool_call_id: string;
    readonly args_summary: string;
    /** Only with `includeToolArgs`. */
    readonly args?: JsonValue | TruncatedValue;
  };
  /** What a running call reports. Not sent by earlier releases. */
  readonly 'agent.tool.progress': {
    readonly tool: string;
    readonly tool_call_id: string;
    readonly message?: string;
    readonly progress?: number;
    readonly total?: number;
  };
  readonly 'agent.tool.completed': {
    readonly tool: string;
    readonly tool_call_id: string;
    readonly success: boolean;
    readonly error: string | null;
    /**
     * Why it has no result: `denied`, `aborted`, `blocked` or `timeout`, or the code of the error, such as
     * `tool_failed`. Absent on success and in logs of release 0.1.0.
     */
    readonly error_code?: string;
    readonly duration_ms: number;
    readonly result_summary: string | TruncatedValue;
    /** The images and files of the result, without their bytes; absent if it has none. */
    readonly files?: readonly WireFile[];
    /** Arguments of a call that did not run: no `agent.tool.started` has them. */
    readonly args_summary?: string;
    readonly args?: JsonValue | TruncatedValue;
  };
  readonly 'agent.approval.requested': {
    readonly tool: string;
    readonly tool_call_id: string;
    readonly args: JsonValue | TruncatedValue;
    /**
     * Hash of the recorded arguments, including hidden parts. An answer repeats it. Absent in logs of release 0.1.0.
     */
    readonly args_hash?: string;
    readonly args_summary: string;
    /** JSON pointers to hidden values in `args`. Absent if nothing is hidden. */
    readonly hidden?: readonly string[];
  };
  readonly 'agent.input.requested': {
    readonly tool: string;
    readonly tool_call_id: string;
    /** Id of the question; an answer names it. */
    readonly input_id: string;
    readonly key: string;
    readonly message: string;
    /** JSON Schema of the form; absent if `url` is set. */
    readonly schema?: JsonValue | TruncatedValue;
    /** Address to open. It comes from the tool, so show where it leads before it is opened. */
    readonly url?: string;
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
    /** Characters of the text before this chunk. Absent from earlier releases. */
    readonly offset?: number;
    /** How often the text was restarted in this attempt, each time after a discard. Absent if it was not. */
    readonly restart?: number;
    readonly is_complete: boolean;
  };
  /** Reasoning of the root agent, if the config includes it. */
  readonly 'agent.reasoning.chunk': {
    readonly message_id: string;
    readonly step: number;
    readonly attempt: number;
    readonly content: string;
    /** Characters of the reasoning before this chunk. */
    readonly offset: number;
    /** As in `agent.stream.chunk`. */
    readonly restart?: number;
  };
  /**
   * The worker of a running session stopped answering, so that the session waits for another one (`lost`), or the session
   * has a worker again (`found`). Not in the log, and only over server-sent events.
   */
  readonly 'agent.worker': { readonly status: 'lost' | 'found' };
  readonly 'agent.stream.discarded': { readonly step: number; readonly attempt: number };
  readonly 'agent.tool.delta': {
    readonly tool_call_id: string;
    /** Name of the tool. Absent from earlier releases. */
    readonly tool?: string;
    readonly args_delta: string;
    /** Characters of the arguments before this delta. Absent from earlier releases. */
    readonly offset?: number;
  };
}

/** Fields of a status that ends or pauses the run. */
export interface StopPayload {
  readonly stop_reason: StopReason | null;
  /** Why it ended or paused, in a sentence for a user. */
  readonly stop_message: string;
  readonly resolved_by: string | null;
  /** How to continue. */
  readonly remedy: Remedy | null;
  readonly error_message: string | null;
  readonly last_response: string | TruncatedValue | null;
  /** The full explanation: what happened, and what the user can do. Absent from earlier releases. */
  readonly explanation?: WireExplanation;
}

/** An explanation for the user. */
export interface WireExplanation {
  readonly headline: string;
  readonly detail: string;
  readonly decided_by: string | null;
  readonly stop_reason: StopReason | null;
  readonly actions: readonly WireAction[];
}

/** An action that the user can take. The fields depend on `kind`. */
export interface WireAction {
  readonly kind: ExplanationAction['kind'];
  readonly text: string;
  readonly grant?: Grants;
  readonly minimum?: Grants;
  readonly call_ids?: readonly string[];
  readonly input_ids?: readonly string[];
  readonly until?: string;
  readonly option?: string | null;
}

export type EnvelopeType = keyof EnvelopePayloads;

export interface EnvelopeOf<T extends EnvelopeType> {
  readonly type: T;
  readonly session_id: string;
  readonly execution_id: string;
  readonly agent_id: string;
  /** Only on envelopes of a nested agent. */
  readonly parent_agent_id?: string;
  /** Number in the log of the execution; null on chunks, deltas and `agent.worker`, which are not logged. */
  readonly seq: number | null;
  /** Number of the previous envelope, ignoring filtered ones. A reader that has not seen it missed something. */
  readonly prev: number | null;
  readonly timestamp: string;
  readonly payload: EnvelopePayloads[T];
}

/** A message for a user's client. */
export type Envelope = { [T in EnvelopeType]: EnvelopeOf<T> }[EnvelopeType];

/** What a client missed: everything of one execution after a number in the log. */
export interface Refill {
  readonly session_id: string;
  readonly execution_id: string | null;
  readonly envelopes: readonly Envelope[];
  /** Number up to which the log was read. Nothing before it is missing. */
  readonly seq: number;
  /** Whether there is more: ask again after `seq`. */
  readonly more: boolean;
  /**
   * With the end of the log: what is being said right now, as one chunk for each text and each reasoning and one delta
   * for each call from their beginning, where this process works on the session or a bus reaches the one that does; and
   * a notice if the worker of the run stopped answering. Absent where there is nothing.
   */
  readonly unfinished?: readonly (
    | EnvelopeOf<'agent.stream.chunk'>
    | EnvelopeOf<'agent.reasoning.chunk'>
    | EnvelopeOf<'agent.tool.delta'>
    | EnvelopeOf<'agent.worker'>
  )[];
}

/** Whether a run or resume ends or pauses with this envelope. Nested agents have no status. */
export const isLast = (envelope: Envelope): boolean =>
  envelope.type === 'agent.status' && envelope.payload.status !== 'processing';

export const channelOf = (sessionId: string): string => `agent.${sessionId}`;
