import type { BroadcastStatus } from '../agent/agent-status.ts';
import type { ContinuationOutcomeJSON } from '../continuation/outcome.ts';
import type { JsonObject } from '../json.ts';
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
  readonly createdAt: string;
  readonly updatedAt: string;
  /** Set if the session was imported: it is read-only. */
  readonly imported?: SessionImport;
}

/** A session with its last outcome: `GET /sessions/{id}`. */
export interface SessionDetail extends Omit<Session, 'outcome' | 'owner' | 'status'> {
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
