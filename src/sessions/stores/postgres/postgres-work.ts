import { READS, type SessionPhase } from '../../session-rows.ts';
import type { Acceptance, NewCommand, SessionStore } from '../../session-store.ts';
import type { Database } from './postgres-pool.ts';
import { repeatOf } from '../session-rules.ts';

type Work = Pick<SessionStore, 'accept' | 'nextCommand' | 'decide' | 'request'>;

const TRIES = 3;
/** Opens a session that has work to do, unless it is parked. */
const awake = `phase = case s.phase when 'parked' then s.phase else 'open' end`;
const whenNew = (column: string, value: string): string =>
  `${column} = case when found.phase = 'idle' then ${value} else s.${column} end`;

interface Remembered {
  readonly current: string | null;
  readonly is_known: boolean;
  readonly content_hash: string | null;
  readonly is_waiting: boolean;
}

/**
 * Implements commands, answers and requests. Like commits, each statement locks the session first and continues with
 * the current row, so there are no deadlocks.
 */
export function sessionWork(db: Database, schema: string): Work {
  const { durably, patiently } = db;
  const locked = `found as (select s.id, s.phase, s.revision, s.execution_id, cardinality(s.commands) as waiting
    from ${schema}.sessions s where s.id = $1 and ${patiently} for update)`;

  // the unique index detects ids that were recorded after this statement began to wait for the session
  const acceptText = `with ${locked}, open_to as (
      select found.id, found.execution_id, $10::integer is not null and found.waiting > 0 and (found.waiting >= $10
          or (select coalesce(sum(octet_length(c.body)), 0) from ${schema}.commands c where c.session_id = $1)
            + octet_length($7::text) > $11::integer) as is_full
      from found where found.phase = any($3::text[]) and ($4::integer is null or found.revision = $4)),
    remembered as (
      insert into ${schema}.executions (session_id, execution_id, content_hash)
      select id, $6, $8 from open_to where $9::boolean and not is_full and execution_id is distinct from $6
      on conflict do nothing returning session_id),
    opened as (
      update ${schema}.sessions s set ${awake}, updated_at = $2, last_command = s.last_command + 1,
        ${whenNew('tries', '0')}, ${whenNew('deaths', '0')}, ${whenNew('quarantined', 'false')},
        commands = array_append(s.commands, s.last_command + 1), requires = greatest(s.requires, $12::integer)
      from found where s.id = found.id and exists (select from open_to where not is_full)
        and (not $9::boolean or exists (select from remembered))
      returning s.last_command),
    added as (
      insert into ${schema}.commands (session_id, number, kind, execution_id, body, at, release)
      select $1, last_command, $5, $6, $7, $2, ${READS} from opened)
    select phase, exists (select from opened) as accepted,
      exists (select from open_to where is_full) as is_full${durably} from found`;

  const repeatText = `select s.execution_id as current, e.session_id is not null as is_known, e.content_hash,
      exists (select from ${schema}.commands c where c.session_id = s.id and c.kind = 'message'
        and c.execution_id = $2) as is_waiting
    from ${schema}.sessions s left join ${schema}.executions e on e.session_id = s.id and e.execution_id = $2
    where s.id = $1`;

  /**
   * Reads whether a message repeats another one. A separate statement, because the refused one may have waited for the
   * one that recorded the id.
   */
  async function repeatIn(
    sessionId: string,
    command: Pick<NewCommand, 'executionId' | 'contentHash'>,
  ): Promise<Acceptance['repeat']> {
    const [row] = await db.read<Remembered>('look for a message', repeatText, [
      sessionId,
      command.executionId,
    ]);
    if (!row) return undefined;
    const known = row.is_known ? row.content_hash : undefined;
    return repeatOf(row.current, command, known, () => row.is_waiting);
  }

  const waitedElsewhere = (id: string): string => `exists (select from ${schema}.waits w
    where w.session_id = ${id} and w.call_id = $3 and w.execution_id <> $2)`;

  // reads `found` itself: on small tables the planner reads the call first, and would not wait for the lock without one
  const decideText = `with ${locked}, answered as (
      update ${schema}.calls c set state = 'decided', answer = $4
      from found where c.session_id = found.id and c.execution_id = $2 and c.call_id = $3
        and c.state = 'waiting' and found.phase <> 'idle' and found.execution_id = $2
        and not ($6::boolean and ${waitedElsewhere('found.id')})
      returning c.call_id),
    opened as (
      update ${schema}.sessions s set ${awake}, updated_at = $5,
        decided = array_append(s.decided, answered.call_id)
      from answered where s.id = $1 returning s.id)
    select id${durably} from opened where exists (select from found)`;

  const undecidedText = `select s.phase <> 'idle' and s.execution_id is not distinct from $2 as current,
      c.state, c.answer is not null as answered, $4::boolean and ${waitedElsewhere('s.id')} as ambiguous
    from ${schema}.sessions s left join ${schema}.calls c
      on c.session_id = s.id and c.execution_id = $2 and c.call_id = $3
    where s.id = $1`;

  const requestText = `with ${locked}, requested as (
      update ${schema}.sessions s set
        phase = case when $2::text is null then s.phase else 'open' end,
        stop_reason = coalesce(s.stop_reason, $2), pause_reason = coalesce(s.pause_reason, $3),
        wait_ms = case when $2::text is null then s.wait_ms else 0 end,
        error = case when $2::text is null then s.error end,
        parked_at = case when $2::text is null then s.parked_at end
      from found where s.id = found.id and found.phase <> 'idle')
    select phase${durably} from found`;

  // a session that killed its workers stays in quarantine
  const retryText = `with ${locked}, opened as (
      update ${schema}.sessions s set phase = 'open', tries = 0, deaths = 0, wait_ms = 0, error = null,
        parked_at = null, updated_at = $2, retried_at = $2, retried_by = $3
      from found where s.id = found.id and found.phase = 'parked')
    select phase${durably} from found`;

  return {
    async accept(sessionId, command, { phases, revision = null, maxWaiting }) {
      const { kind, executionId, body, at, contentHash, requires = 1 } = command;
      const isRemembered = contentHash !== undefined;
      const [found] = await db.run<{ phase: SessionPhase; accepted: boolean; is_full: boolean }>(
        'accept a command',
        acceptText,
        [
          sessionId,
          at,
          phases,
          revision,
          kind,
          executionId,
          body,
          contentHash ?? null,
          isRemembered,
          maxWaiting?.commands ?? null,
          maxWaiting?.bytes ?? null,
          requires,
        ],
        { session: sessionId },
      );
      if (!found) return null;
      const { accepted, phase } = found;
      const repeat = accepted ? undefined : await repeatIn(sessionId, command);
      if (repeat) return { accepted, phase, repeat };
      return { accepted, phase, ...(found.is_full && { isFull: true as const }) };
    },
    async nextCommand(sessionId) {
      const [command] = await db.read<Awaited<ReturnType<Work['nextCommand']>>>(
        'read the next command',
        `select number, kind, execution_id as "executionId", body from ${schema}.commands
        where session_id = $1 order by kind = 'message', number limit 1`,
        [sessionId],
      );
      return command ?? null;
    },
    async decide(sessionId, { executionId, callId, body, at, ifUnambiguous = false }) {
      const call = [sessionId, executionId, callId];
      for (let tries = 0; tries < TRIES; tries++) {
        const given = [...call, body, at, ifUnambiguous];
        const opened = await db.run('take an answer', decideText, given, { session: sessionId });
        if (opened.length > 0) return 'accepted';
        const [found] = await db.read<{
          current: boolean;
          state: string | null;
          answered: boolean;
          ambiguous: boolean;
        }>('take an answer', undecidedText, [...call, ifUnambiguous]);
        if (!found) return 'unknown';
        if (!found.current) return 'over';
        if (found.answered) return 'answered';
        if (found.state !== 'waiting') return 'unknown'; // otherwise it began to wait just now
        if (found.ambiguous) return 'ambiguous';
      }
      return 'unknown';
    },
    async request(sessionId, request) {
      const [found] = await db.run<{ phase: SessionPhase }>(
        'take a request',
        'retry' in request ? retryText : requestText,
        'retry' in request
          ? [sessionId, request.retry, request.by ?? null]
          : [
              sessionId,
              'stop' in request ? request.stop : null,
              'pause' in request ? request.pause : null,
            ],
        { session: sessionId, isRepeatable: true },
      );
      return found?.phase ?? null;
    },
  };
}
