import { orderValue } from './stores/query-rules.ts';
import type { AttentionTimes, SessionOrder, SessionQuery } from './session-query.ts';
import type { ListSessionsOptions } from './session-options.ts';
import type { SessionRow } from './session-rows.ts';

/** Options of a list over all owners, or one of them. */
export type AllSessionsOptions = Omit<ListSessionsOptions, 'owner'> & { readonly owner?: string };

/** Returns the query of a list. */
export function listQuery(
  { needsAttention, ...filter }: Omit<AllSessionsOptions, 'limit' | 'cursor'>,
  times: AttentionTimes,
): Omit<SessionQuery, 'limit'> {
  return {
    ...filter,
    ...(needsAttention !== undefined && { attention: { ...times, isNeeded: needsAttention } }),
    withRun: true,
  };
}

/** Returns the place of a session in the list, from which its next page continues. */
export function placeIn(
  row: SessionRow,
  by: SessionOrder = 'updated',
): NonNullable<SessionQuery['after']> {
  const { updatedAt, id } = row;
  return { updatedAt, id, ...(by !== 'updated' && { value: orderValue(row, by) }) };
}
