import type { BroadcastStatus } from '../../agent/agent-status.ts';
import type { RequestStatus } from '../../sessions/requests/read-model-call.ts';
import type { PayloadText } from '../payloads/payload-text.ts';
import type { PayloadCall } from '../payloads/model-call-document.ts';

/** Two runs of one owner beside each other: where they part, and why. */
export interface Comparison {
  /** `fork`: the runs share steps, which were charged once. */
  readonly kind: 'fork' | 'sessions';
  readonly left: ComparedRun;
  readonly right: ComparedRun;
  /** The first steps, which are the same on both sides. */
  readonly same: ComparedSame;
  /** Null if all steps that were compared are the same. */
  readonly difference: Difference | null;
  /** Steps from the first difference on; without one, none. */
  readonly rows: readonly ComparedRow[];
  /** Whether steps behind the rows were not compared. */
  readonly hasMore: boolean;
}

export interface ComparedRun {
  readonly sessionId: string;
  readonly executionId: string | null;
  readonly title: string | null;
  readonly agent: string;
  readonly status: BroadcastStatus;
  /** Why it stopped, in a few words; null while it is busy. */
  readonly ending: string | null;
  readonly steps: number;
  readonly seconds: number;
  readonly tokens: number;
  /** Null if a price is unknown. */
  readonly cost: number | null;
}

export interface ComparedSame {
  readonly steps: number;
  readonly durationMs: number;
  readonly cost: number | null;
  /** Number of those that both sessions share, because one is a fork of the other. */
  readonly shared: number;
}

export type DifferenceKind = 'response' | 'result' | 'decision' | 'end';

export interface Difference {
  readonly step: number;
  readonly kind: DifferenceKind;
  /** Name of the tool whose result differs; null for other kinds. */
  readonly tool: string | null;
  readonly left: ComparedAnswer | null;
  readonly right: ComparedAnswer | null;
  readonly cause: Cause;
}

/** What a step came to. */
export interface ComparedAnswer {
  readonly content: PayloadText | null;
  readonly calls: readonly PayloadCall[];
  /** The result that differs; null if that is not the difference. */
  readonly result: PayloadText | null;
  /** What the checks decided, in a sentence; null while it runs. */
  readonly decision: string | null;
}

/** How the requests differ. */
export interface Cause {
  /** `stored` if both requests could be compared. */
  readonly status: RequestStatus;
  readonly places: readonly RequestPlace[];
  /** Whether further places are left out. */
  readonly hasMore: boolean;
}

export interface RequestPlace {
  /** Where: `system prompt, line 4`, `tools`, `message 7 (user)`. */
  readonly where: string;
  readonly left: string | null;
  readonly right: string | null;
  /** Number of first characters that are the same on both sides. */
  readonly same: number;
}

export interface ComparedRow {
  readonly left: ComparedStep | null;
  readonly right: ComparedStep | null;
  readonly isSame: boolean;
}

export interface ComparedStep {
  readonly number: number;
  /** Tools that it called, each with how often. */
  readonly tools: readonly { readonly name: string; readonly count: number }[];
  readonly type: 'tool_calls' | 'final' | 'error' | 'cut';
  readonly durationMs: number;
  /** Time in the tools, as far as they did not run at the same time. */
  readonly toolMs: number;
  readonly cost: number | null;
  readonly hasFailed: boolean;
}
