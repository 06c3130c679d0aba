import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Clock } from '../clock.ts';
import { LimitQueue, type Limits, type LimitTurn } from './limit-queue.ts';
import { WINDOW_MS } from './limit-window.ts';

/** A clock whose timers fire while it is moved, and that counts its calls. */
class StepClock implements Clock {
  #at = 0;
  #timers = new Set<{ readonly at: number; readonly fn: () => void }>();
  calls = 0;

  now(): number {
    throw new Error('The wall clock was read.');
  }
  monotonic(): number {
    this.calls += 1;
    return this.#at;
  }
  after(ms: number, fn: () => void): () => void {
    this.calls += 1;
    const timer = { at: this.#at + ms, fn };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }
  get timers(): number {
    return this.#timers.size;
  }
  move(ms: number): void {
    const until = this.#at + ms;
    for (;;) {
      const due = [...this.#timers]
        .filter(({ at }) => at <= until)
        .toSorted((a, b) => a.at - b.at)[0];
      if (!due) break;
      this.#timers.delete(due);
      this.#at = due.at;
      due.fn();
    }
    this.#at = until;
  }
}

/** A queue whose turns are watched: when each was sent, and in which order. */
class Watched {
  readonly clock = new StepClock();
  readonly turns: LimitTurn[] = [];
  readonly sent: { readonly turn: number; readonly at: number }[] = [];
  readonly queue: LimitQueue;
  readonly limits: Limits;

  constructor(limits: Limits) {
    this.limits = limits;
    this.queue = new LimitQueue(limits, this.clock);
  }

  enter(tokens: number): void {
    this.turns.push(this.queue.enter(tokens));
  }
}

/** Checks what must hold after every operation. */
function check({ turns, queue, clock, sent, limits }: Watched): void {
  const inFlight = turns.filter(({ state }) => state === 'in_flight').length;
  const waiting = turns.filter(({ state }) => state === 'waiting').length;
  expect(queue.inFlight).toBe(inFlight);
  expect(queue.waiting).toBe(waiting);
  expect(inFlight).toBeLessThanOrEqual(limits.concurrency);
  expect(clock.timers, 'one timer, and only for requests that wait').toBeLessThanOrEqual(
    Math.min(1, waiting),
  );
  const known = new Set(sent.map(({ turn }) => turn));
  turns.forEach((turn, i) => {
    const wasSent = turn.entry !== null || turn.state === 'in_flight';
    if (wasSent && !known.has(i)) sent.push({ turn: i, at: turn.since + turn.waitedMs });
  });
  const first = turns.findIndex(({ state }) => state === 'waiting');
  const behind = turns.slice(first).some(({ state }) => state === 'in_flight');
  expect(first >= 0 && behind, 'a later request went first').toBe(false);
}

/** Checks that no 60 seconds have more requests than the limit. */
function checkWindows({ sent, limits }: Watched): void {
  const times = sent.map(({ at }) => at).toSorted((a, b) => a - b);
  const { requests } = limits;
  times.forEach((at, i) => {
    const later = times[i + requests];
    if (later !== undefined) expect(later - at).toBeGreaterThanOrEqual(WINDOW_MS);
  });
}

const operation = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('enter' as const), n: fc.nat(300) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('end' as const), n: fc.nat() }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('move' as const), n: fc.nat(40_000) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('used' as const), n: fc.nat(2_000) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('pause' as const), n: fc.nat(20_000) }) },
);
const limit = (max: number) => fc.oneof(fc.constant(Infinity), fc.integer({ min: 1, max }));

describe('a queue with limits', () => {
  it('keeps every limit and the order, and lets every request end, in any order of events', () => {
    fc.assert(
      fc.property(
        fc.record({ requests: limit(6), tokens: limit(200), concurrency: limit(4) }),
        fc.array(operation, { maxLength: 60 }),
        (limits, operations) => {
          const world = new Watched(limits);
          const { queue, clock, turns } = world;
          for (const { do: what, n } of operations) {
            if (what === 'enter') world.enter(n);
            else if (what === 'move') clock.move(n);
            else if (what === 'pause') queue.pause(n);
            else if (turns.length > 0) {
              const turn = turns[n % turns.length];
              if (what === 'end') turn?.end();
              else turn?.used(n);
            }
            check(world);
          }
          // whatever waits is sent at last, if requests end
          for (let i = 0; queue.waiting + queue.inFlight > 0; i++) {
            expect(i).toBeLessThan(1_000);
            for (const turn of turns) if (turn.state === 'in_flight') turn.end();
            check(world);
            clock.move(WINDOW_MS);
            check(world);
          }
          checkWindows(world);
          expect(clock.timers).toBe(0);
        },
      ),
      { numRuns: 300 },
    );
  });

  it('never has more estimated tokens in a minute than the limit, except for one large request', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(150), { maxLength: 40 }), (sizes) => {
        const world = new Watched({ requests: Infinity, tokens: 100, concurrency: Infinity });
        for (const size of sizes) world.enter(size);
        for (let i = 0; world.queue.waiting > 0; i++) {
          expect(i).toBeLessThan(1_000);
          world.clock.move(WINDOW_MS);
        }
        check(world);
        const sent = world.sent.map(({ turn, at }) => ({ at, tokens: sizes[turn] ?? 0 }));
        for (const { at } of sent) {
          const inWindow = sent.filter((one) => one.at >= at && one.at < at + WINDOW_MS);
          const tokens = inWindow.reduce((sum, one) => sum + one.tokens, 0);
          expect(tokens <= 100 || (inWindow[0]?.tokens ?? 0) > 100).toBe(true);
        }
      }),
    );
  });

  it.each([
    [{ concurrency: 1, requests: Infinity, tokens: Infinity }, 'concurrency'],
    [{ concurrency: Infinity, requests: 10_000, tokens: 50_000 }, 'requests and tokens'],
  ])('takes steps in proportion to 10,000 waiting requests (limits %j: %s)', (limits, _what) => {
    const count = 10_000;
    const steps = (n: number): number => {
      const { queue, clock } = new Watched(limits);
      const turns = Array.from({ length: n }, () => queue.enter(10));
      for (let i = n - 1; i > n / 2; i -= 2) turns[i]?.end(); // aborted in the middle
      for (let i = 0; queue.waiting + queue.inFlight > 0; i++) {
        for (const turn of turns.slice(i * 100, (i + 1) * 100)) turn.end();
        if (i % 10 === 0) clock.move(WINDOW_MS);
      }
      return clock.calls;
    };
    expect(steps(count)).toBeLessThan(12 * steps(count / 10));
  });
});
