import type { AgentStatus } from '../agent/agent-status.ts';
import type { AgentStepJSON } from '../agent/agent-state.ts';
import type { AgentEvent, AgentEventType, EventBase } from '../events/agent-event.ts';
import type { JsonObject, JsonValue } from '../json.ts';
import type { MessageJSON } from '../messages/message.ts';
import type { CallState, SessionPhase } from '../sessions/session-rows.ts';
import type { ForkPoint, SessionCompaction, StateHeader } from '../sessions/state-rows.ts';

/** The `format` of an export. */
export const EXPORT_FORMAT = 'onward.session';
/** The newest version of the format that this release reads, and the one that it writes. */
export const EXPORT_VERSION = 1;

/** Facts of the session when it was exported. The owner is left out. */
export interface ExportedSession {
  readonly id: string;
  readonly agent: string;
  readonly title: string | null;
  readonly status: AgentStatus;
  readonly phase: SessionPhase;
  readonly tries: number;
  readonly error: string | null;
  readonly parkedAt: string | null;
  readonly closeReason: string | null;
  readonly executionId: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  /** Number of messages of the session's own agent, without those of an unfinished step. */
  readonly messageCount: number;
  /** Number of steps of the session's own agent, including those that were pruned. */
  readonly stepCount: number;
}

/** A state without its messages, steps and compactions. */
export type ExportedState = StateHeader['state'];

/** The first record: what the session is, and how it stands. */
export interface ExportHeader {
  readonly type: 'session';
  readonly format: typeof EXPORT_FORMAT;
  readonly version: typeof EXPORT_VERSION;
  readonly exportedAt: string;
  /** Whether secrets were replaced, by the redactors of the agent and of all agents behind its calls. */
  readonly isRedacted: boolean;
  readonly session: ExportedSession;
  readonly state: ExportedState;
  /** The execution of another session that this one continues under its own id; absent if there is none. */
  readonly forkedFrom?: string;
  /** System prompt and tools of the newest run; null before the first one. */
  readonly definition: JsonValue;
}

/** A message. `agentId` is `''` for the session's own agent, in this and all other records. */
export interface ExportedMessage {
  readonly type: 'message';
  readonly agentId: string;
  /** From 0, without gaps. */
  readonly position: number;
  /** Whether it belongs to a step that was not finished; absent if not. */
  readonly isOpen?: true;
  readonly message: MessageJSON;
}

export interface ExportedCompaction {
  readonly type: 'compaction';
  readonly agentId: string;
  /** From 0, in the order in which they were made. */
  readonly position: number;
  readonly compaction: SessionCompaction;
}

/** A finished step, with its outcome and the totals right after it. */
export interface ExportedStep {
  readonly type: 'step';
  readonly agentId: string;
  /** From 0 in the session. Pruned steps are missing; they are the oldest. */
  readonly position: number;
  readonly step: AgentStepJSON;
  readonly totals: ForkPoint;
}

/** An agent behind a call. Its messages, compactions and steps come before this record. */
export interface ExportedAgent {
  readonly type: 'agent';
  readonly agentId: string;
  readonly executionId: string;
  /** The call that runs it. */
  readonly callId: string;
  readonly messageCount: number;
  readonly stepCount: number;
  readonly state: ExportedState;
}

/** The ledger's entry of a tool call. */
export interface ExportedCall {
  readonly type: 'call';
  readonly executionId: string;
  readonly callId: string;
  readonly tool: string;
  readonly state: CallState;
  /** How often it was started: more than once only for idempotent tools, after a worker had stopped. */
  readonly starts: number;
  readonly answer: JsonValue;
  /** The result, if its step was not finished; otherwise null, because the step has it. */
  readonly result: JsonValue;
}

/** An event as it was emitted. An outcome is plain data. */
export interface ExportedEvent {
  readonly type: 'event';
  /** From 1 in its execution, without gaps. */
  readonly seq: number;
  readonly event: EventJSON;
}

/** An event as JSON. */
export type EventJSON = EventBase & { readonly type: AgentEventType } & JsonObject;

/** The last record. An export without it is not complete. */
export interface ExportEnd {
  readonly type: 'end';
  /** Number of records before this one, the header included. */
  readonly records: number;
}

/** One line of an export. */
export type ExportRecord =
  | ExportHeader
  | ExportedMessage
  | ExportedCompaction
  | ExportedStep
  | ExportedAgent
  | ExportedCall
  | ExportedEvent
  | ExportEnd;

/** A whole export in memory, with its records by kind. */
export interface SessionExport extends Omit<ExportHeader, 'type'> {
  readonly messages: readonly ExportedMessage[];
  readonly compactions: readonly ExportedCompaction[];
  readonly steps: readonly ExportedStep[];
  readonly agents: readonly ExportedAgent[];
  readonly calls: readonly ExportedCall[];
  readonly events: readonly ExportedEvent[];
}

/** Returns the event of a record, typed. */
export const eventIn = ({ event }: ExportedEvent): AgentEvent => event as unknown as AgentEvent;
