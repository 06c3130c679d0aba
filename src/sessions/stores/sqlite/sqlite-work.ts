import { utf8Bytes } from '../../../json.ts';
import type { CallState, CommandRow, SessionPhase } from '../../session-rows.ts';
import type { WaitingLimit } from '../../session-store.ts';
import { isFullFor, mayAccept, repeatOf } from '../session-rules.ts';
import type { SqliteDatabase } from './sqlite-database.ts';
import { KEY, NO_ATTEMPTS, type SyncStore } from './sqlite-rows.ts';

type Work = Pick<SyncStore, 'accept' | 'nextCommand' | 'decide' | 'request'>;

interface Found {
  readonly phase: SessionPhase;
  readonly revision: number;
  readonly executionId: string | null;
}

interface Known {
  readonly contentHash: string | null;
}

/** Opens a session that has work to do, unless it is parked. */
const AWAKE = `phase = CASE phase WHEN 'parked' THEN phase ELSE 'open' END`;

/** Implements commands, answers and requests. */
export function work(db: SqliteDatabase): Work {
  const find = db.prepare(
    'SELECT phase, revision, execution_id AS executionId FROM sessions WHERE id = ?',
  );
  const addCommand = db.prepare(
    `INSERT INTO commands (session, number, kind, execution_id, body)
     SELECT key, last_command + 1, ?, ?, ? FROM sessions WHERE id = ?`,
  );
  const openForCommand = db.prepare(
    `UPDATE sessions SET ${AWAKE}, updated_at = ?, last_command = last_command + 1, requires = max(requires, ?)
     WHERE id = ?`,
  );
  const knownHash = db.prepare(
    `SELECT content_hash AS contentHash FROM executions WHERE session = ${KEY} AND execution_id = ?`,
  );
  const remember = db.prepare(
    `INSERT INTO executions (session, execution_id, content_hash) VALUES (${KEY}, ?, ?)`,
  );
  const waiting = db.prepare(
    `SELECT 1 FROM commands WHERE session = ${KEY} AND kind = 'message' AND execution_id = ?`,
  );
  const sum = db.prepare(
    `SELECT count(*) AS commands, coalesce(sum(length(CAST(body AS BLOB))), 0) AS bytes
     FROM commands WHERE session = ${KEY}`,
  );
  const newExecution = db.prepare(
    `UPDATE sessions SET ${NO_ATTEMPTS} WHERE id = ? AND (tries > 0 OR deaths > 0)`,
  );
  const nextCommand = db.prepare(
    `SELECT number, kind, execution_id AS executionId, body FROM commands WHERE session = ${KEY}
     ORDER BY kind = 'message', number LIMIT 1`,
  );
  const findCall = db.prepare(
    `SELECT state, answer FROM calls WHERE session = ${KEY} AND execution_id = ? AND call_id = ?`,
  );
  const otherWait = db.prepare(
    `SELECT 1 FROM waits WHERE session = ${KEY} AND call_id = ? AND execution_id <> ?`,
  );
  const answerCall = db.prepare(
    `UPDATE calls SET state = 'decided', answer = ?
     WHERE session = ${KEY} AND execution_id = ? AND call_id = ?`,
  );
  const openForAnswer = db.prepare(`UPDATE sessions SET ${AWAKE}, updated_at = ? WHERE id = ?`);
  const requestStop = db.prepare(
    `UPDATE sessions SET phase = 'open', stop_reason = ifnull(stop_reason, ?), wait_ms = 0, error = NULL,
     parked_at = NULL WHERE id = ?`,
  );
  const requestPause = db.prepare(
    'UPDATE sessions SET pause_reason = ifnull(pause_reason, ?) WHERE id = ?',
  );
  // a session that killed its workers stays in quarantine
  const retry = db.prepare(
    `UPDATE sessions SET phase = 'open', tries = 0, deaths = 0, error = NULL, parked_at = NULL, wait_ms = 0,
     updated_at = ?, retried_at = ?, retried_by = ? WHERE id = ? AND phase = 'parked'`,
  );

  return {
    accept(sessionId, command, condition) {
      const { kind, executionId, body, at, contentHash, requires = 1 } = command;
      const row = find.get(sessionId) as Found | undefined;
      if (!row) return null;
      const { phase } = row;
      const known = (knownHash.get(sessionId, executionId) as Known | undefined)?.contentHash;
      const repeat = repeatOf(row.executionId, { executionId, contentHash }, known, () =>
        Boolean(waiting.get(sessionId, executionId)),
      );
      if (repeat) return { accepted: false, phase, repeat };
      if (!mayAccept(row, condition)) return { accepted: false, phase };
      if (
        condition.maxWaiting &&
        isFullFor(sum.get(sessionId) as WaitingLimit, utf8Bytes(body), condition)
      )
        return { accepted: false, phase, isFull: true };
      addCommand.run(kind, executionId, body, sessionId);
      if (contentHash !== undefined) remember.run(sessionId, executionId, contentHash);
      if (phase === 'idle') newExecution.run(sessionId);
      openForCommand.run(at, requires, sessionId);
      return { accepted: true, phase };
    },
    nextCommand(sessionId) {
      const row = nextCommand.get(sessionId) as CommandRow | undefined;
      return row ? { ...row } : null;
    },
    decide(sessionId, { executionId, callId, body, at, ifUnambiguous }) {
      const row = find.get(sessionId) as Found | undefined;
      if (!row) return 'unknown';
      if (row.phase === 'idle' || row.executionId !== executionId) return 'over';
      const call = findCall.get(sessionId, executionId, callId) as
        | { readonly state: CallState; readonly answer: string | null }
        | undefined;
      if (!call || (call.state !== 'waiting' && call.answer === null)) return 'unknown';
      if (call.state !== 'waiting') return 'answered';
      if (ifUnambiguous && otherWait.get(sessionId, callId, executionId)) return 'ambiguous';
      answerCall.run(body, sessionId, executionId, callId);
      openForAnswer.run(at, sessionId);
      return 'accepted';
    },
    request(sessionId, request) {
      const row = find.get(sessionId) as Found | undefined;
      if (!row || row.phase === 'idle') return row?.phase ?? null;
      if ('stop' in request) requestStop.run(request.stop, sessionId);
      else if ('pause' in request) requestPause.run(request.pause, sessionId);
      else retry.run(request.retry, request.retry, request.by ?? null, sessionId);
      return row.phase;
    },
  };
}
