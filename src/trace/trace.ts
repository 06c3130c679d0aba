import type { BroadcastStatus } from '../agent/agent-status.ts';
import type { StepCompaction, StepType } from '../agent/agent-step.ts';
import type { GuardRecord } from '../agent/guard.ts';
import type { StepSteering } from '../agent/steer-step.ts';
import type { Explanation } from '../continuation/explanation.ts';
import type { Grants } from '../continuation/grants.ts';
import type { ContinuationOutcomeJSON } from '../continuation/outcome.ts';
import type { FinishReason } from '../inference/inference-driver.ts';
import type { ModelCallInfo } from '../inference/model-call-info.ts';
import type { Usage } from '../inference/usage.ts';
import type { PartFacts } from '../messages/part-facts.ts';
import type { ApprovalRecord, ToolResultKind } from '../tools/tool-result.ts';

/** What happened in one execution and why: the document of the trace view and of `onward explain`. */
export interface Trace {
  readonly sessionId: string;
  readonly agent: string;
  /** Null before the first message. */
  readonly executionId: string | null;
  readonly status: BroadcastStatus;
  /** Executions of the session, oldest first, including the visible one. */
  readonly executions: readonly TraceExecution[];
  readonly startedAt: string | null;
  readonly totals: TraceTotals;
  /** Steps in order. A running or paused step is the last one, with `outcome` null. */
  readonly steps: readonly TraceStep[];
  /** Whether earlier steps of the execution are missing: read again with `before`. */
  readonly hasEarlier: boolean;
  readonly pauses: readonly TracePause[];
  /** The last outcome; it may precede the first step. */
  readonly outcome: ContinuationOutcomeJSON | null;
  /** Why it stopped or paused; null while it is busy. */
  readonly stop: StopSentence | null;
  /** Sum of the grants to this execution so far. */
  readonly grants: Grants;
  /** Where a nested agent runs; absent for the session's own agent. */
  readonly nested?: TraceNesting;
}

/** The place of a nested agent in its execution. */
export interface TraceNesting {
  /** Id with which steps and payloads of the agent are read. */
  readonly agentId: string;
  /** The call that runs it. */
  readonly callId: string;
  /** The agents above it, the session's own agent first. */
  readonly above: readonly TraceAncestor[];
}

export interface TraceAncestor {
  readonly agent: string;
  /** The call that runs this agent; null for the session's own agent. */
  readonly callId: string | null;
  /** The step of this agent in which the next one runs. */
  readonly step: number;
}

/** Totals of an agent that runs behind a call, with the agents behind its own calls. They are part of the step. */
export interface TraceChild {
  readonly agent: string;
  readonly status: BroadcastStatus;
  readonly steps: number;
  readonly tokens: number;
  /** Null if a price is unknown. */
  readonly cost: number | null;
}

export interface TraceExecution {
  readonly id: string;
  readonly startedAt: string | null;
  readonly stepCount: number;
}

/** Usage and its limit; null if no limit is set. */
export interface TraceMeter {
  readonly used: number;
  readonly limit: number | null;
}

export interface TraceTotals {
  /** Steps that the step limit counts; failed model calls are in `failedCalls`. */
  readonly steps: TraceMeter;
  /** Working time in seconds. */
  readonly seconds: TraceMeter;
  readonly tokens: TraceMeter;
  /** `used` is null if a price is unknown. */
  readonly cost: { readonly used: number | null; readonly limit: number | null };
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly failedCalls: number;
  /** How the time was spent. Concurrent tools count once. */
  readonly modelMs: number;
  readonly toolMs: number;
  readonly backoffMs: number;
  /** Time in which model calls waited for a limiter; part of the working time. Absent if none did. */
  readonly queuedMs?: number;
  /** Time in pauses; never part of the working time. */
  readonly pausedMs: number;
}

/** A step. Times on the axis (`at`) are working milliseconds since the start of the execution: pauses take none. */
export interface TraceStep {
  readonly number: number;
  readonly attempt: number;
  /** Id of the model that was called; absent if the agent has no fallback models and `prepareStep` chose none. */
  readonly model?: string;
  /** Id of the model that the run continued with after this failed call. */
  readonly fallback?: string;
  /** What the step sent that differs from the definition of the agent; absent if nothing does. */
  readonly steering?: StepSteering;
  /** What was left out before the model call; absent if nothing was. */
  readonly compactions?: readonly StepCompaction[];
  /** Usage of summaries; part of the tokens of the step. Absent if there was none. */
  readonly compactionUsage?: Usage;
  /** Set on a failed call whose request was too long: the run continued with a shorter one. */
  readonly compacts?: true;
  /** What guards decided; absent if none was asked. */
  readonly guards?: readonly GuardRecord[];
  /** What the provider reported about the model call; absent if it reported nothing. */
  readonly modelCall?: ModelCallInfo;
  readonly type: StepType | 'running' | 'waiting';
  readonly startedAt: string;
  readonly at: number;
  readonly durationMs: number;
  /** The model first, then one bar per tool call in call order. The model's bar begins after `modelCall.queuedMs`. */
  readonly bars: readonly TraceBar[];
  /** Backoff after a failed model call, on the axis right after this step. */
  readonly waitMs: number;
  /** Tokens of the step, nested agents included, like the cost. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Usage of the model call itself; null until the step is finished. */
  readonly modelUsage: Usage | null;
  readonly cost: number | null;
  /** Cost up to and including this step. */
  readonly costSoFar: number | null;
  readonly finishReason: FinishReason | null;
  readonly softLanding: string | null;
  readonly notes: readonly string[];
  readonly outcome: ContinuationOutcomeJSON | null;
}

export interface TraceBar {
  readonly kind: 'model' | 'tool';
  /** `model`, or the name of the tool. */
  readonly name: string;
  readonly callId: string | null;
  readonly at: number;
  readonly durationMs: number;
  readonly state: ToolResultKind | 'running' | 'waiting';
  readonly error: string | null;
  /** Set on a call that retries a failed call of the same tool: number of the retry, and how many are allowed. */
  readonly retry: { readonly number: number; readonly limit: number | null } | null;
  /** Milliseconds that this call waited for approval or input. */
  readonly pausedMs: number;
  /** The approver's decision, once there is one. */
  readonly answer: 'approved' | 'edited' | 'denied' | null;
  /** The decision with approver and time; absent if that was not recorded. */
  readonly approval?: ApprovalRecord;
  /** The images and files of the result, without their bytes; absent if it has none. */
  readonly files?: readonly PartFacts[];
  /** Whether the call waits for an answer of the user; absent if not. */
  readonly asks?: boolean;
  /** The agent that the call runs: read its trace with the id of the call. Absent for other calls and without its log. */
  readonly child?: TraceChild;
}

/** A pause: marked on the axis, not to scale. */
export interface TracePause {
  readonly at: number;
  readonly step: number;
  /** Null while it lasts. */
  readonly durationMs: number | null;
  readonly kind: string;
  readonly reason: string | null;
}

/** The explanation of a stop, its sentence in parts, and a button. */
export interface StopSentence {
  /** `Stopped because`, `Finished because`, `Waiting because`, `Failed because`. */
  readonly lead: string;
  /** Clause after the lead, without a period. */
  readonly because: string;
  /**
   * The condition to continue, as a clause without a period; null if there is none.
   *
   * @deprecated Use `explanation.actions`.
   */
  readonly goOnIf: string | null;
  /** Further sentences. */
  readonly note: string | null;
  readonly action: StopAction | null;
  readonly explanation: Explanation;
}

export type StopAction =
  | { readonly kind: 'grant'; readonly grant: Grants; readonly label: string }
  | { readonly kind: 'resume'; readonly label: string }
  /** Retries a parked session. */
  | { readonly kind: 'retry'; readonly label: string }
  | { readonly kind: 'message'; readonly label: string };
