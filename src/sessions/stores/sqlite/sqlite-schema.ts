import { runsSchema } from './sqlite-runs-schema.ts';

/**
 * Rows are kept in the order in which they are written, beside an index, and not inside the index: what many sessions
 * write at once then fills few pages, and pages are what a commit costs. For the same reason history is indexed by era
 * first, a range of about a thousand commits of the whole file: the newest entries of all sessions are next to each other, and
 * `eras` says where those of one session are.
 *
 * Each brings a file from the version before to the next. None is ever changed: a test compares their hashes, and
 * another one opens files of each version. A migration only adds, so that processes of the previous release can keep the
 * file open; one that they cannot work with sets `compatibility.oldest` to its own version.
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
  `
  CREATE INDEX IF NOT EXISTS calls_open ON calls (session, execution_id, state)
    WHERE state = 'waiting' OR state = 'decided';
  CREATE INDEX IF NOT EXISTS events_place ON events (era, session, seq);
  CREATE TABLE compatibility (version INTEGER NOT NULL, oldest INTEGER NOT NULL) STRICT;
  INSERT INTO compatibility (version, oldest) VALUES (3, 3);
  `,
  // release 0.1.0 may still be running: every column has a default, and its claims, which count no try, are refused
  // where a row needs a newer release
  `
  ALTER TABLE sessions ADD COLUMN tries INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE sessions ADD COLUMN deaths INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE sessions ADD COLUMN quarantined INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE sessions ADD COLUMN wait_ms INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE sessions ADD COLUMN error TEXT;
  ALTER TABLE sessions ADD COLUMN parked_at TEXT;
  ALTER TABLE sessions ADD COLUMN close_reason TEXT;
  ALTER TABLE sessions ADD COLUMN requires INTEGER NOT NULL DEFAULT 1;
  CREATE INDEX sessions_waiting ON sessions (agent, owner, updated_at, id) WHERE phase = 'open' AND worker IS NULL;
  CREATE INDEX sessions_stopping ON sessions (updated_at, id) WHERE phase = 'open' AND stop_reason IS NOT NULL;
  CREATE INDEX sessions_parked ON sessions (updated_at, id) WHERE phase = 'parked';
  CREATE TRIGGER requires_newer BEFORE UPDATE OF token ON sessions
    WHEN OLD.requires > 1 AND NEW.tries = OLD.tries
    BEGIN SELECT RAISE(IGNORE); END;
  `,
  `
  CREATE TABLE executions (
    session INTEGER NOT NULL,
    execution_id TEXT NOT NULL,
    content_hash TEXT,
    PRIMARY KEY (session, execution_id)
  ) STRICT;
  INSERT INTO executions (session, execution_id)
    SELECT session, execution_id FROM steps WHERE agent_id = ''
    UNION SELECT session, execution_id FROM commands WHERE kind = 'message'
    UNION SELECT key, execution_id FROM sessions WHERE execution_id IS NOT NULL;
  `,
  // leased_until stays for a release that goes by the wall clock; these are of the lease with that token
  `
  ALTER TABLE sessions ADD COLUMN lease_token INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE sessions ADD COLUMN lease_boot TEXT NOT NULL DEFAULT '';
  ALTER TABLE sessions ADD COLUMN lease_end INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE sessions ADD COLUMN lease_ms INTEGER NOT NULL DEFAULT 0;
  `,
  // by a trigger, so that what release 0.1.0 lets wait is remembered too. A call that was closed while it waited was
  // never started
  `
  CREATE TABLE waits (
    session INTEGER NOT NULL,
    call_id TEXT NOT NULL,
    execution_id TEXT NOT NULL,
    PRIMARY KEY (session, call_id, execution_id)
  ) STRICT, WITHOUT ROWID;
  INSERT INTO waits (session, call_id, execution_id)
    SELECT session, call_id, execution_id FROM calls WHERE starts = 0 OR answer IS NOT NULL;
  CREATE TRIGGER remember_wait AFTER INSERT ON calls WHEN NEW.state = 'waiting'
    BEGIN INSERT OR IGNORE INTO waits VALUES (NEW.session, NEW.call_id, NEW.execution_id); END;
  `,
  // keys that have rows and no session: what is left of a deleted one, or, with a fork, what is copied so far. A new
  // session must not get such a key, also one that an earlier release makes
  `
  CREATE TABLE remains (
    key INTEGER PRIMARY KEY,
    fork TEXT,
    lease_boot TEXT NOT NULL DEFAULT '',
    lease_end INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  CREATE TRIGGER new_key AFTER INSERT ON sessions WHEN EXISTS (SELECT 1 FROM remains WHERE key = NEW.key)
    BEGIN UPDATE sessions SET key = 1 + max((SELECT max(key) FROM sessions), (SELECT max(key) FROM remains))
      WHERE key = NEW.key; END;
  `,
  // seen: milliseconds since the epoch
  `
  CREATE TABLE workers (
    worker TEXT PRIMARY KEY,
    body TEXT NOT NULL,
    seen INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  `,
  `
  ALTER TABLE sessions ADD COLUMN retried_by TEXT;
  ALTER TABLE sessions ADD COLUMN retried_at TEXT;
  `,
  // by a trigger, so that none is left of a session that an earlier release deletes
  `
  CREATE TABLE compactions (
    session INTEGER NOT NULL,
    agent_id TEXT NOT NULL,
    position INTEGER NOT NULL,
    kind TEXT NOT NULL,
    to_position INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (session, agent_id, position)
  ) STRICT;
  CREATE INDEX compactions_summary ON compactions (session, agent_id, position) WHERE kind = 'summary';
  CREATE TRIGGER forget_compactions AFTER DELETE ON sessions
    WHEN NOT EXISTS (SELECT 1 FROM remains WHERE key = OLD.key)
    BEGIN
      UPDATE compactions SET body = CAST(zeroblob(octet_length(body)) AS TEXT) WHERE session = OLD.key;
      DELETE FROM compactions WHERE session = OLD.key;
    END;
  `,
  runsSchema,
];

/**
 * SQL that runs before the migration from a version, for files that were written before the migrations were frozen. The
 * first files of version 1 lack an index that the next migration drops.
 */
export const repairs: ReadonlyMap<number, string> = new Map([
  [
    1,
    `CREATE INDEX IF NOT EXISTS messages_marked ON messages (session, agent_id, role, position)
     WHERE role = 'user' OR role = 'system'`,
  ],
]);
