import type { SessionPhase, SessionRow } from '../session-rows.ts';
import type { LeaseSignal, SessionStore } from '../session-store.ts';
import type { Database } from './postgres-pool.ts';
import { integer, sessionColumns } from './postgres-reads.ts';

type Work = Pick<
  SessionStore,
  'accept' | 'nextCommand' | 'decide' | 'request' | 'claim' | 'renew' | 'signals' | 'recoverable'
>;

const TRIES = 3;
const isFree = '(s.worker is null or s.leased_until <= clock_timestamp())';
const signalColumns =
  's.id as "sessionId", s.token::float8 as token, s.stop_reason as "stopReason", s.pause_reason as "pauseReason"';

/**
 * Commands, answers, wishes and leases. Each statement locks the session first, in a part of its own, and goes on with
 * the row as it is then; so do commits, and so nothing waits in a circle.
 */
export function sessionWork(db: Database, schema: string): Work {
  const { durably, surely } = db;
  const locked = `found as (select s.id, s.phase, s.revision, s.execution_id
    from ${schema}.sessions s where s.id = $1 for update)`;
  const ttl = (param: string): string =>
    `clock_timestamp() + ${param}::float8 * interval '1 millisecond'`;

  const acceptText = `with ${locked}, opened as (
      update ${schema}.sessions s set phase = 'open', updated_at = $2, last_command = s.last_command + 1,
        commands = array_append(s.commands, s.last_command + 1)
      from found where s.id = found.id and found.phase = any($3::text[])
        and ($4::integer is null or found.revision = $4)
      returning s.last_command),
    added as (
      insert into ${schema}.commands (session_id, number, kind, execution_id, body, at)
      select $1, last_command, $5, $6, $7, $2 from opened)
    select phase, exists (select from opened) as accepted${durably} from found`;

  // reads `found` itself: on small tables the planner looks for the call first, and without one would never wait
  const decideText = `with ${locked}, answered as (
      update ${schema}.calls c set state = 'decided', answer = $4
      from found where c.session_id = found.id and c.execution_id = $2 and c.call_id = $3
        and c.state = 'waiting' and found.phase <> 'idle' and found.execution_id = $2
      returning c.call_id),
    opened as (
      update ${schema}.sessions s set phase = 'open', updated_at = $5,
        decided = array_append(s.decided, answered.call_id)
      from answered where s.id = $1 returning s.id)
    select id${durably} from opened where exists (select from found)`;

  const undecidedText = `select s.phase <> 'idle' and s.execution_id is not distinct from $2 as current,
      c.state, c.answer is not null as answered
    from ${schema}.sessions s left join ${schema}.calls c
      on c.session_id = s.id and c.execution_id = $2 and c.call_id = $3
    where s.id = $1`;

  const requestText = `with ${locked}, wished as (
      update ${schema}.sessions s set
        phase = case when $2::text is null then s.phase else 'open' end,
        stop_reason = coalesce(s.stop_reason, $2), pause_reason = coalesce(s.pause_reason, $3)
      from found where s.id = found.id and found.phase <> 'idle')
    select phase${durably} from found`;

  // a token that a crash of the server takes back would be given twice
  const claimText = `update ${schema}.sessions s set token = nextval('${schema}.tokens'), worker = $2,
      leased_until = ${ttl('$3')}
    where s.id = $1 and s.phase = 'open' and ${isFree}
    returning ${sessionColumns}${surely}`;

  const renewText = `with held as (
      select s.id from ${schema}.sessions s where s.worker = $1 order by s.id for update),
    renewed as (
      update ${schema}.sessions s set leased_until = ${ttl('$2')}
      from held where s.id = held.id
      returning ${signalColumns})
    select *${durably} from renewed order by token`;

  return {
    async accept(sessionId, { kind, executionId, body, at }, { phases, revision = null }) {
      const [found] = await db.run<{ phase: SessionPhase; accepted: boolean }>(
        'accept a command',
        acceptText,
        [sessionId, at, phases, revision, kind, executionId, body],
      );
      return found ? { accepted: found.accepted, phase: found.phase } : null;
    },
    async nextCommand(sessionId) {
      const [command] = await db.run<Awaited<ReturnType<Work['nextCommand']>>>(
        'read the next command',
        `select number, kind, execution_id as "executionId", body from ${schema}.commands
        where session_id = $1 order by kind = 'message', number limit 1`,
        [sessionId],
      );
      return command ?? null;
    },
    async decide(sessionId, { executionId, callId, body, at }) {
      const call = [sessionId, executionId, callId];
      for (let tries = 0; tries < TRIES; tries++) {
        const opened = await db.run('take an answer', decideText, [...call, body, at]);
        if (opened.length > 0) return 'accepted';
        const [found] = await db.run<{ current: boolean; state: string | null; answered: boolean }>(
          'take an answer',
          undecidedText,
          call,
        );
        if (!found) return 'unknown';
        if (!found.current) return 'over';
        if (found.answered) return 'answered';
        if (found.state !== 'waiting') return 'unknown'; // else it began to wait just now
      }
      return 'unknown';
    },
    async request(sessionId, wish) {
      const [found] = await db.run<{ phase: SessionPhase }>('leave a wish', requestText, [
        sessionId,
        'stop' in wish ? wish.stop : null,
        'pause' in wish ? wish.pause : null,
      ]);
      return found?.phase ?? null;
    },

    async claim(sessionId, { worker, ttlMs }) {
      const values = [sessionId, worker, ttlMs];
      const [claimed] = await db.run<SessionRow & { set_config?: string }>(
        'claim a session',
        claimText,
        values,
      );
      if (!claimed) return null;
      const { set_config: _, ...row } = claimed;
      return row;
    },
    async renew({ worker, ttlMs }) {
      const renewed = await db.run<LeaseSignal>('renew leases', renewText, [worker, ttlMs]);
      return renewed.map(({ sessionId, token, stopReason, pauseReason }) => ({
        sessionId,
        token,
        stopReason,
        pauseReason,
      }));
    },
    signals: (worker) =>
      db.run(
        'read signals',
        `select ${signalColumns} from ${schema}.sessions s where s.worker = $1 order by s.token`,
        [worker],
      ),
    async recoverable(limit) {
      const rows = await db.run<{ id: string }>(
        'find work',
        `select s.id from ${schema}.sessions s where s.phase = 'open' and ${isFree}
        order by s.updated_at, s.id limit $1`,
        [integer(limit)],
      );
      return rows.map(({ id }) => id);
    },
  };
}
