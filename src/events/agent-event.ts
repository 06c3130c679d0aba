import type { GrantRecord } from '../continuation/grant-allowance.ts';
import type { ContinuationOutcome } from '../continuation/outcome.ts';
import type { AgentStatus, PauseKind } from '../continuation/run-status.ts';
import type { StopReason } from '../continuation/stop-reason.ts';
import type { ErrorRecord } from '../errors/error-record.ts';
import type { FileFacts } from '../file-facts.ts';
import type { FinishReason } from '../inference/inference-driver.ts';
import type { ModelCallInfo } from '../inference/model-call-info.ts';
import type { Usage } from '../inference/usage.ts';
import type { JsonObject, JsonValue } from '../json.ts';
import type { PartFacts } from '../messages/part-facts.ts';
import type { ToolProgress } from '../tools/tool-progress.ts';
import type { KeyedQuestion } from '../tools/input-request.ts';
import type { ApprovalRecord } from '../tools/tool-result.ts';

/** Fields of every event. */
export interface EventBase {
  readonly agentId: string;
  /** Id of the calling agent; null for the root agent. */
  readonly parentAgentId: string | null;
  readonly executionId: string;
  /**
   * Position in the run, nested agents included; for `StreamChunk` and `ReasoningDelta`, the position in the message.
   */
  readonly index: number;
  readonly at: string;
}

/**
 * A call that needs approval; `path` lists the calls from the root down to the nested agent. An answer with
 * `executionId` and `argsHash` applies only to this call.
 */
export interface PendingApproval {
  readonly callId: string;
  readonly tool: string;
  readonly args: JsonObject;
  /**
   * Hash of the recorded arguments, including hidden parts. Absent, like `executionId`, only in logs of release
   * 0.1.0.
   */
  readonly argsHash?: string;
  readonly executionId?: string;
  /** JSON pointers to secrets that are hidden in `args`, in events and views; see `Redacted`. */
  readonly hidden?: readonly string[];
  readonly path: readonly string[];
}

/** A question of a tool that waits for the user's answer, given with `resume(state, { inputs: { [inputId]: answer } })`. */
export interface PendingInput extends KeyedQuestion {
  readonly inputId: string;
  readonly callId: string;
  readonly tool: string;
  readonly executionId: string;
  /** The calls from the root down to the nested agent. */
  readonly path: readonly string[];
}

interface TextPiece {
  readonly messageId: string;
  readonly stepNumber: number;
  readonly attempt: number;
  readonly content: string;
  /** Number of characters of the text, or of the reasoning, before this piece. */
  readonly offset: number;
  /** Number of restarts in this attempt, each after a `StreamDiscarded`; absent if 0. */
  readonly restart?: number;
}

interface EventFields {
  readonly AgentStarted: {
    readonly agentName: string;
    readonly resumed: boolean;
    /** Status before the run: `pending`, `paused`, or the status of the end that a grant reopened. */
    readonly previousStatus: AgentStatus;
    readonly previousStopReason: StopReason | null;
    readonly messageCount: number;
    /** Number of earlier steps; more than 0 if it continues. */
    readonly stepCount: number;
    /** End of the previous execution's log, in a session. Absent on the first execution, and from earlier releases. */
    readonly previous?: { readonly executionId: string; readonly seq: number };
    /** The grant that continues it; absent without one. */
    readonly grant?: GrantRecord;
    /** The call of the parent behind which a nested agent runs. Absent for a root, and in logs of release 0.1.0. */
    readonly callId?: string;
  };
  /** A user message that a run answers, or a complete text of the model. */
  readonly MessageAdded: {
    readonly messageId: string;
    readonly role: 'user' | 'assistant';
    readonly content: string;
    /** The images and files of a user's message, without their bytes; absent if it has none. */
    readonly files?: readonly FileFacts[];
    /** 0 for messages that the run starts with. */
    readonly stepNumber: number;
    /** The model's reasoning, at most 32,768 characters; absent without reasoning. `content` may then be ''. */
    readonly reasoning?: string;
  };
  readonly AgentStepStarted: {
    readonly stepNumber: number;
    readonly attempt: number;
    readonly messageCount: number;
    readonly availableTools: readonly string[];
  };
  /** The tools that sources of the agent offer have changed since the step before, or some cannot be offered. */
  readonly ToolsChanged: {
    readonly stepNumber: number;
    /** At most 100 names each. */
    readonly added: readonly string[];
    readonly removed: readonly string[];
    /** Tools with another description or schema. */
    readonly changed: readonly string[];
    /** Sources without all of their tools, such as a server that cannot be reached. */
    readonly unavailable: readonly { readonly source: string; readonly reason: string }[];
  };
  /** A piece of the model's text. */
  readonly StreamChunk: TextPiece;
  /** A piece of the model's reasoning, before or between the pieces of its text. */
  readonly ReasoningDelta: TextPiece;
  readonly ToolCallDelta: {
    readonly toolCallId: string;
    readonly tool: string;
    readonly argsDelta: string;
    /** Characters of the arguments before this delta. */
    readonly offset: number;
  };
  readonly ToolCallStarted: {
    readonly tool: string;
    readonly toolCallId: string;
    readonly args: JsonObject;
  };
  /** What a running call reports; at most one per second and call. */
  readonly ToolProgress: { readonly tool: string; readonly toolCallId: string } & ToolProgress;
  readonly ToolCallCompleted: {
    readonly tool: string;
    readonly toolCallId: string;
    readonly success: boolean;
    readonly error: string | null;
    /**
     * Why it has no result: `denied`, `aborted`, `blocked` or `timeout`, or the code of the error, such as
     * `tool_failed`. Absent on success and in logs of release 0.1.0.
     */
    readonly errorCode?: string;
    readonly durationMs: number;
    /** Text, with a note in place of each image and file, or JSON. */
    readonly result: JsonValue;
    /** The images and files of the result, without their bytes; absent if it has none. */
    readonly files?: readonly PartFacts[];
    /** How the approver answered, if the call needed approval. */
    readonly approval?: ApprovalRecord;
    /** Whether `result` is truncated; absent if it is complete. */
    readonly truncated?: boolean;
    /** Arguments of a call that did not run; text if they are not JSON. */
    readonly args?: JsonObject | string;
  };
  readonly ToolApprovalRequested: {
    readonly tool: string;
    readonly toolCallId: string;
    readonly args: JsonObject;
    /** Hash of the recorded arguments, including hidden parts; absent in logs of release 0.1.0. */
    readonly argsHash?: string;
    /** JSON pointers to hidden values in `args`; absent if nothing is hidden. */
    readonly hidden?: readonly string[];
  };
  readonly TokenUsageReported: { readonly usage: Usage; readonly cost: number | null };
  readonly AgentStepCompleted: {
    readonly stepNumber: number;
    readonly durationMs: number;
    readonly hasToolCalls: boolean;
    readonly errorCount: number;
    readonly finishReason: FinishReason | null;
    /** What the provider reported about the model call; absent if it reported nothing. */
    readonly modelCall?: ModelCallInfo;
    readonly usage: Usage;
    readonly outcome: ContinuationOutcome;
  };
  readonly StepFailed: {
    readonly stepNumber: number;
    readonly attempt: number;
    readonly error: ErrorRecord;
    readonly waitMs: number;
    /** Id of the model; absent if the agent has no fallback models. */
    readonly model?: string;
    readonly modelCall?: ModelCallInfo;
  };
  /** A model failed, and the run continues with another one. */
  readonly ModelFallback: {
    /** Number of the failed step. */
    readonly stepNumber: number;
    readonly attempt: number;
    /** Ids of the failed model and of the next one: the names of their drivers. */
    readonly from: string;
    readonly to: string;
    /** Code of the error record, such as `overloaded`. */
    readonly code: string;
    /** "openai:gpt-5 was overloaded, continued with anthropic:claude". */
    readonly reason: string;
  };
  /** Earlier messages were left out of what the model is sent. The conversation itself is unchanged. */
  readonly ContextCompacted: {
    /** Number of the step before whose model call it happened. */
    readonly stepNumber: number;
    readonly id: string;
    /** `tool_results`: results of tools became short notes. `summary`: messages became one note. */
    readonly kind: 'tool_results' | 'summary';
    /** Why: the conversation reached the threshold, or the model refused a request as too long. */
    readonly reason: 'threshold' | 'context_length';
    /** Number of messages that it covers. */
    readonly messages: number;
    /** Size of the request, in part estimated. */
    readonly tokensBefore: number;
    readonly tokensAfter: number;
    /** The summary. */
    readonly text?: string;
    /** Id of the model that wrote the summary. */
    readonly model?: string;
    /** What the summary has used. */
    readonly usage: Usage;
    readonly cost: number | null;
  };
  readonly StreamDiscarded: { readonly stepNumber: number; readonly attempt: number };
  readonly ContinuationEvaluated: {
    readonly stepNumber: number;
    readonly outcome: ContinuationOutcome;
  };
  readonly AgentStateUpdated: { readonly status: AgentStatus; readonly stepCount: number };
  /** A tool asks the user. Emitted when the pause is stored. */
  readonly ToolInputRequested: KeyedQuestion & {
    readonly tool: string;
    readonly toolCallId: string;
    readonly inputId: string;
  };
  readonly AgentPaused: {
    readonly kind: PauseKind;
    /** The reason of the pause request. */
    readonly reason: string | null;
    readonly pendingApprovals: readonly PendingApproval[];
    /** Absent if no tool asks. */
    readonly pendingInputs?: readonly PendingInput[];
    readonly stepCount: number;
  };
  readonly AgentFinished: EndFields<'completed' | 'stopped'>;
  readonly AgentFailed: EndFields<'failed'> & { readonly error: ErrorRecord | null };
}

interface EndFields<Status extends AgentStatus> {
  readonly status: Status;
  /** `paused` if a paused run was ended. */
  readonly previousStatus: 'in_progress' | 'paused';
  readonly stopReason: StopReason | null;
  readonly stepCount: number;
  readonly usage: Usage;
  readonly cost: number | null;
  readonly outcome: ContinuationOutcome | null;
  /** The last text of the model in this execution, '' if there is none. */
  readonly outputText: string;
}

export type AgentEventType = keyof EventFields;
export type FieldsOf<T extends AgentEventType> = EventFields[T];
export type EventOf<T extends AgentEventType> = { readonly type: T } & EventBase & EventFields[T];

/** Every event of a run. */
export type AgentEvent = { [T in AgentEventType]: EventOf<T> }[AgentEventType];

export type EventListener<E = AgentEvent> = (event: E) => void;

/** Whether a log counts it. Chunks and deltas are not logged: the finished message and call have everything. */
export const isNumbered = (type: AgentEventType): boolean =>
  type !== 'StreamChunk' && type !== 'ReasoningDelta' && type !== 'ToolCallDelta';

/**
 * Whether a run or resume of the session's own agent ends or pauses with this event, even if it continues elsewhere.
 */
export const isRunEnd = ({ type, parentAgentId }: AgentEvent): boolean =>
  parentAgentId === null &&
  (type === 'AgentFinished' || type === 'AgentFailed' || type === 'AgentPaused');
