import type { SessionStore } from '../session-store.ts';
import type { Database } from './postgres-pool.ts';
import { childTables } from './postgres-schema.ts';

type Upkeep = Pick<SessionStore, 'create' | 'fork' | 'delete' | 'prune' | 'size'>;

/** The bytes of a row's texts, by table. */
const textsOf: Readonly<Record<(typeof childTables)[number], string>> = {
  messages: 'octet_length(body)',
  steps: 'octet_length(body) + octet_length(mark)',
  agents: 'octet_length(head)',
  calls: 'coalesce(octet_length(answer), 0) + coalesce(octet_length(result), 0)',
  events: 'octet_length(body)',
  blobs: 'octet_length(body)',
  commands: 'octet_length(body)',
  executions: 'coalesce(octet_length(content_hash), 0)',
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
        where t.session_id = $11 and t.agent_id = '' and t.position < $8::integer))
    select id${durably} from made`;

  const pruneText = (andOwner: string): string => {
    const isEarlier = 'r.execution_id is distinct from idle.execution_id';
    const isOfLast = `exists (select from last_agents k where k.session_id = r.session_id and k.agent_id = r.agent_id)`;
    const drops: readonly (readonly [table: string, condition: string])[] = [
      ['events', 'true'],
      ['messages', `r.agent_id <> '' and not ${isOfLast}`],
      ['steps', `${isEarlier} and not ${isOfLast}`],
      ['calls', isEarlier],
      ['agents', isEarlier],
      ['blobs', `r.scope <> '' and r.scope is distinct from idle.execution_id`],
    ];
    return `with idle as (
        select s.id, s.execution_id from ${schema}.sessions s
        where s.phase = 'idle' and s.updated_at < $1 ${andOwner}
          and s.pruned_revision is distinct from s.revision
        order by s.id for update skip locked),
      marked as (
        update ${schema}.sessions s set pruned_revision = s.revision from idle where s.id = idle.id),
      last_agents as (
        select a.session_id, a.agent_id from ${schema}.agents a
        join idle on a.session_id = idle.id and a.execution_id = idle.execution_id),
      ${drops
        .map(
          ([table, condition]) => `${table}_dropped as (
        delete from ${schema}.${table} r using idle where r.session_id = idle.id and ${condition}
        returning r.session_id)`,
        )
        .join(', ')}
      select count(distinct session_id)::float8 as sessions, count(*)::float8 as rows${durably}
      from (${drops.map(([table]) => `select session_id from ${table}_dropped`).join(' union all ')}) d`;
  };

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
    async fork(fromId, session) {
      const made = await db.run('fork a session', forkText, [...valuesOf(session), fromId], {
        timeoutMs: longTimeoutMs,
      });
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
          // in a statement after the lock, which sees what was written before it
          const deletes = childTables.map(
            (table) => `${table}_gone as (delete from ${schema}.${table} where session_id = $1)`,
          );
          await run(`with ${deletes.join(', ')} select 1`, [sessionId]);
          return true;
        },
        { session: sessionId, timeoutMs: longTimeoutMs },
      ),
    async prune({ olderThan, owner }) {
      const [dropped] = await db.run<{ sessions: number; rows: number }>(
        'prune sessions',
        pruneText(owner === undefined ? '' : 'and s.owner = $2'),
        owner === undefined ? [olderThan] : [olderThan, owner],
      );
      return { sessions: dropped?.sessions ?? 0, rows: dropped?.rows ?? 0 };
    },
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
