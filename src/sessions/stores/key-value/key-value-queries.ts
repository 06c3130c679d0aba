import type { SessionPhase } from '../../session-rows.ts';
import { SORTED_AMONG, type SessionQuery } from '../../session-query.ts';
import type { SessionStore } from '../../session-store.ts';
import { isListed, type ListedRow, pageOf } from '../query-rules.ts';
import { listedRow } from '../session-rules.ts';
import type { KeyValueRange, KeyValues } from './key-value-driver.ts';
import { asParked, byChange, byOwner, type KeptSession, under } from './key-value-layout.ts';
import { runsIn } from './key-value-runs.ts';
import { sessionsIn } from './key-value-session.ts';

/** Implements list, count and runs. */
export function keyValueQueries(
  kv: KeyValues,
  isLeased: (session: KeptSession, now: number) => boolean,
): Pick<SessionStore, 'list' | 'count' | 'runs'> {
  const lister = async (): Promise<(session: KeptSession) => ListedRow> => {
    const now = await kv.now();
    return (session) => listedRow(session.row, isLeased(session, now));
  };
  return {
    async list(query) {
      const listed = await lister();
      const { by = 'updated', isAscending = false, limit } = query;
      const isSorted = by !== 'updated';
      const range = {
        ...listRange(query.owner, query.phase, isSorted ? undefined : query.after, isAscending),
        reverse: isSorted || !isAscending,
        limit: isSorted ? SORTED_AMONG : limit,
      };
      const sessions = await sessionsIn(kv, range, (session) => isListed(listed(session), query));
      return pageOf(sessions.map(listed), query);
    },
    async count(filter, most) {
      const listed = await lister();
      const range = { ...listRange(filter.owner, filter.phase), limit: most };
      return (await sessionsIn(kv, range, (session) => isListed(listed(session), filter))).length;
    },
    runs: (query) => runsIn(kv, query),
  };
}

/** Returns the part of an index that a list reads, behind the session after which it continues. */
function listRange(
  owner: string | undefined,
  phase: SessionPhase | undefined,
  after?: SessionQuery['after'],
  isAscending: boolean = false,
): KeyValueRange {
  const { updatedAt, id } = after ?? { updatedAt: '', id: '' };
  const [range, place] =
    phase === 'parked'
      ? [under('parked'), asParked(updatedAt, id)]
      : owner === undefined
        ? [under('changed'), byChange(updatedAt, id)]
        : [under('owner', owner), byOwner(owner, updatedAt, id)];
  if (!after) return range;
  // a space sorts before every character that a key can continue with
  return isAscending ? { ...range, from: `${place} ` } : { ...range, before: place };
}
