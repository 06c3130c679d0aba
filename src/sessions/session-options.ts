import type { Agent } from '../agent/agent.ts';
import type { Approvals } from '../agent/approvals.ts';
import type { Clock } from '../clock.ts';
import type { Grants } from '../continuation/grants.ts';
import type { JsonObject } from '../json.ts';
import type { MessageInput } from '../messages/message.ts';
import type { CrewOptions } from './session-crew.ts';
import type { SessionStore } from './session-store.ts';

/** Whose session it is: every method asks, and a session of somebody else is not found. */
export interface OwnerOptions {
  readonly owner: string;
}

export interface CreateOptions extends OwnerOptions {
  /** Needed where the runtime has several agents. */
  readonly agent?: string;
  /** Letters, digits and `_-=@,.;`, but not `.` or `..`; made up if left out. */
  readonly id?: string;
  /** A conversation to begin with. */
  readonly messages?: readonly MessageInput[];
  /** Kept with the session; at most 65,536 bytes of JSON. */
  readonly metadata?: JsonObject;
}

export interface SendOptions extends OwnerOptions {
  /** Resolve when the execution has ended or paused, not when it is accepted. */
  readonly wait?: boolean;
  /** What to do while the session is working. Default `refuse`, with `conflict`. */
  readonly whenBusy?: 'refuse' | 'queue';
  /** An id of the caller's for this message. The same content sent again under it runs once; other content is refused. */
  readonly executionId?: string;
}

export interface ResumeSessionOptions extends OwnerOptions {
  readonly approvals?: Approvals;
  readonly grant?: Grants;
  readonly wait?: boolean;
}

export interface SessionRuntimeOptions extends CrewOptions {
  readonly store: SessionStore;
  readonly agents: readonly Agent[];
  /** How many of the newest messages a turn starts from. Default 200. */
  readonly maxMessages?: number;
  /** How many characters of JSON those messages may have together; older ones are left out. Default 16 million. */
  readonly maxCharacters?: number;
  readonly clock?: Clock;
}
