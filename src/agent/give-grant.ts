import type { GrantRecord } from '../continuation/grant-allowance.ts';
import { addGrants, type Grants } from '../continuation/grants.ts';
import type { Execution } from './execution.ts';

/** Most log entries. Older ones are merged, so that many small grants do not grow the state. */
const MAX_ENTRIES = 50;

/** Who gave a grant, and when. */
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

/** Merges the two oldest grants of one authority if the log is full. */
function shortened(log: readonly GrantRecord[]): readonly GrantRecord[] {
  if (log.length <= MAX_ENTRIES) return log;
  // there are two authorities, so two of the three oldest entries have the same
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
