import type {
  AgentRow,
  BlobRow,
  CallRow,
  CompactionRow,
  EventRow,
  MessageRow,
  SessionRow,
  StepRow,
} from '../../session-rows.ts';
import type { RowRange, SessionStore } from '../../session-store.ts';
import type { Database } from './postgres-pool.ts';

type Reads = Pick<
  SessionStore,
  'find' | 'messages' | 'steps' | 'compactions' | 'agents' | 'calls' | 'events' | 'blobs'
>;

export const shownStatus: string = `case s.phase when 'open' then 'in_progress' when 'parked' then 'failed' else s.status end`;

/** Columns of a {@link SessionRow} from a table with the alias `s`. */
export const sessionColumns: string = `s.id, s.owner, s.agent, ${shownStatus} as status, s.phase,
  s.execution_id as "executionId", s.head, s.revision, s.token::float8 as token, s.worker,
  s.worker is not null and s.leased_until > clock_timestamp() as "isLeased",
  s.stop_reason as "stopReason", s.pause_reason as "pauseReason",
  s.message_count as "messageCount", s.step_count as "stepCount", s.seq,
  s.tries, s.deaths, s.quarantined as "isQuarantined", s.error, s.parked_at as "parkedAt",
  s.retried_by as "retriedBy", s.retried_at as "retriedAt",
  s.close_reason as "closeReason", s.requires,
  s.created_at as "createdAt", s.updated_at as "updatedAt"`;

const callColumns =
  'execution_id as "executionId", call_id as "callId", tool, state, token::float8 as token, starts, answer, result';

const MOST = 2 ** 31 - 1;
/** Clamps a number to the range of an SQL `integer`, which exceeds any number of rows. */
export const integer = (value: number): number => Math.max(-MOST, Math.min(MOST, value));

export function sessionReads(db: Database, schema: string): Reads {
  const newest = async <Row>(
    table: 'messages' | 'steps' | 'compactions',
    columns: string,
    [sessionId, agentId]: readonly [string, string],
    { before = MOST, from = 0, limit = MOST }: RowRange,
    [column, value]: readonly [string, string | undefined],
  ): Promise<Row[]> => {
    const values = [sessionId, agentId, integer(from), integer(before), integer(limit)];
    const rows = await db.read<Row>(
      `read ${table}`,
      `select agent_id as "agentId", position, ${columns} from ${schema}.${table}
      where session_id = $1 and agent_id = $2 and position >= $3 and position < $4
        ${value === undefined ? '' : `and ${column} = $6`} ${isMarked(value) ? `and ${column} = '${value}'` : ''}
      order by position desc limit $5`,
      value === undefined ? values : [...values, value],
    );
    return rows.toReversed();
  };

  /** Whether the value is also written as a literal, so that the partial index applies. */
  const isMarked = (value: string | undefined): boolean =>
    value === 'user' || value === 'system' || value === 'summary';
  // few calls ever wait, and an execution may have thousands
  const hasWaited = `call_id in (select w.call_id from ${schema}.waits w
    where w.session_id = $1 and w.execution_id = $2)`;
  const isOpenCall = (state: string): boolean => state === 'waiting' || state === 'decided';

  return {
    async find(sessionId) {
      if (sessionId.includes('\0')) return null; // the server would reject it
      const [row] = await db.read<SessionRow>(
        'find a session',
        `select ${sessionColumns} from ${schema}.sessions s where s.id = $1`,
        [sessionId],
      );
      return row ?? null;
    },
    messages: (sessionId, agentId, range = {}) =>
      newest<MessageRow>('messages', 'role, body', [sessionId, agentId], range, [
        'role',
        range.role,
      ]),
    steps: (sessionId, agentId, range = {}) =>
      newest<StepRow>(
        'steps',
        'execution_id as "executionId", body, mark',
        [sessionId, agentId],
        range,
        ['execution_id', range.executionId],
      ),
    compactions: (sessionId, agentId, range = {}) =>
      newest<CompactionRow>(
        'compactions',
        'kind, to_position as "toPosition", body',
        [sessionId, agentId],
        range,
        ['kind', range.kind],
      ),
    agents: (sessionId, executionId) =>
      db.read<AgentRow>(
        'read agents',
        `select agent_id as "agentId", execution_id as "executionId", call_id as "callId", head,
          message_count as "messageCount", step_count as "stepCount" from ${schema}.agents
        where session_id = $1 and execution_id = $2 order by agent_id`,
        [sessionId, executionId],
      ),
    calls: (sessionId, executionId, filter) =>
      db.read<CallRow>(
        'read calls',
        `select ${callColumns} from ${schema}.calls where session_id = $1 and execution_id = $2
        and ${'state' in filter ? `state = $3 ${isOpenCall(filter.state) ? `and ${hasWaited}` : ''}` : 'call_id = any($3::text[])'} order by call_id`,
        [sessionId, executionId, 'state' in filter ? filter.state : filter.callIds],
      ),
    events: (sessionId, executionId, { after, limit }) =>
      db.read<EventRow>(
        'read events',
        `select execution_id as "executionId", seq, type, body from ${schema}.events
        where session_id = $1 and execution_id = $2 and seq > $3 order by seq limit $4`,
        [sessionId, executionId, integer(after), integer(limit)],
      ),
    blobs: (sessionId, hashes) =>
      db.read<Omit<BlobRow, 'scope'>>(
        'read large values',
        `select distinct on (hash) hash, body from ${schema}.blobs
        where session_id = $1 and hash = any($2::text[]) order by hash, scope`,
        [sessionId, hashes],
      ),
  };
}
