import { AgentError } from '../../../errors/agent-error.ts';
import type {
  AgentRow,
  BlobRow,
  CallRow,
  CommandRow,
  CompactionRow,
  EventRow,
  MessageRow,
  NewSessionRow,
  RunRow,
  SessionRunRow,
  StepRow,
} from '../../session-rows.ts';
import type { Commit, RowRange, RunsQuery } from '../../session-store.ts';
import { noLease } from '../attempt-rules.ts';
import { bytesOf, type KeptRow, newRow, nextCall, refusedStart } from '../session-rules.ts';

/** One session in memory. Rows are frozen, so that they can be returned without a copy. */
export interface MemorySession {
  row: KeptRow;
  leasedUntil: number;
  waitMs: number;
  lastCommand: number;
  readonly commands: CommandRow[];
  /** Content hashes of messages, by execution. */
  readonly executions: Map<string, string | null>;
  /** Executions in which a call has ever waited, by call id. */
  readonly waits: Map<string, Set<string>>;
  /** By agent. */
  readonly messages: Map<string, MessageRow[]>;
  readonly steps: Map<string, StepRow[]>;
  readonly compactions: Map<string, CompactionRow[]>;
  /** By execution, then agent, call or number. */
  readonly agents: Map<string, Map<string, AgentRow>>;
  readonly calls: Map<string, Map<string, CallRow>>;
  readonly events: Map<string, EventRow[]>;
  /** By scope, then hash. */
  readonly blobs: Map<string, Map<string, BlobRow>>;
  /** By execution. */
  readonly runs: Map<string, RunRow>;
}

export const newSession = (row: NewSessionRow): MemorySession => ({
  row: newRow(row),
  ...noLease,
  lastCommand: 0,
  commands: [],
  executions: new Map(),
  waits: new Map(),
  messages: new Map(),
  steps: new Map(),
  compactions: new Map(),
  agents: new Map(),
  calls: new Map(),
  events: new Map(),
  blobs: new Map(),
  runs: new Map(),
});

/** Checks a commit. Throws before anything is written. */
export function checkWrites(session: MemorySession, commit: Commit): void {
  const refused = refusedStart(
    commit,
    ({ executionId, callId }) => session.calls.get(executionId)?.get(callId)?.state,
  );
  if (refused) throw refused;
  checkPositions(session.messages, commit.messages ?? [], 'message');
  checkPositions(session.steps, commit.steps ?? [], 'step');
  checkPositions(session.compactions, commit.compactions ?? [], 'compaction');
}

function checkPositions(
  kept: ReadonlyMap<string, readonly { readonly position: number }[]>,
  rows: readonly { readonly agentId: string; readonly position: number }[],
  what: string,
): void {
  const last = new Map<string, number>();
  for (const { agentId, position } of rows) {
    const before = last.get(agentId) ?? kept.get(agentId)?.at(-1)?.position ?? -1;
    if (position <= before)
      throw new AgentError('store_failed', `A ${what} already exists at position ${position}.`);
    last.set(agentId, position);
  }
}

/** Writes everything of the commit except the session's own row. */
export function writeRows(session: MemorySession, commit: Commit): void {
  for (const row of commit.messages ?? []) listIn(session.messages, row.agentId).push(frozen(row));
  for (const row of commit.steps ?? []) listIn(session.steps, row.agentId).push(frozen(row));
  for (const row of commit.compactions ?? [])
    listIn(session.compactions, row.agentId).push(frozen(row));
  for (const row of commit.events ?? []) listIn(session.events, row.executionId).push(frozen(row));
  for (const row of commit.agents ?? [])
    mapIn(session.agents, row.executionId).set(row.agentId, frozen(row));
  for (const row of commit.blobs ?? []) {
    const scope = mapIn(session.blobs, row.scope);
    if (!scope.has(row.hash)) scope.set(row.hash, frozen(row));
  }
  for (const write of commit.calls ?? []) {
    const execution = mapIn(session.calls, write.executionId);
    if (write.state === 'waiting')
      session.waits.set(
        write.callId,
        new Set([...(session.waits.get(write.callId) ?? []), write.executionId]),
      );
    execution.set(write.callId, frozen(nextCall(execution.get(write.callId), write, commit.token)));
  }
  if (commit.run) session.runs.set(commit.run.executionId, frozen(commit.run));
  const done = session.commands.findIndex(({ number }) => number === commit.done);
  if (done >= 0) session.commands.splice(done, 1);
}

/** Returns the newest rows that fit, ascending. */
export function inRange<T extends { readonly position: number }>(
  rows: readonly T[] = [],
  range: RowRange = {},
  isWanted: (row: T) => boolean = () => true,
): readonly T[] {
  const { before = Infinity, from = 0, limit = Infinity } = range;
  const fitting = rows.filter(
    (row) => row.position < before && row.position >= from && isWanted(row),
  );
  return fitting.slice(Math.max(0, fitting.length - limit));
}

/** Returns the run records of the time range, newest end first. */
export const runsIn = (
  sessions: readonly MemorySession[],
  query: RunsQuery,
): readonly SessionRunRow[] =>
  sessions
    .filter(
      ({ row: { owner, agent } }) =>
        (query.owner ?? owner) === owner && (query.agent ?? agent) === agent,
    )
    .flatMap(({ row: { id, owner, agent }, runs }) =>
      [...runs.values()].map((run) => ({ ...run, sessionId: id, owner, agent })),
    )
    .filter(({ endedAt }) => endedAt >= query.from && endedAt < query.before)
    .toSorted((a, b) => (a.endedAt < b.endedAt ? 1 : -1))
    .slice(0, query.limit);

/** Copies the conversation below the counts into a fork, with the large values of those steps. */
export function copyInto(
  fork: MemorySession,
  source: MemorySession,
  compactionCount: number,
): void {
  const { messageCount, stepCount } = fork.row;
  const messages = inRange(source.messages.get(''), { before: messageCount });
  const steps = inRange(source.steps.get(''), { before: stepCount });
  fork.messages.set('', [...messages]);
  fork.steps.set('', [...steps]);
  fork.compactions.set('', [...inRange(source.compactions.get(''), { before: compactionCount })]);
  const executions = new Set(steps.map(({ executionId }) => executionId));
  for (const scope of ['', ...executions]) fork.blobs.set(scope, new Map(source.blobs.get(scope)));
  for (const executionId of executions) {
    const hash = source.executions.get(executionId);
    if (hash !== undefined) fork.executions.set(executionId, hash);
  }
  const forked = steps.at(-1)?.executionId;
  for (const [callId, waited] of source.waits) {
    const copied = [...waited].filter((executionId) => executions.has(executionId));
    // the forked execution continues under another id
    const renamed = copied.map((id) => (id === forked ? (fork.row.executionId ?? id) : id));
    if (renamed.length > 0) fork.waits.set(callId, new Set(renamed));
  }
}

export function sizeOf(session: MemorySession): { rows: number; bytes: number } {
  const rows: readonly Parameters<typeof bytesOf>[0][] = [
    session.row,
    ...session.commands,
    ...Array.from(session.executions.keys(), () => ({})),
    ...all(session.waits).map(() => ({})),
    ...all(session.messages),
    ...all(session.steps),
    ...all(session.compactions),
    ...all(session.agents),
    ...all(session.calls),
    ...all(session.events),
    ...all(session.blobs),
    ...session.runs.values(),
  ];
  return { rows: rows.length, bytes: rows.reduce((sum, row) => sum + bytesOf(row), 0) };
}

const all = <T>(tables: ReadonlyMap<string, { values(): IterableIterator<T> }>): T[] =>
  [...tables.values()].flatMap((table) => [...table.values()]);

export const frozen = <T extends object>(row: T): T => Object.freeze({ ...row });

function listIn<T>(lists: Map<string, T[]>, key: string): T[] {
  const list = lists.get(key) ?? [];
  if (list.length === 0) lists.set(key, list);
  return list;
}

function mapIn<T>(maps: Map<string, Map<string, T>>, key: string): Map<string, T> {
  const map = maps.get(key) ?? new Map<string, T>();
  if (map.size === 0) maps.set(key, map);
  return map;
}
