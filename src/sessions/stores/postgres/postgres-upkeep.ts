import type { SessionStore } from '../../session-store.ts';
import type { Database } from './postgres-pool.ts';
import { childTables } from './postgres-child-tables.ts';

type Upkeep = Pick<SessionStore, 'create' | 'fork' | 'delete' | 'size'>;

/** SQL for the bytes of a row's texts, by table. */
const textsOf: Readonly<Record<(typeof childTables)[number], string>> = {
  messages: 'octet_length(body)',
  steps: 'octet_length(body) + octet_length(mark)',
  compactions: 'octet_length(body)',
  agents: 'octet_length(head)',
  calls: 'coalesce(octet_length(answer), 0) + coalesce(octet_length(result), 0)',
  events: 'octet_length(body)',
  blobs: 'octet_length(body)',
  commands: 'octet_length(body)',
  executions: 'coalesce(octet_length(content_hash), 0)',
  waits: '0',
  runs: 'octet_length(body)',
};

const newColumns =
  'id, owner, agent, status, execution_id, head, message_count, step_count, created_at, updated_at, requires';
const newValues = '$1, $2, $3, $4, $5, $6, $7::integer, $8::integer, $9, $9, $10::integer';

const valuesOf = (session: Parameters<Upkeep['create']>[0]): readonly unknown[] => [
  session.id,
  session.owner,
  session.agent,
  session.status,
  session.executionId,
  session.head,
  session.messageCount,
  session.stepCount,
  session.createdAt,
  session.requires ?? 1,
];

export function sessionUpkeep(db: Database, schema: string): Upkeep {
  const { durably, patiently, longTimeoutMs } = db;

  const forkText = `with source as (
      select s.id from ${schema}.sessions s where s.id = $11 and ${patiently} for key share),
    made as (
      insert into ${schema}.sessions (${newColumns}) select ${newValues} from source
      on conflict (id) do nothing returning id),
    messages_copied as (
      insert into ${schema}.messages (session_id, agent_id, position, role, body)
      select made.id, r.agent_id, r.position, r.role, r.body from made, ${schema}.messages r
      where r.session_id = $11 and r.agent_id = '' and r.position < $7::integer),
    steps_copied as (
      insert into ${schema}.steps (session_id, agent_id, position, execution_id, body, mark)
      select made.id, r.agent_id, r.position, r.execution_id, r.body, r.mark from made, ${schema}.steps r
      where r.session_id = $11 and r.agent_id = '' and r.position < $8::integer),
    compactions_copied as (
      insert into ${schema}.compactions (session_id, agent_id, position, kind, to_position, body)
      select made.id, r.agent_id, r.position, r.kind, r.to_position, r.body from made, ${schema}.compactions r
      where r.session_id = $11 and r.agent_id = '' and r.position < $12::integer),
    blobs_copied as (
      insert into ${schema}.blobs (session_id, hash, scope, body)
      select made.id, r.hash, r.scope, r.body from made, ${schema}.blobs r
      where r.session_id = $11 and (r.scope = '' or r.scope in (
        select t.execution_id from ${schema}.steps t
        where t.session_id = $11 and t.agent_id = '' and t.position < $8::integer))),
    executions_copied as (
      insert into ${schema}.executions (session_id, execution_id, content_hash)
      select made.id, r.execution_id, r.content_hash from made, ${schema}.executions r
      where r.session_id = $11 and r.execution_id in (
        select t.execution_id from ${schema}.steps t
        where t.session_id = $11 and t.agent_id = '' and t.position < $8::integer)),
    copied as (
      select t.execution_id, max(t.position) as position from ${schema}.steps t
      where t.session_id = $11 and t.agent_id = '' and t.position < $8::integer group by t.execution_id),
    waits_copied as (
      insert into ${schema}.waits (session_id, call_id, execution_id)
      select made.id, r.call_id, case when copied.position = $8::integer - 1
        then coalesce($5, r.execution_id) else r.execution_id end
      from made, copied join ${schema}.waits r on r.session_id = $11 and r.execution_id = copied.execution_id
      on conflict do nothing)
    select id${durably} from made`;

  return {
    async create(session) {
      const made = await db.run(
        'create a session',
        `insert into ${schema}.sessions (${newColumns}) values (${newValues})
        on conflict (id) do nothing returning id${durably}`,
        valuesOf(session),
      );
      return made.length > 0;
    },
    async fork(fromId, { compactionCount = 0, ...session }) {
      const values = [...valuesOf(session), fromId, compactionCount];
      const made = await db.run('fork a session', forkText, values, { timeoutMs: longTimeoutMs });
      return made.length > 0;
    },
    delete: (sessionId) =>
      db.transaction(
        'delete a session',
        async (run) => {
          const gone = await run(`delete from ${schema}.sessions where id = $1 returning id`, [
            sessionId,
          ]);
          if (gone.length === 0) return false;
          // in a separate statement after the lock, so that it sees all earlier writes
          const deletes = childTables.map(
            (table) => `${table}_gone as (delete from ${schema}.${table} where session_id = $1)`,
          );
          await run(`with ${deletes.join(', ')} select 1`, [sessionId]);
          return true;
        },
        { session: sessionId, timeoutMs: longTimeoutMs },
      ),
    async size(sessionId) {
      const texts = [
        `select octet_length(head) as bytes from ${schema}.sessions where id = $1`,
        ...childTables.map(
          (table) => `select ${textsOf[table]} from ${schema}.${table} where session_id = $1`,
        ),
      ];
      const [size] = await db.read<{ rows: number; bytes: number }>(
        'measure a session',
        `select count(*)::float8 as rows, coalesce(sum(bytes), 0)::float8 as bytes
        from (${texts.join(' union all ')}) t`,
        [sessionId],
      );
      return { rows: size?.rows ?? 0, bytes: size?.bytes ?? 0 };
    },
  };
}
