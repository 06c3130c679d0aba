import { type Clock, monotonicOf } from '../../../clock.ts';
import { whole } from '../../../errors/agent-error.ts';
import { utf8Bytes } from '../../../json.ts';
import type {
  AgentRow,
  CallRow,
  CommandRow,
  CompactionRow,
  EventRow,
  MessageRow,
  StepRow,
} from '../../session-rows.ts';
import type { Acceptance, Decision, SessionStore, StoreCodec } from '../../session-store.ts';
import { hasWaitedElsewhere } from './key-value-waits.ts';
import { commitTo } from './key-value-commit.ts';
import { type KeyValueDriver, keyValues } from './key-value-driver.ts';
import { commandKey, inRange, type KeptSession, rowKey, under } from './key-value-layout.ts';
import { change, findSession, rowsIn, sessionsIn } from './key-value-session.ts';
import {
  deleteSession,
  expireSessions,
  forkOf,
  newSession,
  pruneSessions,
  sizeOf,
} from './key-value-upkeep.ts';
import { keyValueQueries } from './key-value-queries.ts';
import { keyValueWork } from './key-value-work.ts';
import { LeaseWatch } from '../lease-watch.ts';
import {
  accepted,
  answered,
  awake,
  isFullFor,
  mayAccept,
  repeatOf,
  shownRow,
  signalOf,
  waitingIn,
} from '../session-rules.ts';
import { inBatches } from '../upkeep-rules.ts';
import { type KeptReport, workloadOf } from '../workload-rules.ts';
import { reportTo } from './key-value-reports.ts';

export type {
  KeyValueChange,
  KeyValueDriver,
  KeyValueEntry,
  KeyValueRange,
} from './key-value-driver.ts';

/** Entry of an execution that a message has begun or will begin. */
interface Remembered {
  readonly executionId: string;
  readonly contentHash: string | null;
}

export interface KeyValueStoreOptions {
  readonly codec?: StoreCodec;
  /** Largest text of one row, in bytes. Default 16 MiB. */
  readonly maxBytes?: number;
  /** Clock whose monotonic time measures how long a lease was not renewed. Default: the system clock. */
  readonly clock?: Clock;
}

/**
 * Stores sessions in any database with ordered keys and a conditional write. The driver has three methods; this module
 * implements fencing, leases, the ledger and the log.
 */
export function keyValueStore(
  driver: KeyValueDriver,
  options: KeyValueStoreOptions = {},
): SessionStore {
  const { codec } = options;
  const kv = keyValues(driver);
  const watch = new LeaseWatch(options.clock && monotonicOf(options.clock));
  const isLeased = ({ row, leasedUntil }: KeptSession, now: number): boolean =>
    row.worker !== null && leasedUntil > now;
  const holders = (worker: string): Promise<KeptSession[]> =>
    sessionsIn(kv, under('worker', worker), () => true);

  return {
    name: driver.name,
    maxBytes: whole('maxBytes', options.maxBytes ?? 16 * 1024 * 1024),
    ...(codec && { codec }),

    create: (row) =>
      change(kv, row.id, [], (session) =>
        session ? { result: false } : { result: true, next: newSession(row) },
      ),
    async find(sessionId) {
      const session = await findSession(kv, sessionId);
      return session && shownRow(session.row, isLeased(session, await kv.now()));
    },
    ...keyValueQueries(kv, isLeased),

    accept(sessionId, { at, contentHash, requires = 1, ...command }, condition) {
      const { executionId } = command;
      const memory = rowKey(sessionId, 'execution', executionId);
      return change<Acceptance | null>(kv, sessionId, [memory], async (session, found) => {
        if (!session) return { result: null };
        const { row } = session;
        const { phase } = row;
        const text = found.get(memory);
        const known = text === undefined ? undefined : (JSON.parse(text) as Remembered).contentHash;
        const commands =
          known === undefined && (phase === 'idle' || condition.maxWaiting === undefined)
            ? []
            : await rowsIn<CommandRow>(kv, under('of', sessionId, 'command'));
        const repeat = repeatOf(row.executionId, { executionId, contentHash }, known, () =>
          commands.some((waiting) => waiting.executionId === executionId),
        );
        if (repeat) return { result: { accepted: false, phase, repeat } };
        if (!mayAccept(row, condition)) return { result: { accepted: false, phase } };
        if (isFullFor(waitingIn(commands), utf8Bytes(command.body), condition))
          return { result: { accepted: false, phase, isFull: true } };
        const number = session.lastCommand + 1;
        const added: CommandRow = { number, ...command };
        return {
          result: { accepted: true, phase },
          next: { ...session, lastCommand: number, row: accepted(row, { at, requires }) },
          rows: [
            [commandKey(sessionId, added), JSON.stringify(added)],
            ...(contentHash === undefined
              ? []
              : [[memory, JSON.stringify({ executionId, contentHash })] as const]),
          ],
        };
      });
    },
    async nextCommand(sessionId) {
      const range = { ...under('of', sessionId, 'command'), limit: 1 };
      return (await rowsIn<CommandRow>(kv, range))[0] ?? null;
    },
    decide(sessionId, { executionId, callId, body, at, ifUnambiguous }) {
      const key = rowKey(sessionId, 'call', executionId, callId);
      return change<Decision>(kv, sessionId, [key], async (session, found) => {
        if (!session) return { result: 'unknown' };
        const text = found.get(key);
        const call = text === undefined ? undefined : (JSON.parse(text) as CallRow);
        const result = answered(session.row, executionId, call);
        if (result !== 'accepted') return { result };
        if (ifUnambiguous && (await hasWaitedElsewhere(kv, sessionId, { executionId, callId })))
          return { result: 'ambiguous' };
        const row = { ...session.row, phase: awake(session.row.phase), updatedAt: at };
        return {
          result,
          next: { ...session, row },
          rows: [[key, JSON.stringify({ ...call, state: 'decided', answer: body })]],
        };
      });
    },
    ...keyValueWork(kv, watch),
    async signals(worker) {
      return (await holders(worker)).map(({ row }) => signalOf(row));
    },
    commit: (commit) => commitTo(kv, commit),

    async messages(sessionId, agentId, { role, ...range } = {}) {
      const rows = inRange(under('of', sessionId, 'message', agentId), range);
      const isWanted = role === undefined ? undefined : (row: MessageRow) => row.role === role;
      return (await rowsIn(kv, rows, isWanted)).toReversed();
    },
    async steps(sessionId, agentId, { executionId, ...range } = {}) {
      const rows = inRange(under('of', sessionId, 'step', agentId), range);
      const isWanted =
        executionId === undefined ? undefined : (row: StepRow) => row.executionId === executionId;
      return (await rowsIn(kv, rows, isWanted)).toReversed();
    },
    async compactions(sessionId, agentId, { kind, ...range } = {}) {
      const rows = inRange(under('of', sessionId, 'compaction', agentId), range);
      const isWanted = kind === undefined ? undefined : (row: CompactionRow) => row.kind === kind;
      return (await rowsIn(kv, rows, isWanted)).toReversed();
    },
    agents: (sessionId, executionId) =>
      rowsIn<AgentRow>(kv, under('of', sessionId, 'agent', executionId)),
    async calls(sessionId, executionId, filter) {
      if ('state' in filter)
        return rowsIn<CallRow>(
          kv,
          under('of', sessionId, 'call', executionId),
          ({ state }) => state === filter.state,
        );
      const keys = filter.callIds.map((callId) => rowKey(sessionId, 'call', executionId, callId));
      return [...(await kv.get(keys)).values()].map((value) => JSON.parse(value) as CallRow);
    },
    events(sessionId, executionId, { after, limit }) {
      const range = under('of', sessionId, 'event', executionId);
      const from = rowKey(sessionId, 'event', executionId, after + 1);
      return rowsIn<EventRow>(kv, { ...range, from, limit });
    },
    async blobs(sessionId, hashes) {
      const found = [...new Set(hashes)].map(async (hash) => {
        const [entry] = await kv.list({ ...under('of', sessionId, 'blob', hash), limit: 1 });
        return entry ? [{ hash, body: (JSON.parse(entry[1]) as { body: string }).body }] : [];
      });
      return (await Promise.all(found)).flat();
    },

    reportWorker: (report) => reportTo(kv, report),
    async workload() {
      const now = await kv.now();
      const [open, parked, reports] = await Promise.all([
        sessionsIn(kv, under('open'), () => true),
        sessionsIn(kv, under('parked'), () => true),
        rowsIn<KeptReport>(kv, under('report')),
      ]);
      const rows = [...open, ...parked].map((session) => ({
        ...session.row,
        isLeased: isLeased(session, now),
      }));
      return workloadOf(rows, reports, now);
    },

    fork: (fromId, row) => forkOf(kv, fromId, row),
    delete: (sessionId) => deleteSession(kv, sessionId),
    prune: (request) => inBatches(request, pruneSessions(kv, request)),
    expire: (request) => inBatches(request, expireSessions(kv, request)),
    size: (sessionId) => sizeOf(kv, sessionId),
    close: () => kv.close(),
  };
}
