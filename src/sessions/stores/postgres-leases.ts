import { QUARANTINE_DEATHS, READS, type SessionRow } from '../session-rows.ts';
import type { LeaseSignal, RecoverablePage, SessionStore } from '../session-store.ts';
import { CLOSING_REQUIRES } from './attempt-rules.ts';
import { isLockedOut } from './postgres-errors.ts';
import type { Database } from './postgres-pool.ts';
import { integer, sessionColumns } from './postgres-reads.ts';

type Leases = Pick<
  SessionStore,
  'claim' | 'release' | 'renew' | 'signals' | 'urgent' | 'recoverable'
>;

const later = (from: string, ms: string): string => `${from} + ${ms} * interval '1 millisecond'`;
const ttl = (param: string): string => later('clock_timestamp()', `${param}::float8`);
const isFree = `s.phase = 'open' and ((s.worker is null and s.wait_ms = 0)
  or ${later('s.leased_until', 's.wait_ms')} <= clock_timestamp())`;
/** The least time that a heartbeat has, however short the lease is. */
const LEAST_BEAT_MS = 500;
/** The next poll comes soon. */
const SIGNAL_MS = 2_000;
/** Whether the lease that is there ran out in the process that died with it. */
const died = 's.worker is not null';
const needsQuarantine = `(s.quarantined or (${died} and s.deaths + 1 >= ${QUARANTINE_DEATHS}))`;
const signalColumns =
  's.id as "sessionId", s.token::float8 as token, s.stop_reason as "stopReason", s.pause_reason as "pauseReason"';

/** Who works on a session, and what becomes of tries that fail. Each statement locks one session at a time, by id. */
export function sessionLeases(db: Database, schema: string): Leases {
  const { durably, surely, hastily, patiently } = db;

  // a token that a crash of the server takes back would be given twice
  const claimText = `update ${schema}.sessions s set token = nextval('${schema}.tokens'), worker = $2,
      leased_until = ${ttl('$3')}, wait_ms = $4::float8, tries = s.tries + 1,
      deaths = s.deaths + case when ${died} and (s.quarantined or s.deaths < ${QUARANTINE_DEATHS}) then 1 else 0 end,
      quarantined = ${needsQuarantine}
    where s.id = $1 and ${patiently} and ${isFree} and s.requires <= $5::integer
      and ($6::boolean or s.stop_reason is not null or not ${needsQuarantine})
    returning ${sessionColumns}${surely}`;

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
  // waits for no lock and not for the disk: the lease of one session must not run out for another's sake
  const renewText = `with held as (
      select s.id from ${named('$3', '$4')} where s.worker = $1 for update of s skip locked),
    renewed as (
      update ${schema}.sessions s set leased_until = ${ttl('$2')}
      from held where s.id = held.id
      returning ${signalColumns})
    select *${hastily} from renewed`;
  const stillHeldText = `select ${signalColumns} from ${named('$2', '$3')} where s.worker = $1`;

  // each owner is one look into the index, however many sessions it has
  const workText = (isBehind: '>' | '>='): string => {
    const next = (than: string, is: string): string => `select s.owner from ${schema}.sessions s
      where s.phase = 'open' and s.worker is null and s.agent = $1 and s.owner ${is} ${than} order by s.owner limit 1`;
    return `with recursive owners(owner, n) as (
        select o.owner, 1 from (${next('$2', isBehind)}) o
        union all
        select o.owner, owners.n + 1 from owners, lateral (${next('owners.owner', '>')}) o
        where owners.n < $3::integer),
      found as (
        select w.id, w.updated_at, w.turn from owners, lateral (
          select s.id, s.updated_at, row_number() over (order by s.updated_at, s.id) as turn
          from ${schema}.sessions s
          where s.worker is null and s.agent = $1 and s.owner = owners.owner
            and ${isFree} and s.requires <= $4::integer
          order by s.updated_at, s.id
          limit (select ceil($3::float8 / greatest(1, count(*)))::bigint from owners)) w)
      select array(select id from found order by turn, updated_at, id limit $3::integer) as ids,
        (select owner from owners where n = $3::integer) as "afterOwner"`;
  };
  const urgentText = `with stopping as (
      select s.id, row_number() over (order by s.updated_at, s.id) as place from ${schema}.sessions s
      where s.stop_reason is not null and ${isFree} and s.requires <= $2::integer
      order by s.updated_at, s.id limit $3::integer),
    expired as (
      select s.id, row_number() over (order by s.leased_until, s.updated_at, s.id) as place from ${schema}.sessions s
      where s.worker is not null and s.stop_reason is null and ${isFree} and s.requires <= $2::integer
        and s.agent = any($1::text[])
      order by s.leased_until, s.updated_at, s.id limit $3::integer)
    select id from (select id, 0 as kind, place from stopping union all select id, 1, place from expired) u
    order by kind, place limit $3::integer`;

  return {
    async claim(sessionId, { worker, ttlMs, waitMs = 0, alone = false, reads = READS }) {
      const [claimed] = await db
        .run<SessionRow & { set_config?: string }>(
          'claim a session',
          claimText,
          [sessionId, worker, ttlMs, waitMs, integer(reads), alone],
          { session: sessionId },
        )
        .catch((error: unknown) => {
          if (isLockedOut(error)) return []; // it cannot be had now
          throw error;
        });
      if (!claimed) return null;
      const { set_config: _, ...row } = claimed;
      return row;
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
      const run = (text: string, given: readonly unknown[]): Promise<LeaseSignal[]> =>
        db.run('renew leases', text, given, how);
      const renewed = (await run(renewText, [worker, ttlMs, ...values])).map(signalOf);
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
      const values = [agents, integer(reads), integer(limit)];
      const rows = await db.read<{ id: string }>('find work', urgentText, values);
      return rows.map(({ id }) => id);
    },
    async recoverable({ agent, limit, reads = READS, afterOwner }) {
      const [page] = await db.read<RecoverablePage>(
        'find work',
        workText(afterOwner === undefined ? '>=' : '>'),
        [agent, afterOwner ?? '', integer(limit), integer(reads)],
      );
      return page ?? { ids: [], afterOwner: null };
    },
  };
}

/** Without the column that sets what the transaction waits for. */
const signalOf = ({ sessionId, token, stopReason, pauseReason }: LeaseSignal): LeaseSignal => ({
  sessionId,
  token,
  stopReason,
  pauseReason,
});
