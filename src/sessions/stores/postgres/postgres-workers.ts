import { REPORT_KEPT_MS, type Workload } from '../../store-requests.ts';
import type { SessionStore } from '../../session-store.ts';
import type { Database } from './postgres-pool.ts';

type Workers = Pick<SessionStore, 'reportWorker' | 'workload'>;

const kept = `clock_timestamp() - ${REPORT_KEPT_MS} * interval '1 millisecond'`;

/** Implements worker reports and the workload. */
export function sessionWorkers(db: Database, schema: string): Workers {
  // waits neither for the disk nor for another worker that deletes the same rows
  const reportText = `with forgotten as (
      delete from ${schema}.workers w using (
        select worker from ${schema}.workers where seen < ${kept} and worker <> $1 for update skip locked) old
      where w.worker = old.worker),
    closed as (delete from ${schema}.workers where worker = $1 and $2::text is null),
    reported as (
      insert into ${schema}.workers as w (worker, body, seen)
      select $1, $2, clock_timestamp() where $2::text is not null
      on conflict (worker) do update set body = excluded.body, seen = excluded.seen)
    select 1 as done${db.hastily}`;
  const loadText = `with held as (
      select s.worker, count(*) as held, count(*) filter (where s.leased_until <= clock_timestamp()) as expired
      from ${schema}.sessions s where s.worker is not null group by s.worker),
    loads as (
      select worker, coalesce(held, 0)::integer as held, coalesce(expired, 0)::integer as expired, body,
        case when seen is not null then greatest(0, extract(epoch from clock_timestamp() - seen) * 1000)::float8 end as ms
      from held full join (select * from ${schema}.workers where seen >= ${kept}) w using (worker)),
    counts as (
      select agent, count(*) filter (where phase = 'open' and worker is null)::integer as waiting,
        min(updated_at) filter (where phase = 'open' and worker is null) as since,
        count(*) filter (where leased_until > clock_timestamp())::integer as active,
        count(*) filter (where leased_until > clock_timestamp() and deaths > 0)::integer as recovered,
        count(*) filter (where leased_until <= clock_timestamp())::integer as expired,
        count(*) filter (where phase = 'parked')::integer as parked
      from (
        select agent, phase, worker, updated_at, deaths,
          case when worker is not null and phase = 'open' then leased_until end as leased_until
        from ${schema}.sessions where phase = 'open' or phase = 'parked') s
      group by agent)
    select coalesce((select json_agg(json_build_object('agent', agent, 'waiting', waiting, 'waitingSince', since,
        'active', active, 'recovered', recovered, 'expired', expired, 'parked', parked) order by agent)
        from counts), '[]') as agents,
      coalesce((select json_agg(json_build_object('worker', worker, 'leases', held - expired, 'expired', expired,
        'body', body, 'seenMsAgo', ms) order by worker) from loads), '[]') as workers`;

  return {
    async reportWorker({ worker, body }) {
      await db.run('report a worker', reportText, [worker, body], { isRepeatable: true });
    },
    async workload() {
      const [found] = await db.read<Workload>('count the work', loadText, []);
      return found ?? { agents: [], workers: [] };
    },
  };
}
