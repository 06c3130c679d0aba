import { addShares, type FamilyShare } from '../continuation/family-share.ts';
import type { GrantRecord } from '../continuation/grant-allowance.ts';
import type { Grants } from '../continuation/grants.ts';
import type { StopRequest } from '../continuation/run-view.ts';
import { addCost, addUsage, zeroUsage, type Usage } from '../inference/usage.ts';

/** One user request being worked on, with its own accounts. */
export interface Execution {
  readonly id: string;
  readonly startedAt: string | null;
  readonly updatedAt: string | null;
  /** All recorded steps, failed and cut ones included. */
  readonly stepCount: number;
  /** What StepsLimit counts. */
  readonly answeredSteps: number;
  readonly usage: Usage;
  readonly cost: number | null;
  readonly consecutiveFailures: number;
  readonly totalFailures: number;
  readonly cumulativeSeconds: number;
  readonly grants: Grants;
  /** Who gave them, oldest first; left out where nothing was granted. */
  readonly grantLog?: readonly GrantRecord[];
  readonly stopRequest: StopRequest | null;
  /** A grant reopened the execution after this step: how it ended is settled. */
  readonly handledStep: number;
  /** After a grant for a wall-clock stop: exactly the seconds this stretch may take. */
  readonly stretchSeconds: number | null;
  readonly succeededTools: readonly string[];
  /** Where the execution begins in the conversation. */
  readonly firstMessage: number;
  /** What agents behind its calls have used, which is part of `usage` and `cost`; left out where there were none. */
  readonly family?: readonly FamilyShare[];
}

/** The whole session: what stays when one execution ends and the next begins. */
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

function freezeFamily(family: readonly FamilyShare[]): void {
  if (Object.isFrozen(family)) return;
  for (const share of family) Object.freeze(share);
  Object.freeze(family);
}

function freezeLog(log: readonly GrantRecord[]): void {
  if (Object.isFrozen(log)) return;
  for (const entry of log) Object.freeze(Object.freeze(entry).grant);
  Object.freeze(log);
}

/** Freezes the totals with all they hold: a state never changes, and a grant is not given by writing to it. */
export function frozenExecution(execution: Execution): Execution {
  Object.freeze(execution.usage);
  Object.freeze(execution.grants);
  if (execution.grantLog !== undefined) freezeLog(execution.grantLog);
  if (execution.family !== undefined) freezeFamily(execution.family);
  Object.freeze(execution.succeededTools);
  if (execution.stopRequest !== null) Object.freeze(execution.stopRequest);
  return Object.freeze(execution);
}

export function frozenInfo(info: SessionInfo): SessionInfo {
  Object.freeze(info.usage);
  return Object.freeze(info);
}

/** What one stretch of a step adds to the accounts. */
export interface Booking {
  readonly at: string;
  readonly usage: Usage;
  readonly cost: number | null;
  readonly seconds: number;
  /** Which part of it agents behind its calls have used. */
  readonly family: readonly FamilyShare[] | null;
  /** Set when the step is finished: its number and how it ended. */
  readonly step: {
    readonly number: number;
    readonly answered: number;
    readonly consecutiveFailures: number;
    readonly totalFailures: number;
    readonly succeededTools: readonly string[];
  } | null;
}

// Spelled out field by field: this runs twice a step, and a spread of so many fields is several times slower.

export function bookExecution(
  e: Execution,
  { at, usage, cost, seconds, family, step }: Booking,
): Execution {
  const next: { -readonly [K in keyof Execution]: Execution[K] } = {
    id: e.id,
    startedAt: e.startedAt,
    updatedAt: at,
    stepCount: step ? step.number : e.stepCount,
    answeredSteps: step ? e.answeredSteps + step.answered : e.answeredSteps,
    usage: addUsage(e.usage, usage),
    cost: addCost(e.cost, cost),
    consecutiveFailures: step ? step.consecutiveFailures : e.consecutiveFailures,
    totalFailures: step ? step.totalFailures : e.totalFailures,
    cumulativeSeconds: e.cumulativeSeconds + seconds,
    grants: e.grants,
    stopRequest: e.stopRequest,
    handledStep: e.handledStep,
    stretchSeconds: e.stretchSeconds,
    succeededTools: step ? step.succeededTools : e.succeededTools,
    firstMessage: e.firstMessage,
  };
  if (e.grantLog !== undefined) next.grantLog = e.grantLog;
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
