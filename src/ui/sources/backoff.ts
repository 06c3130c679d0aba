export interface BackoffOptions {
  /** Milliseconds of the first wait. Default 500. */
  readonly minMs?: number;
  /** Milliseconds of the longest wait. Default 30,000. */
  readonly maxMs?: number;
  /** Jitter, from 0 to 1; a fixed number in tests. */
  readonly random?: () => number;
}

/**
 * Returns the wait before attempt `failures + 1`: doubled each time, with jitter, so that clients do not all
 * reconnect together.
 */
export function backoff(failures: number, options: BackoffOptions = {}): number {
  const { minMs = 500, maxMs = 30_000, random = Math.random } = options;
  const full = Math.min(maxMs, minMs * 2 ** Math.min(failures, 16));
  return Math.round(full / 2 + (full / 2) * random());
}

/** Resolves after the time, or earlier if the signal aborts or the browser fires the event `wakeOn`. */
export const sleep = (ms: number, signal: AbortSignal, wakeOn?: 'online'): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const browser = wakeOn && typeof window === 'object' ? window : null;
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      browser?.removeEventListener('online', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done);
    browser?.addEventListener('online', done);
  });
