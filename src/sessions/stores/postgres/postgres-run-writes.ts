import type { PreparedCommit } from './postgres-commit-arrays.ts';

/** Returns the run records of commits as JSON; null if they have none. */
export function runsIn(commits: readonly PreparedCommit[]): string | null {
  const runs = commits.flatMap(({ commit: { sessionId, run } }) =>
    run ? [{ ...run, sessionId }] : [],
  );
  return runs.length === 0 ? null : JSON.stringify(runs);
}

/**
 * Extends a statement that writes commits by their run records, which are parameter number `parameter`. Those of a commit
 * that is not written are not either.
 */
export const withRuns = (schema: string, written: string, parameter: number): string => `
    with written as (${written}),
    runs_written as (
      insert into ${schema}.runs (session_id, owner, agent, execution_id, started_at, ended_at, status, stop_reason,
        model, cost, session_cost, errors, body)
      select s.id, s.owner, s.agent, r."executionId", r."startedAt", r."endedAt", r.status, r."stopReason",
        r.model, r.cost, r."sessionCost", r.errors, r.body
      from written w
      join json_to_recordset($${parameter}::json) as r("sessionId" text, "executionId" text, "startedAt" text,
        "endedAt" text, status text, "stopReason" text, model text, cost float8, "sessionCost" float8, errors integer,
        body text) on r."sessionId" = w."sessionId"
      join ${schema}.sessions s on s.id = w."sessionId"
      on conflict (session_id, execution_id) do update set started_at = excluded.started_at,
        ended_at = excluded.ended_at, status = excluded.status, stop_reason = excluded.stop_reason,
        model = excluded.model, cost = excluded.cost, session_cost = excluded.session_cost,
        errors = excluded.errors, body = excluded.body)
    select * from written`;
