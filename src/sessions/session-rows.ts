import type { AgentStatus } from '../agent/agent-status.ts';

/**
 * Phase of the work on a session: `open` has a worker or needs one, `paused` waits for an approver or `resume`, `idle`
 * waits for a message, `parked` failed too often and waits for `retry`.
 */
export type SessionPhase = 'idle' | 'open' | 'paused' | 'parked';

/** Highest `requires` of a row that this release can work on. Release 0.1.0 reads 1. */
export const READS = 2;

/** State of a call: `waiting` for an approver, `decided` by one, `started` by a worker, `committed` with a result. */
export type CallState = 'waiting' | 'decided' | 'started' | 'committed';

/** Whether the worker of a session stopped answering and no other one has taken over. */
export const hasLostWorker = ({
  phase,
  worker,
  isLeased,
}: Pick<SessionRow, 'phase' | 'worker' | 'isLeased'>): boolean =>
  phase === 'open' && worker !== null && !isLeased;

/** One session as a store keeps it. `head` and every `body` below are text that the store does not interpret. */
export interface SessionRow {
  readonly id: string;
  readonly owner: string;
  /** Name of the agent that works on it. */
  readonly agent: string;
  /**
   * `in_progress` while the phase is `open`, `failed` while it is `parked`, otherwise the status of the last commit.
   */
  readonly status: AgentStatus;
  readonly phase: SessionPhase;
  readonly executionId: string | null;
  readonly head: string;
  /** Number of commits. */
  readonly revision: number;
  /** Fencing token. It grows with every claim. */
  readonly token: number;
  /** Holder of the lease; null when it was released. */
  readonly worker: string | null;
  /** Whether that lease is still valid, by the clock of the store. */
  readonly isLeased: boolean;
  /** The reason of the request to stop or to pause. */
  readonly stopReason: string | null;
  readonly pauseReason: string | null;
  readonly messageCount: number;
  readonly stepCount: number;
  /** Last sequence number in the log of the current execution. */
  readonly seq: number;
  /** Claims since the last committed step, result, pause or end. A lease that was handed over does not count. */
  readonly tries: number;
  /**
   * Expired leases of this execution. An expired lease means that a process died. Deaths beside other sessions count up
   * to {@link QUARANTINE_DEATHS}; all deaths in quarantine count.
   */
  readonly deaths: number;
  /** Whether only a worker that runs nothing else may claim it, until a commit ends the quarantine. */
  readonly isQuarantined: boolean;
  /** Why the last try failed, or why the session is parked. */
  readonly error: string | null;
  readonly parkedAt: string | null;
  /** Who opened it the last time it was parked, and when; null where that never happened, or was not recorded. */
  readonly retriedBy: string | null;
  readonly retriedAt: string | null;
  /**
   * Why an execution was stopped although its state could not be read. It is closed when the state can be read again.
   */
  readonly closeReason: string | null;
  /** Format that a release must read to work on the session, see {@link READS}. */
  readonly requires: number;
  readonly createdAt: string;
  readonly updatedAt: string;
  /** Facts of the newest run record, in lists that ask for it; null if there is none. */
  readonly run?: RunFacts | null;
}

/**
 * What an execution has used when it ended or paused: for lists and charts, so that they need not read histories. A
 * later run of the same execution replaces it. Names and numbers only, nothing of the conversation.
 */
export interface RunRow {
  readonly executionId: string;
  readonly startedAt: string;
  readonly endedAt: string;
  readonly status: AgentStatus;
  readonly stopReason: string | null;
  /** Null if it is not known. */
  readonly model: string | null;
  /** Null if a price is not known. */
  readonly cost: number | null;
  /** Cost of the whole session. */
  readonly sessionCost: number | null;
  /** Number of failed model calls and tool calls. */
  readonly errors: number;
  /** Text that the store does not interpret. */
  readonly body: string;
}

export type RunFacts = Pick<RunRow, 'model' | 'sessionCost' | 'errors'>;

/** A run record with its session. */
export interface SessionRunRow extends RunRow {
  readonly sessionId: string;
  readonly owner: string;
  readonly agent: string;
}

/** Number of deaths that quarantine a session. */
export const QUARANTINE_DEATHS = 2;

export type NewSessionRow = Pick<
  SessionRow,
  | 'id'
  | 'owner'
  | 'agent'
  | 'status'
  | 'executionId'
  | 'head'
  | 'messageCount'
  | 'stepCount'
  | 'createdAt'
> & {
  /** Default 1: any release. */
  readonly requires?: number;
};

/** A session that continues from a step of another one. */
export type ForkedSessionRow = NewSessionRow & {
  /** Number of compactions of the session's own agent that are copied. Default 0. */
  readonly compactionCount?: number;
};

/** One message of an agent. `agentId` is `''` for the session's own agent; others ran as its tools. */
export interface MessageRow {
  readonly agentId: string;
  /** From 0, without gaps. */
  readonly position: number;
  readonly role: string;
  readonly body: string;
}

export interface StepRow {
  readonly agentId: string;
  readonly position: number;
  readonly executionId: string;
  readonly body: string;
  /** Totals right after this step, from which a fork starts. */
  readonly mark: string;
}

/** One compaction of an agent's conversation. */
export interface CompactionRow {
  readonly agentId: string;
  /** From 0, in the order in which they were made. */
  readonly position: number;
  readonly kind: 'tool_results' | 'summary';
  /** Position behind the last message that it covers. */
  readonly toPosition: number;
  readonly body: string;
}

/** A nested agent that runs, or ran, inside a call of this execution. */
export interface AgentRow {
  readonly agentId: string;
  readonly executionId: string;
  readonly callId: string;
  readonly head: string;
  readonly messageCount: number;
  readonly stepCount: number;
}

/** One entry in the tool ledger. */
export interface CallRow {
  readonly executionId: string;
  readonly callId: string;
  readonly tool: string;
  readonly state: CallState;
  /** Token under which the call was last started; 0 before the first start. */
  readonly token: number;
  /** Number of starts. */
  readonly starts: number;
  /** The approver's answer. */
  readonly answer: string | null;
  readonly result: string | null;
}

/** One or more events that were written together. */
export interface EventRow {
  readonly executionId: string;
  /** Number of the last event in the row. Events count from 1 in each execution. */
  readonly seq: number;
  readonly type: string;
  readonly body: string;
}

/** A large value, stored once. `scope` is `''` for values of the conversation, otherwise the execution that uses it. */
export interface BlobRow {
  readonly scope: string;
  readonly hash: string;
  readonly body: string;
}

/** A command for a session. Numbers are in the order of arrival. */
export interface CommandRow {
  readonly number: number;
  readonly kind: 'message' | 'resume';
  readonly executionId: string;
  readonly body: string;
}
