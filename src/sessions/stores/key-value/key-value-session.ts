import { AgentError } from '../../../errors/agent-error.ts';
import type { KeyValueChange, KeyValueRange, KeyValues } from './key-value-driver.ts';
import { withAttempts } from '../attempt-rules.ts';
import { indexKeys, type KeptSession, sessionKey } from './key-value-layout.ts';

/** Result of a change: `next` is the new entry of the session (null: deleted), `rows` are the other changes. */
export interface Turn<T> {
  readonly result: T;
  readonly next?: Omit<KeptSession, 'changes'> | null;
  readonly rows?: readonly KeyValueChange[];
}

/** Most tries while others write to the same session. */
const TRIES = 100;
/** Entries per read if the number of needed entries is not known. */
const PAGE = 200;

/**
 * Reads a session with other entries, calls `decide` for the changes, and writes them if no other process has written
 * in between. Otherwise tries again. This makes every method atomic on a database that can compare one value.
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

/** Returns the changes to the session's entry and to its index entries. */
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

/** Reads up to `limit` wanted rows of a range, in its order. */
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

/** Reads up to `limit` wanted sessions that an index names, in its order. */
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
      // a session that has moved in the index is found again at its new key
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
    else from = `${last} `; // a space sorts before every character that a key can continue with
  }
}
