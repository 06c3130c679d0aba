import { whole } from '../../errors/agent-error.ts';
import { uuid } from '../../ids.ts';
import type {
  AgentRow,
  CallRow,
  CommandRow,
  EventRow,
  MessageRow,
  StepRow,
} from '../session-rows.ts';
import type { SessionStore, StoreCodec } from '../session-store.ts';
import { commitTo } from './key-value-commit.ts';
import { type KeyValueDriver, keyValues } from './key-value-driver.ts';
import {
  byChange,
  byOwner,
  commandKey,
  inRange,
  type KeptSession,
  rowKey,
  under,
} from './key-value-layout.ts';
import { change, findSession, rowsIn, sessionsIn } from './key-value-session.ts';
import { deleteSession, forkOf, newSession, pruneSessions, sizeOf } from './key-value-upkeep.ts';
import { answered, mayAccept, shownRow, signalOf, wished } from './session-rules.ts';

export type {
  KeyValueChange,
  KeyValueDriver,
  KeyValueEntry,
  KeyValueRange,
} from './key-value-driver.ts';

type Accepted = Awaited<ReturnType<SessionStore['accept']>>;

export interface KeyValueStoreOptions {
  readonly codec?: StoreCodec;
  /** The largest text of one row. Default 16 MiB. */
  readonly maxBytes?: number;
}

/**
 * Keeps sessions in any database that has ordered keys and one write under a condition: the driver is three methods,
 * and who may write, leases, the ledger and the log are here.
 */
export function keyValueStore(
  driver: KeyValueDriver,
  options: KeyValueStoreOptions = {},
): SessionStore {
  const { codec } = options;
  const kv = keyValues(driver);
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
    async list({ owner, status, agent, limit, after }) {
      const now = await kv.now();
      const range = owner === undefined ? under('changed') : under('owner', owner);
      const before =
        after &&
        (owner === undefined
          ? byChange(after.updatedAt, after.id)
          : byOwner(owner, after.updatedAt, after.id));
      const sessions = await sessionsIn(
        kv,
        { ...range, ...(before && { before }), reverse: true, limit },
        ({ row }) =>
          (status === undefined || shownRow(row, false).status === status) &&
          (agent === undefined || row.agent === agent),
      );
      return sessions.map((session) => shownRow(session.row, isLeased(session, now)));
    },

    accept: (sessionId, { at, ...command }, condition) =>
      change<Accepted>(kv, sessionId, [], (session) => {
        if (!session) return { result: null };
        const { row } = session;
        const { phase } = row;
        if (!mayAccept(row, condition)) return { result: { accepted: false, phase } };
        const number = session.lastCommand + 1;
        const added: CommandRow = { number, ...command };
        return {
          result: { accepted: true, phase },
          next: { ...session, lastCommand: number, row: { ...row, phase: 'open', updatedAt: at } },
          rows: [[commandKey(sessionId, added), JSON.stringify(added)]],
        };
      }),
    async nextCommand(sessionId) {
      const range = { ...under('of', sessionId, 'command'), limit: 1 };
      return (await rowsIn<CommandRow>(kv, range))[0] ?? null;
    },
    decide(sessionId, { executionId, callId, body, at }) {
      const key = rowKey(sessionId, 'call', executionId, callId);
      return change(kv, sessionId, [key], (session, found) => {
        if (!session) return { result: 'unknown' };
        const text = found.get(key);
        const call = text === undefined ? undefined : (JSON.parse(text) as CallRow);
        const result = answered(session.row, executionId, call);
        if (result !== 'accepted') return { result };
        return {
          result,
          next: { ...session, row: { ...session.row, phase: 'open', updatedAt: at } },
          rows: [[key, JSON.stringify({ ...call, state: 'decided', answer: body })]],
        };
      });
    },
    request: (sessionId, wish) =>
      change(kv, sessionId, [], (session) => {
        if (!session) return { result: null };
        const { phase } = session.row;
        if (phase === 'idle') return { result: phase };
        return { result: phase, next: { ...session, row: wished(session.row, wish) } };
      }),

    claim: (sessionId, { worker, ttlMs }) =>
      change(kv, sessionId, [], async (session) => {
        const now = await kv.now();
        if (session?.row.phase !== 'open' || isLeased(session, now)) return { result: null };
        const row = { ...session.row, worker, token: (session.row.token || someToken()) + 1 };
        return { result: shownRow(row, true), next: { ...session, row, leasedUntil: now + ttlMs } };
      }),
    async renew({ worker, ttlMs }) {
      const renewed = (await holders(worker)).map(({ row: { id } }) =>
        change(kv, id, [], async (session) => {
          if (session?.row.worker !== worker) return { result: [] };
          const leasedUntil = (await kv.now()) + ttlMs;
          return { result: [signalOf(session.row)], next: { ...session, leasedUntil } };
        }),
      );
      return (await Promise.all(renewed)).flat();
    },
    async signals(worker) {
      return (await holders(worker)).map(({ row }) => signalOf(row));
    },
    async recoverable(limit) {
      const now = await kv.now();
      const open = { ...under('open'), limit };
      const free = await sessionsIn(kv, open, (session) => !isLeased(session, now));
      return free.map(({ row }) => row.id);
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

    fork: (fromId, row) => forkOf(kv, fromId, row),
    delete: (sessionId) => deleteSession(kv, sessionId),
    prune: (options) => pruneSessions(kv, options),
    size: (sessionId) => sizeOf(kv, sessionId),
    close: () => kv.close(),
  };
}

/** Where the tokens of a session begin: elsewhere when it is made anew, so that an old holder stays out. */
const someToken = (): number => Number.parseInt(uuid().replaceAll('-', '').slice(0, 12), 16);
