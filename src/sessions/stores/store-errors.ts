import { AgentError } from '../../errors/agent-error.ts';
import type { Commit } from '../session-store.ts';

/** Error for a worker whose lease was taken over or released, or whose session was deleted. */
export const staleOwner = ({ sessionId, token }: Pick<Commit, 'sessionId' | 'token'>): AgentError =>
  new AgentError(
    'stale_owner',
    `Token ${token} does not hold session "${sessionId}" any more: its lease was released or taken over, or the session was deleted. Nothing was written.`,
    { details: { sessionId, token } },
  );

export const startConflict = ({ sessionId, token }: Commit, callId: string): AgentError =>
  new AgentError(
    'conflict',
    `Call "${callId}" of session "${sessionId}" was started before and may not start again. Nothing was written.`,
    { details: { sessionId, token, callId } },
  );

export const revisionConflict = (
  { sessionId, token, revision }: Commit,
  found: number,
): AgentError =>
  new AgentError(
    'conflict',
    `A commit to session "${sessionId}" follows revision ${revision}, but the session is at ${found}. Nothing was written.`,
    { details: { sessionId, token, revision, found } },
  );

export const storeClosed = (name: string): AgentError =>
  new AgentError('store_failed', `The ${name} store is closed. Open a new one.`);

/** Whether the stored data is damaged, so that a retry does not help. */
export const isDamage = (error: unknown): error is AgentError =>
  AgentError.is(error, 'store_failed') && error.details['reason'] === 'damaged';

/** Whether PostgreSQL refused a value of the statement or its size, so that a retry would fail too. */
export function isRefusedValue(error: unknown): boolean {
  if (!AgentError.is(error, 'store_failed')) return false;
  const { code } = error.details;
  return typeof code === 'string' && /^(?:22|54)/.test(code);
}

/** Whether the store failed in a way that may pass, so that a retry may succeed. */
export const isOutage = (error: unknown): boolean =>
  AgentError.is(error, 'store_failed') && !isDamage(error) && !isRefusedValue(error);
