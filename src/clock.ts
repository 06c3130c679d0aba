/**
 * The only source of time. `now` is the wall clock in milliseconds since the epoch, with fractions if the platform has
 * them. It may be set forward and back.
 */
export interface Clock {
  now(): number;
  /** Milliseconds from an arbitrary start, which never decrease and ignore changes of the wall clock. For limits. */
  monotonic?(): number;
  /** Calls `fn` once after `ms` milliseconds unless the returned function cancels it. */
  after(ms: number, fn: () => void): () => void;
}

/** Longest timer: Node and browsers fire a longer one immediately. */
const LONGEST_TIMER_MS = 0x7fffffff;
/** Difference above which the wall clock was set, and is followed. */
const RESYNC_MS = 100;

let offset = Date.now() - performance.now();
let reads = 0;

/** Makes the next reading check the wall clock, because the process may have been frozen. */
export function syncSystemClock(): void {
  reads = -1;
}

export const systemClock: Clock = {
  now(): number {
    const fine = performance.now() + offset;
    // checking the wall clock doubles the cost, so only one reading in 16 does it
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

/** Returns the monotonic time of a clock. Without `monotonic`, it ignores steps back of `now`. */
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

/** Longest time that `notBefore` may be in the future; a later one is ignored. */
const LONGEST_LEAD_MS = 7 * 86_400_000;

/**
 * Returns the clock of one run: it starts at the wall clock, or at `notBefore` if that is later, and then uses
 * monotonic time. It never goes back or jumps, even if the wall clock is set.
 */
export function runTime(clock: Clock, notBefore: number = 0): () => number {
  const wall = clock.now();
  const lead = notBefore - wall;
  const isLater = lead > 0 && lead <= LONGEST_LEAD_MS;
  const monotonic = monotonicOf(clock);
  const offset = (isLater ? notBefore : wall) - monotonic();
  return () => monotonic() + offset;
}

let formattedMs = Number.NaN;
let formatted = '';

/** Formats a time as ISO 8601. Caches the last result, because steps of one run often share a millisecond. */
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

/** Parses an ISO time to milliseconds. Caches the last result, because criteria read the same start every step. */
export function msOf(iso: string): number {
  if (iso !== parsedIso) {
    parsed = Date.parse(iso);
    parsedIso = iso;
  }
  return parsed;
}
