import type { CommandRow, SessionPhase } from './session-rows.ts';

/** A new command for a session. */
export interface NewCommand extends Omit<CommandRow, 'number'> {
  readonly at: string;
  /**
   * Hash of a message's content; null if it is not known. If set, the store remembers the execution id as long as the
   * session exists and accepts no other message under it.
   */
  readonly contentHash?: string | null;
  /**
   * Format that a release must read to carry out the command. The session requires it from then on. Default 1: any
   * release.
   */
  readonly requires?: number;
}

/** Condition under which a command is accepted. */
export interface AcceptCondition {
  readonly phases: readonly SessionPhase[];
  readonly revision?: number;
  /** Most commands that may wait, including the new one. Default: no limit. A first command is always accepted. */
  readonly maxWaiting?: WaitingLimit;
}

export interface WaitingLimit {
  readonly commands: number;
  /** Bytes of the UTF-8 text of their bodies. */
  readonly bytes: number;
}

export interface Acceptance {
  readonly accepted: boolean;
  /** Whether it was refused only because of {@link AcceptCondition.maxWaiting}. */
  readonly isFull?: true;
  /** The phase before the command. */
  readonly phase: SessionPhase;
  /**
   * Set if a message with this execution id was accepted before, in any phase: with the same content, and `waiting` or
   * `begun`, or with `other` content.
   */
  readonly repeat?: 'waiting' | 'begun' | 'other';
}

/** An approver's answer to a call. */
export interface NewAnswer {
  readonly executionId: string;
  readonly callId: string;
  readonly body: string;
  readonly at: string;
  /**
   * Set if the answer did not name its execution. The decision is then `ambiguous` if a call with this id has ever
   * waited in another execution of the session. The store remembers those ids as long as the session exists.
   */
  readonly ifUnambiguous?: boolean;
}

/**
 * Result of an answer: `answered` if the call was answered before, `unknown` if it never waited, `over` if the session
 * is idle or in another execution, `ambiguous` as described in {@link NewAnswer}.
 */
export type Decision = 'accepted' | 'answered' | 'unknown' | 'over' | 'ambiguous';

/** A worker's request for a lease. */
export interface LeaseRequest {
  readonly worker: string;
  readonly ttlMs: number;
  /** Milliseconds until the session can be claimed again if this lease expires. Default 0. */
  readonly waitMs?: number;
  /** Whether the worker runs nothing else, as a quarantined session requires. Default false. */
  readonly alone?: boolean;
  /** Highest format that the worker reads. A row that requires more is not claimed. Default {@link READS}. */
  readonly reads?: number;
}

/** How a failed try ends. */
export type Release =
  | {
      /** The session is tried again after the wait. */
      readonly kind: 'retry';
      readonly error: string;
      readonly waitMs: number;
    }
  | {
      /**
       * The session is not tried again before {@link SessionStore.request} with `retry`. A pending stop request takes
       * precedence.
       */
      readonly kind: 'park';
      readonly error: string;
      /** Number of tries that the row shows from now on. */
      readonly tries: number;
      readonly at: string;
    }
  | {
      /** The execution is stopped although its state cannot be read. */
      readonly kind: 'close';
      readonly reason: string;
      readonly at: string;
    };

export interface UrgentQuery {
  readonly agents: readonly string[];
  readonly limit: number;
  /** Highest format to return. Default {@link READS}. */
  readonly reads?: number;
}

export interface RecoverableQuery {
  /** Agents whose sessions to return, each with the owner to continue after. */
  readonly agents: readonly AgentTurn[];
  /** Most sessions of each agent. */
  readonly limit: number;
  /** Highest format to return. Default {@link READS}. */
  readonly reads?: number;
}

export interface AgentTurn {
  readonly agent: string;
  /** Continue after this owner. */
  readonly afterOwner?: string;
}

export interface RecoverablePage {
  readonly ids: readonly string[];
  /** Last owner on this page; null if there are no more owners. */
  readonly afterOwner: string | null;
}

/** Selects the sessions for `prune` and `expire`. */
export interface UpkeepRequest {
  /** Only sessions that have not changed since this time. */
  readonly olderThan: string;
  readonly owner?: string;
  /** Ends the work between two batches. The result counts what was dropped by then, and another call continues. */
  readonly signal?: AbortSignal;
  /** Called after each batch with the sums so far. */
  readonly onProgress?: (dropped: Dropped) => void;
}

export interface ExpireRequest extends UpkeepRequest {
  /** Whether to include `paused` and `parked` sessions. Default false: only `idle` ones. */
  readonly waiting?: boolean;
  /** Whether to only count the sessions and drop nothing. Default false. */
  readonly dryRun?: boolean;
}

export interface Dropped {
  readonly sessions: number;
  readonly rows: number;
}

/** A worker as it describes itself to operators. */
export interface WorkerReport {
  readonly worker: string;
  /** Text that the store does not interpret; null when the worker has closed. */
  readonly body: string | null;
}

/** A worker that holds leases, or has reported within {@link REPORT_KEPT_MS}. */
export interface WorkerLoad {
  readonly worker: string;
  /** Number of leases that the worker holds. */
  readonly leases: number;
  /** Number of expired leases that no other worker has taken over yet. */
  readonly expired: number;
  /** The last report; null if there is none. */
  readonly body: string | null;
  /** Milliseconds since that report, by the clock of the store. */
  readonly seenMsAgo: number | null;
}

/** The work of one agent, of all owners. */
export interface AgentLoad {
  readonly agent: string;
  /** Number of open sessions that no worker holds. */
  readonly waiting: number;
  /** Time of the last change of the session that has waited longest. */
  readonly waitingSince: string | null;
  /** Number of sessions under a valid lease. */
  readonly active: number;
  /** Number of active sessions that lost a worker earlier in the same execution. */
  readonly recovered: number;
  /** Number of sessions whose lease expired and that no worker has taken over. */
  readonly expired: number;
  readonly parked: number;
}

/** The work in a store, of all owners and agents. */
export interface Workload {
  /** Agents with open or parked sessions, ordered by name. */
  readonly agents: readonly AgentLoad[];
  /** Ordered by worker. */
  readonly workers: readonly WorkerLoad[];
}

/** How long the last report of a worker is kept, in milliseconds: one hour. */
export const REPORT_KEPT_MS = 3_600_000;
