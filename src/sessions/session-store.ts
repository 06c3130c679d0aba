import type { AgentStatus } from '../agent/agent-status.ts';
import type {
  AgentRow,
  BlobRow,
  CallRow,
  CallState,
  CommandRow,
  EventRow,
  MessageRow,
  NewSessionRow,
  SessionPhase,
  SessionRow,
  StepRow,
} from './session-rows.ts';
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
} from './store-requests.ts';

export type {
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
  WaitingLimit,
} from './store-requests.ts';

export interface CallWrite {
  readonly executionId: string;
  readonly callId: string;
  readonly tool: string;
  readonly state: Exclude<CallState, 'decided'>;
  readonly result?: string | null;
  /** On `started`: may begin again after a start whose end is unknown. */
  readonly again?: boolean;
}

/** One atomic, fenced write of the worker that holds the lease. */
export interface Commit {
  readonly sessionId: string;
  readonly token: number;
  /** The revision it follows. The same commit sent twice is written once. */
  readonly revision: number;
  /** The time of a change that people should see in lists; left out in the middle of the work. */
  readonly at?: string;
  /** The session's own state, where it changed. */
  readonly root?: {
    readonly head: string;
    readonly status: AgentStatus;
    readonly executionId: string;
    readonly messageCount: number;
    readonly stepCount: number;
    /** The release that is needed to work on it from now on. Default 1: any. */
    readonly requires?: number;
  };
  /** Last sequence number used, where events are written or a new execution begins (then 0 or more). */
  readonly seq?: number;
  readonly messages?: readonly MessageRow[];
  readonly steps?: readonly StepRow[];
  /** Inserted or replaced. */
  readonly agents?: readonly AgentRow[];
  readonly calls?: readonly CallWrite[];
  readonly events?: readonly EventRow[];
  /** One that is there already stays. */
  readonly blobs?: readonly BlobRow[];
  /** The command, by number, that this write carries out: it is removed. */
  readonly done?: number;
  /** A step was begun and done while the session ran alone: others may run beside it again. */
  readonly endsQuarantine?: boolean;
  /**
   * Ends this stretch of work. `ended` and `paused` clear what they answer (a stop, a pause request) and give the lease
   * back, unless there is more to do: a command after `ended`; a decided call or a stop request after `paused`. Then
   * the phase stays `open` and the lease is kept. `handover` gives the lease back and leaves the phase `open`; the claim
   * is not counted as a try.
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
  | { readonly retry: string };

export interface LeaseSignal {
  readonly sessionId: string;
  readonly token: number;
  readonly stopReason: string | null;
  readonly pauseReason: string | null;
}

/** A lease as `renew` found it: held, and extended unless it was busy. */
export interface RenewedLease extends LeaseSignal {
  /** Another transaction had the session's row, so that the lease was not extended. */
  readonly isBusy?: true;
}

export interface RowRange {
  /** Only positions below. */
  readonly before?: number;
  /** Only this position and above. */
  readonly from?: number;
  /** The newest ones that fit; default: all. */
  readonly limit?: number;
}

export interface SessionQuery {
  readonly owner?: string;
  readonly status?: AgentStatus;
  readonly phase?: SessionPhase;
  readonly agent?: string;
  /** Only sessions of other agents than these. */
  readonly notAgents?: readonly string[];
  readonly limit: number;
  /** Continue behind this one: newest change first, then by id, descending. */
  readonly after?: { readonly updatedAt: string; readonly id: string };
}

/**
 * Keeps sessions, and alone decides who may write. Every method is atomic; what a method resolves with is durable.
 * `testing` has the suite that each store must pass.
 */
export interface SessionStore {
  readonly name: string;
  /** The largest text of one row. */
  readonly maxBytes: number;
  /** Applied by the runtime to every `head` and `body`. */
  readonly codec?: StoreCodec;

  /** False if the id is taken. The phase is `idle`. */
  create(session: NewSessionRow): Promise<boolean>;
  find(sessionId: string): Promise<SessionRow | null>;
  list(query: SessionQuery): Promise<readonly SessionRow[]>;

  /**
   * Adds a command if the phase is one of `phases`, the revision, where given, is still that one, and no more wait than
   * `maxWaiting` allows; the phase is `open` from then on, unless it is `parked` and stays so. A message whose execution id is remembered is not accepted
   * in any phase: see {@link Acceptance}. Null if there is no such session.
   */
  accept(
    sessionId: string,
    command: NewCommand,
    condition: AcceptCondition,
  ): Promise<Acceptance | null>;
  /** The oldest resume, else the oldest message: a message waits for the end of what is resumed. */
  nextCommand(sessionId: string): Promise<CommandRow | null>;
  /** Answers a call once: `accepted` turns it from `waiting` to `decided` and the phase, unless `parked`, to `open`. */
  decide(sessionId: string, answer: NewAnswer): Promise<Decision>;
  /**
   * Leaves a request for the worker of the session, unless it is idle; the first reason stays. A stop turns `paused`
   * and `parked` into `open`, without a wait. A `retry`, with its time, turns `parked` into `open` with all counts at 0,
   * and changes nothing else. The phase found, null if there is no such session.
   */
  request(sessionId: string, request: SessionRequest): Promise<SessionPhase | null>;

  /**
   * Takes the lease of an `open` session without one, under a new token, and counts: one try, and a death where
   * the lease before ran out. After {@link QUARANTINE_DEATHS} deaths the session is in quarantine and given to a worker
   * only that runs `alone`, unless a stop was requested. Null if it cannot be had.
   */
  claim(sessionId: string, lease: LeaseRequest): Promise<SessionRow | null>;
  /** Ends a try that failed and gives its lease back. False if the token does not hold the session any more. */
  release(sessionId: string, token: number, release: Release): Promise<boolean>;
  /**
   * Extends those of the named leases that this worker still holds, and answers with them. A lease that is not named is
   * not extended: the answer to its claim was lost, and it must run out. One session never waits for another.
   */
  renew(lease: {
    readonly worker: string;
    readonly ttlMs: number;
    readonly leases: readonly Pick<LeaseSignal, 'sessionId' | 'token'>[];
  }): Promise<readonly RenewedLease[]>;
  /** The leases of this worker, and the requests for them. */
  signals(worker: string): Promise<readonly LeaseSignal[]>;
  /**
   * Ids of `open` sessions that a worker may claim now and that should not wait: those of any agent that are to be
   * stopped, the longest untouched first, then those of these agents whose lease ran out, the longest expired first.
   */
  urgent(query: UrgentQuery): Promise<readonly string[]>;
  /**
   * `open` sessions of one agent without a lease that a worker may claim now. Owners take turns: first the longest
   * untouched session of each owner, then the second of each.
   */
  recoverable(query: RecoverableQuery): Promise<RecoverablePage>;
  /**
   * Writes all or nothing. Rejects with `stale_owner` when the token is not the session's any more (or the session is
   * gone), and with `conflict` when a call would start that was started or committed and may not start `again`.
   */
  commit(commit: Commit): Promise<CommitReceipt>;

  /** In ascending order of position. */
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
  agents(sessionId: string, executionId: string): Promise<readonly AgentRow[]>;
  calls(
    sessionId: string,
    executionId: string,
    filter: { readonly callIds: readonly string[] } | { readonly state: CallState },
  ): Promise<readonly CallRow[]>;
  /** Rows with a number above `after`, ascending. */
  events(
    sessionId: string,
    executionId: string,
    range: { readonly after: number; readonly limit: number },
  ): Promise<readonly EventRow[]>;
  blobs(sessionId: string, hashes: readonly string[]): Promise<readonly Omit<BlobRow, 'scope'>[]>;

  /**
   * Copies messages and steps below the counts, what they refer to, the remembered ids of their executions and of the
   * calls that waited in those into a new idle session. The last of those executions is `executionId` there. False as
   * `create`.
   */
  fork(fromId: string, session: NewSessionRow): Promise<boolean>;
  /** Leaves no row behind. False if there was none. */
  delete(sessionId: string): Promise<boolean>;
  /**
   * For sessions without work that have not changed since: drops events, and the steps, calls, agents and
   * large values of all executions but the last. Remembered ids of executions, and of calls
   * that waited, stay. Works in small batches, each a write
   * of its own, that hold up neither other sessions nor the event loop; skips what is in use at that moment, and what
   * requires more than {@link READS}.
   */
  prune(request: UpkeepRequest): Promise<Dropped>;
  /** Deletes whole sessions that did not change since, in such batches. One that is `open` stays in any case. */
  expire(request: ExpireRequest): Promise<Dropped>;
  /** Rows of the session in all tables, and the bytes of their texts. */
  size(sessionId: string): Promise<{ readonly rows: number; readonly bytes: number }>;
  close(): Promise<void>;
}

/** Encrypts or compresses what the store keeps. Text in, text out; no NUL characters. */
export interface StoreCodec {
  encode(text: string): string | Promise<string>;
  decode(text: string): string | Promise<string>;
}
