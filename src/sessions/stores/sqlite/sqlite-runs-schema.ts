/**
 * Migration to run records, and to indexes of the sessions that may need a person. By a trigger, none is left of a
 * session that an earlier release deletes.
 */
export const runsSchema = `
  CREATE TABLE runs (
    session INTEGER NOT NULL,
    execution_id TEXT NOT NULL,
    owner TEXT NOT NULL,
    agent TEXT NOT NULL,
    started_at TEXT NOT NULL,
    ended_at TEXT NOT NULL,
    status TEXT NOT NULL,
    stop_reason TEXT,
    model TEXT,
    cost REAL,
    session_cost REAL,
    errors INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (session, execution_id)
  ) STRICT;
  CREATE INDEX runs_of_session ON runs (session, ended_at);
  CREATE INDEX runs_of_owner ON runs (owner, ended_at);
  CREATE INDEX runs_by_end ON runs (ended_at);
  CREATE INDEX sessions_paused ON sessions (updated_at, id) WHERE phase = 'paused';
  CREATE INDEX sessions_failed ON sessions (updated_at, id) WHERE phase = 'idle' AND status = 'failed';
  CREATE TRIGGER forget_runs AFTER DELETE ON sessions
    WHEN NOT EXISTS (SELECT 1 FROM remains WHERE key = OLD.key)
    BEGIN
      UPDATE runs SET body = CAST(zeroblob(octet_length(body)) AS TEXT) WHERE session = OLD.key;
      DELETE FROM runs WHERE session = OLD.key;
    END;
  `;
