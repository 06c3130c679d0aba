import type { AgentStatus } from '../agent/agent-status.ts';
import type { AgentStep } from '../agent/agent-step.ts';
import type { FamilyShare } from '../continuation/family-share.ts';
import type { GrantRecord } from '../continuation/grant-allowance.ts';
import type { Execution, SessionInfo } from '../agent/execution.ts';
import type { Pause } from '../agent/agent-state.ts';
import type { ContinuationEvaluation } from '../continuation/evaluation.ts';
import type { ContinuationOutcomeJSON, StoppedAgent } from '../continuation/outcome.ts';
import type { ErrorRecord } from '../errors/error-record.ts';
import type { PendingApproval } from '../events/agent-event.ts';
import type { Usage } from '../inference/usage.ts';
import type { JsonObject, JsonValue } from '../json.ts';
import type { ContentPart } from '../messages/content-part.ts';
import type { MessageRole } from '../messages/message-role.ts';
import type { ToolCall } from '../messages/tool-call.ts';
import type { ApprovalRecord, ToolResult } from '../tools/tool-result.ts';
import type { SnakeKeys } from './snake-keys.ts';

export const SLIM_VERSION = 1;

export type SlimUsage = SnakeKeys<Usage>;
/** With `args_omitted`, `args` is `{}` because it was left out. */
export type SlimToolCall = SnakeKeys<ToolCall> & { readonly args_omitted?: true };
export type SlimEvaluation = SnakeKeys<ContinuationEvaluation>;
export type SlimError = SnakeKeys<ErrorRecord>;
export type SlimApproval = SnakeKeys<PendingApproval> & { readonly args_omitted?: true };

type SlimParts<Part> = Part extends ContentPart ? SnakeKeys<Part> : never;
export type SlimPart = SlimParts<ContentPart>;

/** What is empty is left out. */
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

/** A value that was too long is the beginning of its text. */
export type SlimResult = Omit<SnakeKeys<ToolResult>, 'error' | 'approval'> & {
  readonly error?: SlimError;
  readonly approval?: SnakeKeys<ApprovalRecord>;
};

export type SlimOutcome = Omit<SnakeKeys<ContinuationOutcomeJSON>, 'evaluations'> & {
  readonly evaluations: readonly SlimEvaluation[];
};

export type SlimStep = Omit<
  SnakeKeys<AgentStep>,
  'tool_calls' | 'results' | 'errors' | 'usage' | 'outcome'
> & {
  readonly tool_calls: readonly SlimToolCall[];
  readonly results: readonly SlimResult[];
  readonly errors: readonly SlimError[];
  readonly usage: SlimUsage;
  readonly outcome: SlimOutcome | null;
  /** Set while the step waits for people: the agents that wait inside its calls, by call id. */
  readonly children?: Readonly<Record<string, SlimState>>;
};

/** What was left out: how many turns, messages and steps, and in how many places something else. */
export interface SlimTruncated {
  readonly turns: number;
  readonly messages: number;
  /** Texts that were shortened. */
  readonly contents: number;
  readonly args: number;
  readonly metadata: number;
  readonly steps: number;
  /** Places where the redactor hid something. */
  readonly redacted: number;
  /** Length of the newest turn where it alone is longer than allowed: it stayed whole. */
  readonly turn_over_limit: number;
  /** What continuing with this execution would need and is not here; empty when it can be resumed. */
  readonly missing: readonly string[];
}

/** What the listed fields leave out and a state needs to continue as it was. */
export interface SlimRest {
  readonly session_updated_at: string;
  readonly session_answered_steps: number;
  readonly first_message: number;
  readonly handled_step: number;
  readonly succeeded_tools: readonly string[];
  /** Left out where nothing was granted. */
  readonly grant_log?: readonly GrantRecord[];
  /** Left out where no agents worked behind its calls. */
  readonly family?: readonly FamilyShare[];
  readonly stop_request: Execution['stopRequest'];
  readonly pause_reason: string | null;
  readonly decision: ContinuationOutcomeJSON['decision'] | null;
  /** When the last outcome was made; absent from earlier releases. */
  readonly outcome_at?: string;
  readonly stopped_agents?: readonly StoppedAgent[];
  readonly evaluations: readonly SlimEvaluation[];
  /** The output is the last text of the model, which is in `messages`. */
  readonly output_is_text: boolean;
  readonly output: JsonValue;
  readonly partial_output: JsonValue;
  /** Results of an unfinished step that is not in the document: those calls did run. */
  readonly results: readonly SlimResult[];
}

/** A state for a database column or a UI: bounded, redacted, snake_case. */
export interface SlimState {
  readonly version: typeof SLIM_VERSION;
  readonly agent_id: string;
  readonly agent_name: string | null;
  readonly parent_agent_id: string | null;
  readonly status: AgentStatus;
  /** Of the current execution, like `usage`. */
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
  /** Finished steps, where all are kept. */
  readonly steps: readonly SlimStep[];
  /** The unfinished step, else the last one. */
  readonly current_step: SlimStep | null;
  readonly pending_approvals: readonly SlimApproval[];
  readonly last_continuation: Pick<
    SlimOutcome,
    'should_continue' | 'stop_reason' | 'resolved_by'
  > | null;
  readonly metadata: JsonObject;
  readonly truncated: SlimTruncated | null;
  readonly rest: SlimRest;
}
