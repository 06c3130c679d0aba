import { REPORT_KEPT_MS, type AgentLoad, type WorkerLoad } from '../../store-requests.ts';
import type { SqliteDatabase } from './sqlite-database.ts';
import { EXPIRED, leaseTimes, plain, type SyncStore } from './sqlite-rows.ts';

type Workers = Pick<SyncStore, 'reportWorker' | 'workload'>;

/** Implements worker reports and the workload. */
export function workers(db: SqliteDatabase): Workers {
  const forget = db.prepare('DELETE FROM workers WHERE worker = ? OR seen < ?');
  const keep = db.prepare('INSERT INTO workers (worker, body, seen) VALUES (?, ?, ?)');
  // one statement for each index: what waits is counted without reading a row
  const agents = db.prepare(
    `WITH counts (agent, waiting, waitingSince, active, recovered, expired, parked) AS (
       SELECT agent, count(*), min(updated_at), 0, 0, 0, 0 FROM sessions INDEXED BY sessions_waiting
         WHERE phase = 'open' AND worker IS NULL GROUP BY agent
       UNION ALL
       SELECT agent, 0, NULL, sum(NOT out), sum(NOT out AND deaths > 0), sum(out), 0 FROM (
         SELECT agent, deaths, ${EXPIRED} AS out FROM sessions INDEXED BY sessions_held
         WHERE worker IS NOT NULL AND phase = 'open') GROUP BY agent
       UNION ALL
       SELECT agent, 0, NULL, 0, 0, 0, count(*) FROM sessions INDEXED BY sessions_parked
         WHERE phase = 'parked' GROUP BY agent)
     SELECT agent, sum(waiting) AS waiting, min(waitingSince) AS waitingSince, sum(active) AS active,
       sum(recovered) AS recovered, sum(expired) AS expired, sum(parked) AS parked
     FROM counts GROUP BY agent ORDER BY agent`,
  );
  const loads = db.prepare(
    `WITH held AS (
       SELECT worker, count(*) AS held, sum(${EXPIRED}) AS expired FROM sessions INDEXED BY sessions_held
       WHERE worker IS NOT NULL GROUP BY worker)
     SELECT worker, ifnull(held, 0) - ifnull(expired, 0) AS leases, ifnull(expired, 0) AS expired, body,
       max(0, ? - seen) AS seenMsAgo
     FROM held FULL JOIN (SELECT * FROM workers WHERE seen >= ?) USING (worker) ORDER BY worker`,
  );

  return {
    reportWorker({ worker, body }) {
      const now = Date.now();
      forget.run(worker, now - REPORT_KEPT_MS);
      if (body !== null) keep.run(worker, body, now);
    },
    workload() {
      const now = Date.now();
      const found = loads.all(...leaseTimes(), now, now - REPORT_KEPT_MS);
      return {
        agents: plain<AgentLoad>(agents.all(...leaseTimes())),
        workers: plain<WorkerLoad>(found),
      };
    },
  };
}
