import type { RunRow, SessionRow, SessionRunRow } from '../../session-rows.ts';
import type { RunsQuery } from '../../session-query.ts';
import type { KeyValueChange, KeyValues } from './key-value-driver.ts';
import { byEnd, rowKey, under } from './key-value-layout.ts';

export const endKeyOf = (id: string, { endedAt, executionId }: RunRow): string =>
  byEnd(endedAt, id, executionId);

/** Returns the entries of a run record, in place of an earlier one of the execution. */
export function runEntries(
  { id, owner, agent }: Pick<SessionRow, 'id' | 'owner' | 'agent'>,
  run: RunRow,
  found: ReadonlyMap<string, string>,
): readonly KeyValueChange[] {
  const key = rowKey(id, 'run', run.executionId);
  const earlier = found.get(key);
  return [
    ...(earlier === undefined
      ? []
      : [[endKeyOf(id, JSON.parse(earlier) as RunRow), null] as KeyValueChange]),
    [key, JSON.stringify({ ...run, sessionId: id, owner, agent })],
    [endKeyOf(id, run), key],
  ];
}

/** Entries per read. */
const PAGE = 200;

/** Reads run records of a time range, newest end first. */
export async function runsIn(kv: KeyValues, query: RunsQuery): Promise<readonly SessionRunRow[]> {
  const { owner, agent, from, before: end, limit } = query;
  const all = under('ran');
  // every key of a time begins with it
  const first = byEnd(from, '', '').slice(0, -2);
  let before = byEnd(end, '', '').slice(0, -2);
  const rows: SessionRunRow[] = [];
  while (rows.length < limit) {
    const page = await kv.list({ ...all, from: first, before, reverse: true, limit: PAGE });
    const found = await kv.get(page.map(([, key]) => key));
    for (const [key, rowAt] of page) {
      const text = found.get(rowAt);
      const run = text === undefined ? null : (JSON.parse(text) as SessionRunRow);
      // an earlier release that deletes a session leaves its place here
      if (!run || endKeyOf(run.sessionId, run) !== key) continue;
      if ((owner ?? run.owner) === run.owner && (agent ?? run.agent) === run.agent) rows.push(run);
    }
    const last = page.at(-1)?.[0];
    if (last === undefined || page.length < PAGE) break;
    before = last;
  }
  return rows.slice(0, limit);
}
