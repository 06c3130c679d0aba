import { monotonicOf, type Clock } from '../clock.ts';
import { LimitWindow, type WindowEntry } from './limit-window.ts';

/** Limits of outgoing requests; Infinity means no limit. */
export interface Limits {
  readonly requests: number;
  readonly tokens: number;
  readonly concurrency: number;
}

/** The place of one request in the queue, and then among the requests in flight. */
export class LimitTurn {
  readonly #queue: LimitQueue;
  readonly tokens: number;
  readonly since: number;
  /** Resolves when the wait is over: false if the turn ended before. Null if there was no wait. */
  ready: Promise<boolean> | null = null;
  before: LimitTurn | null = null;
  after: LimitTurn | null = null;
  entry: WindowEntry | null = null;
  state: 'waiting' | 'in_flight' | 'ended' = 'waiting';
  waitedMs = 0;
  #settle: ((isAdmitted: boolean) => void) | null = null;

  constructor(queue: LimitQueue, tokens: number, since: number) {
    this.#queue = queue;
    this.tokens = tokens;
    this.since = since;
  }

  wait(): void {
    this.ready = new Promise((resolve) => {
      this.#settle = resolve;
    });
  }

  /** Ends the wait. */
  settle(isAdmitted: boolean, now: number): void {
    this.waitedMs = now - this.since;
    this.#settle?.(isAdmitted);
  }

  /** Replaces the estimate with the tokens that the request used. */
  used(tokens: number): void {
    this.#queue.used(this, tokens);
  }

  /** Leaves the queue, or ends the request. */
  end(): void {
    this.#queue.end(this);
  }
}

/** Lets requests go in the order of arrival, as soon as the limits allow the first one. */
export class LimitQueue {
  readonly #limits: Limits;
  readonly #clock: Clock;
  readonly #now: () => number;
  readonly #window = new LimitWindow();
  readonly #isCounted: boolean;
  #first: LimitTurn | null = null;
  #last: LimitTurn | null = null;
  #waiting = 0;
  #inFlight = 0;
  #pausedUntil = Number.NEGATIVE_INFINITY;
  #stopTimer: (() => void) | null = null;

  constructor(limits: Limits, clock: Clock) {
    this.#limits = limits;
    this.#clock = clock;
    this.#now = monotonicOf(clock);
    this.#isCounted = limits.requests < Infinity || limits.tokens < Infinity;
  }

  get waiting(): number {
    return this.#waiting;
  }
  get inFlight(): number {
    return this.#inFlight;
  }

  /** Takes a place. The request is in flight at once if nothing waits and the limits allow it. */
  enter(tokens: number): LimitTurn {
    const now = this.#now();
    const turn = new LimitTurn(this, tokens, now);
    if (this.#first === null && this.#delay(tokens, now) === 0) {
      this.#admit(turn, now);
      return turn;
    }
    turn.wait();
    turn.before = this.#last;
    if (this.#last) this.#last.after = turn;
    else this.#first = turn;
    this.#last = turn;
    this.#waiting += 1;
    // behind others, it changes nothing
    if (this.#first === turn) this.#advance(now);
    return turn;
  }

  used({ entry }: LimitTurn, tokens: number): void {
    if (entry) this.#window.correct(entry, tokens, this.#now());
  }

  end(turn: LimitTurn): void {
    const { state } = turn;
    if (state === 'ended') return;
    turn.state = 'ended';
    const now = this.#now();
    if (state === 'in_flight') this.#inFlight -= 1;
    else {
      this.#unlink(turn);
      turn.settle(false, now);
    }
    this.#advance(now);
  }

  /** Lets no request go for a time that the provider asks for. */
  pause(ms: number): void {
    const now = this.#now();
    this.#pausedUntil = Math.max(this.#pausedUntil, now + ms);
    this.#advance(now);
  }

  #admit(turn: LimitTurn, now: number): void {
    turn.state = 'in_flight';
    this.#inFlight += 1;
    if (this.#isCounted) turn.entry = this.#window.add(now, turn.tokens);
  }

  #unlink(turn: LimitTurn): void {
    if (turn.before) turn.before.after = turn.after;
    else this.#first = turn.after;
    if (turn.after) turn.after.before = turn.before;
    else this.#last = turn.before;
    turn.before = turn.after = null;
    this.#waiting -= 1;
  }

  /** Lets requests go from the front, and sets one timer for the next one. */
  #advance(now: number): void {
    this.#stopTimer?.();
    this.#stopTimer = null;
    for (;;) {
      const turn = this.#first;
      if (!turn) return;
      const delay = this.#delay(turn.tokens, now);
      if (delay > 0) {
        if (delay < Infinity) this.#wakeIn(delay);
        return;
      }
      this.#unlink(turn);
      this.#admit(turn, now);
      turn.settle(true, now);
    }
  }

  #wakeIn(ms: number): void {
    this.#stopTimer = this.#clock.after(Math.ceil(ms), () => {
      this.#stopTimer = null;
      this.#advance(this.#now());
    });
  }

  /** Milliseconds until a request may go, as far as known; Infinity until another one ends. */
  #delay(tokens: number, now: number): number {
    const { requests, tokens: most, concurrency } = this.#limits;
    if (this.#inFlight >= concurrency) return Infinity;
    if (this.#pausedUntil > now) return this.#pausedUntil - now;
    if (!this.#isCounted) return 0;
    const window = this.#window;
    window.expire(now);
    if (window.requests < requests && window.tokens + tokens <= most) return 0;
    // 0 if the window is empty, so a request that is larger than the limit goes alone
    return window.msToNext(now);
  }
}
