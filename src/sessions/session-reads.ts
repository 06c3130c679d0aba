import type { AgentStepJSON } from '../agent/agent-state.ts';
import {
  isPart,
  type ContentPart,
  type FilePart,
  type ImagePart,
} from '../messages/content-part.ts';
import type { MessageJSON } from '../messages/message.ts';
import type { Redactor } from '../errors/redactor.ts';
import { isRecord } from '../json.ts';
import { pacer } from '../pacing.ts';
import { checkedLimit, checkedPlace } from './check-names.ts';
import { readLog, type NumberedEvent } from './event-log.ts';
import { PAGE_CHARACTERS, RowReader, ROWS_AT_ONCE } from './row-reader.ts';
import type { SessionLookup } from './session-lookup.ts';
import type { SessionRow } from './session-rows.ts';
import { nestedKey, stepBehind, type OfAgentOptions } from './step-marks.ts';

const MOST_ROWS = 500;

/** One page of a history, oldest first. It ends early if its items are large. */
export interface HistoryPage<T> {
  readonly items: readonly T[];
  /** Pass it to the next read to get the page before this one; null on the first page. */
  readonly before: number | null;
}

export interface LogPage {
  readonly executionId: string | null;
  /** In order; `seq` has no gaps. */
  readonly events: readonly NumberedEvent[];
  /** Current last number in the log. */
  readonly seq: number;
}

export interface LogPageOptions {
  /** Execution to read. Default: the newest. */
  readonly executionId?: string;
  /** Only events with a higher number. Default 0. */
  readonly after?: number;
  /** Most events, at most and by default 500. */
  readonly limit?: number;
}

export interface PageOptions {
  /** Only items before this position. Default: the newest. */
  readonly before?: number;
  /** Most items, default 50, at most 500. */
  readonly limit?: number;
}

export interface StepPageOptions extends PageOptions, OfAgentOptions {
  /** Whether values of more than 8,192 characters are null instead of being read. Default false. */
  readonly omitLarge?: boolean;
  /** Only steps that wrote messages before this position, or ended before it; not together with `before`. */
  readonly beforeMessage?: number;
}

export async function readMessages(
  lookup: SessionLookup,
  row: SessionRow,
  options: PageOptions,
): Promise<HistoryPage<MessageJSON>> {
  if (row.messageCount === 0) return readSeed(lookup, row);
  return readPage(
    lookup,
    row,
    options,
    row.messageCount,
    (range) => lookup.store.messages(row.id, '', range),
    redactedMessage,
  );
}

/** Reads the messages that a session was created with: before its first run it has no message rows. */
async function readSeed(lookup: SessionLookup, row: SessionRow): Promise<HistoryPage<MessageJSON>> {
  const { seed = [] } = await new RowReader(lookup.store, row).head(row.head);
  return { items: lookup.redactorOf(row).value(seed), before: null };
}

export async function readSteps(
  lookup: SessionLookup,
  row: SessionRow,
  options: StepPageOptions,
): Promise<HistoryPage<AgentStepJSON>> {
  const { beforeMessage, agentId } = options;
  if (agentId !== undefined) return readNestedSteps(lookup, row, agentId, options);
  const place =
    beforeMessage === undefined
      ? {}
      : { before: await stepBehind(lookup, row, checkedPlace('beforeMessage', beforeMessage)) };
  return readPage(lookup, row, { ...options, ...place }, row.stepCount, (range) =>
    lookup.store.steps(row.id, '', range),
  );
}

/** Reads steps of a nested agent. Its secrets are also those of the agents above it. */
function readNestedSteps(
  lookup: SessionLookup,
  row: SessionRow,
  agentId: string,
  options: StepPageOptions,
): Promise<HistoryPage<AgentStepJSON>> {
  const key = nestedKey(agentId);
  return readPage(
    lookup,
    row,
    options,
    MOST_POSITIONS,
    (range) => lookup.store.steps(row.id, key, range),
    (_own, step, pause) => redactedRecord(lookup.familyRedactorOf(row), step, pause),
  );
}

/** Above every position, and within the integers of every store. */
const MOST_POSITIONS = 2 ** 31 - 1;

/** Reads rows from the store, newest first and a few at a time, until the page is full. */
export async function readPage<T>(
  lookup: SessionLookup,
  row: SessionRow,
  options: StepPageOptions,
  count: number,
  rowsIn: (range: {
    readonly before: number;
    readonly limit: number;
  }) => Promise<readonly { readonly position: number; readonly body: string }[]>,
  redact: Redact<T> = redactedRecord,
): Promise<HistoryPage<T>> {
  const limit = checkedLimit(options.limit, MOST_ROWS);
  const reader = new RowReader(lookup.store, row);
  const redactor = lookup.redactorOf(row);
  const pause = pacer(row.owner);
  const items: T[] = [];
  let before = checkedPlace('before', options.before ?? count);
  let space = PAGE_CHARACTERS;
  for (let most: number = ROWS_AT_ONCE.first; before > 0; most = ROWS_AT_ONCE.next) {
    const rows = await rowsIn({ before, limit: Math.min(most, limit - items.length) });
    const newestFirst = rows.toReversed();
    const read = await reader.fitting<T>(newestFirst, space, options.omitLarge);
    // only the first row of a page may be larger than the page
    const values = items.length > 0 && read.characters > space ? [] : read.values;
    for (const value of values) {
      items.push(await redact(redactor, value, pause));
    }
    before = newestFirst[values.length - 1]?.position ?? before;
    space -= read.characters;
    if (values.length < rows.length || items.length >= limit) break;
    if (rows.length === 0) before = 0; // pruned
  }
  return { items: items.toReversed(), before: before > 0 ? before : null };
}

type Redact<T> = (
  redactor: Redactor,
  value: T,
  pause: () => Promise<void> | undefined,
) => Promise<T>;

/** Redacts a message except the bytes of images and files, which a match would break, and which take time to search. */
export async function redactedMessage(
  redactor: Redactor,
  message: MessageJSON,
  pause: () => Promise<void> | undefined,
): Promise<MessageJSON> {
  const { content } = message;
  if (typeof content === 'string' || !content.some(hasBytes))
    return redactedRecord(redactor, message, pause);
  const bare = content.map((part) => (hasBytes(part) ? { ...part, data: '' } : part));
  const shown = await redactedRecord<MessageJSON>(redactor, { ...message, content: bare }, pause);
  // a redactor may hide it by its key
  if (!Array.isArray(shown.content)) return shown;
  const parts = (shown.content as readonly ContentPart[]).map((part, i) => {
    const before = content[i];
    return before && hasBytes(before) && isPart(part) && part.type === before.type
      ? { ...part, data: before.data }
      : part;
  });
  return { ...shown, content: parts };
}

const hasBytes = (part: ContentPart): part is (ImagePart | FilePart) & { readonly data: string } =>
  part.type !== 'text' && typeof part.data === 'string';

/** Redacts a value, but lists item by item, because a list may be long and its items large. */
export async function redactedRecord<T>(
  redactor: Redactor,
  value: T,
  pause: () => Promise<void> | undefined,
): Promise<T> {
  const lists = isRecord(value) ? Object.entries(value).filter(([, list]) => isLong(list)) : [];
  const emptied = Object.fromEntries(lists.map(([key]) => [key, []]));
  const whole = redactor.value(lists.length === 0 ? value : { ...value, ...emptied });
  await pause();
  for (const [key, list] of lists) {
    const items: unknown[] = [];
    for (const item of list as readonly unknown[]) {
      // under its key, because the redactor may hide values by key
      const shown: unknown = redactor.value({ [key]: [item] })[key];
      items.push(...(Array.isArray(shown) ? shown : [shown]));
      await pause();
    }
    Object.assign(whole as object, { [key]: items });
  }
  return whole;
}

const isLong = (value: unknown): boolean => Array.isArray(value) && value.length > 1;

export async function readEvents(
  lookup: SessionLookup,
  row: SessionRow,
  options: LogPageOptions,
): Promise<LogPage> {
  // an import of a session without a run has an empty one
  const executionId = options.executionId ?? (row.executionId || null);
  if (executionId === null) return { executionId, events: [], seq: 0 };
  const after = checkedPlace('after', options.after ?? 0);
  const limit = checkedLimit(options.limit ?? MOST_ROWS, MOST_ROWS);
  const reader = new RowReader(lookup.store, row);
  const rowsAfter = (place: number, most: number) =>
    lookup.store.events(row.id, executionId, { after: place, limit: most });
  const events: NumberedEvent[] = [];
  let last = after;
  let newest = executionId === row.executionId ? row.seq : after;
  let space = PAGE_CHARACTERS;
  // a row holds several events, and their numbers have no gaps
  for (let most: number = ROWS_AT_ONCE.first; ; most = ROWS_AT_ONCE.next) {
    const left = after + limit - last;
    // one extra row shows whether there is more
    const rows = await rowsAfter(last, left > 0 && space > 0 ? Math.min(most, left) : 1);
    newest = Math.max(newest, rows.at(-1)?.seq ?? 0);
    if (rows.length === 0 || left <= 0 || space <= 0) break;
    const read = await readLog(reader, row, rows, space);
    if (events.length > 0 && read.characters > space) break;
    for (const event of read.events)
      if (event.seq > after && event.seq <= after + limit) events.push(event);
    last = rows[read.rowCount - 1]?.seq ?? last;
    space -= read.characters;
    if (read.rowCount < rows.length) break;
  }
  return { executionId, events, seq: newest };
}
