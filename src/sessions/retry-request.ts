import { isoTime, type Clock } from '../clock.ts';
import { checkedActor } from './check-names.ts';
import type { RetryOptions } from './session-options.ts';
import type { SessionRequest } from './session-store.ts';

/** Returns the request of a retry, with who asks for it and when. */
export const retryRequest = (
  { owner, by = owner }: RetryOptions,
  clock: Clock,
): SessionRequest => ({
  retry: isoTime(clock.now()),
  by: checkedActor(by),
});
