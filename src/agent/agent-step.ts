import type { FamilyShare } from '../continuation/family-share.ts';
import type { ContinuationOutcome } from '../continuation/outcome.ts';
import type { ErrorRecord } from '../errors/error-record.ts';
import type { FinishReason } from '../inference/inference-driver.ts';
import type { Usage } from '../inference/usage.ts';
import type { ToolCall } from '../messages/tool-call.ts';
import type { ToolResult } from '../tools/tool-result.ts';
import type { AgentStateJSON } from './agent-state.ts';

export type StepType = 'tool_calls' | 'final' | 'error' | 'cut';

/** One model call and the tool calls it asked for. It names its messages and never copies them. */
export interface AgentStep {
  readonly id: string;
  /** Counts every recorded step of the execution from 1, failed ones included. */
  readonly number: number;
  readonly executionId: string;
  readonly type: StepType;
  /** 1 plus the failed model calls directly before. */
  readonly attempt: number;
  readonly messageIds: readonly string[];
  readonly toolCalls: readonly ToolCall[];
  /** In the order of the calls. */
  readonly results: readonly ToolResult[];
  readonly errors: readonly ErrorRecord[];
  /** With the usage of agents that ran as tools. */
  readonly usage: Usage;
  /** Null when the price is unknown. */
  readonly cost: number | null;
  readonly finishReason: FinishReason | null;
  readonly startedAt: string;
  /** Working time; a pause in the middle is not part of it. */
  readonly durationMs: number;
  /** On a failed model call: how long the next try has to wait. */
  readonly waitMs?: number;
  /** How long this step really waited before it began. */
  readonly waitedMs?: number;
  /** Name of the limit whose last step this is: sent without tools. */
  readonly softLanding?: string;
  readonly notes: readonly string[];
  /** Null only while the step is unfinished. */
  readonly outcome: ContinuationOutcome | null;
}

export interface ChildAccount {
  readonly usage: Usage;
  readonly cost: number | null;
  /** By agent, itself and those inside; left out by releases that did not know it. */
  readonly shares?: readonly FamilyShare[];
}

/** A step that waits for people: what already ran is kept in `results`, the rest is open. */
export interface UnfinishedStep extends AgentStep {
  /** Agents that paused inside a call, by call id. */
  readonly children: Readonly<Record<string, AgentStateJSON>>;
  /** Why a call must not run, by call id. */
  readonly problems?: Readonly<Record<string, string>>;
  /** How much of an agent inside a call is in this step's accounts already; left out: all of it. */
  readonly childAccounts?: Readonly<Record<string, ChildAccount>>;
}
