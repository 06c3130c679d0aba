import { backoff, type BackoffOptions } from './backoff.ts';

/** Result of a poll: `refused` ends polling until an envelope arrives again. */
export type AskResult = 'news' | 'nothing' | 'refused';

export interface QuietWatchHost {
  /** Whether an envelope is expected, if only the end of the run. */
  readonly isExpecting: () => boolean;
  readonly ask: () => Promise<AskResult>;
}

export interface QuietWatch {
  /** Restarts the wait after an envelope arrived. */
  received(): void;
  /** Checks again whether an envelope is expected. */
  check(): void;
}

/**
 * Polls when no envelope arrives for a while although one is expected: nothing else shows that the last one was lost.
 * Each poll without news doubles the wait; a hidden page polls when it becomes visible again.
 */
export function quietWatch(
  host: QuietWatchHost,
  { minMs = 10_000, maxMs = 120_000, ...rest }: BackoffOptions,
  signal: AbortSignal,
): QuietWatch {
  const waitFor = (asked: number): number => backoff(asked, { minMs, maxMs, ...rest });
  let timer: ReturnType<typeof setTimeout> | null = null;
  let since = performance.now();
  let asked = 0;
  let waitMs = waitFor(0);
  let wasExpecting = false;
  let isAsking = false;
  let isRefused = false;

  const wait = (): void => {
    if (timer === null && !signal.aborted)
      timer = setTimeout(check, Math.max(0, since + waitMs - performance.now()));
  };
  const stopWaiting = (): void => {
    if (timer !== null) clearTimeout(timer);
    timer = null;
  };
  const begin = (count: number): void => {
    since = performance.now();
    asked = count;
    waitMs = waitFor(count);
  };
  const check = (): void => {
    stopWaiting();
    if (signal.aborted || isAsking || isRefused || !host.isExpecting()) return;
    // one timer serves all envelopes in between
    if (performance.now() < since + waitMs) return wait();
    if (!isHidden()) void ask();
  };
  const ask = async (): Promise<void> => {
    isAsking = true;
    const result = await host.ask();
    isAsking = false;
    isRefused = result === 'refused';
    begin(result === 'news' ? 0 : asked + 1);
    if (!isRefused && host.isExpecting()) wait();
  };

  const onVisible = (): void => {
    if (!isHidden()) check();
  };
  const page = typeof document === 'object' ? document : null;
  page?.addEventListener('visibilitychange', onVisible);
  signal.addEventListener('abort', () => {
    stopWaiting();
    page?.removeEventListener('visibilitychange', onVisible);
  });

  return {
    received() {
      isRefused = false;
      // the timer of a long wait would be late
      if (asked > 0) stopWaiting();
      begin(0);
    },
    check() {
      const isExpecting = host.isExpecting();
      if (isExpecting && !wasExpecting) begin(0);
      wasExpecting = isExpecting;
      if (isExpecting && !isAsking && !isRefused) wait();
    },
  };
}

const isHidden = (): boolean =>
  typeof document === 'object' && document.visibilityState === 'hidden';
