import { AgentError } from '../../../errors/agent-error.ts';
import { isMissingTable } from './postgres-errors.ts';
import { commitMigration } from './postgres-commit-migration.ts';
import { runsSchema } from './postgres-runs-schema.ts';
import {
  type Deadlines,
  fingerprint,
  inTransaction,
  onClient,
  type PoolLike,
} from './postgres-client.ts';

/**
 * One entry per version, never changed once released, and only additions: processes of the release before keep working.
 * One that they cannot work with sets the default of `migrations.oldest` to its own version. `commands` and `decided` repeat on the session what other tables
 * hold: a statement that waited for a row sees the newest version of that row, but not of others.
 */
const migrations: readonly ((schema: string) => string)[] = [
  (schema) => `
    create sequence ${schema}.tokens;
    create table ${schema}.sessions (
      id text collate "C" primary key,
      owner text collate "C" not null,
      agent text collate "C" not null,
      status text collate "C" not null,
      phase text collate "C" not null default 'idle',
      execution_id text collate "C",
      head text not null,
      revision integer not null default 0,
      token bigint not null default 0,
      worker text collate "C",
      leased_until timestamptz,
      stop_reason text,
      pause_reason text,
      message_count integer not null,
      step_count integer not null,
      seq integer not null default 0,
      created_at text collate "C" not null,
      updated_at text collate "C" not null,
      last_command integer not null default 0,
      commands integer[] not null default '{}',
      decided text[] collate "C" not null default '{}',
      pruned_revision integer
    );
    create index sessions_by_owner on ${schema}.sessions (owner, updated_at, id);
    create index sessions_by_change on ${schema}.sessions (updated_at, id);
    create index sessions_open on ${schema}.sessions (updated_at, id) where phase = 'open';
    create index sessions_by_worker on ${schema}.sessions (worker) where worker is not null;
    create table ${schema}.messages (
      session_id text collate "C",
      agent_id text collate "C",
      position integer,
      role text collate "C" not null,
      body text not null,
      primary key (session_id, agent_id, position)
    );
    create index messages_marked on ${schema}.messages (session_id, agent_id, role, position)
      where role = 'user' or role = 'system';
    create table ${schema}.steps (
      session_id text collate "C",
      agent_id text collate "C",
      position integer,
      execution_id text collate "C" not null,
      body text not null,
      mark text not null,
      primary key (session_id, agent_id, position)
    );
    create table ${schema}.agents (
      session_id text collate "C",
      execution_id text collate "C",
      agent_id text collate "C",
      call_id text collate "C" not null,
      head text not null,
      message_count integer not null,
      step_count integer not null,
      primary key (session_id, execution_id, agent_id)
    );
    create table ${schema}.calls (
      session_id text collate "C",
      execution_id text collate "C",
      call_id text collate "C",
      tool text not null,
      state text collate "C" not null,
      token bigint not null,
      starts integer not null,
      answer text,
      result text,
      primary key (session_id, execution_id, call_id)
    );
    create index calls_open on ${schema}.calls (session_id, execution_id, state)
      where state = 'waiting' or state = 'decided';
    create table ${schema}.events (
      session_id text collate "C",
      execution_id text collate "C",
      seq integer,
      type text not null,
      body text not null,
      primary key (session_id, execution_id, seq)
    );
    create table ${schema}.blobs (
      session_id text collate "C",
      hash text collate "C",
      scope text collate "C",
      body text not null,
      primary key (session_id, hash, scope)
    );
    create table ${schema}.commands (
      session_id text collate "C",
      number integer,
      kind text collate "C" not null,
      execution_id text collate "C" not null,
      body text not null,
      at text not null,
      primary key (session_id, number)
    );`,
  // release 0.1.0 may still be running: every column has a default, and its claims, which count no try, are refused
  // where a row needs a newer release
  (schema) => `
    alter table ${schema}.sessions
      add column tries integer not null default 0,
      add column deaths integer not null default 0,
      add column quarantined boolean not null default false,
      add column wait_ms float8 not null default 0,
      add column error text,
      add column parked_at text collate "C",
      add column close_reason text,
      add column requires integer not null default 1;
    create index sessions_waiting on ${schema}.sessions (agent, owner, updated_at, id)
      where phase = 'open' and worker is null;
    create index sessions_stopping on ${schema}.sessions (updated_at, id)
      where phase = 'open' and stop_reason is not null;
    create index sessions_parked on ${schema}.sessions (updated_at, id) where phase = 'parked';
    create function ${schema}.requires_newer() returns trigger language plpgsql as 'begin return null; end';
    create trigger requires_newer before update of token on ${schema}.sessions for each row
      when (old.requires > 1 and new.tries = old.tries) execute function ${schema}.requires_newer();`,
  (schema) => `
    create table ${schema}.executions (
      session_id text collate "C",
      execution_id text collate "C",
      content_hash text,
      primary key (session_id, execution_id)
    );
    insert into ${schema}.executions (session_id, execution_id)
      select session_id, execution_id from ${schema}.steps where agent_id = ''
      union select session_id, execution_id from ${schema}.commands where kind = 'message'
      union select id, execution_id from ${schema}.sessions where execution_id is not null;`,
  // for processes of 0.1.0 that run beside: they leave alone what waits or needs a worker of its own, do not wake what is
  // parked, and what they accept and delete is remembered and forgotten
  (schema) => `
    alter table ${schema}.migrations add column oldest integer not null default 4;
    alter table ${schema}.commands add column release integer not null default 1;
    create trigger not_for_older before update of token on ${schema}.sessions for each row
      when (new.tries = old.tries and (old.quarantined or old.wait_ms > 0)) execute function ${schema}.requires_newer();
    create function ${schema}.stays_parked() returns trigger language plpgsql as
      'begin new.phase = old.phase; return new; end';
    create trigger stays_parked before update of phase on ${schema}.sessions for each row
      when (old.phase = 'parked' and new.phase = 'open' and new.parked_at is not null and new.stop_reason is null)
      execute function ${schema}.stays_parked();
    create function ${schema}.stops_parked() returns trigger language plpgsql as
      'begin new.parked_at = null; new.error = null; new.wait_ms = 0; return new; end';
    create trigger stops_parked before update of phase on ${schema}.sessions for each row
      when (old.phase = 'parked' and new.phase = 'open' and new.parked_at is not null and new.stop_reason is not null)
      execute function ${schema}.stops_parked();
    create function ${schema}.remember_message() returns trigger language plpgsql as 'begin
      insert into ${schema}.executions (session_id, execution_id) values (new.session_id, new.execution_id)
      on conflict do nothing; return new; end';
    create trigger remember_message after insert on ${schema}.commands for each row
      when (new.release = 1 and new.kind = 'message') execute function ${schema}.remember_message();
    create function ${schema}.forget_messages() returns trigger language plpgsql as 'begin
      delete from ${schema}.executions where session_id = old.id; return old; end';
    create trigger forget_messages after delete on ${schema}.sessions for each row
      execute function ${schema}.forget_messages();`,
  (schema) => `alter table ${schema}.sessions add column lease_ms float8 not null default 0;`,
  // by a trigger, so that what release 0.1.0 lets wait is remembered too. A call that was closed while it waited was
  // never started
  (schema) => `
    create table ${schema}.waits (
      session_id text collate "C",
      call_id text collate "C",
      execution_id text collate "C",
      primary key (session_id, call_id, execution_id)
    );
    insert into ${schema}.waits (session_id, call_id, execution_id)
      select session_id, call_id, execution_id from ${schema}.calls where starts = 0 or answer is not null;
    create function ${schema}.remember_wait() returns trigger language plpgsql as 'begin
      insert into ${schema}.waits values (new.session_id, new.call_id, new.execution_id) on conflict do nothing;
      return null;
    end';
    create trigger remember_wait after insert on ${schema}.calls for each row
      when (new.state = 'waiting') execute function ${schema}.remember_wait();
    create or replace function ${schema}.forget_messages() returns trigger language plpgsql as 'begin
      delete from ${schema}.executions where session_id = old.id;
      delete from ${schema}.waits where session_id = old.id; return old; end';`,
  (schema) => `
    create table ${schema}.workers (
      worker text collate "C" primary key,
      body text not null,
      seen timestamptz not null
    );`,
  (schema) =>
    `alter table ${schema}.sessions add column retried_by text, add column retried_at text collate "C";`,
  (schema) => `
    create table ${schema}.compactions (
      session_id text collate "C", agent_id text collate "C", position integer,
      kind text collate "C" not null,
      to_position integer not null,
      body text not null,
      primary key (session_id, agent_id, position)
    );
    create index compactions_summary on ${schema}.compactions (session_id, agent_id, position) where kind = 'summary';
    create or replace function ${schema}.forget_messages() returns trigger language plpgsql as 'begin
      delete from ${schema}.executions where session_id = old.id;
      delete from ${schema}.compactions where session_id = old.id;
      delete from ${schema}.waits where session_id = old.id; return old; end';`,
  commitMigration,
  runsSchema,
];

/** Migrates the schema to the newest version. Any number of processes may do this at the same time. */
export async function migrate(pool: PoolLike, schema: string, deadlines: Deadlines): Promise<void> {
  // the column came with version 4
  const version = `select coalesce(max(version), 0) as version, max((to_jsonb(m) ->> 'oldest')::integer) as oldest
    from ${schema}.migrations m`;
  const found = await onClient(pool, deadlines, (send) => send({ text: version })).catch(
    (error: unknown) => {
      if (isMissingTable(error)) return null;
      throw error;
    },
  );
  if (found && !isBehind(found, schema)) return;

  const patient = { ...deadlines, statementMs: MIGRATION_MS };
  await inTransaction(pool, patient, [], async (run) => {
    await run('select pg_advisory_xact_lock($1, $2)', [LOCK, fingerprint(schema) | 0]);
    // PostgreSQL checks the CREATE privilege even if the schema exists
    const [named] = await run<{ missing: boolean }>(
      'select to_regnamespace($1) is null as missing',
      [schema],
    );
    if (named?.missing) await run(`create schema if not exists ${schema}`);
    await run(
      `create table if not exists ${schema}.migrations (version integer primary key, at timestamptz not null default now())`,
    );
    const rows = await run<Version>(version);
    if (!isBehind(rows, schema)) return;
    const from = rows[0]?.version ?? 0;
    for (const [i, sql] of migrations.entries())
      if (i >= from) {
        await run(sql(schema));
        await run(`insert into ${schema}.migrations (version) values ($1)`, [i + 1]);
      }
  });
}

/** Time limit in milliseconds, for statements over large tables and for the wait until another process is done. */
const MIGRATION_MS = 600_000;

/** Key of this store among the advisory locks of the database. */
const LOCK = 0x6f6e7764;

interface Version {
  readonly version: number;
  /** Oldest version that a release must know to work with these tables. */
  readonly oldest: number | null;
}

function isBehind(rows: readonly unknown[], schema: string): boolean {
  const { version, oldest } = rows[0] as Version;
  const known = migrations.length;
  if (version > known && (oldest === null || oldest > known))
    throw new AgentError(
      'store_failed',
      `The tables in schema ${schema} have version ${version}, and this release of onward knows ` +
        `versions up to ${known}. Upgrade onward on this machine.`,
      { details: { schema, version, known } },
    );
  return version < known;
}
