import type { BroadcastStatus } from '../agent/agent-status.ts';
import type { ContinuationOutcomeJSON } from '../continuation/outcome.ts';
import type { JsonObject } from '../json.ts';
import type { SessionPhase } from '../sessions/session-rows.ts';
import type { Session } from '../sessions/session.ts';
import type { StopSentence } from '../trace/trace.ts';

/** What this server is, for a console: `GET /info`. */
export interface ServerInfo {
  readonly name: string;
  readonly version: string;
  /** Who the request comes from. */
  readonly owner: string;
  /** In words, such as `SQLite`. */
  readonly store: string | null;
  readonly agents: readonly AgentInfo[];
}

export interface AgentInfo {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** As people know it, such as `gpt-5`, or `demo model`. */
  readonly model: string;
  /** A scripted stand-in answers, not a model: say so. */
  readonly isDemo: boolean;
  readonly tools: readonly {
    readonly name: string;
    readonly description: string;
    readonly needsApproval: boolean;
  }[];
  readonly limits: Readonly<Record<string, number>>;
  /** Messages to begin with. */
  readonly suggestions: readonly string[];
}

/** A line of the session list. */
export interface SessionSummary {
  readonly id: string;
  readonly agent: string;
  /** From the first message; null as long as there is none. */
  readonly title: string | null;
  readonly status: BroadcastStatus;
  /** `parked` failed too often and waits for `POST /sessions/{id}/retry`; its status is `failed`. */
  readonly phase: SessionPhase;
  /** Why the last try failed; of a parked session, why it is parked. */
  readonly error: string | null;
  readonly parkedAt: string | null;
  /** How often the work was taken up since it last came further. */
  readonly tries: number;
  /** Why it stands as it does, in a few words: `Steps limit · 5 / 5`, `delete_lead needs approval`. */
  readonly reason: string;
  readonly waitingFor: readonly { readonly callId: string; readonly tool: string }[];
  readonly executionId: string | null;
  readonly messageCount: number;
  readonly stepCount: number;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** A session with its last outcome: `GET /sessions/{id}`. */
export interface SessionDetail extends Omit<Session, 'outcome' | 'owner' | 'status'> {
  /** As live updates name it. */
  readonly status: BroadcastStatus;
  readonly reason: string;
  readonly outcome: ContinuationOutcomeJSON | null;
  readonly stop: StopSentence | null;
}

/** Every answer that is not 2xx. */
export interface ApiError {
  readonly error: {
    /** For programs; see the list in the OpenAPI document. */
    readonly code: string;
    readonly message: string;
    readonly details?: JsonObject;
  };
}
