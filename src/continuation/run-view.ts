import { AgentError, show } from '../errors/agent-error.ts';
import type { ErrorRecord } from '../errors/error-record.ts';
import type { JsonObject, JsonValue } from '../json.ts';
import type { FamilyShare } from './family-share.ts';
import type { Grants } from './grants.ts';

/** What built-in criteria read of a step; the agent's steps fit by shape, so this room never imports that one. */
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
  }[];
  readonly errors: readonly ErrorRecord[];
  readonly finishReason: string | null;
  readonly usage?: { readonly total: number };
  readonly cost?: number | null;
  readonly durationMs?: number;
  readonly waitMs?: number;
  readonly softLanding?: string;
}

/** A request to end the execution: from a person (signal, `stop()`), from a tool, or from a parent's deadline. */
export interface StopRequest {
  readonly by: 'user' | 'tool' | 'deadline';
  readonly reason: string;
  /** The tool that asked. */
  readonly toolName?: string;
  /** Who asked, where the caller said so. */
  readonly requestedBy?: string;
  readonly at?: string;
}

export interface ExecutionView {
  readonly id: string;
  readonly answeredSteps: number;
  readonly usage: { readonly total: number };
  readonly cost: number | null;
  readonly consecutiveFailures: number;
  readonly totalFailures: number;
  readonly cumulativeSeconds: number;
  readonly grants: Grants;
  readonly stopRequest: StopRequest | null;
  /** A grant reopened the execution after this step: how it ended is settled. 0 when never reopened. */
  readonly handledStep: number;
  /** After a grant for a wall-clock stop: exactly the seconds this stretch may take. */
  readonly stretchSeconds: number | null;
  readonly succeededTools: readonly string[];
  /** What agents behind its calls have used, which is part of `usage` and `cost`; left out where there were none. */
  readonly family?: readonly FamilyShare[];
}

/** What built-in criteria read of a run. `AgentState` satisfies it by shape. */
export interface RunView {
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

/** Throws unless the value has the parts that criteria read: a criterion that fails on them would hide the mistake. */
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

/** The newest step of this execution whose ending still has to be judged: null at the start and after a grant. */
export function stepToJudge(state: RunView): StepView | null {
  const step = state.currentStep;
  if (step === null || step.executionId !== state.execution.id) return null;
  return step.number <= state.execution.handledStep ? null : step;
}

/** An answer came back; failed and cut calls have none. */
export const isAnswered = (step: StepView): boolean =>
  step.type === 'tool_calls' || step.type === 'final';
