import { eventLogBody } from '../sessions/event-log.ts';
import { IMPORTED_REQUIRES } from '../sessions/imported-session.ts';
import { RowWriter } from '../sessions/row-writer.ts';
import type { AgentRow, EventRow, SessionRow } from '../sessions/session-rows.ts';
import type { CallWrite, Commit, SessionStore } from '../sessions/session-store.ts';
import { rowRole, type StateHeader } from '../sessions/state-rows.ts';
import { Message, type MessageJSON } from '../messages/message.ts';
import { notAnExport } from './check-export.ts';
import type { ReadRecord } from './read-export.ts';
import type {
  ExportedAgent,
  ExportedCall,
  ExportedCompaction,
  ExportedEvent,
  ExportedMessage,
  ExportedStep,
  ExportHeader,
  ExportRecord,
} from './session-export.ts';

/** Records of one commit. */
const BATCH_RECORDS = 64;
const BATCH_CHARACTERS = 1_000_000;
/** Most agents and executions of one session, and characters of messages of unfinished steps. */
const MOST_KEYS = 100_000;
const MOST_OPEN_CHARACTERS = 64_000_000;

interface Opened {
  readonly row: SessionRow;
  readonly header: ExportHeader;
  readonly head: StateHeader;
  readonly at: string;
  /** Number of the command that the last commit carries out. */
  readonly done: number;
}

/** How far the records of one agent have come. */
interface Progress {
  messages: number;
  compactions: number;
  /** Position of the last step. */
  step: number;
  steps: number;
  open: MessageJSON[];
}

type Batch = {
  messages: NonNullable<Commit['messages']>[number][];
  steps: NonNullable<Commit['steps']>[number][];
  compactions: NonNullable<Commit['compactions']>[number][];
  agents: AgentRow[];
  calls: CallWrite[];
  events: EventRow[];
};

const emptyBatch = (): Batch => ({
  messages: [],
  steps: [],
  compactions: [],
  agents: [],
  calls: [],
  events: [],
});

/** Writes the records of an export to the rows of a session, a batch at a time. */
export class ImportWriter {
  readonly #store: SessionStore;
  readonly #of: Opened;
  readonly #rows: RowWriter;
  readonly #agents: Map<string, Progress> = new Map();
  /** Last event of each execution. */
  readonly #events: Map<string, number> = new Map();
  #batch: Batch = emptyBatch();
  #records = 0;
  #characters = 0;
  #openCharacters = 0;
  #revision: number;

  constructor(store: SessionStore, of: Opened) {
    this.#store = store;
    this.#of = of;
    this.#rows = new RowWriter(store, of.head.salt);
    this.#revision = of.row.revision;
  }

  async take({ record, line, characters }: ReadRecord): Promise<void> {
    await this.#add(record, line, characters);
    this.#records += 1;
    this.#characters += characters;
    if (this.#records >= BATCH_RECORDS || this.#characters >= BATCH_CHARACTERS)
      await this.#commit({});
  }

  /** Writes the rest and the session's own state. From here on, the session can be read. */
  async finish(): Promise<void> {
    const { header, head, at, done } = this.#of;
    const { session, state, definition } = header;
    const own = this.#progress('', 0);
    if (own.messages !== session.messageCount)
      throw notAnExport(1, `it has ${own.messages} messages`, `${session.messageCount} of them`);
    if (own.step >= session.stepCount)
      throw notAnExport(1, `it has a step at ${own.step}`, `${session.stepCount} steps`);
    const name = definition === null ? null : await this.#rows.keep(JSON.stringify(definition), '');
    const whole: StateHeader = { ...head, definition: name, ...heldBy(own) };
    await this.#commit({
      root: {
        head: await this.#rows.body('state', whole, ''),
        status: state.status,
        executionId: session.executionId ?? '',
        messageCount: own.messages,
        stepCount: session.stepCount,
        requires: IMPORTED_REQUIRES,
      },
      seq: this.#events.get(session.executionId ?? '') ?? 0,
      done,
      end: 'ended',
      at,
    });
  }

  async #add(record: ExportRecord, line: number, characters: number): Promise<void> {
    switch (record.type) {
      case 'message':
        return this.#addMessage(record, line, characters);
      case 'compaction':
        return this.#addCompaction(record, line);
      case 'step':
        return this.#addStep(record, line);
      case 'agent':
        return this.#addAgent(record, line);
      case 'call':
        return this.#addCall(record);
      case 'event':
        return this.#addEvent(record, line);
      case 'session': // checked before
      case 'end':
    }
  }

  async #addMessage(
    { agentId, position, isOpen, message }: ExportedMessage,
    line: number,
    characters: number,
  ): Promise<void> {
    const of = this.#progress(agentId, line);
    const next = of.messages + of.open.length;
    if (position !== next || (isOpen !== true && of.open.length > 0))
      throw notAnExport(line, `its position is ${position}`, `${next}: messages are in order`);
    if (isOpen) {
      this.#openCharacters += characters;
      if (this.#openCharacters > MOST_OPEN_CHARACTERS)
        throw notAnExport(line, 'messages of unfinished steps are too large', 'those of one step');
      of.open.push(message);
      return;
    }
    of.messages += 1;
    const body = await this.#rows.body('message', message, '');
    const role = rowRole(Message.from(message));
    this.#batch.messages.push({ agentId, position, role, body });
  }

  async #addCompaction(
    { agentId, position, compaction }: ExportedCompaction,
    line: number,
  ): Promise<void> {
    const of = this.#progress(agentId, line);
    if (position !== of.compactions)
      throw notAnExport(line, `its position is ${position}`, `${of.compactions}`);
    of.compactions += 1;
    const { kind, toPosition } = compaction;
    const body = await this.#rows.body('compaction', compaction, '');
    this.#batch.compactions.push({ agentId, position, kind, toPosition, body });
  }

  async #addStep({ agentId, position, step, totals }: ExportedStep, line: number): Promise<void> {
    const of = this.#progress(agentId, line);
    if (position <= of.step)
      throw notAnExport(line, `its position is ${position}`, `more than ${of.step}`);
    of.step = position;
    of.steps += 1;
    const executionId = step.executionId ?? '';
    this.#events.set(executionId, this.#events.get(executionId) ?? 0);
    const body = await this.#rows.body('step', step, '');
    // its parts are not in an export, and a reader would follow whatever it names
    const { request: _, ...point } = totals;
    const mark = await this.#rows.body('step', point, '');
    this.#batch.steps.push({ agentId, position, executionId, body, mark });
  }

  async #addAgent(
    { agentId, executionId, callId, stepCount, state }: ExportedAgent,
    line: number,
  ): Promise<void> {
    const of = this.#progress(agentId, line);
    if (agentId === '') throw notAnExport(line, 'its agentId is empty', 'that of a nested agent');
    const { salt } = this.#of.head;
    const header: StateHeader = { version: 1, salt, definition: null, ...heldBy(of), state };
    const head = await this.#rows.body('state', header, '');
    const messageCount = of.messages;
    this.#batch.agents.push({ agentId, executionId, callId, head, messageCount, stepCount });
  }

  /** Writes calls that views read: those that wait, and results that no step has yet. */
  async #addCall({ executionId, callId, tool, state, result }: ExportedCall): Promise<void> {
    if (state === 'waiting') this.#batch.calls.push({ executionId, callId, tool, state });
    if (state !== 'committed' || result === null) return;
    const body = await this.#rows.body('result', result, '');
    this.#batch.calls.push({ executionId, callId, tool, state, result: body });
  }

  async #addEvent({ seq, event }: ExportedEvent, line: number): Promise<void> {
    const { executionId } = event;
    const last = this.#events.get(executionId) ?? 0;
    if (last > 0 ? seq !== last + 1 : seq < 1)
      throw notAnExport(line, `its seq is ${seq}`, `${last + 1}: events have no gaps`);
    this.#events.set(executionId, seq);
    this.#checkKeys(line);
    const body = await eventLogBody(event, this.#store.maxBytes, (entry) =>
      this.#rows.body('event', entry, ''),
    );
    this.#batch.events.push({ executionId, seq, type: event.type, body });
  }

  #progress(agentId: string, line: number): Progress {
    const known = this.#agents.get(agentId);
    if (known) return known;
    const fresh: Progress = { messages: 0, compactions: 0, step: -1, steps: 0, open: [] };
    this.#agents.set(agentId, fresh);
    this.#checkKeys(line);
    return fresh;
  }

  #checkKeys(line: number): void {
    if (this.#agents.size + this.#events.size > MOST_KEYS)
      throw notAnExport(line, 'it has too many agents and executions', `at most ${MOST_KEYS}`);
  }

  async #commit(more: Partial<Commit>): Promise<void> {
    const { row } = this.#of;
    const blobs = this.#rows.takeBlobs();
    const { token } = row;
    const commit = { sessionId: row.id, token, revision: this.#revision, ...this.#batch, blobs };
    await this.#store.commit({ ...commit, ...more });
    this.#rows.stored(blobs);
    this.#revision += 1;
    this.#batch = emptyBatch();
    this.#records = 0;
    this.#characters = 0;
  }
}

const heldBy = ({ compactions, open }: Progress): Partial<StateHeader> => ({
  ...(compactions > 0 && { compactions }),
  ...(open.length > 0 && { pending: open }),
});
