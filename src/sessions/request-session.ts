import { isoTime, type Clock } from '../clock.ts';
import { defaultRedactor } from '../errors/redactor.ts';
import { checkedActor } from './check-names.ts';
import { sessionNotFound } from './session-errors.ts';
import type { SessionLookup } from './session-lookup.ts';
import type { PauseSessionOptions, RetryOptions, StopSessionOptions } from './session-options.ts';
import type { SessionRequest } from './session-store.ts';
import type { SessionWorker } from './session-worker.ts';
import { stopText } from './stop-note.ts';

/** Stores a request for the worker of a session, and signals it to that worker. */
export async function requestSession(
  lookup: SessionLookup,
  worker: SessionWorker,
  given: { readonly sessionId: string; readonly owner: string; readonly request: SessionRequest },
): Promise<void> {
  const { sessionId, owner, request } = given;
  const row = await lookup.changeable(sessionId, owner);
  const phase = await lookup.store.request(sessionId, request);
  if (phase === null) throw sessionNotFound(sessionId);
  if (phase !== 'idle') await worker.signal(row, request);
}

/** Returns the request that pauses a session. */
export const pauseRequest = ({ reason = 'on request' }: PauseSessionOptions): SessionRequest => ({
  pause: defaultRedactor.text(reason),
});

/** Returns the request that stops a session, with who asked and when. */
export function stopRequest(options: StopSessionOptions, clock: Clock): SessionRequest {
  const { owner, reason = 'a stop was requested', by = owner } = options;
  const at = isoTime(clock.now());
  return { stop: stopText({ reason: defaultRedactor.text(reason), by, at }) };
}

/** Returns the request of a retry, with who asks for it and when. */
export const retryRequest = (
  { owner, by = owner }: RetryOptions,
  clock: Clock,
): SessionRequest => ({
  retry: isoTime(clock.now()),
  by: checkedActor(by),
});
