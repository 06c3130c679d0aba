import { attentionOf } from '../attention.ts';
import type { RunFacts, RunRow, SessionRow } from '../session-rows.ts';
import {
  SORTED_AMONG,
  type SessionFilter,
  type SessionOrder,
  type SessionQuery,
} from '../session-query.ts';

/** A session with the facts of its newest run record, as stores without SQL select and sort it. */
export type ListedRow = SessionRow & { readonly run: RunFacts | null };

export const runFacts = ({ model, sessionCost, errors }: RunRow): RunFacts => ({
  model,
  sessionCost,
  errors,
});

/** Whether a session matches. This is the rule that SQL stores write as conditions. */
export function isListed(row: ListedRow, filter: SessionFilter): boolean {
  const { owner, status, statuses, phase, agent, agents, notAgents } = filter;
  const { updatedFrom, updatedBefore, hasError, attention } = filter;
  return (
    (owner === undefined || row.owner === owner) &&
    (status === undefined || row.status === status) &&
    (statuses === undefined || statuses.includes(row.status)) &&
    (phase === undefined || row.phase === phase) &&
    (agent === undefined || row.agent === agent) &&
    (agents === undefined || agents.includes(row.agent)) &&
    notAgents?.includes(row.agent) !== true &&
    (updatedFrom === undefined || row.updatedAt >= updatedFrom) &&
    (updatedBefore === undefined || row.updatedAt < updatedBefore) &&
    hasUsed(row.run, filter) &&
    (hasError === undefined || isFaulty(row) === hasError) &&
    (attention === undefined || (attentionOf(row, attention) !== null) === attention.isNeeded)
  );
}

function hasUsed(
  run: RunFacts | null,
  { models, costFrom, costBefore }: Pick<SessionFilter, 'models' | 'costFrom' | 'costBefore'>,
): boolean {
  const { model = null, sessionCost: cost = null } = run ?? {};
  return (
    (models === undefined || (model !== null && models.includes(model))) &&
    (costFrom === undefined || (cost !== null && cost >= costFrom)) &&
    (costBefore === undefined || (cost !== null && cost < costBefore))
  );
}

const isFaulty = ({ status, error, run }: ListedRow): boolean =>
  status === 'failed' || error !== null || (run?.errors ?? 0) > 0;

/** Returns the value by which a session is sorted. Unknown costs come below 0. */
export function orderValue(
  { updatedAt, createdAt, stepCount, run }: Omit<ListedRow, 'run'> & Pick<SessionRow, 'run'>,
  by: SessionOrder,
): string | number {
  switch (by) {
    case 'updated':
      return updatedAt;
    case 'created':
      return createdAt;
    case 'cost':
      return run?.sessionCost ?? -1;
    case 'steps':
      return stepCount;
  }
}

/** Selects, sorts and cuts the page of a query. */
export function pageOf(
  rows: readonly ListedRow[],
  query: SessionQuery,
): readonly (SessionRow | ListedRow)[] {
  const { by = 'updated', isAscending = false, after, limit, withRun } = query;
  const matching = rows.filter((row) => isListed(row, query)).toSorted(inOrder('updated', false));
  const compared = inOrder(by, isAscending);
  const place =
    after &&
    ([by === 'updated' ? after.updatedAt : (after.value ?? after.updatedAt), after.id] as const);
  return (by === 'updated' ? matching : matching.slice(0, SORTED_AMONG))
    .filter((row) => !place || isBehind([orderValue(row, by), row.id], place, isAscending))
    .toSorted(compared)
    .slice(0, limit)
    .map((row) => (withRun ? row : withoutRun(row)));
}

function withoutRun({ run: _run, ...row }: ListedRow): SessionRow {
  return row;
}

type Place = readonly [value: string | number, id: string];

const compare = ([a, x]: Place, [b, y]: Place): number =>
  a === b ? (x < y ? -1 : Number(x > y)) : a < b ? -1 : 1;

const isBehind = (place: Place, after: Place, isAscending: boolean): boolean =>
  isAscending ? compare(place, after) > 0 : compare(place, after) < 0;

const inOrder =
  (by: SessionOrder, isAscending: boolean) =>
  (a: ListedRow, b: ListedRow): number =>
    (isAscending ? 1 : -1) * compare([orderValue(a, by), a.id], [orderValue(b, by), b.id]);
