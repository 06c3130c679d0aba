import type { CommandRow, SessionPhase } from './session-rows.ts';

/** What a session is asked to do. */
export interface NewCommand extends Omit<CommandRow, 'number'> {
  readonly at: string;
  /**
   * Of a message: names its content, null if that is not known. The store then remembers the id of the execution as long
   * as the session lives, and accepts no other message under it.
   */
  readonly contentHash?: string | null;
  /** The release that is needed to carry it out: the session requires it from then on. Default 1: any. */
  readonly requires?: number;
}

/** When a command is accepted. */
export interface AcceptCondition {
  readonly phases: readonly SessionPhase[];
  readonly revision?: number;
  /** The most that may wait, the new command included; default: any number. A first command is always accepted. */
  readonly maxWaiting?: WaitingLimit;
}

export interface WaitingLimit {
  readonly commands: number;
  /** Of the UTF-8 text of their bodies. */
  readonly bytes: number;
}

export interface Acceptance {
  readonly accepted: boolean;
  /** Whether it was refused because of {@link AcceptCondition.maxWaiting} alone. */
  readonly isFull?: true;
  /** The phase that was found. */
  readonly phase: SessionPhase;
  /**
   * A message with this execution id was accepted before, in whatever phase: one with the same content, which is
   * `waiting` or whose work has `begun`, or one with `other` content.
   */
  readonly repeat?: 'waiting' | 'begun' | 'other';
}

/** A person's answer to a call. */
export interface NewAnswer {
  readonly executionId: string;
  readonly callId: string;
  readonly body: string;
  readonly at: string;
  /**
   * The answer did not name its execution: `ambiguous` where another execution of the session has ever let a call
   * with this id wait. The store remembers those ids as long as the session lives.
   */
  readonly ifUnambiguous?: boolean;
}

/**
 * What an answer comes to: `answered` was answered before, `unknown` is not a call that waited, `over` when the session
 * is idle or in another execution, `ambiguous` as {@link NewAnswer} says.
 */
export type Decision = 'accepted' | 'answered' | 'unknown' | 'over' | 'ambiguous';

/** How a worker asks for a lease. */
export interface LeaseRequest {
  readonly worker: string;
  readonly ttlMs: number;
  /** How long the session is left alone if this lease runs out. Default 0. */
  readonly waitMs?: number;
  /** Whether the worker runs nothing else: needed for a session in quarantine. Default false. */
  readonly alone?: boolean;
  /** Default {@link READS}: a row that requires more is not given. */
  readonly reads?: number;
}

/** How a try ends that failed. */
export type Release =
  | {
      /** Tried again after the wait. */
      readonly kind: 'retry';
      readonly error: string;
      readonly waitMs: number;
    }
  | {
      /** Not tried again before {@link SessionStore.request} with `retry`; a stop that was requested comes first. */
      readonly kind: 'park';
      readonly error: string;
      /** What the row shows from now on. */
      readonly tries: number;
      readonly at: string;
    }
  | {
      /** The execution is stopped though its state cannot be read. */
      readonly kind: 'close';
      readonly reason: string;
      readonly at: string;
    };

export interface UrgentQuery {
  readonly agents: readonly string[];
  readonly limit: number;
  /** Default {@link READS}. */
  readonly reads?: number;
}

export interface RecoverableQuery {
  readonly agent: string;
  readonly limit: number;
  /** Default {@link READS}. */
  readonly reads?: number;
  /** Continue behind this owner. */
  readonly afterOwner?: string;
}

export interface RecoverablePage {
  readonly ids: readonly string[];
  /** Where to continue; null when there is no owner left. */
  readonly afterOwner: string | null;
}

/** What `prune` and `expire` are asked to drop. */
export interface UpkeepRequest {
  /** Only of sessions that did not change since. */
  readonly olderThan: string;
  readonly owner?: string;
  /** Ends the work between two batches; the result counts what was dropped by then, and another call continues. */
  readonly signal?: AbortSignal;
  /** Called after each batch with the sums so far. */
  readonly onProgress?: (dropped: Dropped) => void;
}

export interface ExpireRequest extends UpkeepRequest {
  /** Also sessions that wait for people: `paused` and `parked`. Default false: only `idle` ones. */
  readonly waiting?: boolean;
  /** Counts the sessions and drops nothing. Default false. */
  readonly dryRun?: boolean;
}

export interface Dropped {
  readonly sessions: number;
  readonly rows: number;
}
