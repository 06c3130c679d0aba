import type { Compaction } from '../agent/compaction.ts';
import type { MessageJSON } from '../messages/message.ts';
import { ROWS_AT_ONCE, type RowReader } from './row-reader.ts';
import type { CompactionRow, MessageRow } from './session-rows.ts';
import type { SessionStore } from './session-store.ts';
import { loadedCompaction, type StoredCompaction } from './state-rows.ts';

/** How much of a session is read: its newest messages and, if it continues, all of its last execution. */
export interface HistoryWindow {
  readonly maxMessages: number;
  /** Most characters of JSON of those messages. */
  readonly maxCharacters: number;
  /** Whether to read all of an ended execution too, because it is going to be reopened. Default false. */
  readonly wholeExecution?: boolean;
  /** Whether the agent compacts: then all messages behind the newest summary are read. Default false. */
  readonly compacts?: boolean;
}

/**
 * How many times `maxMessages` are read at most to have all messages behind the newest summary.
 */
const COMPACTED_WINDOWS = 10;

/** The loaded part of one agent's conversation. */
export interface LoadedConversation {
  readonly messages: readonly MessageJSON[];
  readonly compactions: readonly Compaction[];
  /** Position of a message in the store minus its position here; wrong for the leading ones. */
  readonly offset: number;
  /** Number of first messages that come from before the loaded part. */
  readonly leading: number;
}

export const newConversation = (messages: readonly MessageJSON[]): LoadedConversation => ({
  messages,
  compactions: [],
  offset: 0,
  leading: 0,
});

/** A conversation in the store. */
interface StoredConversation {
  readonly sessionId: string;
  readonly agentId: string;
  readonly messageCount: number;
  readonly compactionCount: number;
  /** Position of the first message that is needed in any case. */
  readonly firstNeeded: number;
}

/**
 * Reads the newest messages and the compactions that change how the model sees them. Begins behind the newest summary
 * or at the window, whichever is earlier.
 */
export async function loadConversation(
  reader: RowReader,
  window: HistoryWindow,
  stored: StoredConversation,
): Promise<LoadedConversation> {
  const loading = new ConversationLoading(reader, window, stored);
  const hasCompactions = stored.compactionCount > 0;
  const summary = hasCompactions ? await loading.summary() : undefined;
  const { rows, leading } = await loading.messages(summary?.toPosition);
  const start = rows[0]?.position ?? stored.messageCount;
  const offset = start - leading.length;
  const compactions = hasCompactions ? await loading.compactions(summary, start) : [];
  return {
    messages: await reader.values<MessageJSON>([...leading, ...rows]),
    compactions: compactions.map((compaction) =>
      loadedCompaction(compaction, offset, leading.length),
    ),
    offset,
    leading: leading.length,
  };
}

class ConversationLoading {
  readonly #reader: RowReader;
  readonly #window: HistoryWindow;
  readonly #of: StoredConversation;

  constructor(reader: RowReader, window: HistoryWindow, stored: StoredConversation) {
    this.#reader = reader;
    this.#window = window;
    this.#of = stored;
  }

  async summary(): Promise<CompactionRow | undefined> {
    const { sessionId, agentId } = this.#of;
    const range = { kind: 'summary', limit: 1 } as const;
    return (await this.#reader.store.compactions(sessionId, agentId, range))[0];
  }

  /** Reads the newest summary, and what leaves out results behind it. */
  async compactions(
    summary: CompactionRow | undefined,
    start: number,
  ): Promise<readonly Compaction[]> {
    const { sessionId, agentId } = this.#of;
    const end = Math.max(start, summary?.toPosition ?? 0);
    const found: CompactionRow[] = summary ? [summary] : [];
    let before = Number.MAX_SAFE_INTEGER;
    for (let limit: number = ROWS_AT_ONCE.first; ; limit = ROWS_AT_ONCE.next) {
      const range = { kind: 'tool_results', before, limit } as const;
      const rows = await this.#reader.store.compactions(sessionId, agentId, range);
      const covering = rows.filter(({ toPosition }) => toPosition > end);
      found.push(...covering);
      // each reaches at least as far as those before it
      if (covering.length === 0 || rows.length < limit) break;
      before = rows[0]?.position ?? 0;
    }
    found.sort((a, b) => a.position - b.position);
    return (await this.#reader.values<StoredCompaction>(found, 'text')).map(
      ({ results: _r, messageCount: _m, ...compaction }) => compaction,
    );
  }

  /** Reads the newest messages, with the user message that began their turn. Never separates a call from its result. */
  async messages(
    summaryEnd: number | undefined,
  ): Promise<{ readonly rows: readonly MessageRow[]; readonly leading: readonly MessageRow[] }> {
    const { messageCount, firstNeeded } = this.#of;
    const { maxMessages, compacts } = this.#window;
    const newest = messageCount - maxMessages;
    const most = messageCount - maxMessages * COMPACTED_WINDOWS;
    const end = summaryEnd ?? (compacts ? 0 : newest);
    const from = Math.max(0, Math.min(newest, Math.max(end, most), firstNeeded));
    const rows = await this.#fitting(await this.#rowsFrom(from), firstNeeded);
    const start = rows[0]?.position ?? from;
    return { rows, leading: start === 0 ? [] : await this.#leading(start, rows[0]) };
  }

  /** Reads rows from a position, starting with the first that is not a result of an earlier call. */
  async #rowsFrom(from: number): Promise<readonly MessageRow[]> {
    const { sessionId, agentId } = this.#of;
    const rows = await this.#reader.store.messages(sessionId, agentId, { from });
    if (from === 0 || rows.length === 0) return rows;
    const first = rows.findIndex(({ role }) => role !== 'tool');
    return first === -1
      ? this.#rowsFrom(Math.max(0, from - this.#window.maxMessages))
      : rows.slice(first);
  }

  /**
   * Returns the newest rows that fit into the window, at least all from `first` on. Never separates a call from its
   * result.
   */
  async #fitting(rows: readonly MessageRow[], first: number): Promise<readonly MessageRow[]> {
    const fits = await this.#reader.countFitting(rows.toReversed(), this.#window.maxCharacters);
    if (fits === rows.length) return rows;
    const needed = rows.findIndex(({ position }) => position >= first);
    const start = Math.min(rows.length - fits, needed === -1 ? rows.length : needed);
    const next = rows.findIndex(({ role }, i) => i >= start && role !== 'tool');
    if (next !== -1) return rows.slice(next);
    return rows.slice(rows.findLastIndex(({ role }, i) => i < start && role !== 'tool'));
  }

  #leading(before: number, first: MessageRow | undefined): Promise<readonly MessageRow[]> {
    const { sessionId, agentId } = this.#of;
    return leadingRows(this.#reader.store, { sessionId, agentId, before, first });
  }
}

/** Reads what is sent from before the loaded part: instructions, and the user message of a turn that it cuts. */
export async function leadingRows(
  store: SessionStore,
  given: Pick<StoredConversation, 'sessionId' | 'agentId'> & {
    readonly before: number;
    /** The first loaded message. */
    readonly first: MessageRow | undefined;
  },
): Promise<readonly MessageRow[]> {
  const { sessionId, agentId, before, first } = given;
  const system = await store.messages(sessionId, agentId, { before, role: 'system' });
  if (first?.role === 'user') return system;
  const turn = await store.messages(sessionId, agentId, { before, role: 'user', limit: 1 });
  return [...system, ...turn].toSorted((a, b) => a.position - b.position);
}
