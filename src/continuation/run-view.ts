import { AgentError, show } from '../errors/agent-error.ts';
import type { ErrorRecord } from '../errors/error-record.ts';
import type { JsonObject, JsonValue } from '../json.ts';
import type { FamilyShare } from './family-share.ts';
import type { Grants } from './grants.ts';
import type { ModelFailure } from './model-failure.ts';
import type { ToolFailures } from './retry-account.ts';

/** The parts of a step that built-in criteria read. Matching the agent's steps by shape avoids an import of `agent`. */
export interface StepView {
  readonly number: number;
  readonly executionId: string;
  readonly type: 'tool_calls' | 'final' | 'error' | 'cut';
  readonly toolCalls: readonly {
    readonly id: string;
    readonly name: string;
    readonly args: JsonObject;
  }[];
  readonly results: readonly {
    readonly callId: string;
    readonly kind: string;
    readonly value: JsonValue;
    /** Images and files of the result; equal ones have equal hashes. */
    readonly files?: readonly object[];
  }[];
  readonly errors: readonly ErrorRecord[];
  readonly finishReason: string | null;
  readonly usage?: { readonly total: number };
  readonly cost?: number | null;
  readonly durationMs?: number;
  readonly waitMs?: number;
  readonly softLanding?: string;
  readonly model?: string;
  readonly fallback?: string;
  readonly failedModels?: readonly ModelFailure[];
  readonly compacts?: true;
}

/** A request to end the execution: from a user (signal, `stop()`), from a tool, or from a parent's deadline. */
export interface StopRequest {
  readonly by: 'user' | 'tool' | 'deadline';
  readonly reason: string;
  /** Name of the requesting tool. */
  readonly toolName?: string;
  /** Who made the request, if the caller named them. */
  readonly requestedBy?: string;
  readonly at?: string;
}

export interface ExecutionView {
  readonly id: string;
  readonly answeredSteps: number;
  readonly usage: { readonly total: number };
  readonly cost: number | null;
  /** Failures in a row, in the count of the newest error. */
  readonly consecutiveFailures: number;
  readonly totalFailures: number;
  /** Failed model calls in a row; absent in records of earlier releases, like the next two. */
  readonly modelFailures?: number;
  /** Answered steps with errors in a row. */
  readonly toolFailures?: number;
  /** Failures in a row of tools with their own `maxRetries`. */
  readonly failingTools?: readonly ToolFailures[];
  readonly cumulativeSeconds: number;
  readonly grants: Grants;
  readonly stopRequest: StopRequest | null;
  /** Number of the step after which a grant reopened the execution; its end is settled. 0 if never reopened. */
  readonly handledStep: number;
  /** Seconds that this run may take after a grant for a wall-clock stop. */
  readonly stretchSeconds: number | null;
  readonly succeededTools: readonly string[];
  /** Usage of nested agents, included in `usage` and `cost`; absent without nested agents. */
  readonly family?: readonly FamilyShare[];
}

/** The parts of a run that built-in criteria read. `AgentState` matches this shape. */
export interface RunView {
  /** The agent whose call this agent answers; null or absent for the root of a run. */
  readonly parentAgentId?: string | null;
  readonly stepCount: number;
  readonly currentStep: StepView | null;
  readonly steps: { readonly length: number; at(index: number): StepView | undefined };
  readonly execution: ExecutionView;
  readonly executionStartedAt: string | null;
  readonly info: {
    readonly answeredSteps: number;
    readonly usage: { readonly total: number };
    readonly cost: number | null;
    readonly cumulativeExecutionSeconds: number;
  };
  readonly outputText: string;
}

/** Throws if a part that criteria read is missing; otherwise the mistake would look like a failing criterion. */
export function checkRunView(view: unknown): asserts view is RunView {
  if (!isObject(view)) throw notRunView(view, 'an object');
  const { steps, execution, info } = view as Partial<RunView>;
  if (!isObject(execution)) throw notRunView(view, 'an execution');
  if (!isObject(execution.grants)) throw notRunView(view, 'execution.grants');
  if (typeof execution.id !== 'string') throw notRunView(view, 'execution.id');
  if (!isObject(execution.usage)) throw notRunView(view, 'execution.usage');
  if (!isObject(info) || !isObject(info.usage)) throw notRunView(view, 'info.usage');
  if (!isObject(steps) || typeof steps.at !== 'function') throw notRunView(view, 'steps.at()');
  if (!('currentStep' in view)) throw notRunView(view, 'currentStep');
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

const notRunView = (seen: unknown, missing: string): AgentError => {
  const isDocument = isObject(seen) && 'version' in seen && 'agentId' in seen;
  const todo = isDocument
    ? 'This looks like the JSON of a state: revive it with AgentState.from(json).'
    : 'Pass an AgentState, such as the result of run().';
  return new AgentError(
    'invalid_state',
    `ContinuationCriteria got ${show(seen)}, expected a run view with ${missing}. ${todo}`,
    { details: { missing } },
  );
};

/** Returns the newest step of this execution unless a grant settled its end; null at the start and after a grant. */
export function stepToJudge(state: RunView): StepView | null {
  const step = state.currentStep;
  if (step === null || step.executionId !== state.execution.id) return null;
  return step.number <= state.execution.handledStep ? null : step;
}

/** Whether the model answered; failed and interrupted calls have no answer. */
export const isAnswered = (step: StepView): boolean =>
  step.type === 'tool_calls' || step.type === 'final';
