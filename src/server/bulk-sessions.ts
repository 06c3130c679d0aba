import { AgentError } from '../errors/agent-error.ts';
import type { SessionRuntime } from '../sessions/session-runtime.ts';

export const bulkActions = ['stop', 'retry', 'delete'] as const;
export type BulkAction = (typeof bulkActions)[number];

export interface BulkResult {
  /** Ids of the sessions for which it was done. */
  readonly done: readonly string[];
  /** The others, each with the reason. */
  readonly skipped: readonly {
    readonly id: string;
    readonly code: string;
    readonly message: string;
  }[];
}

/**
 * Does the same with several sessions, one after another. A session that it is not possible for is skipped; any other
 * failure ends it. `ownerOf` returns null for a session that does not exist.
 */
export async function bulkSessions(
  runtime: SessionRuntime,
  action: BulkAction,
  ids: readonly string[],
  ownerOf: (id: string) => string | null | Promise<string | null>,
  by: string,
): Promise<BulkResult> {
  const done: string[] = [];
  const skipped: BulkResult['skipped'][number][] = [];
  for (const id of new Set(ids))
    try {
      const owner = await ownerOf(id);
      if (owner === null) throw notFound();
      await doOne(runtime, action, id, { owner, by });
      done.push(id);
    } catch (error) {
      if (!AgentError.is(error) || error.code === 'store_failed') throw error;
      skipped.push({ id, code: error.code, message: error.message });
    }
  return { done, skipped };
}

const notFound = (): AgentError => new AgentError('session_not_found', 'There is no such session.');

async function doOne(
  runtime: SessionRuntime,
  action: BulkAction,
  id: string,
  { owner, by }: { readonly owner: string; readonly by: string },
): Promise<void> {
  if (action === 'delete') return runtime.delete(id, { owner });
  const { phase } = await runtime.get(id, { owner });
  if (action === 'retry') {
    if (phase !== 'parked') throw notNow('It has not given up, so there is nothing to retry.');
    await runtime.retry(id, { owner, by });
    return;
  }
  if (phase === 'idle') throw notNow('It does not run, so there is nothing to stop.');
  await runtime.stop(id, { owner });
}

const notNow = (message: string): AgentError => new AgentError('conflict', message);
