import { AgentError } from '../../errors/agent-error.ts';
import type { SqliteDatabase } from './sqlite-database.ts';

/**
 * Rows are kept in the order in which they are written, beside an index, and not inside the index: what many sessions
 * write at once then fills few pages, and pages are what a commit costs. For the same reason history is indexed by era
 * first, a stretch of about a thousand commits of the whole file: the newest entries of all sessions stand together, and
 * `eras` says where those of one session are.
 *
 * Each brings a file from the version before to the next; one that was released is never changed.
 */
export const migrations: readonly string[] = [
  `
  CREATE TABLE sessions (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    owner TEXT NOT NULL,
    agent TEXT NOT NULL,
    status TEXT NOT NULL,
    phase TEXT NOT NULL,
    execution_id TEXT,
    head TEXT NOT NULL,
    revision INTEGER NOT NULL,
    token INTEGER NOT NULL,
    worker TEXT,
    leased_until INTEGER NOT NULL,
    stop_reason TEXT,
    pause_reason TEXT,
    message_count INTEGER NOT NULL,
    step_count INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    last_command INTEGER NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
  ) STRICT;
  CREATE INDEX sessions_of_owner ON sessions (owner, updated_at, id);
  CREATE INDEX sessions_open ON sessions (phase) WHERE phase = 'open';
  CREATE INDEX sessions_held ON sessions (worker) WHERE worker IS NOT NULL;

  CREATE TABLE tokens (last INTEGER NOT NULL) STRICT;
  INSERT INTO tokens (last) VALUES (0);

  CREATE TABLE commands (
    session INTEGER NOT NULL,
    number INTEGER NOT NULL,
    kind TEXT NOT NULL,
    execution_id TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (session, number)
  ) STRICT;

  CREATE TABLE messages (
    session INTEGER NOT NULL,
    agent_id TEXT NOT NULL,
    position INTEGER NOT NULL,
    role TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (session, agent_id, position)
  ) STRICT;
  CREATE INDEX messages_marked ON messages (session, agent_id, role, position)
    WHERE role = 'user' OR role = 'system';

  CREATE TABLE steps (
    session INTEGER NOT NULL,
    agent_id TEXT NOT NULL,
    position INTEGER NOT NULL,
    execution_id TEXT NOT NULL,
    body TEXT NOT NULL,
    mark TEXT NOT NULL,
    PRIMARY KEY (session, agent_id, position)
  ) STRICT;

  CREATE TABLE agents (
    session INTEGER NOT NULL,
    execution_id TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    call_id TEXT NOT NULL,
    head TEXT NOT NULL,
    message_count INTEGER NOT NULL,
    step_count INTEGER NOT NULL,
    PRIMARY KEY (session, execution_id, agent_id)
  ) STRICT;

  CREATE TABLE calls (
    session INTEGER NOT NULL,
    execution_id TEXT NOT NULL,
    call_id TEXT NOT NULL,
    tool TEXT NOT NULL,
    state TEXT NOT NULL,
    token INTEGER NOT NULL,
    starts INTEGER NOT NULL,
    answer TEXT,
    result TEXT,
    PRIMARY KEY (session, execution_id, call_id)
  ) STRICT;
  CREATE INDEX calls_open ON calls (session, execution_id, state)
    WHERE state = 'waiting' OR state = 'decided';

  CREATE TABLE events (
    session INTEGER NOT NULL,
    execution_id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    type TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (session, execution_id, seq)
  ) STRICT;

  CREATE TABLE blobs (
    session INTEGER NOT NULL,
    scope TEXT NOT NULL,
    hash TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (session, scope, hash)
  ) STRICT;
  `,
  `
  ALTER TABLE sessions ADD COLUMN era INTEGER NOT NULL DEFAULT -1;
  UPDATE sessions SET era = 0;
  CREATE TABLE eras (
    session INTEGER NOT NULL,
    era INTEGER NOT NULL,
    PRIMARY KEY (session, era)
  ) STRICT, WITHOUT ROWID;
  INSERT INTO eras (session, era) SELECT key, 0 FROM sessions;

  ALTER TABLE messages RENAME TO old_messages;
  DROP INDEX messages_marked;
  CREATE TABLE messages (
    era INTEGER NOT NULL,
    session INTEGER NOT NULL,
    agent_id TEXT NOT NULL,
    position INTEGER NOT NULL,
    role TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (era, session, agent_id, position)
  ) STRICT;
  INSERT INTO messages SELECT 0, session, agent_id, position, role, body FROM old_messages ORDER BY rowid;
  CREATE INDEX messages_marked ON messages (session, agent_id, role, position)
    WHERE role = 'user' OR role = 'system';
  DROP TABLE old_messages;

  ALTER TABLE steps RENAME TO old_steps;
  CREATE TABLE steps (
    era INTEGER NOT NULL,
    session INTEGER NOT NULL,
    agent_id TEXT NOT NULL,
    position INTEGER NOT NULL,
    execution_id TEXT NOT NULL,
    body TEXT NOT NULL,
    mark TEXT NOT NULL,
    PRIMARY KEY (era, session, agent_id, position)
  ) STRICT;
  INSERT INTO steps SELECT 0, session, agent_id, position, execution_id, body, mark FROM old_steps ORDER BY rowid;
  DROP TABLE old_steps;

  ALTER TABLE events RENAME TO old_events;
  CREATE TABLE events (
    era INTEGER NOT NULL,
    session INTEGER NOT NULL,
    execution_id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    type TEXT NOT NULL,
    body TEXT NOT NULL
  ) STRICT;
  CREATE INDEX events_place ON events (era, session, seq);
  INSERT INTO events SELECT 0, session, execution_id, seq, type, body FROM old_events ORDER BY rowid;
  DROP TABLE old_events;
  `,
];

/** Marks the files that are ours: the letters `onwd`. */
const APPLICATION_ID = 0x6f6e7764;

/** Brings the file to the newest version. Many processes may do this at once: the lock lets one in, the others look again. */
export function migrate(db: SqliteDatabase): void {
  if (versionOf(db) === migrations.length) return;
  db.exec('BEGIN IMMEDIATE');
  try {
    for (const migration of migrations.slice(versionOf(db))) db.exec(migration);
    db.exec(`PRAGMA user_version = ${migrations.length}`);
    db.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
    db.exec('COMMIT');
  } catch (error) {
    db.exec('ROLLBACK');
    throw error;
  }
}

/** The version of the file, if it is one that we can work with. */
function versionOf(db: SqliteDatabase): number {
  const version = numberOf(db, 'PRAGMA user_version');
  const tables = numberOf(db, 'SELECT count(*) FROM sqlite_schema');
  const isOurs = numberOf(db, 'PRAGMA application_id') === APPLICATION_ID;
  if (!isOurs && (version > 0 || tables > 0))
    throw new AgentError(
      'store_failed',
      'The database holds something else than sessions. Give the store a file of its own.',
    );
  if (version > migrations.length)
    throw new AgentError(
      'store_failed',
      `The database has version ${version}, written by a newer release; this one knows versions up to ${migrations.length}. Upgrade onward.`,
      { details: { version, known: migrations.length } },
    );
  return version;
}

const numberOf = (db: SqliteDatabase, sql: string): number =>
  Number(Object.values(db.prepare(sql).get() ?? {})[0]);
