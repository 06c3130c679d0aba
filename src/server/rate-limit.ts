import { monotonicOf, type Clock } from '../clock.ts';
import { invalidOption } from '../errors/agent-error.ts';
import { ApiRefusal } from './refusal.ts';

/** Maximum requests of one owner in a number of seconds; unused ones accumulate up to that maximum. */
export interface RateLimit {
  readonly requests: number;
  readonly seconds: number;
}

/** Maximum owners to track: beyond it, the one that was idle longest starts again. */
const MAX_OWNERS = 10_000;

/** Counts one request of an owner, or refuses it. */
export function rateLimiter(
  { requests, seconds }: RateLimit,
  clock: Clock,
  mostOwners: number = MAX_OWNERS,
): (owner: string) => void {
  if (!(requests >= 1 && seconds > 0 && Number.isFinite(requests / seconds)))
    throw invalidOption(
      'rateLimit',
      { requests, seconds },
      '{ requests, seconds } above 0, or null',
    );
  const perMs = requests / (seconds * 1000);
  const monotonic = monotonicOf(clock);
  const buckets = new Map<string, { readonly left: number; readonly at: number }>();
  return (owner) => {
    const now = monotonic();
    const known = buckets.get(owner);
    const left = known ? Math.min(requests, known.left + (now - known.at) * perMs) : requests;
    const isTaken = left >= 1;
    // insert again, so that the map is in order of use
    buckets.delete(owner);
    buckets.set(owner, { left: isTaken ? left - 1 : left, at: now });
    if (buckets.size > mostOwners)
      for (const oldest of buckets.keys()) {
        buckets.delete(oldest);
        break;
      }
    if (!isTaken) throw tooMany({ requests, seconds }, Math.ceil((1 - left) / perMs / 1000));
  };
}

const tooMany = ({ requests, seconds }: RateLimit, waitSeconds: number): ApiRefusal =>
  new ApiRefusal(
    'rate_limited',
    `More than ${requests} requests in ${seconds} seconds. Try again in ${waitSeconds} s.`,
    { details: { requests, seconds }, headers: { 'retry-after': String(waitSeconds) } },
  );
