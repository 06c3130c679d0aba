import type { BroadcastStatus } from '../agent/agent-status.ts';
import type { ContinuationOutcomeJSON } from '../continuation/outcome.ts';
import type { JsonObject } from '../json.ts';
import type { Attention } from '../sessions/attention.ts';
import type { AttentionCounts, SessionOverview } from '../sessions/session-overview.ts';
import type { SessionMatch } from '../trace/search-sessions.ts';
import type { SessionImport } from '../sessions/imported-session.ts';
import type { SessionPhase } from '../sessions/session-rows.ts';
import type { Session } from '../sessions/session.ts';
import type { StopSentence } from '../trace/trace.ts';

/** What this server is, for a console: `GET /info`. */
export interface ServerInfo {
  readonly name: string;
  readonly version: string;
  /** Owner of the request. */
  readonly owner: string;
  /** Name of the store, such as `SQLite`. */
  readonly store: string | null;
  /** Bytes that the images and files of one message may have. */
  readonly maxAttachmentBytes: number;
  readonly agents: readonly AgentInfo[];
  /** Whether the request may also use the routes for operators. */
  readonly isOperator: boolean;
}

export interface AgentInfo {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** Name to show, such as `gpt-5` or `demo model`. */
  readonly model: string;
  /** Whether a script answers instead of a model: clients must show this. */
  readonly isDemo: boolean;
  readonly tools: readonly {
    readonly name: string;
    readonly description: string;
    readonly needsApproval: boolean;
  }[];
  readonly limits: Readonly<Record<string, number>>;
  /** Suggested first messages. */
  readonly suggestions: readonly string[];
}

/** An item of the session list. */
export interface SessionSummary {
  readonly id: string;
  readonly agent: string;
  /** First user message, shortened; null while there is none. */
  readonly title: string | null;
  readonly status: BroadcastStatus;
  /** Phase. A `parked` session failed too often and waits for `POST /sessions/{id}/retry`; its status is `failed`. */
  readonly phase: SessionPhase;
  /** Why the last attempt failed; for a parked session, why it is parked. */
  readonly error: string | null;
  readonly parkedAt: string | null;
  /** How often workers have started this work since its last progress. */
  readonly tries: number;
  /** Reason for the status in a few words: `Step limit · 5 / 5`, `delete_lead needs approval`. */
  readonly reason: string;
  readonly waitingFor: readonly { readonly callId: string; readonly tool: string }[];
  readonly executionId: string | null;
  readonly messageCount: number;
  readonly stepCount: number;
  /** Cost of the whole session; null if a price is not known. */
  readonly cost: number | null;
  /** Model of its newest finished or paused run; null if it is not known. */
  readonly model: string | null;
  /** Number of failed model calls and tool calls of that run. */
  readonly errors: number;
  /** Why it needs a person; null if it does not. */
  readonly attention: Attention | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  /** Set if the session was imported: it is read-only. */
  readonly imported?: SessionImport;
}

/** A page of sessions: `GET /sessions`. */
export interface SessionListPage {
  readonly sessions: readonly SessionSummary[];
  /** Why a search found each session, by id. */
  readonly matches: Readonly<Record<string, SessionMatch>>;
  readonly cursor: string | null;
  /** Number of sessions that match, up to 1,000; null if it was not asked for, or is not known. */
  readonly total: number | null;
}

/** A session as operators see it: nothing of its conversation, so `title` is null. */
export interface OperatorSummary extends SessionSummary {
  readonly owner: string;
}

/** Charts over the sessions of an owner: `GET /overview`. */
export interface Overview extends SessionOverview {
  readonly attention: AttentionCounts;
}

/** A session with its last outcome: `GET /sessions/{id}`. */
export interface SessionDetail extends Omit<
  Session,
  'outcome' | 'owner' | 'status' | 'run' | 'attention'
> {
  /** Status, with the names of live updates. */
  readonly status: BroadcastStatus;
  readonly reason: string;
  readonly outcome: ContinuationOutcomeJSON | null;
  readonly stop: StopSentence | null;
}

/** Body of every response other than 2xx. */
export interface ApiError {
  readonly error: {
    /** Code for programs. The OpenAPI document lists all. */
    readonly code: string;
    readonly message: string;
    readonly details?: JsonObject;
  };
}
