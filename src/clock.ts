/**
 * The only source of time. `now` is milliseconds since the epoch, with fractions where the platform has them: the wall
 * clock, which people and servers set forward and back.
 */
export interface Clock {
  now(): number;
  /** Milliseconds from any start, which only grow and follow no change of the wall clock. Limits count these. */
  monotonic?(): number;
  /** Calls `fn` once after `ms` milliseconds unless the returned function cancels it. */
  after(ms: number, fn: () => void): () => void;
}

/** Node and browsers fire a longer timer at once. */
const LONGEST_TIMER_MS = 0x7fffffff;
/** A jump larger than this means that the clock was set: follow it. */
const RESYNC_MS = 100;

let offset = Date.now() - performance.now();
let reads = 0;

/** A process may have been frozen since: the next reading looks at the wall clock before it trusts its own count. */
export function syncSystemClock(): void {
  reads = -1;
}

export const systemClock: Clock = {
  now(): number {
    const fine = performance.now() + offset;
    // the second look costs as much as the first, so only one reading in sixteen pays for it
    if ((++reads & 15) !== 0) return fine;
    const wall = Date.now();
    if (Math.abs(wall - fine) < RESYNC_MS) return fine;
    offset = wall - performance.now();
    return wall;
  },
  monotonic: () => performance.now(),
  after(ms, fn): () => void {
    let timer: ReturnType<typeof setTimeout>;
    const arm = (left: number): void => {
      timer =
        left > LONGEST_TIMER_MS
          ? setTimeout(arm, LONGEST_TIMER_MS, left - LONGEST_TIMER_MS)
          : setTimeout(fn, left);
    };
    arm(Math.max(0, ms));
    return () => clearTimeout(timer);
  },
};

/** A clock that cannot tell monotonic time may go back, and then counts nothing. */
export function monotonicOf(clock: Clock): () => number {
  if (clock.monotonic) return () => clock.monotonic?.() ?? 0;
  let last = clock.now();
  let counted = 0;
  return () => {
    const now = clock.now();
    counted += Math.max(0, now - last);
    last = now;
    return counted;
  };
}

/** No wall clock is followed further into a future that an earlier process wrote down. */
const LONGEST_LEAD_MS = 7 * 86_400_000;

/**
 * The time of one stretch of work: the wall clock as it is now, or `notBefore` where that is later, and monotonic time
 * from then on. Whatever happens to the wall clock, it never goes back and never jumps.
 */
export function stretchTime(clock: Clock, notBefore: number = 0): () => number {
  const wall = clock.now();
  const lead = notBefore - wall;
  const isLater = lead > 0 && lead <= LONGEST_LEAD_MS;
  const monotonic = monotonicOf(clock);
  const offset = (isLater ? notBefore : wall) - monotonic();
  return () => monotonic() + offset;
}

let formattedMs = Number.NaN;
let formatted = '';

/** ISO 8601 text of a time; steps of one run mostly share a millisecond, so the last one is remembered. */
export function isoTime(ms: number): string {
  const whole = Math.floor(ms);
  if (whole !== formattedMs) {
    formatted = new Date(whole).toISOString();
    formattedMs = whole;
  }
  return formatted;
}

let parsedIso = '';
let parsed = Number.NaN;

/** Milliseconds of an ISO text, the last one remembered: criteria ask for the same start every step. */
export function msOf(iso: string): number {
  if (iso !== parsedIso) {
    parsed = Date.parse(iso);
    parsedIso = iso;
  }
  return parsed;
}
