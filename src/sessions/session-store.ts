import type { AgentStatus } from '../agent/agent-status.ts';
import type {
  AgentRow,
  BlobRow,
  CallRow,
  CallState,
  CommandRow,
  CompactionRow,
  EventRow,
  ForkedSessionRow,
  MessageRow,
  NewSessionRow,
  RunRow,
  SessionPhase,
  SessionRow,
  SessionRunRow,
  StepRow,
} from './session-rows.ts';
import type { RunsQuery, SessionFilter, SessionQuery } from './session-query.ts';
import type {
  AcceptCondition,
  Acceptance,
  Decision,
  Dropped,
  ExpireRequest,
  LeaseRequest,
  NewAnswer,
  NewCommand,
  RecoverablePage,
  RecoverableQuery,
  Release,
  UpkeepRequest,
  UrgentQuery,
  WorkerReport,
  Workload,
} from './store-requests.ts';

export type * from './session-query.ts';
export type * from './store-requests.ts';

export interface CallWrite {
  readonly executionId: string;
  readonly callId: string;
  readonly tool: string;
  readonly state: Exclude<CallState, 'decided'>;
  readonly result?: string | null;
  /** On `started`: whether the call may start again after a start whose end is unknown. */
  readonly again?: boolean;
}

/** One atomic, fenced write of the worker that holds the lease. */
export interface Commit {
  readonly sessionId: string;
  readonly token: number;
  /** The revision that the commit follows. The same commit sent twice is written once. */
  readonly revision: number;
  /** Time of a change that lists should show; left out during the work. */
  readonly at?: string;
  /** The session's own state, if it changed. */
  readonly root?: {
    readonly head: string;
    readonly status: AgentStatus;
    readonly executionId: string;
    readonly messageCount: number;
    readonly stepCount: number;
    /** Format that a release must read to work on the session from now on. Default 1: any release. */
    readonly requires?: number;
  };
  /** Last sequence number. Set if events are written or a new execution begins (then 0 or more). */
  readonly seq?: number;
  readonly messages?: readonly MessageRow[];
  readonly steps?: readonly StepRow[];
  readonly compactions?: readonly CompactionRow[];
  /** Inserted or replaced. */
  readonly agents?: readonly AgentRow[];
  readonly calls?: readonly CallWrite[];
  readonly events?: readonly EventRow[];
  /** An existing blob is kept. */
  readonly blobs?: readonly BlobRow[];
  /** Number of the command that this commit carries out. The command is removed. */
  readonly done?: number;
  /** Record of the execution, with `end`. */
  readonly run?: RunRow;
  /** Whether the session began and finished a step while it ran alone, so that others may run beside it again. */
  readonly endsQuarantine?: boolean;
  /**
   * Ends this run. `ended` and `paused` clear the stop or pause request that they fulfill and release the lease, unless
   * there is more to do: a command after `ended`; a decided call or a stop request after `paused`. Then the phase stays
   * `open` and the lease is kept. `handover` releases the lease and leaves the phase `open`; the claim does not count
   * as a try.
   */
  readonly end?: 'ended' | 'paused' | 'handover';
}

export interface CommitReceipt {
  readonly phase: SessionPhase;
  readonly stopReason: string | null;
  readonly pauseReason: string | null;
}

export type SessionRequest =
  | { readonly stop: string }
  | { readonly pause: string }
  | { readonly retry: string; readonly by?: string };

export interface LeaseSignal {
  readonly sessionId: string;
  readonly token: number;
  readonly stopReason: string | null;
  readonly pauseReason: string | null;
}

/** A lease that the worker still holds. It was extended unless `isBusy` is set. */
export interface RenewedLease extends LeaseSignal {
  /** The lease was not extended, because another transaction had locked the session's row. */
  readonly isBusy?: true;
}

export interface RowRange {
  /** Only lower positions. */
  readonly before?: number;
  /** Only this and higher positions. */
  readonly from?: number;
  /** Most rows, the newest ones. Default: all. */
  readonly limit?: number;
}

/**
 * Stores sessions, and is the only authority on who may write. Every method is atomic, and its result is durable when
 * it resolves. `testing` has the suite that each store must pass.
 */
export interface SessionStore {
  readonly name: string;
  /** Largest text of one row, in bytes. */
  readonly maxBytes: number;
  /** Codec that the runtime applies to every `head` and `body`. */
  readonly codec?: StoreCodec;

  /** Creates a session in phase `idle`. Returns false if the id is taken. */
  create(session: NewSessionRow): Promise<boolean>;
  find(sessionId: string): Promise<SessionRow | null>;
  list(query: SessionQuery): Promise<readonly SessionRow[]>;
  /** Counts sessions, up to `most`. */
  count(filter: SessionFilter, most: number): Promise<number>;
  /** Returns run records of the time range, newest end first. */
  runs(query: RunsQuery): Promise<readonly SessionRunRow[]>;

  /**
   * Adds a command if the phase is one of `phases`, the revision, if given, is current, and `maxWaiting` is not
   * exceeded. The phase becomes `open`, unless it is `parked`. A message whose execution id is remembered is not
   * accepted in any phase: see {@link Acceptance}. Returns null if the session does not exist.
   */
  accept(
    sessionId: string,
    command: NewCommand,
    condition: AcceptCondition,
  ): Promise<Acceptance | null>;
  /** Returns the oldest resume, otherwise the oldest message: a message waits until the resumed execution ends. */
  nextCommand(sessionId: string): Promise<CommandRow | null>;
  /** Answers a call once: `accepted` turns it from `waiting` to `decided` and the phase, unless `parked`, to `open`. */
  decide(sessionId: string, answer: NewAnswer): Promise<Decision>;
  /**
   * Stores a request for the worker of the session, unless it is idle. The first reason stays. A stop turns `paused`
   * and `parked` into `open`, without a wait. A `retry`, with its time, turns `parked` into `open` with all counts at
   * 0, records who asked `by`, and has no effect in other phases. Returns the phase before the request, or null if the session does not exist.
   */
  request(sessionId: string, request: SessionRequest): Promise<SessionPhase | null>;

  /**
   * Takes the lease of an `open` session that is not leased, under a new token. Counts one try, and a death if the
   * previous lease expired. After {@link QUARANTINE_DEATHS} deaths the session is quarantined: only a worker that runs
   * `alone` can claim it, unless a stop was requested. Returns null if the session cannot be claimed.
   */
  claim(sessionId: string, lease: LeaseRequest): Promise<SessionRow | null>;
  /** Ends a failed try and releases its lease. Returns false if the token no longer holds the session. */
  release(sessionId: string, token: number, release: Release): Promise<boolean>;
  /**
   * Extends the named leases that this worker still holds, and returns them. A lease that is not named is not extended:
   * the answer to its claim was lost, and it must expire. One session never waits for another.
   */
  renew(lease: {
    readonly worker: string;
    readonly ttlMs: number;
    readonly leases: readonly Pick<LeaseSignal, 'sessionId' | 'token'>[];
  }): Promise<readonly RenewedLease[]>;
  /** Returns the leases of this worker and the requests for them. */
  signals(worker: string): Promise<readonly LeaseSignal[]>;
  /**
   * Returns the ids of `open` sessions that a worker may claim now and that should not wait: sessions of any agent with
   * a stop request, longest unchanged first, then sessions of these agents with an expired lease, longest expired
   * first.
   */
  urgent(query: UrgentQuery): Promise<readonly string[]>;
  /**
   * Returns `open` sessions that are not leased and that a worker may claim now: one page for each of the agents, in
   * their order. Owners take turns: first the longest unchanged session of each owner, then the second of each. Every
   * worker asks each second for all of its agents, so a store answers in one statement where it can.
   */
  recoverable(query: RecoverableQuery): Promise<readonly RecoverablePage[]>;
  /**
   * Writes all rows or none. Rejects with `stale_owner` if the token is no longer the session's, or the session was
   * deleted. Rejects with `conflict` if a call would start that was started or committed and may not start `again`.
   */
  commit(commit: Commit): Promise<CommitReceipt>;

  /** Returns messages in ascending order of position. */
  messages(
    sessionId: string,
    agentId: string,
    range?: RowRange & { readonly role?: string },
  ): Promise<readonly MessageRow[]>;
  steps(
    sessionId: string,
    agentId: string,
    range?: RowRange & { readonly executionId?: string },
  ): Promise<readonly StepRow[]>;
  /** Returns compactions in ascending order of position. */
  compactions(
    sessionId: string,
    agentId: string,
    range?: RowRange & { readonly kind?: CompactionRow['kind'] },
  ): Promise<readonly CompactionRow[]>;
  agents(sessionId: string, executionId: string): Promise<readonly AgentRow[]>;
  calls(
    sessionId: string,
    executionId: string,
    filter: { readonly callIds: readonly string[] } | { readonly state: CallState },
  ): Promise<readonly CallRow[]>;
  /** Returns rows with a number above `after`, ascending. */
  events(
    sessionId: string,
    executionId: string,
    range: { readonly after: number; readonly limit: number },
  ): Promise<readonly EventRow[]>;
  blobs(sessionId: string, hashes: readonly string[]): Promise<readonly Omit<BlobRow, 'scope'>[]>;

  /** Stores the newest report of a worker. */
  reportWorker(report: WorkerReport): Promise<void>;
  /** Counts the work of all owners, for operators. */
  workload(): Promise<Workload>;

  /**
   * Copies into a new idle session: the messages, steps and compactions below the counts, the rows that they refer to, and the
   * remembered ids of their executions and of calls that waited in those. The last of those executions gets the id
   * `executionId`. Returns false if the id is taken.
   */
  fork(fromId: string, session: ForkedSessionRow): Promise<boolean>;
  /** Deletes all rows of a session. Returns false if it does not exist. */
  delete(sessionId: string): Promise<boolean>;
  /**
   * Prunes sessions without work that have not changed since `olderThan`: drops events, and the steps, calls, agents
   * and large values of all executions but the last. Keeps remembered ids of executions and of calls that waited. Works
   * in small batches, each its own write, that block neither other sessions nor the event loop. Skips sessions that are
   * in use, and those that require more than {@link READS}.
   */
  prune(request: UpkeepRequest): Promise<Dropped>;
  /**
   * Deletes whole sessions that have not changed since `olderThan`, in the same kind of batches. Never deletes an
   * `open` session.
   */
  expire(request: ExpireRequest): Promise<Dropped>;
  /** Returns the number of rows of the session in all tables, and the bytes of their texts. */
  size(sessionId: string): Promise<{ readonly rows: number; readonly bytes: number }>;
  close(): Promise<void>;
}

/** Encrypts or compresses the text of rows. The encoded text must not have NUL characters. */
export interface StoreCodec {
  encode(text: string): string | Promise<string>;
  decode(text: string): string | Promise<string>;
}
