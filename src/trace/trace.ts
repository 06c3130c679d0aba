import type { BroadcastStatus } from '../agent/agent-status.ts';
import type { StepType } from '../agent/agent-step.ts';
import type { Explanation } from '../continuation/explanation.ts';
import type { Grants } from '../continuation/grants.ts';
import type { ContinuationOutcomeJSON } from '../continuation/outcome.ts';
import type { FinishReason } from '../inference/inference-driver.ts';
import type { ApprovalRecord, ToolResultKind } from '../tools/tool-result.ts';

/** What happened in one execution and why: the document behind the trace view and `onward explain`. */
export interface Trace {
  readonly sessionId: string;
  readonly agent: string;
  /** Null before the first message. */
  readonly executionId: string | null;
  readonly status: BroadcastStatus;
  /** Of the session, oldest first; the one shown is among them. */
  readonly executions: readonly TraceExecution[];
  readonly startedAt: string | null;
  readonly totals: TraceTotals;
  /** In order. A step that runs or waits is the last one, with `outcome` null. */
  readonly steps: readonly TraceStep[];
  /** True when earlier steps of the execution are left out: ask again with `before`. */
  readonly hasEarlier: boolean;
  readonly pauses: readonly TracePause[];
  /** The last outcome; it may precede the first step. */
  readonly outcome: ContinuationOutcomeJSON | null;
  /** Why it stands still, in one sentence; null while it works. */
  readonly stop: StopSentence | null;
  /** Grants that were given to this execution so far, in sum. */
  readonly grants: Grants;
}

export interface TraceExecution {
  readonly id: string;
  readonly startedAt: string | null;
  readonly stepCount: number;
}

/** `limit` null: none is set. */
export interface TraceMeter {
  readonly used: number;
  readonly limit: number | null;
}

export interface TraceTotals {
  /** What the steps limit counts; failed model calls are in `failedCalls`. */
  readonly steps: TraceMeter;
  /** Working time in seconds. */
  readonly seconds: TraceMeter;
  readonly tokens: TraceMeter;
  /** `used` is null when a price is unknown. */
  readonly cost: { readonly used: number | null; readonly limit: number | null };
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly failedCalls: number;
  /** Where the time went. Tools that ran side by side count once for the time that passed. */
  readonly modelMs: number;
  readonly toolMs: number;
  readonly backoffMs: number;
  /** Waiting for people; never part of the working time. */
  readonly pausedMs: number;
}

/** All times on the axis (`at`) are working milliseconds since the execution began: pauses take none of it. */
export interface TraceStep {
  readonly number: number;
  readonly attempt: number;
  readonly type: StepType | 'running' | 'waiting';
  readonly startedAt: string;
  readonly at: number;
  readonly durationMs: number;
  /** The model first, then one per tool call in call order. */
  readonly bars: readonly TraceBar[];
  /** Backoff after a failed model call, on the axis right after this step. */
  readonly waitMs: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cost: number | null;
  /** Up to and with this step. */
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
  /** Set on a call that the model made again after the same tool failed: which try it is, of how many allowed. */
  readonly retry: { readonly number: number; readonly limit: number | null } | null;
  /** How long this call waited for a person. */
  readonly pausedMs: number;
  /** What the person said, once they did. */
  readonly answer: 'approved' | 'edited' | 'denied' | null;
  /** The same with who said it and when; absent where that was not recorded. */
  readonly approval?: ApprovalRecord;
}

/** Marked on the axis, not drawn to scale. */
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
  /** Goes after the lead, without a full stop at the end. */
  readonly because: string;
  /**
   * The condition to continue, as a clause without a period; null where there is none.
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
  /** Of a parked session. */
  | { readonly kind: 'retry'; readonly label: string }
  | { readonly kind: 'message'; readonly label: string };
