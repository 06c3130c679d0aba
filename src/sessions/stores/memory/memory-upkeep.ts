import type { Dropped, ExpireRequest, UpkeepRequest } from '../../session-store.ts';
import { type MemorySession, sizeOf } from './memory-session.ts';
import { isExpired, isPrunable } from '../upkeep-rules.ts';

/** Prunes sessions, one batch for each. */
export async function* pruneSessions(
  sessions: readonly MemorySession[],
  request: UpkeepRequest,
): AsyncGenerator<Dropped> {
  for (const session of sessions) {
    if (!isPrunable(session.row, request)) continue;
    const before = sizeOf(session).rows;
    prune(session);
    const rows = before - sizeOf(session).rows;
    yield { sessions: Number(rows > 0), rows };
  }
}

export async function* expireSessions(
  kept: Map<string, MemorySession>,
  sessions: readonly MemorySession[],
  request: ExpireRequest,
): AsyncGenerator<Dropped> {
  for (const session of sessions) {
    const { row } = session;
    // another session with the same id may have replaced it
    if (kept.get(row.id) !== session || !isExpired(row, request)) continue;
    if (!request.dryRun) kept.delete(row.id);
    yield { sessions: 1, rows: request.dryRun ? 0 : sizeOf(session).rows };
  }
}

/** Drops the rows that only earlier executions needed. */
function prune(session: MemorySession): void {
  const last = session.row.executionId ?? session.steps.get('')?.at(-1)?.executionId ?? '';
  const kept = session.agents.get(last);
  for (const agents of session.agents.values())
    for (const agentId of agents.keys())
      if (!kept?.has(agentId)) {
        session.messages.delete(agentId);
        session.compactions.delete(agentId);
      }
  session.events.clear();
  for (const [agentId, steps] of session.steps)
    session.steps.set(
      agentId,
      steps.filter(({ executionId }) => executionId === last),
    );
  for (const table of [session.calls, session.agents])
    for (const executionId of table.keys()) if (executionId !== last) table.delete(executionId);
  for (const scope of session.blobs.keys())
    if (scope !== '' && scope !== last) session.blobs.delete(scope);
}
