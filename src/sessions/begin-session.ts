import type { BeginSession } from './begins-of.ts';
import { createSession } from './create-session.ts';
import { sendMessage } from './send-message.ts';
import type { SessionLookup } from './session-lookup.ts';
import type { SessionWorker } from './session-worker.ts';
import type { Session } from './session.ts';

/** Creates a session with its first message, and reads neither. If the message is refused, there is no session. */
export async function beginSession(
  lookup: SessionLookup,
  worker: SessionWorker,
  ...[content, options]: Parameters<BeginSession>
): Promise<Session> {
  const row = await createSession(lookup, options);
  try {
    const sent = await sendMessage(lookup, worker, row, content, { owner: row.owner });
    const session = await lookup.view(sent.row ?? row);
    return { ...session, executionId: sent.executionId };
  } catch (error) {
    // a retry must not find its own id in use
    await lookup.store.delete(row.id).catch((left: unknown) => worker.failed(left, row.id));
    worker.forget(row.id);
    throw error;
  }
}
