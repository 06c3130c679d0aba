export interface BackoffOptions {
  /** The first wait. Default 500. */
  readonly minMs?: number;
  /** The longest. Default 30,000. */
  readonly maxMs?: number;
  /** 0 to 1; a fixed number in tests. */
  readonly random?: () => number;
}

/** The wait before try `failures + 1`: doubled each time, and spread, so that a thousand screens do not return at once. */
export function backoff(failures: number, options: BackoffOptions = {}): number {
  const { minMs = 500, maxMs = 30_000, random = Math.random } = options;
  const full = Math.min(maxMs, minMs * 2 ** Math.min(failures, 16));
  return Math.round(full / 2 + (full / 2) * random());
}

/** Resolves after the time, or at once when the signal ends it or the browser reports the event `wakeOn`. */
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
