import { isLoading } from '../on-demand.ts';
import type { Clock } from '../clock.ts';
import { msOf } from '../clock.ts';

export interface FakeClock extends Clock {
  /** Advances time and fires timers in order; promises settle in between. */
  advance(ms: number): Promise<void>;
  /** Advances time without firing timers, as if the process had slept. */
  jump(ms: number): void;
  /** Moves the wall clock forward, or back if negative: `now()` changes, `monotonic()` and timers do not. */
  jumpWall(ms: number): void;
  monotonic(): number;
  readonly pendingTimers: number;
}

interface Timer {
  readonly at: number;
  readonly fn: () => void;
}

/** Creates a clock that moves only when you advance it. */
export function fakeClock(start: string | number = '2026-01-16T12:00:00.000Z'): FakeClock {
  let now = typeof start === 'number' ? start : msOf(start);
  let ahead = 0;
  const timers = new Set<Timer>();
  return {
    now: () => now + ahead,
    monotonic: () => now,
    after(ms, fn): () => void {
      const timer = { at: now + ms, fn };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    async advance(ms): Promise<void> {
      const until = now + ms;
      await settled();
      for (;;) {
        const due = [...timers].filter((t) => t.at <= until).toSorted((a, b) => a.at - b.at)[0];
        if (!due) break;
        timers.delete(due);
        now = Math.max(now, due.at);
        due.fn();
        await settled();
      }
      now = Math.max(now, until); // a timer may have jumped the clock
      await settled();
    },
    jump(ms): void {
      now += ms;
    },
    jumpWall(ms): void {
      ahead += ms;
    },
    get pendingTimers() {
      return timers.size;
    },
  };
}

/** Waits until every promise that can settle without a timer has settled, also behind modules that are being loaded. */
async function settled(): Promise<void> {
  do await new Promise((resolve) => setTimeout(resolve, 0));
  while (isLoading());
}
