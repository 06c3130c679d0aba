import type { GrantRecord } from '../continuation/grant-allowance.ts';
import { addGrants, type Grants } from '../continuation/grants.ts';
import type { Execution } from './execution.ts';

/** Longest log; older entries are added up, so that many small grants cannot make a state grow. */
const MAX_ENTRIES = 50;

/** Who gives a grant, and when. */
export type GrantedBy = Omit<GrantRecord, 'grant'>;

/** Adds a grant to an execution's limits, and records who gave it. */
export function giveGrant(
  { grants, grantLog = [] }: Execution,
  grant: Grants,
  granted: GrantedBy,
): Pick<Execution, 'grants' | 'grantLog'> {
  const entry: GrantRecord = { grant: { ...grant }, ...granted };
  return { grants: addGrants(grants, grant), grantLog: shortened([...grantLog, entry]) };
}

/** Adds up the two oldest grants of one authority where the log is full. */
function shortened(log: readonly GrantRecord[]): readonly GrantRecord[] {
  if (log.length <= MAX_ENTRIES) return log;
  // there are two authorities, so two of the three oldest share one
  for (const [first, second] of [
    [0, 1],
    [0, 2],
    [1, 2],
  ] as const) {
    const [a, b] = [log[first], log[second]];
    if (!a || !b || a.authority !== b.authority) continue;
    const sum: GrantRecord = {
      ...b,
      grant: addGrants(a.grant, b.grant),
      by: a.by === b.by ? a.by : null,
    };
    return [sum, ...log.filter((_entry, i) => i !== first && i !== second)];
  }
  return log;
}
