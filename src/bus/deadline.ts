import type { Clock } from '../clock.ts';

/** Settles like the work, or rejects after `ms` milliseconds or with the signal's reason when it aborts. */
export function within<T>(
  work: Promise<T>,
  ms: number,
  clock: Clock,
  signal: AbortSignal,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const settle = (how: () => void): void => {
      cancel();
      signal.removeEventListener('abort', aborted);
      how();
    };
    const aborted = (): void => settle(() => reject(signal.reason));
    const cancel = clock.after(ms, () =>
      settle(() => reject(new Error(`no answer within ${ms} ms`))),
    );
    signal.addEventListener('abort', aborted);
    if (signal.aborted) aborted();
    work.then(
      (value) => settle(() => resolve(value)),
      (error: unknown) => settle(() => reject(error)),
    );
  });
}

/** Resolves after `ms` milliseconds, or immediately when the signal aborts. */
export function pause(ms: number, clock: Clock, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const settle = (): void => {
      cancel();
      signal.removeEventListener('abort', settle);
      resolve();
    };
    const cancel = clock.after(ms, settle);
    signal.addEventListener('abort', settle);
    if (signal.aborted) settle();
  });
}

/** Resolves with whether the work settles within `ms` milliseconds, with any outcome. */
export function settledWithin(work: Promise<unknown>, ms: number): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), ms);
    const settled = (): void => {
      clearTimeout(timer);
      resolve(true);
    };
    work.then(settled, settled);
  });
}
