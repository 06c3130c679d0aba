import { QUARANTINE_DEATHS, READS, type SessionRow } from '../../session-rows.ts';
import type {
  LeaseRequest,
  LeaseSignal,
  RecoverablePage,
  SessionStore,
} from '../../session-store.ts';
import { CLOSING_REQUIRES, SET_BACK_MS } from '../attempt-rules.ts';
import { LeaseWatch, type SeenLease } from '../lease-watch.ts';
import { isLockedOut } from './postgres-errors.ts';
import type { Database } from './postgres-pool.ts';
import { integer, sessionColumns } from './postgres-reads.ts';

type Leases = Pick<
  SessionStore,
  'claim' | 'release' | 'renew' | 'signals' | 'urgent' | 'recoverable'
>;

const later = (from: string, ms: string): string => `${from} + ${ms} * interval '1 millisecond'`;
const ttl = (param: string): string => later('clock_timestamp()', `${param}::float8`);
/**
 * Whether no worker holds the session and its wait is over. A wait that begins in the future is over too, because the
 * clock was set back.
 */
const isFree = `s.phase = 'open' and s.worker is null and (s.wait_ms = 0 or clock_timestamp()
  not between ${later('s.leased_until', `-${SET_BACK_MS}`)} and ${later('s.leased_until', 's.wait_ms')})`;
/** Time of a sweep: the same for all leases that it compares, and the one that it reports. */
const sweepTime = 'statement_timestamp()';
/**
 * Whether a lease might have expired: by the clock of the server, or because it was written before that clock was set
 * back.
 */
const isDoubtful = `s.phase = 'open' and s.worker is not null and (s.leased_until <= ${sweepTime}
  or (s.lease_ms > 0 and ${later('s.leased_until', `-(s.lease_ms + ${SET_BACK_MS})`)} > ${sweepTime}))`;
const millis = (time: string): string => `(extract(epoch from ${time}) * 1000)::float8`;
const until = millis('s.leased_until');
const leaseColumns = `s.id, s.token::float8 as token, ${until} as until, s.lease_ms as "leaseMs", s.wait_ms as "waitMs"`;
/** Least time limit of a heartbeat in milliseconds, however short the lease is. */
const LEAST_BEAT_MS = 500;
/** Time limit for reading signals in milliseconds. Short, because the next poll comes soon. */
const SIGNAL_MS = 2_000;
/** Whether the session has an expired lease, whose process died. */
const died = 's.worker is not null';
const needsQuarantine = `(s.quarantined or (${died} and s.deaths + 1 >= ${QUARANTINE_DEATHS}))`;
const signalColumns =
  's.id as "sessionId", s.token::float8 as token, s.stop_reason as "stopReason", s.pause_reason as "pauseReason"';

/** Implements leases and recovery. Each statement locks one session at a time, by id. */
export function sessionLeases(db: Database, schema: string): Leases {
  const { durably, surely, hastily, patiently } = db;
  const watch = new LeaseWatch();

  // must be durable: a token that a server crash loses would be issued twice
  const claimText = `update ${schema}.sessions s set token = nextval('${schema}.tokens'), worker = $2,
      leased_until = ${ttl('$3')}, lease_ms = $3::float8, wait_ms = $4::float8, tries = s.tries + 1,
      deaths = s.deaths + case when ${died} and (s.quarantined or s.deaths < ${QUARANTINE_DEATHS}) then 1 else 0 end,
      quarantined = ${needsQuarantine}
    where s.id = $1 and ${patiently} and ((${isFree})
        or (s.phase = 'open' and s.worker is not null and s.token = $7::bigint and ${until} = $8::float8))
      and s.requires <= $5::integer
      and ($6::boolean or s.stop_reason is not null or not ${needsQuarantine})
    returning ${sessionColumns}, ${until} as until${surely}`;
  const heldText = `select ${leaseColumns} from ${schema}.sessions s
    where s.id = $1 and s.phase = 'open' and s.worker is not null`;

  const held = `s.id = $1 and ${patiently} and s.token = $2::bigint and s.worker is not null`;
  const retryText = `update ${schema}.sessions s set worker = null, leased_until = clock_timestamp(), error = $3,
      wait_ms = case when s.stop_reason is null then $4::float8 else 0 end
    where ${held} returning s.id${durably}`;
  const parkText = `update ${schema}.sessions s set worker = null, leased_until = null, wait_ms = 0, error = $3,
      phase = case when s.stop_reason is null then 'parked' else s.phase end,
      tries = case when s.stop_reason is null then $4::integer else s.tries end,
      parked_at = case when s.stop_reason is null then $5 end,
      updated_at = case when s.stop_reason is null then $5 else s.updated_at end
    where ${held} returning s.id${durably}`;
  const closeText = `update ${schema}.sessions s set worker = null, leased_until = null, wait_ms = 0,
      tries = 0, deaths = 0, quarantined = false, error = null, parked_at = null,
      status = 'stopped', stop_reason = null, pause_reason = null, close_reason = $3,
      requires = greatest(s.requires, ${CLOSING_REQUIRES}), updated_at = $4,
      phase = case when cardinality(s.commands) > 0 then 'open' else 'idle' end
    where ${held} returning s.id${durably}`;

  const named = (ids: string, tokens: string): string =>
    `unnest(${ids}::text[], ${tokens}::bigint[]) as n (id, token)
      join ${schema}.sessions s on s.id = n.id and s.token = n.token`;
  // waits neither for locks nor for the disk: the lease of one session must not expire because of another
  const renewText = `with held as (
      select s.id from ${named('$3', '$4')} where s.worker = $1 for update of s skip locked),
    renewed as (
      update ${schema}.sessions s set leased_until = ${ttl('$2')}, lease_ms = $2::float8
      from held where s.id = held.id
      returning ${signalColumns}, ${until} as until, s.wait_ms as "waitMs")
    select *${hastily} from renewed`;
  const stillHeldText = `select ${signalColumns} from ${named('$2', '$3')} where s.worker = $1`;

  // one index lookup per agent and owner, however many sessions the owner has
  const nextOwner = (condition: string): string => `(select s.owner from ${schema}.sessions s
    where s.phase = 'open' and s.worker is null and s.agent = a.agent and ${condition} order by s.owner limit 1)`;
  const workText = `select page.* from unnest($1::text[], $2::text[]) with ordinality as a (agent, after, place),
    lateral (with recursive owners(owner, n) as (
        select o.owner, 1 from (
          select owner from ${nextOwner('a.after is null')} f
          union all select owner from ${nextOwner('s.owner > a.after')} g) o
        union all
        select o.owner, owners.n + 1 from owners, lateral ${nextOwner('s.owner > owners.owner')} o
        where owners.n < $3::integer),
      found as (
        select w.id, w.updated_at, w.turn from owners, lateral (
          select s.id, s.updated_at, row_number() over (order by s.updated_at, s.id) as turn
          from ${schema}.sessions s
          where s.worker is null and s.agent = a.agent and s.owner = owners.owner
            and ${isFree} and s.requires <= $4::integer
          order by s.updated_at, s.id
          limit (select ceil($3::float8 / greatest(1, count(*)))::bigint from owners)) w)
      select array(select id from found order by turn, updated_at, id limit $3::integer) as ids,
        (select owner from owners where n = $3::integer) as "afterOwner") page
    order by a.place`;
  // the client, not the server, decides whether a doubtful lease has expired
  const isRead = `(${isDoubtful} or ($4::boolean and s.phase = 'open' and s.worker is not null))`;
  const urgentText = `with stopping as (
      select ${leaseColumns}, s.worker is null as "isFree", row_number() over (order by s.updated_at, s.id) as place
      from ${schema}.sessions s
      where s.stop_reason is not null and ((${isFree}) or (${isRead})) and s.requires <= $2::integer
      order by s.updated_at, s.id limit $3::integer),
    expired as (
      select ${leaseColumns}, false as "isFree",
        row_number() over (order by s.leased_until, s.updated_at, s.id) as place from ${schema}.sessions s
      where s.stop_reason is null and ${isRead} and s.requires <= $2::integer and s.agent = any($1::text[])
      order by s.leased_until, s.updated_at, s.id limit $3::integer)
    select ${millis(sweepTime)} as now, coalesce((select json_agg(u order by u.kind, u.place) from (
      select 0 as kind, * from stopping union all select 1, * from expired) u), '[]') as found`;

  /** Claims a session. Returns null if it cannot be claimed as seen, and false if it is locked. */
  async function claim(
    sessionId: string,
    { worker, ttlMs, waitMs = 0, alone = false, reads = READS }: LeaseRequest,
    seen: Pick<SeenLease, 'token' | 'until'> | null,
  ): Promise<SessionRow | null | false> {
    const values = [sessionId, worker, ttlMs, waitMs, integer(reads), alone];
    const rows = await db
      .run<Claimed>(
        'claim a session',
        claimText,
        [...values, seen?.token ?? null, seen?.until ?? null],
        { session: sessionId },
      )
      .catch((error: unknown) => {
        if (isLockedOut(error)) return null;
        throw error;
      });
    if (!rows) return false;
    const [claimed] = rows;
    if (!claimed) return null;
    const { set_config: _, until: end, ...row } = claimed;
    watch.wrote({ id: row.id, token: row.token, until: end, leaseMs: ttlMs, waitMs });
    return row;
  }

  return {
    async claim(sessionId, lease) {
      const seen = watch.outAsSeen(sessionId);
      const row = await claim(sessionId, lease, seen);
      if (row !== null) return row || null;
      const [held] = await db.read<SeenLease>('look at a lease', heldText, [sessionId]);
      if (!held || (seen && isSame(seen, held)) || !watch.isOut(held)) return null;
      return (await claim(sessionId, lease, held)) || null;
    },
    async release(sessionId, token, release) {
      const [text, ...values] =
        release.kind === 'retry'
          ? [retryText, release.error, release.waitMs]
          : release.kind === 'park'
            ? [parkText, release.error, integer(release.tries), release.at]
            : [closeText, release.reason, release.at];
      const done = await db.run('end a try', text, [sessionId, token, ...values], {
        session: sessionId,
      });
      return done.length > 0;
    },
    async renew({ worker, ttlMs, leases }) {
      const values = [
        leases.map(({ sessionId }) => sessionId),
        leases.map(({ token }) => token),
      ] as const;
      const how = {
        isHeartbeat: true,
        isRepeatable: true,
        timeoutMs: Math.max(LEAST_BEAT_MS, ttlMs / 3),
      };
      const run = <Row extends LeaseSignal>(text: string, given: readonly unknown[]) =>
        db.run<Row>('renew leases', text, given, how);
      const extended = await run<LeaseSignal & Pick<SeenLease, 'until' | 'waitMs'>>(renewText, [
        worker,
        ttlMs,
        ...values,
      ]);
      for (const { sessionId: id, ...lease } of extended)
        watch.wrote({ ...lease, id, leaseMs: ttlMs });
      const renewed = extended.map(signalOf);
      if (renewed.length === leases.length) return renewed;
      const done = new Set(renewed.map(({ token }) => token));
      const held = await run(stillHeldText, [worker, ...values]);
      const busy = held.filter(({ token }) => !done.has(token));
      return [...renewed, ...busy.map((lease) => ({ ...lease, isBusy: true as const }))];
    },
    signals: (worker) =>
      db.run(
        'read signals',
        `select ${signalColumns} from ${schema}.sessions s where s.worker = $1 order by s.token`,
        [worker],
        { isHeartbeat: true, timeoutMs: SIGNAL_MS },
      ),
    async urgent({ agents, limit, reads = READS }) {
      // without agents, only sessions to be stopped are read
      const kind = agents.join(' ');
      const values = [agents, integer(reads), integer(limit), watch.isFirst(kind)];
      const askedAt = watch.now;
      const [sweep] = await db.read<Sweep>('find work', urgentText, values);
      if (!sweep) return [];
      watch.sweeps(askedAt, sweep.now, kind, sweep.found.length >= limit);
      const free = sweep.found.filter((lease) => lease.isFree || watch.isOut(lease));
      return free.slice(0, limit).map(({ id }) => id);
    },
    recoverable: ({ agents, limit, reads = READS }) =>
      db.read<RecoverablePage>('find work', workText, [
        agents.map(({ agent }) => agent),
        agents.map(({ afterOwner }) => afterOwner ?? null),
        integer(limit),
        integer(reads),
      ]),
  };
}

type Claimed = SessionRow & { readonly set_config?: string; readonly until: number };

interface Sweep {
  readonly now: number;
  /** Leases of sessions to stop come first. */
  readonly found: readonly (SeenLease & { readonly isFree: boolean })[];
}

const isSame = (
  a: Pick<SeenLease, 'token' | 'until'>,
  b: Pick<SeenLease, 'token' | 'until'>,
): boolean => a.token === b.token && a.until === b.until;

/** Removes the column that sets `synchronous_commit`. */
const signalOf = ({ sessionId, token, stopReason, pauseReason }: LeaseSignal): LeaseSignal => ({
  sessionId,
  token,
  stopReason,
  pauseReason,
});
