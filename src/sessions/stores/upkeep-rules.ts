import { pacer } from '../../pacing.ts';
import { READS, type SessionPhase } from '../session-rows.ts';
import type { Dropped, ExpireRequest, UpkeepRequest } from '../session-store.ts';
import type { KeptRow } from './session-rules.ts';

/** Sums up batches until there are no more or the signal aborts. Other work gets turns of the event loop in between. */
export async function inBatches(
  { signal, onProgress }: UpkeepRequest,
  batches: AsyncIterable<Dropped>,
): Promise<Dropped> {
  const turn = pacer('upkeep');
  let total: Dropped = { sessions: 0, rows: 0 };
  if (signal?.aborted) return total;
  for await (const { sessions, rows } of batches) {
    total = { sessions: total.sessions + sessions, rows: total.rows + rows };
    onProgress?.(total);
    if (signal?.aborted) break;
    await turn();
  }
  return total;
}

/** Returns the phases in which a session may be deleted because of its age. */
export const expiring = ({ waiting }: ExpireRequest): readonly SessionPhase[] =>
  waiting ? ['idle', 'paused', 'parked'] : ['idle'];

export const isPrunable = (
  row: KeptRow,
  request: UpkeepRequest,
  phases: readonly SessionPhase[] = ['idle'],
): boolean =>
  phases.includes(row.phase) &&
  row.updatedAt < request.olderThan &&
  row.requires <= READS &&
  (request.owner === undefined || row.owner === request.owner);

export const isExpired = (row: KeptRow, request: ExpireRequest): boolean =>
  isPrunable(row, request, expiring(request));
