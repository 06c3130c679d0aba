/** Speed of the demo: 1 is normal, 0 does not wait at all. */
export type Pace = number;

export const DEFAULT_CHUNK_DELAY_MS = 25;

export const paceOf = (chunkDelayMs: number): Pace => chunkDelayMs / DEFAULT_CHUNK_DELAY_MS;

/** Waits, or rejects with the signal's reason as soon as it aborts. An infinite wait ends only that way. */
export function rest(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason as Error);
    const end = (): void => {
      signal.removeEventListener('abort', abort);
      resolve();
    };
    const timer = ms > 0 && Number.isFinite(ms) ? setTimeout(end, ms) : undefined;
    const abort = (): void => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    };
    signal.addEventListener('abort', abort, { once: true });
    if (ms <= 0) end();
  });
}
