import type { RunFacts, SessionRow, SessionRunRow } from '../../session-rows.ts';
import {
  SORTED_AMONG,
  type SessionFilter,
  type SessionOrder,
  type SessionQuery,
} from '../../session-query.ts';
import type { SqliteDatabase, SqliteStatement, SqliteValue } from './sqlite-database.ts';
import {
  EXPIRED,
  leaseTimes,
  plain,
  SESSION,
  sessionRow,
  STATUS,
  type SyncStore,
} from './sqlite-rows.ts';

type Queries = Pick<SyncStore, 'list' | 'count' | 'runs'>;

/** SQL condition and its values. */
type Condition = readonly [sql: string, values: readonly SqliteValue[]];

/** Statements that are kept prepared. */
const MOST_STATEMENTS = 100;

/** Implements list, count and runs. */
export function queries(db: SqliteDatabase): Queries {
  const kept = new Map<string, SqliteStatement>();
  const prepared = (sql: string): SqliteStatement => {
    const statement = kept.get(sql) ?? db.prepare(sql);
    if (kept.size >= MOST_STATEMENTS) kept.clear();
    kept.set(sql, statement);
    return statement;
  };
  const runsSql = (owned: string): string =>
    `SELECT (SELECT id FROM sessions WHERE key = session) AS sessionId, owner, agent, execution_id AS executionId,
     started_at AS startedAt, ended_at AS endedAt, status, stop_reason AS stopReason, model, cost,
     session_cost AS sessionCost, errors, body FROM runs
     WHERE ${owned} ended_at >= ? AND ended_at < ? AND agent = ifnull(?, agent)
     AND session IN (SELECT key FROM sessions) ORDER BY ended_at DESC LIMIT ?`;
  const runsOfAll = db.prepare(runsSql(''));
  const runsOfOwner = db.prepare(runsSql('owner = ? AND'));
  return {
    list(query) {
      const [sql, values] = listQuery(query);
      const rows = prepared(sql).all(...values);
      return rows.map(query.withRun ? rowWithRun : sessionRow);
    },
    count(filter, most) {
      const [where, values] = whereOf(filter);
      const sql = `SELECT count(*) AS n FROM (SELECT 1 FROM sessions WHERE ${where} LIMIT ?)`;
      return (prepared(sql).get(...values, most) as { n: number }).n;
    },
    runs({ owner, agent = null, from, before, limit }) {
      const rows =
        owner === undefined
          ? runsOfAll.all(from, before, agent, limit)
          : runsOfOwner.all(owner, from, before, agent, limit);
      return plain<SessionRunRow>(rows);
    },
  };
}

/** SQL for a column of the newest run record of a session. */
const run = (column: string): string =>
  `(SELECT ${column} FROM runs WHERE runs.session = sessions.key ORDER BY ended_at DESC LIMIT 1)`;

function whereOf(filter: SessionFilter): readonly [string, SqliteValue[]] {
  const conditions = conditionsOf(filter);
  return [
    conditions.map(([condition]) => `(${condition})`).join(' AND ') || 'TRUE',
    conditions.flatMap(([, values]) => values),
  ];
}

function conditionsOf(filter: SessionFilter): readonly Condition[] {
  const { owner, status, statuses, phase, agent, agents, notAgents } = filter;
  const { updatedFrom, updatedBefore, models, costFrom, costBefore, hasError, attention } = filter;
  const given = <T>(value: T | undefined, condition: (value: T) => Condition): Condition[] =>
    value === undefined ? [] : [condition(value)];
  const inList = (column: string, values: readonly string[]): Condition => [
    `${column} IN (SELECT value FROM json_each(?))`,
    [JSON.stringify(values)],
  ];
  return [
    ...given(owner, (value) => ['owner = ?', [value]]),
    ...given(status, (value) => [`${STATUS} = ?`, [value]]),
    ...given(statuses, (values) => inList(STATUS, values)),
    // written as a literal, so that its partial index applies
    ...given(phase, (value) =>
      value === 'parked' ? [`phase = 'parked'`, []] : ['phase = ?', [value]],
    ),
    ...given(agent, (value) => ['agent = ?', [value]]),
    ...given(agents, (values) => inList('agent', values)),
    ...given(notAgents, (values) => inList('agent NOT', values)),
    ...given(updatedFrom, (value) => ['updated_at >= ?', [value]]),
    ...given(updatedBefore, (value) => ['updated_at < ?', [value]]),
    ...given(models, (values) => inList(run('model'), values)),
    ...given(costFrom, (value) => [`${run('session_cost')} >= ?`, [value]]),
    ...given(costBefore, (value) => [`${run('session_cost')} < ?`, [value]]),
    ...given(hasError, (value) => [
      `(${STATUS} = 'failed' OR error IS NOT NULL OR ifnull(${run('errors')}, 0) > 0) = ?`,
      [value ? 1 : 0],
    ]),
    ...given(attention, needsPerson),
  ];
}

/** Each part is a partial index. */
function needsPerson({
  isNeeded,
  pausedBefore,
  failedFrom,
  waitingBefore,
}: NonNullable<SessionFilter['attention']>): Condition {
  return [
    `key ${isNeeded ? '' : 'NOT'} IN (
       SELECT key FROM sessions WHERE phase = 'parked'
       UNION ALL SELECT key FROM sessions WHERE phase = 'paused' AND updated_at < ?
       UNION ALL SELECT key FROM sessions WHERE phase = 'idle' AND status = 'failed' AND updated_at >= ?
       UNION ALL SELECT key FROM sessions WHERE phase = 'open'
         AND CASE WHEN worker IS NULL THEN updated_at < ? ELSE ${EXPIRED} END)`,
    [pausedBefore, failedFrom, waitingBefore, ...leaseTimes()],
  ];
}

const orders: Readonly<Record<Exclude<SessionOrder, 'updated'>, string>> = {
  created: 'created_at',
  steps: 'step_count',
  cost: `ifnull(${run('session_cost')}, -1)`,
};

/**
 * Builds the query of a list. The inner query finds the page in an index if possible; the outer one reads only those
 * rows.
 */
function listQuery(query: SessionQuery): readonly [string, SqliteValue[]] {
  const { limit, after, by = 'updated', isAscending = false, withRun = false } = query;
  const [where, values] = whereOf(query);
  const behind = isAscending ? '>' : '<';
  const direction = isAscending ? 'ASC' : 'DESC';
  const columns = `${SESSION}${withRun ? `, ${runColumns}` : ''}`;
  if (by === 'updated') {
    const place = after ? `AND (updated_at, id) ${behind} (?, ?)` : '';
    const order = `ORDER BY updated_at ${direction}, id ${direction}`;
    return [
      `SELECT ${columns} FROM sessions
       WHERE key IN (SELECT key FROM sessions WHERE ${where} ${place} ${order} LIMIT ?) ${order}`,
      [...values, ...(after ? [after.updatedAt, after.id] : []), limit],
    ];
  }
  const place = after ? `WHERE (value, id) ${behind} (?, ?)` : '';
  const order = `ORDER BY value ${direction}, id ${direction}`;
  return [
    `SELECT ${columns} FROM sessions JOIN (
       SELECT place, value FROM (
         SELECT key AS place, id, ${orders[by]} AS value FROM sessions WHERE ${where}
         ORDER BY updated_at DESC, id DESC LIMIT ${SORTED_AMONG}) ${place} ${order} LIMIT ?) ON key = place
     ${order}`,
    [...values, ...(after ? [after.value ?? null, after.id] : []), limit],
  ];
}

const runColumns = `${run('model')} AS runModel, ${run('session_cost')} AS runCost, ${run('errors')} AS runErrors`;

function rowWithRun(found: unknown): SessionRow {
  const { runModel, runCost, runErrors, ...row } = found as SessionRow & {
    readonly runModel: string | null;
    readonly runCost: number | null;
    readonly runErrors: number | null;
  };
  const facts: RunFacts | null =
    runErrors === null ? null : { model: runModel, sessionCost: runCost, errors: runErrors };
  return { ...sessionRow(row), run: facts };
}
