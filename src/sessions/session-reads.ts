import type { AgentStepJSON } from '../agent/agent-state.ts';
import type { Execution, SessionInfo } from '../agent/execution.ts';
import type { MessageJSON } from '../messages/message.ts';
import { checkedLimit, checkedPlace } from './check-names.ts';
import { readLog, type NumberedEvent } from './log-events.ts';
import { RowReader } from './row-reader.ts';
import type { SessionLookup } from './session-lookup.ts';
import type { SessionRow } from './session-rows.ts';
import type { Mark } from './state-rows.ts';

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

/** Of one execution, and of the session with it. */
export interface Accounts {
  readonly execution: Execution;
  readonly info: SessionInfo;
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

export async function readAccounts(
  lookup: SessionLookup,
  row: SessionRow,
  atStep: number | undefined,
): Promise<Accounts | null> {
  const reader = new RowReader(lookup.store, row.id);
  const found =
    atStep === undefined
      ? (await reader.head(row.head)).state
      : await markAt(reader, row, checkedPlace('atStep', atStep));
  if (!found) return null;
  const { execution, info } = found;
  return lookup.redactorOf(row).value({ execution, info });
}

async function markAt(reader: RowReader, row: SessionRow, step: number): Promise<Mark | undefined> {
  const range = { from: step - 1, before: step };
  const [found] = step === 0 ? [] : await reader.store.steps(row.id, '', range);
  return found && (await reader.values<Mark>([{ body: found.mark }]))[0];
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
  // a row holds several events, and their numbers have no gaps: what is beyond the limit need not be unpacked
  const needed = rows.filter((_row, i) => (rows[i - 1]?.seq ?? after) < after + limit);
  const read = await readLog(new RowReader(lookup.store, row.id), row, needed);
  const events = read.filter(({ seq }) => seq > after).slice(0, limit);
  const last = rows.at(-1)?.seq ?? after;
  return {
    executionId,
    events,
    seq: executionId === row.executionId ? Math.max(row.seq, last) : last,
  };
}
