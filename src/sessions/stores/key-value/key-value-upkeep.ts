import type {
  AgentRow,
  BlobRow,
  ForkedSessionRow,
  NewSessionRow,
  RunRow,
  StepRow,
} from '../../session-rows.ts';
import type { Dropped, ExpireRequest, UpkeepRequest } from '../../session-store.ts';
import type { KeyValueChange, KeyValueEntry, KeyValues } from './key-value-driver.ts';
import { noLease } from '../attempt-rules.ts';
import {
  byChange,
  byOwner,
  type KeptSession,
  movedKey,
  rowKey,
  sessionKey,
  tableOf,
  under,
} from './key-value-layout.ts';
import { endKeyOf } from './key-value-runs.ts';
import { change, rowsIn, sessionsIn } from './key-value-session.ts';
import { type Wait, waitEntry } from './key-value-waits.ts';
import { bytesOf, type KeptRow, newRow } from '../session-rules.ts';
import { isExpired, isPrunable } from '../upkeep-rules.ts';

export const newSession = (row: NewSessionRow): Omit<KeptSession, 'changes'> => ({
  row: newRow(row),
  ...noLease,
  lastCommand: 0,
});

const everything = (kv: KeyValues, id: string): Promise<readonly KeyValueEntry[]> =>
  kv.list(under('of', id));

const removal = ([key]: KeyValueEntry): KeyValueChange => [key, null];

/** Removes all entries of a session, and what finds its run records by time. */
const removals = (id: string, entries: readonly KeyValueEntry[]): KeyValueChange[] => [
  ...entries.map(removal),
  ...entries
    .filter(([key]) => tableOf(key) === 'run')
    .map(([, value]): KeyValueChange => [endKeyOf(id, JSON.parse(value) as RunRow), null]),
];

export async function forkOf(
  kv: KeyValues,
  fromId: string,
  { compactionCount = 0, ...row }: ForkedSessionRow,
): Promise<boolean> {
  for (;;) {
    const before = (await kv.get([sessionKey(fromId)])).get(sessionKey(fromId));
    if (before === undefined) return false;
    const copied = await conversation(kv, fromId, row, compactionCount);
    // the source may have changed while it was read
    if ((await kv.get([sessionKey(fromId)])).get(sessionKey(fromId)) !== before) continue;
    return change(kv, row.id, [], (session) =>
      session
        ? { result: false }
        : {
            result: true,
            next: newSession(row),
            rows: copied.map(([key, value]) => [movedKey(key, row.id), value]),
          },
    );
  }
}

/**
 * Reads the messages, steps and compactions below the counts, the large values that they may name, and the ids of their executions
 * and of calls that waited in those.
 */
async function conversation(
  kv: KeyValues,
  id: string,
  row: NewSessionRow,
  compactionCount: number,
): Promise<readonly KeyValueEntry[]> {
  const { messageCount, stepCount } = row;
  const below = (
    table: 'message' | 'step' | 'compaction',
    count: number,
  ): Promise<readonly KeyValueEntry[]> =>
    kv.list({ ...under('of', id, table, ''), before: rowKey(id, table, '', count) });
  const messages = await below('message', messageCount);
  const steps = await below('step', stepCount);
  const compactions = await below('compaction', compactionCount);
  const executions = new Set(steps.map(([, value]) => (JSON.parse(value) as StepRow).executionId));
  const blobs = (await kv.list(under('of', id, 'blob'))).filter(([, value]) => {
    const { scope } = JSON.parse(value) as BlobRow;
    return scope === '' || executions.has(scope);
  });
  const remembered = (await kv.list(under('of', id, 'execution'))).filter(([, value]) =>
    executions.has((JSON.parse(value) as { executionId: string }).executionId),
  );
  const forked = steps.at(-1)?.[1];
  const waits = (await rowsIn<Wait>(kv, under('of', id, 'wait'))).filter((wait) =>
    executions.has(wait.executionId),
  );
  // the forked execution continues under another id
  const last = forked === undefined ? null : (JSON.parse(forked) as StepRow).executionId;
  const copied = waits.map((wait): KeyValueEntry => {
    const executionId = wait.executionId === last ? (row.executionId ?? last) : wait.executionId;
    return waitEntry(id, { ...wait, executionId });
  });
  return [...messages, ...steps, ...compactions, ...blobs, ...remembered, ...copied];
}

export const deleteSession = (kv: KeyValues, id: string): Promise<boolean> =>
  change(kv, id, [], async (session) =>
    session
      ? { result: true, next: null, rows: removals(id, await everything(kv, id)) }
      : { result: false },
  );

/** Sessions per read of an index. */
const PAGE = 100;

/** Yields sessions that have not changed since `olderThan`, oldest first, as they were when they were read. */
async function* dueSessions(
  kv: KeyValues,
  { olderThan, owner }: UpkeepRequest,
  isDue: (row: KeptRow) => boolean,
): AsyncGenerator<KeptSession> {
  const place = ({ updatedAt, id }: { readonly updatedAt: string; readonly id: string }): string =>
    owner === undefined ? byChange(updatedAt, id) : byOwner(owner, updatedAt, id);
  const range = owner === undefined ? under('changed') : under('owner', owner);
  const before = place({ updatedAt: olderThan, id: '' });
  let { from } = range;
  for (;;) {
    const page = await sessionsIn(kv, { ...range, from, before, limit: PAGE }, ({ row }) =>
      isDue(row),
    );
    yield* page;
    const last = page.at(-1);
    if (!last || page.length < PAGE) return;
    from = `${place(last.row)} `; // a space sorts before every character that a key can continue with
  }
}

/** Prunes sessions, one batch for each. */
export async function* pruneSessions(
  kv: KeyValues,
  request: UpkeepRequest,
): AsyncGenerator<Dropped> {
  const isDue = (row: KeptRow): boolean => isPrunable(row, request);
  for await (const { row } of dueSessions(kv, request, isDue)) {
    const rows = await change(kv, row.id, [], async (session) => {
      if (!session || !isDue(session.row)) return { result: 0 };
      const old = await notNeeded(kv, session);
      return old.length === 0
        ? { result: 0 }
        : { result: old.length, next: session, rows: old.map(removal) };
    });
    yield { sessions: Number(rows > 0), rows };
  }
}

export async function* expireSessions(
  kv: KeyValues,
  request: ExpireRequest,
): AsyncGenerator<Dropped> {
  const isDue = (row: KeptRow): boolean => isExpired(row, request);
  for await (const { row } of dueSessions(kv, request, isDue)) {
    const gone = await change<number | null>(kv, row.id, [], async (session) => {
      if (!session || !isDue(session.row)) return { result: null };
      if (request.dryRun) return { result: 0 };
      const entries = await everything(kv, row.id);
      const rows = removals(row.id, entries);
      return { result: entries.length + 1, next: null, rows };
    });
    if (gone !== null) yield { sessions: 1, rows: gone };
  }
}

/** Returns the entries that only earlier executions needed. */
async function notNeeded(kv: KeyValues, { row }: KeptSession): Promise<KeyValueEntry[]> {
  const [lastStep] = await rowsIn<StepRow>(kv, {
    ...under('of', row.id, 'step', ''),
    reverse: true,
    limit: 1,
  });
  const last = row.executionId ?? lastStep?.executionId ?? '';
  const entries = await everything(kv, row.id);
  const agents = entries
    .filter(([key]) => tableOf(key) === 'agent')
    .map(([, value]) => JSON.parse(value) as AgentRow);
  const kept = new Set(agents.flatMap((a) => (a.executionId === last ? [a.agentId] : [])));
  const gone = new Set(agents.map(({ agentId }) => agentId).filter((id) => !kept.has(id)));
  return entries.filter(([key, value]) => {
    const entry = JSON.parse(value) as { agentId: string; executionId: string; scope: string };
    switch (tableOf(key)) {
      case 'event':
        return true;
      case 'step':
      case 'agent':
      case 'call':
        return entry.executionId !== last;
      case 'blob':
        return entry.scope !== '' && entry.scope !== last;
      case 'message':
      case 'compaction':
        return gone.has(entry.agentId);
      default:
        return false;
    }
  });
}

export async function sizeOf(kv: KeyValues, id: string): Promise<{ rows: number; bytes: number }> {
  const text = (await kv.get([sessionKey(id)])).get(sessionKey(id));
  if (text === undefined) return { rows: 0, bytes: 0 };
  type Row = Parameters<typeof bytesOf>[0];
  const rows = (await everything(kv, id)).map(([, value]) => JSON.parse(value) as Row);
  const all = [(JSON.parse(text) as KeptSession).row, ...rows];
  return { rows: all.length, bytes: all.reduce((sum, row) => sum + bytesOf(row), 0) };
}
