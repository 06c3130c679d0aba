import type { AgentStatus } from '../agent/agent-status.ts';
import type { AgentStep } from '../agent/agent-step.ts';
import type { FamilyShare } from '../continuation/family-share.ts';
import type { GrantRecord } from '../continuation/grant-allowance.ts';
import type { Execution, SessionInfo } from '../agent/execution.ts';
import type { Pause } from '../agent/agent-state.ts';
import type { ContinuationEvaluation } from '../continuation/evaluation.ts';
import type { ContinuationOutcomeJSON, DeniedCall, StoppedAgent } from '../continuation/outcome.ts';
import type { ErrorRecord } from '../errors/error-record.ts';
import type { PendingApproval } from '../events/agent-event.ts';
import type { Usage } from '../inference/usage.ts';
import type { JsonObject, JsonValue } from '../json.ts';
import type { ContentPart } from '../messages/content-part.ts';
import type { PartFacts } from '../messages/part-facts.ts';
import type { MessageRole } from '../messages/message-role.ts';
import type { ToolCall } from '../messages/tool-call.ts';
import type { ApprovalRecord, ToolResult } from '../tools/tool-result.ts';
import type { SlimCompaction } from './slim-compactions.ts';
import type { SlimOpenInput, SlimPendingInput } from './slim-inputs.ts';
import type { SlimPolicy, SlimRun } from './slim-records.ts';
import type { SnakeKeys } from './snake-keys.ts';

export const SLIM_VERSION = 2;

export type SlimUsage = SnakeKeys<Usage>;
/** A tool call. With `args_omitted`, `args` is `{}` because the document omits it. */
export type SlimToolCall = SnakeKeys<ToolCall> & { readonly args_omitted?: true };
export type SlimEvaluation = SnakeKeys<ContinuationEvaluation>;
export type SlimError = SnakeKeys<ErrorRecord>;
export type SlimApproval = SnakeKeys<PendingApproval> & { readonly args_omitted?: true };

type SlimParts<Part> = Part extends ContentPart ? SnakeKeys<Part> : never;
export type SlimPart = SlimParts<ContentPart>;

/** A message. Empty fields are absent. */
export interface SlimMessage {
  readonly id: string;
  readonly role: MessageRole;
  readonly content: string | readonly SlimPart[];
  readonly tool_calls?: readonly SlimToolCall[];
  readonly tool_call_id?: string;
  readonly name?: string;
  readonly metadata?: JsonObject;
  readonly created_at: string;
}

/** A tool result. A value that is too long is replaced by the beginning of its text. */
export type SlimResult = Omit<SnakeKeys<ToolResult>, 'error' | 'approval' | 'files' | 'content'> & {
  readonly files?: readonly SnakeKeys<PartFacts>[];
  readonly content?: readonly SlimPart[];
  readonly error?: SlimError;
  readonly approval?: SnakeKeys<ApprovalRecord>;
};

export type SlimOutcome = Omit<SnakeKeys<ContinuationOutcomeJSON>, 'evaluations'> & {
  readonly evaluations: readonly SlimEvaluation[];
};

export type SlimStep = Omit<
  SnakeKeys<AgentStep>,
  'tool_calls' | 'results' | 'errors' | 'usage' | 'outcome' | 'policy'
> & {
  /** Absent if it is that of the step before. */
  readonly policy?: SlimPolicy;
  readonly tool_calls: readonly SlimToolCall[];
  readonly results: readonly SlimResult[];
  readonly errors: readonly SlimError[];
  readonly usage: SlimUsage;
  readonly outcome: SlimOutcome | null;
  /** What calls of an unfinished step asked the user; absent if none did, or if the document omits it. */
  readonly inputs?: readonly SlimOpenInput[];
  /** Paused nested agents by call id; set while the step is unfinished. */
  readonly children?: Readonly<Record<string, SlimState>>;
};

/** Counts of what the document omits or changes. */
export interface SlimTruncated {
  readonly turns: number;
  readonly messages: number;
  /** Number of truncated texts. */
  readonly contents: number;
  readonly args: number;
  readonly metadata: number;
  readonly steps: number;
  /** Number of redacted places. */
  readonly redacted: number;
  /** Number of messages of the newest turn if it alone exceeds the limit; it is kept whole. Else 0. */
  readonly turn_over_limit: number;
  /** Data that the document lacks to continue the execution; empty if it can be resumed. */
  readonly missing: readonly string[];
}

/** Fields that a state needs to continue, besides those at the top level. */
export interface SlimRest {
  readonly session_updated_at: string;
  readonly session_answered_steps: number;
  readonly first_message: number;
  readonly handled_step: number;
  readonly succeeded_tools: readonly string[];
  /** Absent without grants. */
  readonly grant_log?: readonly GrantRecord[];
  /** Absent without nested agents. */
  readonly family?: readonly FamilyShare[];
  /** Absent in nested agents and in documents of earlier releases. */
  readonly runs?: readonly SlimRun[];
  /** W3C trace context of the execution; absent if it is not traced. */
  readonly traceparent?: string;
  /** Absent if `consecutive_failures` and the type of the last step give the counts. */
  readonly failures?: SnakeKeys<Pick<Execution, 'modelFailures' | 'toolFailures' | 'failingTools'>>;
  /** What the model is no longer sent; absent if there is nothing. */
  readonly compactions?: readonly SlimCompaction[];
  readonly stop_request: Execution['stopRequest'];
  readonly pause_reason: string | null;
  readonly decision: ContinuationOutcomeJSON['decision'] | null;
  /** Time of the last outcome; absent in documents of earlier releases. */
  readonly outcome_at?: string;
  readonly stopped_agents?: readonly StoppedAgent[];
  readonly denied_calls?: readonly DeniedCall[];
  readonly evaluations: readonly SlimEvaluation[];
  /** Whether the output is the last text of the model, which is in `messages`. */
  readonly output_is_text: boolean;
  readonly output: JsonValue;
  readonly partial_output: JsonValue;
  /** Results of an unfinished step that the document omits. */
  readonly results: readonly SlimResult[];
}

/** A state for a database column or a UI: bounded, redacted, snake_case. */
export interface SlimState {
  /** 2 if release 0.1.0 would lose `rest.failures`, `rest.compactions`, parts of results or questions, else 1. */
  readonly version: 1 | typeof SLIM_VERSION;
  readonly agent_id: string;
  readonly agent_name: string | null;
  readonly parent_agent_id: string | null;
  readonly status: AgentStatus;
  /** Number of steps in the current execution, like `usage`. */
  readonly step_count: number;
  readonly usage: SlimUsage;
  readonly session: SnakeKeys<Pick<SessionInfo, 'startedAt' | 'stepCount' | 'cost'>> & {
    readonly usage: SlimUsage;
  };
  readonly execution: SnakeKeys<
    Pick<
      Execution,
      | 'id'
      | 'startedAt'
      | 'updatedAt'
      | 'stepCount'
      | 'answeredSteps'
      | 'cost'
      | 'consecutiveFailures'
      | 'totalFailures'
      | 'cumulativeSeconds'
      | 'grants'
    >
  > & { readonly usage: SlimUsage; readonly session_cumulative_seconds: number };
  readonly pause: Pick<Pause, 'kind' | 'at'> | null;
  readonly messages: readonly SlimMessage[];
  /** Finished steps, if `includeAllSteps` is set. */
  readonly steps: readonly SlimStep[];
  /** The unfinished step, else the last one. */
  readonly current_step: SlimStep | null;
  readonly pending_approvals: readonly SlimApproval[];
  /** Questions of tools that wait, also of nested agents; absent if there are none. */
  readonly pending_inputs?: readonly SlimPendingInput[];
  readonly last_continuation: Pick<
    SlimOutcome,
    'should_continue' | 'stop_reason' | 'resolved_by'
  > | null;
  readonly metadata: JsonObject;
  readonly truncated: SlimTruncated | null;
  readonly rest: SlimRest;
}
