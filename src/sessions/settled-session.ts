import type { SessionLookup } from './session-lookup.ts';
import type { GrantCapOptions, OwnerOptions } from './session-options.ts';
import type { SessionWorker } from './session-worker.ts';
import type { Session } from './session.ts';

/** Returns the session after a request, with `wait` once it has settled. */
export async function settledSession(
  lookup: SessionLookup,
  worker: SessionWorker,
  sessionId: string,
  { owner, wait, grants }: OwnerOptions & GrantCapOptions & { readonly wait?: boolean },
  executionId: string | null,
  hasBegun: boolean,
): Promise<Session> {
  if (wait) {
    await lookup.owned(sessionId, owner);
    await worker.waits.settled(sessionId, executionId, hasBegun);
  }
  const session = await lookup.view(await lookup.owned(sessionId, owner), grants);
  return wait || executionId === null ? session : { ...session, executionId };
}
