import type { SessionLookup } from './session-lookup.ts';
import { readPage, type HistoryPage, type PageOptions } from './session-reads.ts';
import type { SessionRow } from './session-rows.ts';
import type { SessionCompaction, StoredCompaction } from './state-rows.ts';

export type { SessionCompaction } from './state-rows.ts';

/** Position behind the newest one, so that a header that cannot be read does not matter. */
const NEWEST: number = Number.MAX_SAFE_INTEGER;

/** Reads one page of the compactions of a session's own agent. */
export async function readCompactions(
  lookup: SessionLookup,
  row: SessionRow,
  options: PageOptions,
): Promise<HistoryPage<SessionCompaction>> {
  const page = await readPage<StoredCompaction>(lookup, row, options, NEWEST, (range) =>
    lookup.store.compactions(row.id, '', range),
  );
  const items = page.items.map(({ results: _results, ...compaction }) => compaction);
  return { items, before: page.before };
}
