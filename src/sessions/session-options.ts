import type { InputAnswer } from '../tools/input-request.ts';
import type { AnyAgent } from '../agent/agent.ts';
import type { AgentStatus } from '../agent/agent-status.ts';
import type { ApprovalBinding, Approvals } from '../agent/approval-answer.ts';
import type { Clock } from '../clock.ts';
import type { GrantAuthority } from '../continuation/grant-allowance.ts';
import type { Grants } from '../continuation/grants.ts';
import type { JsonObject } from '../json.ts';
import type { CacheMark } from '../messages/cache-mark.ts';
import type { MessageInput } from '../messages/message.ts';
import type { DepsOf } from '../tools/tool.ts';
import type { GrantPolicy } from './grant-policy.ts';
import type { WorkerOptions } from './session-worker.ts';
import type { SessionPhase } from './session-rows.ts';
import type { ExpireRequest, SessionQuery, SessionStore, UpkeepRequest } from './session-store.ts';

/** The owner of the session: every method requires it, and a session of another owner is not found. */
export interface OwnerOptions {
  readonly owner: string;
}

export interface CreateOptions<Name extends string = string> extends OwnerOptions {
  /** The agent that works on the session; may be left out where the runtime has only one. */
  readonly agent?: Name;
  /** Letters, digits and `_-=@,.;`, but not `.` or `..`; made up if left out. */
  readonly id?: string;
  /** A conversation to begin with. */
  readonly messages?: readonly MessageInput[];
  /** Kept with the session; at most 65,536 bytes of JSON. */
  readonly metadata?: JsonObject;
}

/** Requires the name of the agent where it is one of several. Names that are only known at run time are checked there. */
export type NamedAgent<Name extends string> =
  IsUnion<Name> extends true ? { readonly agent: Name } : unknown;
type IsUnion<T, Each = T> = Each extends T ? ([T] extends [Each] ? false : true) : never;

export interface SendOptions extends OwnerOptions {
  /** Resolve when the execution has ended or paused, not when it is accepted. */
  readonly wait?: boolean;
  /** What to do while the session is working. Default `refuse`, with `conflict`. */
  readonly whenBusy?: 'refuse' | 'queue';
  /** An id of the caller's for this message. The same content sent again under it runs once; other content is refused. */
  readonly executionId?: string;
  /** Cache mark at the end of the message. */
  readonly cache?: CacheMark;
}

/** Caps of what owners may grant, in place of the runtime's `grants`. */
export interface GrantCapOptions {
  readonly grants?: GrantPolicy;
}

/** What a list shows of the sessions, and in which order. */
export interface SessionSelection extends Pick<
  SessionQuery,
  | 'statuses'
  | 'agents'
  | 'updatedFrom'
  | 'updatedBefore'
  | 'models'
  | 'costFrom'
  | 'costBefore'
  | 'hasError'
  | 'by'
  | 'isAscending'
> {
  /** Only sessions that need a person, or only all others: see {@link Attention}. */
  readonly needsAttention?: boolean;
}

export interface ListSessionsOptions<Name extends string = string>
  extends OwnerOptions, SessionSelection {
  readonly status?: AgentStatus;
  /** `parked`: those that were tried too often. */
  readonly phase?: SessionPhase;
  readonly agent?: Name;
  /** Most sessions of the page, at most 200. */
  readonly limit?: number;
  /** That of the page before. */
  readonly cursor?: string;
}

export interface RetryOptions extends OwnerOptions, GrantCapOptions {
  /** Who asks for it, for the record. Default: the owner. */
  readonly by?: string;
  /** Resolve when the session is neither busy nor about to be. */
  readonly wait?: boolean;
}

export interface PauseSessionOptions extends OwnerOptions, GrantCapOptions {
  readonly reason?: string;
}

export interface ForkOptions extends OwnerOptions, GrantCapOptions {
  /** Last step to keep, counted from 1 in the session. Default: all. */
  readonly atStep?: number;
  readonly id?: string;
}

export interface StopSessionOptions extends OwnerOptions, GrantCapOptions {
  readonly reason?: string;
  /** Who asks for it, for the record. Default: the owner. */
  readonly by?: string;
  readonly wait?: boolean;
}

export interface ResumeSessionOptions extends OwnerOptions, GrantCapOptions {
  readonly approvals?: Approvals;
  readonly grant?: Grants;
  /**
   * On whose authority the grant is given. `operator`, the default, is your own code: no cap. `owner` is for what an
   * owner asked for, for example over HTTP: it stays within `grants`, or is refused with `grant_refused`.
   */
  readonly authority?: GrantAuthority;
  /** Who gives the grant and the answers, for the record. Default: the owner. */
  readonly by?: string;
  readonly wait?: boolean;
}

/** How a call that waits is answered: naming `executionId` and `argsHash` of the pending approval binds the answer to it. */
export interface AnswerOptions extends OwnerOptions, ApprovalBinding {
  /** Who answers, for the record. Default: the owner. */
  readonly by?: string;
  readonly wait?: boolean;
}

/** How a question of a tool is answered. */
export interface InputOptions extends OwnerOptions {
  readonly answer: InputAnswer;
  /** The execution that asked; an answer to another one is rejected. */
  readonly executionId?: string;
  /** Who answers, for the record. Default: the owner. */
  readonly by?: string;
  readonly wait?: boolean;
}

export interface ApproveOptions extends AnswerOptions {
  /** Arguments to run the call with instead. */
  readonly args?: JsonObject;
  /** Also approves later calls of this tool by this agent, in this session, until the rule is revoked or lapses. */
  readonly remember?: 'session' | undefined;
}

/** A call as a person saw it. */
export interface SeenCall extends ApprovalBinding {
  readonly callId: string;
}

export interface ApproveAllOptions extends OwnerOptions, GrantCapOptions {
  /** The calls that the approver saw: no other is approved. Default: all calls that wait when this is called. */
  readonly calls?: readonly SeenCall[];
  /** Who answers, for the record. Default: the owner. */
  readonly by?: string;
  readonly wait?: boolean;
}

export interface PruneOptions extends Omit<UpkeepRequest, 'olderThan'> {
  /** Only sessions that did not change since. */
  readonly olderThan: Date | string;
}

export interface ExpireOptions extends PruneOptions, Pick<ExpireRequest, 'waiting' | 'dryRun'> {}

/** Dependencies of tools, hooks and criteria: an object, or a function that is called wherever a session continues. */
export type DepsSource<Deps> =
  | Deps
  | ((session: { readonly id: string; readonly owner: string }) => Deps | Promise<Deps>);

/** What agents need that are only known at run time (`AnyAgent[]`) is not checked. */
type RuntimeDeps<Deps> = [Deps] extends [never]
  ? { readonly deps?: DepsSource<object> }
  : {} extends Deps
    ? { readonly deps?: DepsSource<Deps> }
    : { readonly deps: DepsSource<Deps> };

/** The options of a runtime; `deps` is required exactly where one of its agents needs something. */
export type SessionRuntimeOptions<Agents extends readonly AnyAgent[] = readonly AnyAgent[]> = Omit<
  RuntimeSettings,
  'agents' | 'deps'
> & { readonly agents: Agents } & RuntimeDeps<DepsOf<Agents[number]>>;

/** The same as the runtime reads them. */
export interface RuntimeSettings extends WorkerOptions {
  readonly store: SessionStore;
  readonly agents: readonly AnyAgent[];
  /** How many of the newest messages a turn starts from. Default 200. */
  readonly maxMessages?: number;
  /** How many characters of JSON those messages may have together; older ones are left out. Default 16 million. */
  readonly maxCharacters?: number;
  /** How many messages may wait in one session, and their bytes together; more are `queue_full`. Default 100 and 4,000,000. */
  readonly maxQueued?: { readonly messages?: number; readonly bytes?: number };
  /** What owners may grant to an execution. Default: in total its limits once more, plus what was used beyond them. */
  readonly grants?: GrantPolicy;
  readonly clock?: Clock;
}
