import type { CallState, CommandRow, SessionPhase } from '../session-rows.ts';
import type { LeaseSignal } from '../session-store.ts';
import type { SqliteDatabase } from './sqlite-database.ts';
import { KEY, plain, SESSION, sessionRow, SIGNAL, type SyncStore } from './sqlite-rows.ts';

type Work = Pick<
  SyncStore,
  'accept' | 'nextCommand' | 'decide' | 'request' | 'claim' | 'renew' | 'signals' | 'recoverable'
>;

interface Found {
  readonly phase: SessionPhase;
  readonly revision: number;
  readonly executionId: string | null;
}

/** What a session is asked to do, and who does it. */
export function work(db: SqliteDatabase): Work {
  const find = db.prepare(
    'SELECT phase, revision, execution_id AS executionId FROM sessions WHERE id = ?',
  );
  const addCommand = db.prepare(
    `INSERT INTO commands (session, number, kind, execution_id, body)
     SELECT key, last_command + 1, ?, ?, ? FROM sessions WHERE id = ?`,
  );
  const openForCommand = db.prepare(
    `UPDATE sessions SET phase = 'open', updated_at = ?, last_command = last_command + 1 WHERE id = ?`,
  );
  const nextCommand = db.prepare(
    `SELECT number, kind, execution_id AS executionId, body FROM commands WHERE session = ${KEY}
     ORDER BY kind = 'message', number LIMIT 1`,
  );
  const findCall = db.prepare(
    `SELECT state, answer FROM calls WHERE session = ${KEY} AND execution_id = ? AND call_id = ?`,
  );
  const answerCall = db.prepare(
    `UPDATE calls SET state = 'decided', answer = ?
     WHERE session = ${KEY} AND execution_id = ? AND call_id = ?`,
  );
  const openForAnswer = db.prepare(
    `UPDATE sessions SET phase = 'open', updated_at = ? WHERE id = ?`,
  );
  const wishStop = db.prepare(
    `UPDATE sessions SET phase = 'open', stop_reason = ifnull(stop_reason, ?) WHERE id = ?`,
  );
  const wishPause = db.prepare(
    'UPDATE sessions SET pause_reason = ifnull(pause_reason, ?) WHERE id = ?',
  );
  const claim = db.prepare(
    `UPDATE sessions SET token = (SELECT last + 1 FROM tokens), worker = ?, leased_until = ?
     WHERE id = ? AND phase = 'open' AND (worker IS NULL OR leased_until <= ?) RETURNING ${SESSION}`,
  );
  // one count for all sessions: a session made anew under an old id shares no token with it
  const countToken = db.prepare('UPDATE tokens SET last = last + 1');
  const renew = db.prepare(
    `UPDATE sessions SET leased_until = ? WHERE worker = ? RETURNING ${SIGNAL}`,
  );
  const signals = db.prepare(`SELECT ${SIGNAL} FROM sessions WHERE worker = ?`);
  const recoverable = db.prepare(
    `SELECT id FROM sessions INDEXED BY sessions_open
     WHERE phase = 'open' AND (worker IS NULL OR leased_until <= ?) ORDER BY updated_at, id LIMIT ?`,
  );
  const until = (ttlMs: number): number => Math.ceil(Date.now() + ttlMs);

  return {
    accept(sessionId, { kind, executionId, body, at }, { phases, revision }) {
      const row = find.get(sessionId) as Found | undefined;
      if (!row) return null;
      const { phase } = row;
      if (!phases.includes(phase) || (revision ?? row.revision) !== row.revision)
        return { accepted: false, phase };
      addCommand.run(kind, executionId, body, sessionId);
      openForCommand.run(at, sessionId);
      return { accepted: true, phase };
    },
    nextCommand(sessionId) {
      const row = nextCommand.get(sessionId) as CommandRow | undefined;
      return row ? { ...row } : null;
    },
    decide(sessionId, { executionId, callId, body, at }) {
      const row = find.get(sessionId) as Found | undefined;
      if (!row) return 'unknown';
      if (row.phase === 'idle' || row.executionId !== executionId) return 'over';
      const call = findCall.get(sessionId, executionId, callId) as
        | { readonly state: CallState; readonly answer: string | null }
        | undefined;
      if (!call || (call.state !== 'waiting' && call.answer === null)) return 'unknown';
      if (call.state !== 'waiting') return 'answered';
      answerCall.run(body, sessionId, executionId, callId);
      openForAnswer.run(at, sessionId);
      return 'accepted';
    },
    request(sessionId, wish) {
      const row = find.get(sessionId) as Found | undefined;
      if (!row || row.phase === 'idle') return row?.phase ?? null;
      if ('stop' in wish) wishStop.run(wish.stop, sessionId);
      else wishPause.run(wish.pause, sessionId);
      return row.phase;
    },
    claim(sessionId, { worker, ttlMs }) {
      const row = claim.get(worker, until(ttlMs), sessionId, Date.now());
      if (!row) return null;
      countToken.run();
      return sessionRow(row);
    },
    renew: ({ worker, ttlMs }) => plain<LeaseSignal>(renew.all(until(ttlMs), worker)),
    signals: (worker) => plain<LeaseSignal>(signals.all(worker)),
    recoverable: (limit) =>
      recoverable.all(Date.now(), limit).map((row) => (row as { id: string }).id),
  };
}
