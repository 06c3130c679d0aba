import type { AgentStatus } from '../agent/agent-status.ts';

/**
 * What the store knows of the work on a session: `open` wants a worker or has one, `paused` waits for people,
 * `idle` waits for a message, `parked` failed too often and waits for a retry by hand.
 */
export type SessionPhase = 'idle' | 'open' | 'paused' | 'parked';

/** The rows that this release can work on: those whose `requires` is not above. Release 0.1.0 reads 1. */
export const READS = 2;

/** `waiting` for a person, `decided` by one, `started` by a worker, `committed` with a result. */
export type CallState = 'waiting' | 'decided' | 'started' | 'committed';

/** One session as a store keeps it. `head`, and every `body` below, is text that the store does not look into. */
export interface SessionRow {
  readonly id: string;
  readonly owner: string;
  /** Name of the agent that works on it. */
  readonly agent: string;
  /** `in_progress` while the phase is `open`, `failed` while it is `parked`, else what the last commit said. */
  readonly status: AgentStatus;
  readonly phase: SessionPhase;
  readonly executionId: string | null;
  readonly head: string;
  /** Counts the commits. */
  readonly revision: number;
  /** The fencing token: grows with every claim. */
  readonly token: number;
  /** Holder of the lease; null when it was given back. */
  readonly worker: string | null;
  /** Whether that lease is still good, by the clock of the store. */
  readonly isLeased: boolean;
  /** The reason of the request to stop or to pause. */
  readonly stopReason: string | null;
  readonly pauseReason: string | null;
  readonly messageCount: number;
  readonly stepCount: number;
  /** Last sequence number of the current execution's log. */
  readonly seq: number;
  /** Claims since the last committed step, result, pause or end. A lease that was handed over does not count. */
  readonly tries: number;
  /**
   * Leases of this execution that ran out, which means that a process died. Deaths beside other sessions count up to
   * {@link QUARANTINE_DEATHS}; deaths in quarantine all count.
   */
  readonly deaths: number;
  /** Whether only a worker that runs nothing else may claim it, until a commit ends the quarantine. */
  readonly isQuarantined: boolean;
  /** Why the last try failed; of a parked session, why it is parked. */
  readonly error: string | null;
  readonly parkedAt: string | null;
  /** Why an execution was stopped whose state could not be read: it is closed when the state is read again. */
  readonly closeReason: string | null;
  /** The release that is needed to work on it, see {@link READS}. */
  readonly requires: number;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** So many deaths bring a session into quarantine. */
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

/** Rows of one agent of the session: `''` is the session's own, others are agents that ran as its tools. */
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
  /** The accounts right after this step; what a fork starts from. */
  readonly mark: string;
}

/** An agent that runs, or ran, behind a call of this execution. */
export interface AgentRow {
  readonly agentId: string;
  readonly executionId: string;
  readonly callId: string;
  readonly head: string;
  readonly messageCount: number;
  readonly stepCount: number;
}

/** One line of the tool ledger. */
export interface CallRow {
  readonly executionId: string;
  readonly callId: string;
  readonly tool: string;
  readonly state: CallState;
  /** The token under which it was started last, 0 before. */
  readonly token: number;
  /** How often it was started. */
  readonly starts: number;
  /** A person's answer. */
  readonly answer: string | null;
  readonly result: string | null;
}

/** One or more events that were written together. */
export interface EventRow {
  readonly executionId: string;
  /** Number of the last event in it; they count from 1 in each execution. */
  readonly seq: number;
  readonly type: string;
  readonly body: string;
}

/** A large value, kept once. `scope` is `''` for what the conversation needs, else the execution it goes with. */
export interface BlobRow {
  readonly scope: string;
  readonly hash: string;
  readonly body: string;
}

/** Something a session was asked to do, in the order it came. */
export interface CommandRow {
  readonly number: number;
  readonly kind: 'message' | 'resume';
  readonly executionId: string;
  readonly body: string;
}
