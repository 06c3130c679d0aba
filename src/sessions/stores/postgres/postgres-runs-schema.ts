/**
 * Migration to run records, and to indexes of the sessions that may need a person. By the trigger of earlier
 * migrations, none is left of a session that an earlier release deletes.
 */
export const runsSchema = (schema: string): string => `
    create table ${schema}.runs (
      session_id text collate "C", execution_id text collate "C",
      owner text collate "C" not null,
      agent text collate "C" not null,
      started_at text collate "C" not null,
      ended_at text collate "C" not null,
      status text collate "C" not null,
      stop_reason text,
      model text collate "C",
      cost float8,
      session_cost float8,
      errors integer not null,
      body text not null,
      primary key (session_id, execution_id)
    );
    create index runs_of_session on ${schema}.runs (session_id, ended_at);
    create index runs_of_owner on ${schema}.runs (owner, ended_at);
    create index runs_by_end on ${schema}.runs (ended_at);
    create index sessions_paused on ${schema}.sessions (updated_at, id) where phase = 'paused';
    create index sessions_failed on ${schema}.sessions (updated_at, id) where phase = 'idle' and status = 'failed';
    create function ${schema}.forget_runs() returns trigger language plpgsql as 'begin
      delete from ${schema}.runs where session_id = old.id; return old; end';
    create trigger forget_runs after delete on ${schema}.sessions for each row
      execute function ${schema}.forget_runs();`;
