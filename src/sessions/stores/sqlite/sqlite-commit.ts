import type { CallState, MessageRow, RunRow } from '../../session-rows.ts';
import type { CallWrite, Commit, CommitReceipt } from '../../session-store.ts';
import type { SqliteDatabase } from './sqlite-database.ts';
import { hasProgress } from '../attempt-rules.ts';
import { NOW, RECEIPT, type SyncStore } from './sqlite-rows.ts';
import { revisionConflict, staleOwner, startConflict } from '../store-errors.ts';

/** Prepares the commit, the write of every step. It refuses a commit before it writes anything. */
export function commits(db: SqliteDatabase): Pick<SyncStore, 'commit'> {
  // read first, then written by key: a write that also returns the row costs twice as much. Few columns, because each
  // has a cost
  const held = db.prepare(
    `SELECT key, era, max(era, ${NOW}) AS now, stop_reason AS stopReason, pause_reason AS pauseReason FROM sessions
     WHERE id = ? AND token = ? AND revision = ? AND worker IS NOT NULL`,
  );
  const found = db.prepare(`SELECT token, revision, worker, ${RECEIPT} FROM sessions WHERE id = ?`);
  const enterEra = db.prepare('INSERT INTO eras (session, era) VALUES (?, ?)');
  const touched = `UPDATE sessions SET era = ?, revision = revision + 1, seq = ifnull(?, seq), tries = tries * ?,
    quarantined = quarantined * ?`;
  const touch = db.prepare(`${touched} WHERE key = ?`);
  const touchRoot = db.prepare(
    `${touched}, head = ?, status = ?, execution_id = ?, message_count = ?, step_count = ?, requires = ?
     WHERE key = ?`,
  );
  /** Separate, because it moves the session in an index. */
  const moveUp = db.prepare('UPDATE sessions SET updated_at = ? WHERE key = ?');
  const callState = db.prepare(
    'SELECT state FROM calls WHERE session = ? AND execution_id = ? AND call_id = ?',
  );
  const newMessage = `INSERT INTO messages (era, session, agent_id, position, role, body) VALUES (?, ?, ?, ?, ?, ?)`;
  const addMessage = db.prepare(newMessage);
  const addTwoMessages = db.prepare(`${newMessage}, (?, ?, ?, ?, ?, ?)`);
  const addStep = db.prepare(
    'INSERT INTO steps (era, session, agent_id, position, execution_id, body, mark) VALUES (?, ?, ?, ?, ?, ?, ?)',
  );
  const addCompaction = db.prepare(
    'INSERT INTO compactions (session, agent_id, position, kind, to_position, body) VALUES (?, ?, ?, ?, ?, ?)',
  );
  const addEvent = db.prepare(
    'INSERT INTO events (era, session, execution_id, seq, type, body) VALUES (?, ?, ?, ?, ?, ?)',
  );
  const putAgent = db.prepare(
    `INSERT OR REPLACE INTO agents (session, execution_id, agent_id, call_id, head, message_count, step_count)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
  );
  const putRun = db.prepare(
    `INSERT OR REPLACE INTO runs (session, execution_id, owner, agent, started_at, ended_at, status, stop_reason, model,
     cost, session_cost, errors, body)
     SELECT key, ?, owner, agent, ?, ?, ?, ?, ?, ?, ?, ?, ? FROM sessions WHERE key = ?`,
  );
  const addBlob = db.prepare(
    'INSERT OR IGNORE INTO blobs (session, scope, hash, body) VALUES (?, ?, ?, ?)',
  );
  const addCall = `INSERT INTO calls (session, execution_id, call_id, tool, state, token, starts, answer, result)
    VALUES (?, ?, ?, ?`;
  const wait = db.prepare(`${addCall}, 'waiting', 0, 0, NULL, NULL) ON CONFLICT DO NOTHING`);
  const start = db.prepare(
    `${addCall}, 'started', ?, 1, NULL, NULL) ON CONFLICT DO UPDATE
     SET state = 'started', token = excluded.token, starts = starts + 1 WHERE state <> 'committed'`,
  );
  const finish = db.prepare(
    `UPDATE calls SET state = 'committed', result = ?
     WHERE session = ? AND execution_id = ? AND call_id = ? AND state <> 'committed'`,
  );
  const addFinished = db.prepare(`${addCall}, 'committed', 0, 0, NULL, ?) ON CONFLICT DO NOTHING`);
  const removeCommand = db.prepare('DELETE FROM commands WHERE session = ? AND number = ?');
  const nextCommand = 'EXISTS (SELECT 1 FROM commands WHERE session = key)';
  const decidedCall = `EXISTS (SELECT 1 FROM calls WHERE session = key AND calls.execution_id = sessions.execution_id
    AND state = 'decided')`;
  // if there is more to do, the lease is kept and the next work counts as its first try
  const endIn = (phase: string, hasMore: string, cleared: string): string =>
    `UPDATE sessions SET ${cleared}, tries = ${hasMore}, phase = CASE WHEN ${hasMore} THEN 'open' ELSE '${phase}' END,
     worker = CASE WHEN ${hasMore} THEN worker ELSE NULL END, wait_ms = CASE WHEN ${hasMore} THEN wait_ms ELSE 0 END
     WHERE key = ? RETURNING ${RECEIPT}`;
  const ends = {
    ended: db.prepare(
      endIn(
        'idle',
        nextCommand,
        `stop_reason = NULL, pause_reason = NULL, close_reason = NULL, deaths = 0, quarantined = 0, error = NULL`,
      ),
    ),
    paused: db.prepare(
      endIn(
        'paused',
        `(stop_reason IS NOT NULL OR ${decidedCall})`,
        'pause_reason = NULL, error = NULL',
      ),
    ),
    handover: db.prepare(
      `UPDATE sessions SET worker = NULL, wait_ms = 0, tries = max(0, tries - 1) WHERE key = ? RETURNING ${RECEIPT}`,
    ),
  };

  /** Returns the first call that would start although it is not allowed to. */
  function badStart(key: number, calls: readonly CallWrite[]): CallWrite | undefined {
    const starts = calls.filter(({ state }) => state === 'started');
    return starts.find((write, i) => {
      const { executionId, callId, again } = write;
      const row = callState.get(key, executionId, callId) as { state: CallState } | undefined;
      const isRepeated =
        row?.state === 'started' ||
        starts.slice(0, i).some((s) => s.callId === callId && s.executionId === executionId);
      return row?.state === 'committed' || (isRepeated && again !== true);
    });
  }

  function writeCall(key: number, token: number, write: CallWrite): void {
    const { executionId, callId, tool, state, result = null } = write;
    if (state === 'waiting') wait.run(key, executionId, callId, tool);
    else if (state === 'started') start.run(key, executionId, callId, tool, token);
    else if (Number(finish.run(result, key, executionId, callId).changes) === 0)
      addFinished.run(key, executionId, callId, tool, result);
  }

  /** Writes messages. Two go into one statement, because most steps have two and each statement has a cost. */
  function writeMessages(era: number, key: number, messages: readonly MessageRow[]): void {
    const [a, b] = messages;
    if (a && b && messages.length === 2)
      // prettier-ignore
      addTwoMessages.run(
        era, key, a.agentId, a.position, a.role, a.body,
        era, key, b.agentId, b.position, b.role, b.body,
      );
    else
      for (const row of messages)
        addMessage.run(era, key, row.agentId, row.position, row.role, row.body);
  }

  // prettier-ignore
  const writeRun = (key: number, run: RunRow): void => void putRun.run(
    run.executionId, run.startedAt, run.endedAt, run.status, run.stopReason, run.model, run.cost, run.sessionCost,
    run.errors, run.body, key,
  );

  /** Handles a commit that does not match the session: it was written before, or the worker has lost the session. */
  function withoutWriting(commit: Commit): CommitReceipt {
    const row = found.get(commit.sessionId) as Found | undefined;
    if (row?.token !== commit.token) throw staleOwner(commit);
    if (commit.revision < row.revision) return receiptOf(row);
    if (row.worker === null) throw staleOwner(commit);
    throw revisionConflict(commit, row.revision);
  }

  return {
    commit(commit) {
      const { sessionId, token, root, at, seq = null } = commit;
      const row = held.get(sessionId, token, commit.revision) as Held | undefined;
      if (!row) return withoutWriting(commit);
      const { key, now } = row;
      const refused = commit.calls && badStart(key, commit.calls);
      if (refused) throw startConflict(commit, refused.callId);
      if (now !== row.era) enterEra.run(key, now);
      const counts = [hasProgress(commit) ? 0 : 1, commit.endsQuarantine ? 0 : 1] as const;
      if (root) {
        const { head, status, executionId, messageCount, stepCount, requires = 1 } = root;
        // prettier-ignore
        touchRoot.run(
          now, seq, ...counts, head, status, executionId, messageCount, stepCount, requires, key,
        );
      } else touch.run(now, seq, ...counts, key);
      if (at !== undefined) moveUp.run(at, key);
      if (commit.messages) writeMessages(now, key, commit.messages);
      for (const row of commit.steps ?? [])
        addStep.run(now, key, row.agentId, row.position, row.executionId, row.body, row.mark);
      for (const row of commit.compactions ?? [])
        addCompaction.run(key, row.agentId, row.position, row.kind, row.toPosition, row.body);
      for (const row of commit.events ?? [])
        addEvent.run(now, key, row.executionId, row.seq, row.type, row.body);
      for (const row of commit.agents ?? [])
        putAgent.run(
          key,
          row.executionId,
          row.agentId,
          row.callId,
          row.head,
          row.messageCount,
          row.stepCount,
        );
      for (const row of commit.blobs ?? []) addBlob.run(key, row.scope, row.hash, row.body);
      for (const write of commit.calls ?? []) writeCall(key, token, write);
      if (commit.run) writeRun(key, commit.run);
      if (commit.done !== undefined) removeCommand.run(key, commit.done);
      if (commit.end) return receiptOf(ends[commit.end].get(key));
      const { stopReason, pauseReason } = row;
      return { phase: 'open', stopReason, pauseReason };
    },
  };
}

interface Held extends Omit<CommitReceipt, 'phase'> {
  readonly key: number;
  /** The newest era with rows of the session, and the one that this commit belongs to. */
  readonly era: number;
  readonly now: number;
}

interface Found extends CommitReceipt {
  readonly token: number;
  readonly revision: number;
  readonly worker: string | null;
}

function receiptOf(row: unknown): CommitReceipt {
  const { phase, stopReason, pauseReason } = row as CommitReceipt;
  return { phase, stopReason, pauseReason };
}
