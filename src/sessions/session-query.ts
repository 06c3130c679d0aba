import type { AgentStatus } from '../agent/agent-status.ts';
import type { SessionPhase } from './session-rows.ts';

export const sessionOrders = ['updated', 'created', 'cost', 'steps'] as const;
/** What a list is sorted by. `cost` is that of the whole session, as its newest run recorded it. */
export type SessionOrder = (typeof sessionOrders)[number];

/**
 * When a session needs a person: it gave up, it failed, it waits for a person, or nothing works on it. A worker that
 * stopped answering counts by the clock of the store.
 */
export interface AttentionTimes {
  /** Sessions that wait for a person count if they did not change since this time. */
  readonly pausedBefore: string;
  /** Failed sessions count if they changed at this time or later. */
  readonly failedFrom: string;
  /** Open sessions without a worker count if they did not change since this time. */
  readonly waitingBefore: string;
}

export interface SessionFilter {
  readonly owner?: string;
  readonly status?: AgentStatus;
  /** Any of these. */
  readonly statuses?: readonly AgentStatus[];
  readonly phase?: SessionPhase;
  readonly agent?: string;
  /** Any of these. */
  readonly agents?: readonly string[];
  /** Only sessions of other agents than these. */
  readonly notAgents?: readonly string[];
  /** Changed at this time or later. */
  readonly updatedFrom?: string;
  /** Changed before this time. */
  readonly updatedBefore?: string;
  /** Any of these. Like cost and errors, it is that of the newest run record: a session without one does not match. */
  readonly models?: readonly string[];
  readonly costFrom?: number;
  readonly costBefore?: number;
  /** Whether it failed, or has an error, or its newest run recorded errors. */
  readonly hasError?: boolean;
  /** Only sessions that need a person; with `isNeeded: false`, only all others. */
  readonly attention?: AttentionTimes & { readonly isNeeded: boolean };
}

export interface SessionQuery extends SessionFilter {
  readonly limit: number;
  /** Continue after this session. The order is newest change first, then id, descending. */
  readonly after?: {
    readonly updatedAt: string;
    readonly id: string;
    /** Value of the session in the order of `by`; left out for `updated`. */
    readonly value?: string | number;
  };
  /** Default `updated`. Any other sorts the {@link SORTED_AMONG} newest sessions that match. */
  readonly by?: SessionOrder;
  /** Whether the smallest value comes first. Default false. */
  readonly isAscending?: boolean;
  /** Whether rows have `run`. Default false. */
  readonly withRun?: boolean;
}

/** Number of sessions that a list sorts by anything but their last change. */
export const SORTED_AMONG = 2_000;

/** Selects run records by the time of their end, newest first. */
export interface RunsQuery {
  readonly owner?: string;
  readonly agent?: string;
  /** First time, inclusive. */
  readonly from: string;
  /** Last time, exclusive. */
  readonly before: string;
  readonly limit: number;
}
