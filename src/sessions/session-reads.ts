import type { AgentStepJSON } from '../agent/agent-state.ts';
import type { MessageJSON } from '../messages/message.ts';
import { checkedLimit, checkedPlace } from './check-names.ts';
import { readLog, type NumberedEvent } from './log-events.ts';
import { RowReader } from './row-reader.ts';
import type { SessionLookup } from './session-lookup.ts';
import type { SessionRow } from './session-store.ts';

const MOST_ROWS = 500;

/** One page of a history, oldest first. */
export interface HistoryPage<T> {
  readonly items: readonly T[];
  /** Give it to the next read for the page before this one; null on the first page. */
  readonly before: number | null;
}

export interface LogPage {
  readonly executionId: string | null;
  /** In order; `seq` has no gaps. */
  readonly events: readonly NumberedEvent[];
  /** Last number of the log as it is now. */
  readonly seq: number;
}

interface PageOptions {
  readonly before?: number;
  readonly limit?: number;
}

export async function readMessages(
  lookup: SessionLookup,
  row: SessionRow,
  options: PageOptions,
): Promise<HistoryPage<MessageJSON>> {
  if (row.messageCount === 0) return readSeed(lookup, row);
  const range = rangeOf(options, row.messageCount);
  return page(lookup, row, lookup.store.messages(row.id, '', range));
}

/** Before its first run a session has no rows. */
async function readSeed(lookup: SessionLookup, row: SessionRow): Promise<HistoryPage<MessageJSON>> {
  const { seed = [] } = await new RowReader(lookup.store, row.id).head(row.head);
  return { items: lookup.redactorOf(row).value(seed), before: null };
}

export const readSteps = (
  lookup: SessionLookup,
  row: SessionRow,
  options: PageOptions,
): Promise<HistoryPage<AgentStepJSON>> => {
  const range = rangeOf(options, row.stepCount);
  return page(lookup, row, lookup.store.steps(row.id, '', range));
};

const rangeOf = ({ before, limit }: PageOptions, count: number) => ({
  before: checkedPlace('before', before ?? count),
  limit: checkedLimit(limit, MOST_ROWS),
});

async function page<T>(
  lookup: SessionLookup,
  row: SessionRow,
  reading: Promise<readonly { readonly position: number; readonly body: string }[]>,
): Promise<HistoryPage<T>> {
  const rows = await reading;
  const values = await new RowReader(lookup.store, row.id).values<T>(rows);
  const first = rows[0]?.position ?? 0;
  const redactor = lookup.redactorOf(row);
  return { items: values.map((value) => redactor.value(value)), before: first > 0 ? first : null };
}

export async function readEvents(
  lookup: SessionLookup,
  row: SessionRow,
  options: { readonly executionId?: string; readonly after?: number; readonly limit?: number },
): Promise<LogPage> {
  const executionId = options.executionId ?? row.executionId;
  if (executionId === null) return { executionId, events: [], seq: 0 };
  const after = checkedPlace('after', options.after ?? 0);
  const limit = checkedLimit(options.limit ?? MOST_ROWS, MOST_ROWS);
  const rows = await lookup.store.events(row.id, executionId, { after, limit });
  const read = await readLog(new RowReader(lookup.store, row.id), row, rows);
  const events = read.filter(({ seq }) => seq > after).slice(0, limit);
  const last = rows.at(-1)?.seq ?? after;
  return {
    executionId,
    events,
    seq: executionId === row.executionId ? Math.max(row.seq, last) : last,
  };
}
