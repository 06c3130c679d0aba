import { READS } from '../../session-rows.ts';
import type {
  AgentTurn,
  RecoverablePage,
  RecoverableQuery,
  SessionStore,
} from '../../session-store.ts';
import { uuid } from '../../../ids.ts';
import { claimed, isFree, released, requested } from '../attempt-rules.ts';
import type { KeyValues } from './key-value-driver.ts';
import { type KeptSession, ownerIn, under } from './key-value-layout.ts';
import type { LeaseWatch, SeenLease } from '../lease-watch.ts';
import { change, sessionsIn } from './key-value-session.ts';
import { perOwner, turns, urgentOf } from '../owner-turns.ts';
import { shownRow, signalOf } from '../session-rules.ts';

type Work = Pick<
  SessionStore,
  'request' | 'claim' | 'release' | 'renew' | 'urgent' | 'recoverable'
>;

/** Most owners on one page, because each costs a round trip to the database. */
const MOST_OWNERS = 50;

/** Implements requests, leases and recovery. */
export function keyValueWork(kv: KeyValues, watch: LeaseWatch): Work {
  const isOut = (session: KeptSession): boolean => watch.isOut(seen(session));
  let upgrade: Promise<void> | null = null;
  const upgraded = (): Promise<void> => {
    upgrade ??= indexOldSessions(kv).catch((error: unknown) => {
      upgrade = null; // the next call tries again
      throw error;
    });
    return upgrade;
  };

  return {
    request: (sessionId, request) =>
      change(kv, sessionId, [], (session) => {
        if (!session) return { result: null };
        const result = session.row.phase;
        const next = requested(session, request);
        return next === session ? { result } : { result, next };
      }),
    async claim(sessionId, lease) {
      const next = await change(kv, sessionId, [], async (session) => {
        const now = await kv.now();
        if (!session || !isFree(session, now, isOut)) return { result: null };
        const row = claimed(session.row, lease, (session.row.token || someToken()) + 1);
        if (!row) return { result: null };
        const { ttlMs: leaseMs, waitMs = 0 } = lease;
        const taken = { ...session, row, leasedUntil: now + leaseMs, leaseMs, waitMs };
        return { result: taken, next: taken };
      });
      if (next) watch.wrote(seen(next));
      return next && shownRow(next.row, true);
    },
    async renew({ worker, ttlMs, leases }) {
      const renewed = leases.map(({ sessionId, token }) =>
        change(kv, sessionId, [], async (session) => {
          if (session?.row.worker !== worker || session.row.token !== token) return { result: [] };
          const leasedUntil = (await kv.now()) + ttlMs;
          const next = { ...session, leasedUntil, leaseMs: ttlMs };
          return { result: [next], next };
        }),
      );
      const held = (await Promise.all(renewed)).flat();
      for (const session of held) watch.wrote(seen(session));
      return held.map(({ row }) => signalOf(row));
    },
    release: (sessionId, token, release) =>
      change(kv, sessionId, [], async (session) => {
        if (!session) return { result: false };
        const [command] = await kv.list({ ...under('of', sessionId, 'command'), limit: 1 });
        const given = { now: await kv.now(), hasMore: command !== undefined };
        const next = released(session, token, release, given);
        return next ? { result: true, next } : { result: false };
      }),
    async urgent(query) {
      await upgraded();
      const askedAt = watch.now;
      const now = await kv.now();
      watch.sweeps(askedAt, now, 'all');
      const isFreeNow = (session: KeptSession): boolean => isFree(session, now, isOut);
      const stopping = await sessionsIn(kv, under('stopping'), isFreeNow);
      const expired = await sessionsIn(kv, under('worker'), isFreeNow);
      const all = new Map([...stopping, ...expired].map((session) => [session.row.id, session]));
      return urgentOf([...all.values()], query);
    },
    async recoverable(query) {
      await upgraded();
      return recoverableIn(kv, query, isOut);
    },
  };
}

const seen = ({ row, leasedUntil: until, leaseMs = 0, waitMs }: KeptSession): SeenLease => ({
  id: row.id,
  token: row.token,
  until,
  leaseMs,
  waitMs,
});

async function recoverableIn(
  kv: KeyValues,
  { agents, limit, reads = READS }: RecoverableQuery,
  isOut: (session: KeptSession) => boolean,
): Promise<readonly RecoverablePage[]> {
  const now = await kv.now();
  const isWanted = (session: KeptSession): boolean =>
    isFree(session, now, isOut) && session.row.requires <= reads;
  const waiting = await waitingOf(kv, agents);
  return Promise.all(
    agents.map(async ({ agent, afterOwner }) => {
      if (!waiting.has(agent)) return { ids: [], afterOwner: null };
      const { owners, isEnd } = await ownersOf(kv, agent, Math.min(limit, MOST_OWNERS), afterOwner);
      const most = perOwner(limit, owners.length);
      const found = await Promise.all(
        owners.map((owner) =>
          sessionsIn(kv, { ...under('agent', agent, owner), limit: most }, isWanted),
        ),
      );
      const ids = turns(found.map((sessions) => sessions.map(({ row }) => row)));
      return { ids: ids.slice(0, limit), afterOwner: isEnd ? null : (owners.at(-1) ?? null) };
    }),
  );
}

/** Returns those of the agents that have sessions without a lease: one round trip if no agent has any. */
async function waitingOf(kv: KeyValues, turns: readonly AgentTurn[]): Promise<ReadonlySet<string>> {
  const ranges = turns.map(({ agent }) => ({ agent, ...under('agent', agent) }));
  const { before: end } = under('agent');
  const waiting = new Set<string>();
  let next: string | undefined = '';
  for (const { agent, from, before } of ranges.toSorted((a, b) => (a.from < b.from ? -1 : 1))) {
    // the first key of this agent or a later one
    if (next < from)
      next = (await kv.list({ ...under('agent'), from, before: end, limit: 1 }))[0]?.[0];
    if (next === undefined) break;
    if (next < before) waiting.add(agent);
  }
  return waiting;
}

/** Returns the owners with open sessions of the agent, in the order of the index. */
async function ownersOf(
  kv: KeyValues,
  agent: string,
  most: number,
  afterOwner: string | undefined,
): Promise<{ readonly owners: readonly string[]; readonly isEnd: boolean }> {
  const range = { ...under('agent', agent), limit: 1 };
  let from = afterOwner === undefined ? range.from : under('agent', agent, afterOwner).before;
  const owners: string[] = [];
  while (owners.length < most) {
    const [entry] = await kv.list({ ...range, from });
    if (!entry) return { owners, isEnd: true };
    const owner = ownerIn(entry[0]);
    owners.push(owner);
    from = under('agent', agent, owner).before;
  }
  return { owners, isEnd: false };
}

/** Adds open sessions of release 0.1.0 to the newer indexes. */
async function indexOldSessions(kv: KeyValues): Promise<void> {
  const old = await sessionsIn(kv, under('open'), ({ layout }) => layout === undefined);
  for (const { row } of old)
    await change(kv, row.id, [], (session) =>
      session?.layout === undefined ? { result: null, next: session } : { result: null },
    );
}

/**
 * Returns a random first token. A session that is created again under the same id thus rejects tokens of its
 * predecessor.
 */
const someToken = (): number => Number.parseInt(uuid().replaceAll('-', '').slice(0, 12), 16);
