import { addShares, type FamilyShare } from '../continuation/family-share.ts';
import type { GrantRecord } from '../continuation/grant-allowance.ts';
import type { Grants } from '../continuation/grants.ts';
import type { Failures, ToolFailures } from '../continuation/retry-account.ts';
import type { StopRequest } from '../continuation/run-view.ts';
import { addCost, addUsage, zeroUsage, type Usage } from '../inference/usage.ts';
import { freezeRuns, type RunRecords } from './run-records.ts';

/** The work on one user request, with its totals. */
export interface Execution {
  readonly id: string;
  readonly startedAt: string | null;
  readonly updatedAt: string | null;
  /** Number of recorded steps, failed and interrupted ones included. */
  readonly stepCount: number;
  /** Number of answered steps, which `StepsLimit` counts. */
  readonly answeredSteps: number;
  readonly usage: Usage;
  readonly cost: number | null;
  /** Failures in a row, in the count of the newest error: 0 after a step without errors. */
  readonly consecutiveFailures: number;
  readonly totalFailures: number;
  /** Failed model calls in a row. An answer resets it. */
  readonly modelFailures: number;
  /** Answered steps with errors in a row. An answered step without errors resets it. */
  readonly toolFailures: number;
  /** Failures in a row of tools with their own `maxRetries`; absent if none failed. */
  readonly failingTools?: readonly ToolFailures[];
  readonly cumulativeSeconds: number;
  readonly grants: Grants;
  /** Who gave the grants, oldest first; absent without grants. */
  readonly grantLog?: readonly GrantRecord[];
  readonly stopRequest: StopRequest | null;
  /** Number of the step after which a grant reopened the execution; its end is settled. 0 if never reopened. */
  readonly handledStep: number;
  /** Seconds that this run may take after a grant for a wall-clock stop. */
  readonly stretchSeconds: number | null;
  readonly succeededTools: readonly string[];
  /** Index of the first message of the execution. */
  readonly firstMessage: number;
  /** Usage of nested agents, included in `usage` and `cost`; absent without nested agents. */
  readonly family?: readonly FamilyShare[];
  /** W3C trace context of the first observed run, so that later runs continue its trace; absent if none was traced. */
  readonly traceparent?: string;
  /** The runs of the execution, oldest first; absent in nested agents and in records of earlier releases. */
  readonly runs?: RunRecords;
}

/** Totals of the whole session, over all its executions. */
export interface SessionInfo {
  readonly startedAt: string;
  readonly updatedAt: string;
  readonly stepCount: number;
  readonly answeredSteps: number;
  readonly usage: Usage;
  readonly cost: number | null;
  readonly cumulativeExecutionSeconds: number;
}

export const newExecution = (
  id: string,
  startedAt: string | null,
  firstMessage: number,
): Execution => ({
  id,
  startedAt,
  updatedAt: startedAt,
  stepCount: 0,
  answeredSteps: 0,
  usage: zeroUsage,
  cost: 0,
  consecutiveFailures: 0,
  totalFailures: 0,
  modelFailures: 0,
  toolFailures: 0,
  cumulativeSeconds: 0,
  grants: {},
  stopRequest: null,
  handledStep: 0,
  stretchSeconds: null,
  succeededTools: [],
  firstMessage,
});

export const newSessionInfo = (at: string): SessionInfo => ({
  startedAt: at,
  updatedAt: at,
  stepCount: 0,
  answeredSteps: 0,
  usage: zeroUsage,
  cost: 0,
  cumulativeExecutionSeconds: 0,
});

function freezeList(list: readonly object[]): void {
  if (Object.isFrozen(list)) return;
  for (const item of list) Object.freeze(item);
  Object.freeze(list);
}

function freezeLog(log: readonly GrantRecord[]): void {
  if (Object.isFrozen(log)) return;
  for (const entry of log) Object.freeze(Object.freeze(entry).grant);
  Object.freeze(log);
}

/** Freezes the totals deeply, because a state never changes. */
export function frozenExecution(execution: Execution): Execution {
  Object.freeze(execution.usage);
  Object.freeze(execution.grants);
  if (execution.grantLog !== undefined) freezeLog(execution.grantLog);
  if (execution.runs !== undefined) freezeRuns(execution.runs);
  if (execution.family !== undefined) freezeList(execution.family);
  if (execution.failingTools !== undefined) freezeList(execution.failingTools);
  Object.freeze(execution.succeededTools);
  if (execution.stopRequest !== null) Object.freeze(execution.stopRequest);
  return Object.freeze(execution);
}

export function frozenInfo(info: SessionInfo): SessionInfo {
  Object.freeze(info.usage);
  return Object.freeze(info);
}

/** What one run adds to the totals for a step. */
export interface Booking {
  readonly at: string;
  readonly usage: Usage;
  readonly cost: number | null;
  readonly seconds: number;
  /** Part of it used by nested agents. */
  readonly family: readonly FamilyShare[] | null;
  /** Number and result of the step, set once the step is finished. */
  readonly step: {
    readonly number: number;
    readonly answered: number;
    readonly failures: Failures;
    readonly succeededTools: readonly string[];
  } | null;
}

// No spread: this runs twice per step, and a spread of so many fields is several times slower.

export function bookExecution(
  e: Execution,
  { at, usage, cost, seconds, family, step }: Booking,
): Execution {
  const failures: Failures = step ? step.failures : e;
  const next: { -readonly [K in keyof Execution]: Execution[K] } = {
    id: e.id,
    startedAt: e.startedAt,
    updatedAt: at,
    stepCount: step ? step.number : e.stepCount,
    answeredSteps: step ? e.answeredSteps + step.answered : e.answeredSteps,
    usage: addUsage(e.usage, usage),
    cost: addCost(e.cost, cost),
    consecutiveFailures: failures.consecutiveFailures,
    totalFailures: failures.totalFailures,
    modelFailures: failures.modelFailures,
    toolFailures: failures.toolFailures,
    cumulativeSeconds: e.cumulativeSeconds + seconds,
    grants: e.grants,
    stopRequest: e.stopRequest,
    handledStep: e.handledStep,
    stretchSeconds: e.stretchSeconds,
    succeededTools: step ? step.succeededTools : e.succeededTools,
    firstMessage: e.firstMessage,
  };
  if (failures.failingTools !== undefined) next.failingTools = failures.failingTools;
  if (e.grantLog !== undefined) next.grantLog = e.grantLog;
  if (e.runs !== undefined) next.runs = e.runs;
  if (e.traceparent !== undefined) next.traceparent = e.traceparent;
  if (family !== null) next.family = addShares(e.family, family);
  else if (e.family !== undefined) next.family = e.family;
  return next;
}

export const bookSession = (
  i: SessionInfo,
  { at, usage, cost, seconds, step }: Booking,
): SessionInfo => ({
  startedAt: i.startedAt,
  updatedAt: at,
  stepCount: step ? i.stepCount + 1 : i.stepCount,
  answeredSteps: step ? i.answeredSteps + step.answered : i.answeredSteps,
  usage: addUsage(i.usage, usage),
  cost: addCost(i.cost, cost),
  cumulativeExecutionSeconds: i.cumulativeExecutionSeconds + seconds,
});
