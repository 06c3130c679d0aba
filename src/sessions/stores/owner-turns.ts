import { READS } from '../session-rows.ts';
import type {
  AgentTurn,
  RecoverablePage,
  RecoverableQuery,
  UrgentQuery,
} from '../session-store.ts';
import type { KeptLease } from './attempt-rules.ts';
import type { KeptRow } from './session-rules.ts';

/** Returns the most sessions of each owner on a page with this number of owners. */
export const perOwner = (limit: number, owners: number): number =>
  Math.max(1, Math.ceil(limit / Math.max(1, owners)));

type Aged = Pick<KeptRow, 'id' | 'updatedAt'>;

/** Sorts the longest unchanged session first. */
const byAge = (a: Aged, b: Aged): number =>
  a.updatedAt === b.updatedAt ? order(a.id, b.id) : order(a.updatedAt, b.updatedAt);

const order = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

/** Returns the free sessions that should not wait. */
export function urgentOf(
  free: readonly KeptLease[],
  { agents, limit, reads = READS }: UrgentQuery,
): readonly string[] {
  const readable = free.filter(({ row }) => row.requires <= reads);
  const stopping = readable.filter(({ row }) => row.stopReason !== null);
  const expired = readable.filter(
    ({ row }) => row.stopReason === null && row.worker !== null && agents.includes(row.agent),
  );
  return [
    ...stopping.toSorted((a, b) => byAge(a.row, b.row)),
    ...expired.toSorted((a, b) => a.leasedUntil - b.leasedUntil || byAge(a.row, b.row)),
  ]
    .slice(0, limit)
    .map(({ row }) => row.id);
}

/** Returns one page of an agent's free sessions, on which every owner gets a turn. */
export function inTurns(
  free: readonly KeptLease[],
  { agent, afterOwner }: AgentTurn,
  { limit, reads = READS }: RecoverableQuery,
): RecoverablePage {
  const owners = new Map<string, KeptRow[]>();
  for (const { row } of free) {
    if (row.agent !== agent || row.worker !== null || row.requires > reads) continue;
    if (afterOwner !== undefined && row.owner <= afterOwner) continue;
    const rows = owners.get(row.owner);
    if (rows) rows.push(row);
    else owners.set(row.owner, [row]);
  }
  const names = [...owners.keys()].toSorted(order).slice(0, limit);
  const most = perOwner(limit, names.length);
  const rows = names.map((name) => (owners.get(name) ?? []).toSorted(byAge).slice(0, most));
  return {
    ids: turns(rows).slice(0, limit),
    afterOwner: names.length < owners.size ? (names.at(-1) ?? null) : null,
  };
}

/** Returns the first session of each list, oldest first, then the second of each. */
export function turns(lists: readonly (readonly Aged[])[]): readonly string[] {
  const ids: string[] = [];
  for (let turn = 0; ; turn++) {
    const rows = lists.flatMap((list) => list[turn] ?? []);
    if (rows.length === 0) return ids;
    ids.push(...rows.toSorted(byAge).map(({ id }) => id));
  }
}
