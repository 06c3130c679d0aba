import type { RunFacts, SessionPhase, SessionRow, SessionRunRow } from '../../session-rows.ts';
import {
  SORTED_AMONG,
  type SessionFilter,
  type SessionOrder,
  type SessionQuery,
} from '../../session-query.ts';
import type { SessionStore } from '../../session-store.ts';
import type { Database } from './postgres-pool.ts';
import { integer, sessionColumns, shownStatus } from './postgres-reads.ts';

type Queries = Pick<SessionStore, 'list' | 'count' | 'runs'>;
type Bind = (value: unknown) => string;

const phases: readonly SessionPhase[] = ['idle', 'open', 'paused', 'parked'];
const checkedPhase = (phase: SessionPhase): SessionPhase =>
  phases.find((known) => known === phase) ?? 'idle';

/** Implements list, count and runs. */
export function sessionQueries(db: Database, schema: string): Queries {
  return {
    async list(query) {
      const values: unknown[] = [];
      const text = listText(schema, query, (value) => `$${values.push(value)}`);
      const rows = await db.read<FoundRow>('list sessions', text, values);
      return query.withRun ? rows.map(withRun) : rows;
    },
    async count(filter, most) {
      const values: unknown[] = [integer(most)];
      const where = whereOf(schema, filter, (value) => `$${values.push(value)}`);
      const [found] = await db.read<{ n: number }>(
        'count sessions',
        `select count(*)::integer as n from (
          select from ${schema}.sessions s ${newestRun(schema, filter)} where ${where} limit $1) t`,
        values,
      );
      return found?.n ?? 0;
    },
    runs({ owner, agent, from, before, limit }) {
      const values: unknown[] = [from, before, integer(limit)];
      const bind: Bind = (value) => `$${values.push(value)}`;
      return db.read<SessionRunRow>(
        'read runs',
        `select session_id as "sessionId", owner, agent, execution_id as "executionId", started_at as "startedAt",
          ended_at as "endedAt", status, stop_reason as "stopReason", model, cost, session_cost as "sessionCost",
          errors, body
        from ${schema}.runs where ended_at >= $1 and ended_at < $2
          ${owner === undefined ? '' : `and owner = ${bind(owner)}`}
          ${agent === undefined ? '' : `and agent = ${bind(agent)}`}
        order by ended_at desc limit $3`,
        values,
      );
    },
  };
}

/** Joins the newest run record as `r`, if the query uses it. */
function newestRun(
  schema: string,
  {
    models,
    costFrom,
    costBefore,
    hasError,
    by,
    withRun: shown,
  }: SessionFilter & Partial<SessionQuery>,
): string {
  const isUsed =
    [models, costFrom, costBefore, hasError].some((one) => one !== undefined) ||
    by === 'cost' ||
    shown === true;
  return isUsed
    ? `left join lateral (select model, session_cost, errors from ${schema}.runs where session_id = s.id
        order by ended_at desc limit 1) r on true`
    : '';
}

function whereOf(schema: string, filter: SessionFilter, bind: Bind): string {
  const { owner, status, statuses, phase, agent, agents, notAgents } = filter;
  const { updatedFrom, updatedBefore, models, costFrom, costBefore, hasError, attention } = filter;
  const clauses = ['true'];
  const add = <T>(value: T | undefined, clause: (value: T) => string): void => {
    if (value !== undefined) clauses.push(clause(value));
  };
  add(owner, (value) => `s.owner = ${bind(value)}`);
  add(agent, (value) => `s.agent = ${bind(value)}`);
  add(agents, (value) => `s.agent = any(${bind(value)}::text[])`);
  add(notAgents, (value) => `s.agent <> all(${bind(value)}::text[])`);
  // written as a literal, so that the partial indexes apply
  add(phase, (value) => `s.phase = '${checkedPhase(value)}'`);
  add(status, (value) => `${shownStatus} = ${bind(value)}`);
  add(statuses, (value) => `${shownStatus} = any(${bind(value)}::text[])`);
  add(updatedFrom, (value) => `s.updated_at >= ${bind(value)}`);
  add(updatedBefore, (value) => `s.updated_at < ${bind(value)}`);
  add(models, (value) => `r.model = any(${bind(value)}::text[])`);
  add(costFrom, (value) => `r.session_cost >= ${bind(value)}::float8`);
  add(costBefore, (value) => `r.session_cost < ${bind(value)}::float8`);
  add(hasError, (value) => `${value ? '' : 'not'} (${isFaulty})`);
  add(attention, (value) => needsPerson(schema, value, bind));
  return clauses.join(' and ');
}

const isFaulty = `${shownStatus} = 'failed' or s.error is not null or coalesce(r.errors, 0) > 0`;

/** Each part is a partial index. */
function needsPerson(
  schema: string,
  { isNeeded, pausedBefore, failedFrom, waitingBefore }: NonNullable<SessionFilter['attention']>,
  bind: Bind,
): string {
  return `s.id ${isNeeded ? '= any' : '<> all'} (array(
    select id from ${schema}.sessions where phase = 'parked'
    union all select id from ${schema}.sessions where phase = 'paused' and updated_at < ${bind(pausedBefore)}
    union all select id from ${schema}.sessions
      where phase = 'idle' and status = 'failed' and updated_at >= ${bind(failedFrom)}
    union all select id from ${schema}.sessions where phase = 'open' and case when worker is null
      then updated_at < ${bind(waitingBefore)} else leased_until <= clock_timestamp() end))`;
}

const orders: Readonly<Record<Exclude<SessionOrder, 'updated'>, readonly [string, string]>> = {
  created: ['s.created_at', 'text'],
  steps: ['s.step_count', 'integer'],
  cost: ['coalesce(r.session_cost, -1)', 'float8'],
};

function listText(schema: string, query: SessionQuery, bind: Bind): string {
  const { limit, after, by = 'updated', isAscending = false, withRun: shown } = query;
  const where = whereOf(schema, query, bind);
  const behind = isAscending ? '>' : '<';
  const direction = isAscending ? 'asc' : 'desc';
  const columns = `${sessionColumns}${shown ? `, ${runColumns}` : ''}`;
  const from = `from ${schema}.sessions s ${newestRun(schema, query)}`;
  if (by === 'updated') {
    const place = after
      ? `and (s.updated_at, s.id) ${behind} (${bind(after.updatedAt)}, ${bind(after.id)})`
      : '';
    return `select ${columns} ${from} where ${where} ${place}
      order by s.updated_at ${direction}, s.id ${direction} limit ${bind(integer(limit))}`;
  }
  const [value, type] = orders[by];
  const place = after
    ? `where (value, id) ${behind} (${bind(after.value)}::${type}, ${bind(after.id)})`
    : '';
  return `with newest as (
      select s.id, ${value} as value ${from} where ${where}
      order by s.updated_at desc, s.id desc limit ${SORTED_AMONG}),
    page as (
      select id, value from newest ${place} order by value ${direction}, id ${direction} limit ${bind(integer(limit))})
    select ${columns} ${from} join page on page.id = s.id order by page.value ${direction}, page.id ${direction}`;
}

const runColumns = 'r.model as "runModel", r.session_cost as "runCost", r.errors as "runErrors"';

interface FoundRow extends SessionRow {
  readonly runModel?: string | null;
  readonly runCost?: number | null;
  readonly runErrors?: number | null;
}

function withRun({ runModel, runCost, runErrors, ...row }: FoundRow): SessionRow {
  const facts: RunFacts | null =
    runErrors === null || runErrors === undefined
      ? null
      : { model: runModel ?? null, sessionCost: runCost ?? null, errors: runErrors };
  return { ...row, run: facts };
}
