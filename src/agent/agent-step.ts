import type { FamilyShare } from '../continuation/family-share.ts';
import type { ModelFailure } from '../continuation/model-failure.ts';
import type { ContinuationOutcome } from '../continuation/outcome.ts';
import type { ErrorRecord } from '../errors/error-record.ts';
import type { FinishReason } from '../inference/inference-driver.ts';
import type { ModelCallInfo } from '../inference/model-call-info.ts';
import type { Usage } from '../inference/usage.ts';
import type { ToolCall } from '../messages/tool-call.ts';
import type { ToolSchema } from '../tools/tool.ts';
import type { ToolResult } from '../tools/tool-result.ts';
import type { Compaction } from './compaction.ts';
import type { AgentStateJSON } from './agent-state.ts';
import type { GuardRecord } from './guard.ts';
import type { RecordedPolicy } from './recorded-policy.ts';
import type { StepSteering } from './steer-step.ts';
import type { OpenInput } from './open-inputs.ts';

/** A compaction before the model call of a step. */
export interface StepCompaction extends Pick<
  Compaction,
  'id' | 'kind' | 'tokensBefore' | 'tokensAfter' | 'reason'
> {
  /** Number of messages that it covers. */
  readonly messages: number;
}

export type StepType = 'tool_calls' | 'final' | 'error' | 'cut';

/** One model call and its tool calls. Refers to its messages by id. */
export interface AgentStep {
  readonly id: string;
  /** Number of the step in its execution, from 1; failed steps count. */
  readonly number: number;
  readonly executionId: string;
  readonly type: StepType;
  /** 1 plus the number of failed model calls directly before. */
  readonly attempt: number;
  /** Id of the model that was called; absent if the agent has no fallback models and `prepareStep` chose none. */
  readonly model?: string;
  /** On a failed model call: id of the model that the run continues with. */
  readonly fallback?: string;
  /** On a failed model call: models given up since the last answer; absent if there are none. */
  readonly failedModels?: readonly ModelFailure[];
  /** On a failed model call: the request was too long, and the run continues with a shorter one. */
  readonly compacts?: true;
  readonly messageIds: readonly string[];
  readonly toolCalls: readonly ToolCall[];
  /** In the order of the calls. */
  readonly results: readonly ToolResult[];
  readonly errors: readonly ErrorRecord[];
  /** What the step sent that differs from the definition of the agent; absent if nothing does. */
  readonly steering?: StepSteering;
  /** What guards decided in this step; absent if none was asked. */
  readonly guards?: readonly GuardRecord[];
  /** What the provider reported about the model call; absent if it reported nothing. */
  readonly modelCall?: ModelCallInfo;
  /** Usage, nested agents included. */
  readonly usage: Usage;
  /** Usage of the model call itself; absent if it is all of `usage`. */
  readonly modelUsage?: Usage;
  /** What agents behind its calls have used, by agent; absent if none ran, and in records of earlier releases. */
  readonly family?: readonly FamilyShare[];
  /** The limits and policy that decided it, if they are not those of the step before in this execution. */
  readonly policy?: RecordedPolicy;
  /** Compactions before the model call; absent if there was none. */
  readonly compactions?: readonly StepCompaction[];
  /** Usage of model calls for summaries, included in `usage`; absent if there was none. */
  readonly compactionUsage?: Usage;
  /** Null if the price is unknown. */
  readonly cost: number | null;
  readonly finishReason: FinishReason | null;
  readonly startedAt: string;
  /** Working time in milliseconds, without pauses. */
  readonly durationMs: number;
  /** On a failed model call: milliseconds to wait before the retry. */
  readonly waitMs?: number;
  /** Milliseconds that this step actually waited before it started. */
  readonly waitedMs?: number;
  /** Name of the limit that this step lands for: the last step, sent without tools. */
  readonly softLanding?: string;
  readonly notes: readonly string[];
  /** Null only while the step is unfinished. */
  readonly outcome: ContinuationOutcome | null;
}

export interface ChildAccount {
  readonly usage: Usage;
  readonly cost: number | null;
  /** Usage by agent, with nested agents; absent in records of earlier releases. */
  readonly shares?: readonly FamilyShare[];
}

/** A step with open calls, such as calls that need approval. `results` holds the finished calls. */
export interface UnfinishedStep extends AgentStep {
  /** Agents that paused inside a call, by call id. */
  readonly children: Readonly<Record<string, AgentStateJSON>>;
  /** Calls that asked for input; absent if there are none. */
  readonly inputs?: readonly OpenInput[];
  /** Why a call must not run, by call id. */
  readonly problems?: Readonly<Record<string, string>>;
  /** Usage of paused nested agents already in this step's totals, by call id; absent: all of it. */
  readonly childAccounts?: Readonly<Record<string, ChildAccount>>;
  /** Tools of a source, as they were when their calls began to wait for approval. */
  readonly toolSchemas?: readonly ToolSchema[];
}
