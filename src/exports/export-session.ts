import type { AgentStepJSON } from '../agent/agent-state.ts';
import { isoTime } from '../clock.ts';
import type { Redactor } from '../errors/redactor.ts';
import type { JsonValue } from '../json.ts';
import type { MessageJSON } from '../messages/message.ts';
import { pacer } from '../pacing.ts';
import { readLog } from '../sessions/event-log.ts';
import { feedsOf } from '../sessions/feed/feeds-of.ts';
import { PAGE_CHARACTERS, RowReader } from '../sessions/row-reader.ts';
import { shownRow } from '../sessions/imported-session.ts';
import type { AnySessionRuntime } from '../sessions/session-handle.ts';
import { redactedMessage, redactedRecord } from '../sessions/session-reads.ts';
import type { AgentRow, CallRow, CallState, SessionRow } from '../sessions/session-rows.ts';
import type { ForkPoint, StateHeader, StoredCompaction } from '../sessions/state-rows.ts';
import { rowsOf } from './ascending-rows.ts';
import {
  EXPORT_FORMAT,
  EXPORT_VERSION,
  type EventJSON,
  type ExportHeader,
  type ExportRecord,
} from './session-export.ts';

export interface ExportOptions {
  readonly owner: string;
  /** Whether to keep secrets. Default false: they are replaced. Only for files that stay with you. */
  readonly unredacted?: boolean;
}

const EVENT_ROWS = 32;
const callStates: readonly CallState[] = ['waiting', 'decided', 'started', 'committed'];

/**
 * Reads a whole session as records, in order: the header, the session's own messages, compactions and steps, then each
 * execution with its nested agents, calls and events, and the end. Reads a few rows at a time, whatever the length of
 * the session. A session that is busy is exported as it stands at the beginning.
 */
export async function* exportSession(
  runtime: AnySessionRuntime,
  sessionId: string,
  options: ExportOptions,
): AsyncGenerator<ExportRecord, void, undefined> {
  let records = 0;
  for await (const record of new SessionExporter(runtime, options).records(sessionId)) {
    records += 1;
    yield record;
  }
  yield { type: 'end', records };
}

/** The rows of one agent: counts as its header was written. */
interface OfAgent {
  readonly agentId: string;
  readonly head: StateHeader;
  readonly messageCount: number;
  readonly stepCount: number;
}

class SessionExporter {
  readonly #runtime: AnySessionRuntime;
  readonly #options: ExportOptions;

  constructor(runtime: AnySessionRuntime, options: ExportOptions) {
    this.#runtime = runtime;
    this.#options = options;
  }

  async *records(sessionId: string): AsyncGenerator<Exclude<ExportRecord, { type: 'end' }>> {
    const { owner, unredacted = false } = this.#options;
    const { lookup } = feedsOf(this.#runtime);
    const row = await lookup.owned(sessionId, owner);
    const reader = new RowReader(lookup.store, row);
    const head = await reader.head(row.head);
    const redact = new Redacting(row, unredacted ? null : lookup.familyRedactorOf(row));
    yield {
      type: 'session',
      format: EXPORT_FORMAT,
      version: EXPORT_VERSION,
      exportedAt: isoTime(lookup.clock.now()),
      isRedacted: !unredacted || head.imported?.isRedacted === true,
      ...(await redact.record(await headerOf(reader, row, head))),
    };
    const { messageCount, stepCount } = row;
    const executions = new Set<string>();
    for await (const record of this.#agent(reader, redact, {
      agentId: '',
      head,
      messageCount,
      stepCount,
    })) {
      if (record.type === 'step') executions.add(record.step.executionId);
      yield record;
    }
    if (row.executionId !== null) executions.add(row.executionId);
    for (const executionId of executions)
      yield* this.#execution(reader, redact, { row, head, executionId });
  }

  /** The messages, compactions and steps of one agent. */
  async *#agent(reader: RowReader, redact: Redacting, of: OfAgent) {
    const { agentId, head, messageCount, stepCount } = of;
    const { seed, pending = [], compactions = 0 } = head;
    const { store, sessionId } = reader;
    let position = 0;
    for (const message of seed ?? []) {
      yield { type: 'message', agentId, position, message: await redact.message(message) } as const;
      position += 1;
    }
    const messages = rowsOf(messageCount, (range) => store.messages(sessionId, agentId, range));
    for await (const row of messages) {
      const [value] = await reader.values<MessageJSON>([row]);
      if (!value) continue;
      position = row.position;
      yield { type: 'message', agentId, position, message: await redact.message(value) } as const;
      position += 1;
    }
    for (const open of pending) {
      const message = await redact.message(open);
      yield { type: 'message', agentId, position, isOpen: true, message } as const;
      position += 1;
    }
    const made = rowsOf(compactions, (range) => store.compactions(sessionId, agentId, range));
    for await (const row of made) {
      const [value] = await reader.values<StoredCompaction>([row]);
      if (!value) continue;
      const { results: _, ...compaction } = await redact.record(value);
      yield { type: 'compaction', agentId, position: row.position, compaction } as const;
    }
    const steps = rowsOf(stepCount, (range) => store.steps(sessionId, agentId, range));
    for await (const row of steps) {
      const [value] = await reader.values<AgentStepJSON>([row]);
      const [mark] = await reader.values<ForkPoint>([{ body: row.mark }]);
      if (!value || !mark) continue;
      const step = await redact.record(value);
      // the parts of the request are large values, which an export does not have
      const { request: _, ...point } = mark;
      const totals = await redact.record(point);
      yield { type: 'step', agentId, position: row.position, step, totals } as const;
    }
  }

  async *#execution(
    reader: RowReader,
    redact: Redacting,
    of: {
      readonly row: SessionRow;
      readonly head: StateHeader;
      readonly executionId: string;
    },
  ) {
    const { row, head, executionId } = of;
    const { store, sessionId } = reader;
    const isCurrent = executionId === row.executionId;
    for (const agent of await store.agents(sessionId, executionId))
      yield* this.#nested(reader, redact, agent);
    const keepsResults = isCurrent && head.state.unfinishedStep !== null;
    for (const state of callStates)
      for (const call of await store.calls(sessionId, executionId, { state }))
        yield await exportedCall(reader, redact, call, keepsResults);
    yield* this.#events(reader, redact, row, executionId);
  }

  async *#nested(reader: RowReader, redact: Redacting, row: AgentRow) {
    const { agentId, executionId, callId, messageCount, stepCount } = row;
    const head = await reader.head(row.head);
    yield* this.#agent(reader, redact, { agentId, head, messageCount, stepCount });
    const state = await redact.record(head.state);
    const counts = { messageCount, stepCount };
    yield { type: 'agent', agentId, executionId, callId, ...counts, state } as const;
  }

  async *#events(reader: RowReader, redact: Redacting, row: SessionRow, executionId: string) {
    const { store, sessionId } = reader;
    const last = executionId === row.executionId ? row.seq : Number.MAX_SAFE_INTEGER;
    let after = 0;
    for (;;) {
      const rows = await store.events(sessionId, executionId, { after, limit: EVENT_ROWS });
      const read = await readLog(reader, row, rows, PAGE_CHARACTERS);
      for (const { seq, event } of read.events) {
        if (seq > last) return;
        const outcome = 'outcome' in event ? { outcome: event.outcome?.toJSON() ?? null } : {};
        const plain = await redact.record({ ...event, ...outcome });
        yield { type: 'event', seq, event: plain as unknown as EventJSON } as const; // it is stored as JSON
      }
      after = rows[read.rowCount - 1]?.seq ?? after;
      if (read.rowCount === 0) return;
    }
  }
}

async function headerOf(
  reader: RowReader,
  stored: SessionRow,
  head: StateHeader,
): Promise<Pick<ExportHeader, 'session' | 'state' | 'forkedFrom' | 'definition'>> {
  const row = shownRow(stored, head);
  const { id, agent, status, phase, tries, error, parkedAt, closeReason, executionId } = row;
  const { createdAt, updatedAt, messageCount, stepCount } = row;
  const facts = { id, agent, title: head.title ?? null, status, phase, tries, error, parkedAt };
  const counts = { messageCount: head.seed?.length ?? messageCount, stepCount };
  const { definition: name } = head;
  const definition = name === null ? null : ((await reader.large([name])).get(name) ?? null);
  return {
    // '' in an import of a session without a run
    session: {
      ...facts,
      closeReason,
      executionId: executionId || null,
      createdAt,
      updatedAt,
      ...counts,
    },
    state: head.state,
    ...(head.forkedFrom !== undefined && { forkedFrom: head.forkedFrom }),
    definition: definition === null ? null : (JSON.parse(definition) as JsonValue),
  };
}

async function exportedCall(
  reader: RowReader,
  redact: Redacting,
  { executionId, callId, tool, state, starts, answer, result }: CallRow,
  keepsResult: boolean,
) {
  const valueOf = async (body: string | null): Promise<JsonValue> => {
    if (body === null) return null;
    const [value = null] = await reader.values<JsonValue>([{ body }]);
    return (await redact.record({ value })).value;
  };
  return {
    type: 'call',
    executionId,
    callId,
    tool,
    state,
    starts,
    answer: await valueOf(answer),
    result: keepsResult ? await valueOf(result) : null,
  } as const;
}

/** Replaces secrets in records, a piece at a time; without a redactor, records stay as they are. */
class Redacting {
  readonly #redactor: Redactor | null;
  readonly #pause: () => Promise<void> | undefined;

  constructor({ owner }: SessionRow, redactor: Redactor | null) {
    this.#redactor = redactor;
    this.#pause = pacer(owner);
  }

  async message(message: MessageJSON): Promise<MessageJSON> {
    await this.#pause();
    return this.#redactor ? redactedMessage(this.#redactor, message, this.#pause) : message;
  }

  async record<T>(record: T): Promise<T> {
    await this.#pause();
    return this.#redactor ? redactedRecord(this.#redactor, record, this.#pause) : record;
  }
}
