import type { ContinuationOutcome } from '../continuation/outcome.ts';
import type { AgentStatus, PauseKind } from '../continuation/run-status.ts';
import type { StopReason } from '../continuation/stop-reason.ts';
import type { ErrorRecord } from '../errors/error-record.ts';
import type { FinishReason } from '../inference/inference-driver.ts';
import type { Usage } from '../inference/usage.ts';
import type { JsonObject, JsonValue } from '../json.ts';
import type { ApprovalRecord } from '../tools/tool-result.ts';

/** Carried by every event. */
export interface EventBase {
  readonly agentId: string;
  /** Set on the events of an agent that runs as another agent's tool. */
  readonly parentAgentId: string | null;
  readonly executionId: string;
  /** Position in the run, nested agents included; on `StreamChunk` and `ReasoningDelta` the position in the message. */
  readonly index: number;
  readonly at: string;
}

/**
 * Approval that a person has to give; `path` leads from the root's call down to the agent that waits. An answer that
 * names `executionId` and `argsHash` counts for this very call alone.
 */
export interface PendingApproval {
  readonly callId: string;
  readonly tool: string;
  readonly args: JsonObject;
  /** Names the recorded arguments, hidden parts included. Absent, as `executionId`, in logs of release 0.1.0 alone. */
  readonly argsHash?: string;
  readonly executionId?: string;
  /** In events and views, where secrets in `args` are hidden: JSON pointers to them, see `Redacted`. */
  readonly hidden?: readonly string[];
  readonly path: readonly string[];
}

interface EventFields {
  readonly AgentStarted: {
    readonly agentName: string;
    readonly resumed: boolean;
    /** What the run was before: `pending`, `paused`, or how it had ended before a grant. */
    readonly previousStatus: AgentStatus;
    readonly previousStopReason: StopReason | null;
    readonly messageCount: number;
    /** More than 0 where it continues. */
    readonly stepCount: number;
    /** In a session: where the log of the execution before ended. Absent on the first one, and from earlier releases. */
    readonly previous?: { readonly executionId: string; readonly seq: number };
  };
  /** A user's message that a run answers, or a complete text of the model. */
  readonly MessageAdded: {
    readonly messageId: string;
    readonly role: 'user' | 'assistant';
    readonly content: string;
    /** 0 for what the run begins with. */
    readonly stepNumber: number;
    /** How the model came to it, at most 32,768 characters; absent without reasoning. `content` may be '' beside it. */
    readonly reasoning?: string;
  };
  readonly AgentStepStarted: {
    readonly stepNumber: number;
    readonly attempt: number;
    readonly messageCount: number;
    readonly availableTools: readonly string[];
  };
  readonly StreamChunk: {
    readonly messageId: string;
    readonly stepNumber: number;
    readonly attempt: number;
    readonly content: string;
    /** Characters of the text before it. */
    readonly offset: number;
    /** How often the text was begun anew in this attempt, after a `StreamDiscarded` each; absent where it was not. */
    readonly restart?: number;
  };
  /** A piece of the model's reasoning, before or between the pieces of its text. */
  readonly ReasoningDelta: {
    readonly messageId: string;
    readonly stepNumber: number;
    readonly attempt: number;
    readonly content: string;
    /** Characters of the reasoning before it. */
    readonly offset: number;
    /** As on `StreamChunk`: how often this attempt began again. */
    readonly restart?: number;
  };
  readonly ToolCallDelta: {
    readonly toolCallId: string;
    readonly tool: string;
    readonly argsDelta: string;
    /** Characters of the arguments before it. */
    readonly offset: number;
  };
  readonly ToolCallStarted: {
    readonly tool: string;
    readonly toolCallId: string;
    readonly args: JsonObject;
  };
  readonly ToolCallCompleted: {
    readonly tool: string;
    readonly toolCallId: string;
    readonly success: boolean;
    readonly error: string | null;
    readonly durationMs: number;
    readonly result: JsonValue;
    /** How a person answered, where the call has waited. */
    readonly approval?: ApprovalRecord;
    /** Whether `result` is only the beginning of what the tool returned; absent where it is whole. */
    readonly truncated?: boolean;
    /** Of a call that did not run, what it was asked with: as text where that is no JSON. */
    readonly args?: JsonObject | string;
  };
  readonly ToolApprovalRequested: {
    readonly tool: string;
    readonly toolCallId: string;
    readonly args: JsonObject;
    /** Names the recorded arguments, hidden parts included; absent in logs of release 0.1.0. */
    readonly argsHash?: string;
    /** JSON pointers to what is hidden in `args`; absent where nothing is. */
    readonly hidden?: readonly string[];
  };
  readonly TokenUsageReported: { readonly usage: Usage; readonly cost: number | null };
  readonly AgentStepCompleted: {
    readonly stepNumber: number;
    readonly durationMs: number;
    readonly hasToolCalls: boolean;
    readonly errorCount: number;
    readonly finishReason: FinishReason | null;
    readonly usage: Usage;
    readonly outcome: ContinuationOutcome;
  };
  readonly StepFailed: {
    readonly stepNumber: number;
    readonly attempt: number;
    readonly error: ErrorRecord;
    readonly waitMs: number;
  };
  readonly StreamDiscarded: { readonly stepNumber: number; readonly attempt: number };
  readonly ContinuationEvaluated: {
    readonly stepNumber: number;
    readonly outcome: ContinuationOutcome;
  };
  readonly AgentStateUpdated: { readonly status: AgentStatus; readonly stepCount: number };
  readonly AgentPaused: {
    readonly kind: PauseKind;
    /** The reason given with the pause request. */
    readonly reason: string | null;
    readonly pendingApprovals: readonly PendingApproval[];
    readonly stepCount: number;
  };
  readonly AgentFinished: EndFields<'completed' | 'stopped'>;
  readonly AgentFailed: EndFields<'failed'> & { readonly error: ErrorRecord | null };
}

interface EndFields<Status extends AgentStatus> {
  readonly status: Status;
  /** `paused` where a run was ended that waited. */
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

/** Everything a run tells while it runs. */
export type AgentEvent = { [T in AgentEventType]: EventOf<T> }[AgentEventType];

export type EventListener<E = AgentEvent> = (event: E) => void;

/** Whether a log counts it. Chunks and deltas are in none: the finished message and call have it all. */
export const isNumbered = (type: AgentEventType): boolean =>
  type !== 'StreamChunk' && type !== 'ReasoningDelta' && type !== 'ToolCallDelta';
