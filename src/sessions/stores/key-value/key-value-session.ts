import { AgentError } from '../../../errors/agent-error.ts';
import type { KeyValueChange, KeyValueRange, KeyValues } from './key-value-driver.ts';
import { withAttempts } from '../attempt-rules.ts';
import { indexKeys, type KeptSession, sessionKey } from './key-value-layout.ts';

/** What becomes of a session: `next` is its new entry (null: it is gone), `rows` changes beside it. */
export interface Turn<T> {
  readonly result: T;
  readonly next?: Omit<KeptSession, 'changes'> | null;
  readonly rows?: readonly KeyValueChange[];
}

/** Tries against others that write to the same session. */
const TRIES = 100;
/** Entries read at once where it is not known how many are needed. */
const PAGE = 200;

/**
 * Reads a session with other entries, lets `decide` say what becomes of it, and writes that if no other process has written
 * meanwhile; else it begins again. So every method is atomic on a database that can compare one value.
 */
export async function change<T>(
  kv: KeyValues,
  id: string,
  keys: readonly string[],
  decide: (
    session: KeptSession | null,
    found: ReadonlyMap<string, string>,
  ) => Turn<T> | Promise<Turn<T>>,
): Promise<T> {
  const key = sessionKey(id);
  for (let tries = 1; tries <= TRIES; tries++) {
    const found = await kv.get([key, ...keys]);
    const text = found.get(key) ?? null;
    const before = text === null ? null : sessionIn(text);
    const { result, next, rows = [] } = await decide(before, found);
    if (next === undefined) return result;
    const entries = [...rows, ...entriesOf(before, next)];
    if (await kv.write(entries, [key, text])) return result;
    await new Promise((resolve) => setTimeout(resolve, Math.min(tries, 20)));
  }
  throw new AgentError(
    'store_failed',
    `Session "${id}" was changed by others during each of ${TRIES} tries to write to it. Try again.`,
    { details: { sessionId: id } },
  );
}

/** The session's entry and its places in the indexes, where they differ. */
function entriesOf(
  before: KeptSession | null,
  next: Omit<KeptSession, 'changes'> | null,
): KeyValueChange[] {
  const id = (next ?? before)?.row.id ?? '';
  const old = new Set(before ? indexKeys(before) : []);
  const now = new Set(next ? indexKeys({ ...next, layout: 2 }) : []);
  const changes = (before?.changes ?? 0) + 1;
  const text = next && JSON.stringify({ ...next, layout: 2, changes });
  return [
    [sessionKey(id), text],
    ...[...old].filter((key) => !now.has(key)).map((key): KeyValueChange => [key, null]),
    ...[...now].filter((key) => !old.has(key)).map((key): KeyValueChange => [key, id]),
  ];
}

export async function findSession(kv: KeyValues, id: string): Promise<KeptSession | null> {
  const text = (await kv.get([sessionKey(id)])).get(sessionKey(id));
  return text === undefined ? null : sessionIn(text);
}

const sessionIn = (text: string): KeptSession => withAttempts(JSON.parse(text) as KeptSession);

/** Rows of a range in its order, up to `limit` of those that are wanted. */
export async function rowsIn<T>(
  kv: KeyValues,
  range: KeyValueRange,
  isWanted?: (row: T) => boolean,
): Promise<T[]> {
  const rows: T[] = [];
  for await (const page of pages(kv, range, isWanted ? PAGE : range.limit)) {
    for (const [, value] of page) {
      const row = JSON.parse(value) as T;
      if (rows.length < range.limit && (isWanted?.(row) ?? true)) rows.push(row);
    }
    if (rows.length >= range.limit) break;
  }
  return rows;
}

/** Sessions that an index names, in its order, up to `limit` of those that are wanted. */
export async function sessionsIn(
  kv: KeyValues,
  range: KeyValueRange,
  isWanted: (session: KeptSession) => boolean,
): Promise<KeptSession[]> {
  const sessions: KeptSession[] = [];
  for await (const page of pages(kv, range, PAGE)) {
    const found = await kv.get(page.map(([, id]) => sessionKey(id)));
    for (const [key, id] of page) {
      const text = found.get(sessionKey(id));
      const session = text === undefined ? null : sessionIn(text);
      // one that has moved in the index meanwhile is met again at its new place
      if (session && indexKeys(session).includes(key) && isWanted(session)) sessions.push(session);
    }
    if (sessions.length >= range.limit) break;
  }
  return sessions.slice(0, range.limit);
}

async function* pages(
  kv: KeyValues,
  range: KeyValueRange,
  size: number,
): AsyncGenerator<Awaited<ReturnType<KeyValues['list']>>> {
  let { from, before } = range;
  for (;;) {
    const page = await kv.list({ ...range, from, before, limit: size });
    if (page.length > 0) yield page;
    const last = page.at(-1)?.[0];
    if (last === undefined || page.length < size) return;
    if (range.reverse) before = last;
    else from = `${last} `; // a space comes before all that a key can continue with
  }
}
