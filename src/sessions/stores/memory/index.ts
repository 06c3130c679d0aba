import { type Clock, monotonicOf, systemClock } from '../../../clock.ts';
import { whole } from '../../../errors/agent-error.ts';
import { utf8Bytes } from '../../../json.ts';
import type { SessionRow } from '../../session-rows.ts';
import type { Commit, SessionStore, StoreCodec } from '../../session-store.ts';
import {
  checkWrites,
  copyInto,
  frozen,
  inRange,
  type MemorySession,
  newSession,
  runsIn,
  sizeOf,
  writeRows,
} from './memory-session.ts';
import { expireSessions, pruneSessions } from './memory-upkeep.ts';
import { claimed, isFree, released, requested } from '../attempt-rules.ts';
import { inTurns, urgentOf } from '../owner-turns.ts';
import {
  accepted,
  answered,
  awake,
  committed,
  ended,
  isFullFor,
  isNewCommit,
  listedRow,
  mayAccept,
  receiptOf,
  repeatOf,
  shownRow,
  signalOf,
  waitingIn,
} from '../session-rules.ts';
import { isListed, type ListedRow, pageOf } from '../query-rules.ts';
import { staleOwner, storeClosed } from '../store-errors.ts';
import { inBatches } from '../upkeep-rules.ts';
import { isKeptReport, type KeptReport, workloadOf } from '../workload-rules.ts';

export interface MemoryStoreOptions {
  readonly codec?: StoreCodec;
  /** Largest text of one row, in bytes. Default 16 MiB. */
  readonly maxBytes?: number;
  readonly clock?: Clock;
}

/** Stores sessions in memory as long as the process runs: for tests, and for pages that persist nothing. */
export function memoryStore(options: MemoryStoreOptions = {}): SessionStore {
  const { codec, clock = systemClock } = options;
  const now = monotonicOf(clock);
  const sessions = new Map<string, MemorySession>();
  let reports: readonly KeptReport[] = [];
  /** Last token of the whole store, so that a session that is created again under the same id gets new tokens. */
  let lastToken = 0;
  let isClosed = false;

  const find = (sessionId: string): MemorySession | undefined => {
    if (isClosed) throw storeClosed('memory');
    return sessions.get(sessionId);
  };
  const every = (): MemorySession[] => {
    if (isClosed) throw storeClosed('memory');
    return [...sessions.values()];
  };
  const isLeased = ({ row, leasedUntil }: MemorySession): boolean =>
    row.worker !== null && leasedUntil > now();
  const shown = (session: MemorySession): SessionRow => shownRow(session.row, isLeased(session));
  const listed = (session: MemorySession): ListedRow => listedRow(session.row, isLeased(session));
  const isOut = ({ leasedUntil, waitMs }: MemorySession): boolean => leasedUntil + waitMs <= now();
  const free = (): MemorySession[] => every().filter((session) => isFree(session, now(), isOut));
  const signalsOf = (worker: string): MemorySession[] =>
    every().filter(({ row }) => row.worker === worker);

  return {
    name: 'memory',
    maxBytes: whole('maxBytes', options.maxBytes ?? 16 * 1024 * 1024),
    ...(codec && { codec }),

    async create(row) {
      if (find(row.id)) return false;
      sessions.set(row.id, newSession(row));
      return true;
    },
    async find(sessionId) {
      const session = find(sessionId);
      return session ? shown(session) : null;
    },
    async list(query) {
      return pageOf(every().map(listed), query);
    },
    async count(filter, most) {
      return Math.min(most, every().filter((session) => isListed(listed(session), filter)).length);
    },
    async runs(query) {
      return runsIn(every(), query);
    },

    async accept(sessionId, { at, contentHash, requires = 1, ...command }, condition) {
      const session = find(sessionId);
      if (!session) return null;
      const { executionId } = command;
      const { phase } = session.row;
      const repeat = repeatOf(
        session.row.executionId,
        { executionId, contentHash },
        session.executions.get(executionId),
        () => session.commands.some((waiting) => waiting.executionId === executionId),
      );
      if (repeat) return { accepted: false, phase, repeat };
      if (!mayAccept(session.row, condition)) return { accepted: false, phase };
      if (isFullFor(waitingIn(session.commands), utf8Bytes(command.body), condition))
        return { accepted: false, phase, isFull: true };
      session.commands.push(frozen({ number: ++session.lastCommand, ...command }));
      if (contentHash !== undefined) session.executions.set(executionId, contentHash);
      session.row = accepted(session.row, { at, requires });
      return { accepted: true, phase };
    },
    async nextCommand(sessionId) {
      const commands = find(sessionId)?.commands ?? [];
      return commands.find(({ kind }) => kind === 'resume') ?? commands[0] ?? null;
    },
    async decide(sessionId, { executionId, callId, body, at, ifUnambiguous }) {
      const session = find(sessionId);
      if (!session) return 'unknown';
      const calls = session.calls.get(executionId);
      const call = calls?.get(callId);
      const outcome = answered(session.row, executionId, call);
      if (outcome !== 'accepted' || !calls || !call) return outcome;
      const waited = session.waits.get(callId) ?? [];
      if (ifUnambiguous && [...waited].some((other) => other !== executionId)) return 'ambiguous';
      calls.set(callId, frozen({ ...call, state: 'decided', answer: body }));
      session.row = { ...session.row, phase: awake(session.row.phase), updatedAt: at };
      return 'accepted';
    },
    async request(sessionId, request) {
      const session = find(sessionId);
      if (!session) return null;
      const { phase } = session.row;
      Object.assign(session, requested(session, request));
      return phase;
    },

    async claim(sessionId, lease) {
      const session = find(sessionId);
      if (!session || !isFree(session, now(), isOut)) return null;
      const row = claimed(session.row, lease, lastToken + 1);
      if (!row) return null;
      lastToken += 1;
      session.row = row;
      session.leasedUntil = now() + lease.ttlMs;
      session.waitMs = lease.waitMs ?? 0;
      return shown(session);
    },
    async release(sessionId, token, release) {
      const session = find(sessionId);
      if (!session) return false;
      const hasMore = session.commands.length > 0;
      const next = released(session, token, release, { now: now(), hasMore });
      if (next) Object.assign(session, next);
      return next !== null;
    },
    async renew({ worker, ttlMs, leases }) {
      const held = leases.flatMap(({ sessionId, token }) => {
        const session = find(sessionId);
        return session?.row.worker === worker && session.row.token === token ? [session] : [];
      });
      for (const session of held) session.leasedUntil = now() + ttlMs;
      return held.map(({ row }) => signalOf(row));
    },
    async signals(worker) {
      return signalsOf(worker).map(({ row }) => signalOf(row));
    },
    async urgent(query) {
      return urgentOf(free(), query);
    },
    async recoverable(query) {
      const all = free();
      return query.agents.map((turn) => inTurns(all, turn, query));
    },
    async commit(commit) {
      const session = find(commit.sessionId);
      if (!session) throw staleOwner(commit);
      if (!isNewCommit(session.row, commit)) return receiptOf(session.row);
      checkWrites(session, commit);
      writeRows(session, commit);
      session.row = committed(session.row, commit);
      if (commit.end) {
        session.row = ended(session.row, commit.end, hasMore(session, commit.end));
        if (session.row.worker === null) session.waitMs = 0;
      }
      return receiptOf(session.row);
    },

    async messages(sessionId, agentId, range = {}) {
      const { role } = range;
      return inRange(
        find(sessionId)?.messages.get(agentId),
        range,
        (row) => role === undefined || row.role === role,
      );
    },
    async steps(sessionId, agentId, range = {}) {
      const { executionId } = range;
      return inRange(
        find(sessionId)?.steps.get(agentId),
        range,
        (row) => executionId === undefined || row.executionId === executionId,
      );
    },
    async compactions(sessionId, agentId, range = {}) {
      const { kind } = range;
      return inRange(
        find(sessionId)?.compactions.get(agentId),
        range,
        (row) => kind === undefined || row.kind === kind,
      );
    },
    async agents(sessionId, executionId) {
      return [...(find(sessionId)?.agents.get(executionId)?.values() ?? [])];
    },
    async calls(sessionId, executionId, filter) {
      const rows = [...(find(sessionId)?.calls.get(executionId)?.values() ?? [])];
      return rows.filter((row) =>
        'state' in filter ? row.state === filter.state : filter.callIds.includes(row.callId),
      );
    },
    async events(sessionId, executionId, { after, limit }) {
      const rows = find(sessionId)?.events.get(executionId) ?? [];
      return rows.filter(({ seq }) => seq > after).slice(0, limit);
    },
    async blobs(sessionId, hashes) {
      const scopes = [...(find(sessionId)?.blobs.values() ?? [])];
      return [...new Set(hashes)].flatMap((hash) => {
        const body = scopes.find((scope) => scope.has(hash))?.get(hash)?.body;
        return body === undefined ? [] : [{ hash, body }];
      });
    },

    async reportWorker({ worker, body }) {
      const seen = now();
      const others = reports.filter(
        (report) => report.worker !== worker && isKeptReport(report, seen),
      );
      reports = body === null ? others : [...others, { worker, body, seen }];
    },
    async workload() {
      return workloadOf(every().map(shown), reports, now());
    },

    async fork(fromId, { compactionCount = 0, ...row }) {
      const source = find(fromId);
      if (!source || find(row.id)) return false;
      const session = newSession(row);
      copyInto(session, source, compactionCount);
      sessions.set(row.id, session);
      return true;
    },
    async delete(sessionId) {
      return find(sessionId) !== undefined && sessions.delete(sessionId);
    },
    async prune(request) {
      return inBatches(request, pruneSessions(every(), request));
    },
    async expire(request) {
      return inBatches(request, expireSessions(sessions, every(), request));
    },
    async size(sessionId) {
      const session = find(sessionId);
      return session ? sizeOf(session) : { rows: 0, bytes: 0 };
    },
    async close() {
      isClosed = true;
      sessions.clear();
    },
  };
}

/** Whether there is more to do: a command after the end, or an answer after a pause. */
function hasMore({ row, commands, calls }: MemorySession, end: Commit['end']): boolean {
  if (end === 'ended') return commands.length > 0;
  const ledger = calls.get(row.executionId ?? '')?.values() ?? [];
  return [...ledger].some(({ state }) => state === 'decided');
}
