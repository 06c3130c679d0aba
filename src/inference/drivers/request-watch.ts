import { monotonicOf, type Clock } from '../../clock.ts';
import { invalidOption } from '../../errors/agent-error.ts';
import type { ErrorReport } from '../../errors/error-record.ts';

/** How long a model call may be silent, in milliseconds. The agent's own time limit applies too. */
export interface Patience {
  /**
   * Until the first chunk of a streamed answer, default 120,000; until the start of a whole answer, default 600,000.
   */
  readonly firstTokenTimeoutMs?: number;
  /** Between two chunks of an answer. Default 60,000. */
  readonly idleTimeoutMs?: number;
}

/** Timeouts with every default applied. */
export interface ReadyPatience {
  readonly streamMs: number;
  readonly wholeMs: number;
  readonly idleMs: number;
}

/** Checks timeouts and applies the defaults. `Infinity` never times out. */
export function patienceOf(options: Patience): ReadyPatience {
  const { firstTokenTimeoutMs: first, idleTimeoutMs: idle } = options;
  for (const [name, ms] of Object.entries({ firstTokenTimeoutMs: first, idleTimeoutMs: idle }))
    if (ms !== undefined && !(typeof ms === 'number' && ms > 0))
      throw invalidOption(name, ms, 'milliseconds above 0');
  return { streamMs: first ?? 120_000, wholeMs: first ?? 600_000, idleMs: idle ?? 60_000 };
}

/**
 * Watches one request: follows the caller's signal, and ends the request if nothing arrives for too long. In both
 * cases the connection is closed immediately, and no listener stays on the caller's signal.
 */
export class RequestWatch {
  readonly #controller = new AbortController();
  readonly #caller: AbortSignal;
  readonly #clock: Clock;
  readonly #monotonic: () => number;
  readonly #idleMs: number;
  readonly #follow: () => void = () => this.#end();
  #close: (() => void) | null = null;
  #limitMs: number;
  #since: number;
  #hasBegun = false;
  #isListening = true;
  #silence: ErrorReport | null = null;
  #stopTimer: () => void = () => {};

  constructor(caller: AbortSignal, firstMs: number, idleMs: number, clock: Clock) {
    this.#caller = caller;
    this.#clock = clock;
    this.#monotonic = monotonicOf(clock);
    this.#idleMs = idleMs;
    this.#limitMs = firstMs;
    this.#since = this.#monotonic();
    if (caller.aborted) this.#controller.abort(caller.reason);
    else caller.addEventListener('abort', this.#follow, { once: true });
    this.#arm(firstMs);
  }

  /** Signal of the request itself. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }
  get isOver(): boolean {
    return this.#controller.signal.aborted;
  }
  /** Whether the caller ended it. */
  get isCancelled(): boolean {
    return this.#caller.aborted && this.#silence === null;
  }
  /** Error if the request timed out. */
  get silence(): ErrorReport | null {
    return this.#silence;
  }

  /** Starts the wait for the next chunk. Time that the reader uses between two chunks does not count. */
  listen(): void {
    if (this.#hasBegun) this.#since = this.#monotonic();
    this.#isListening = true;
  }

  /** Records a chunk; the idle limit applies from the first chunk of the answer. */
  received(isAnswer: boolean): void {
    this.#isListening = false;
    if (!isAnswer || this.#hasBegun) return;
    this.#hasBegun = true;
    this.#limitMs = this.#idleMs;
    this.#since = this.#monotonic();
    this.#stopTimer();
    this.#arm(this.#idleMs);
  }

  /** Settles like `work`, or rejects as soon as the request is over, even if the work ignores the signal. */
  race<T>(work: PromiseLike<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const { signal } = this;
      const over = (): void => reject(signal.reason as Error); // reported by its caller
      if (signal.aborted) over();
      else signal.addEventListener('abort', over, { once: true });
      work.then(resolve, reject);
    });
  }

  /** Calls `close` if the request ends early. */
  onOver(close: () => void): void {
    this.#close = close;
    if (this.isOver) close();
  }

  release(): void {
    this.#stopTimer();
    this.#caller.removeEventListener('abort', this.#follow);
    this.#close = null;
  }

  /** Sets one timer for many chunks. When it fires, it checks how long the request was silent. */
  #arm(ms: number): void {
    if (!Number.isFinite(ms)) return;
    this.#stopTimer = this.#clock.after(ms, () => {
      const left = this.#isListening
        ? this.#limitMs - (this.#monotonic() - this.#since)
        : this.#limitMs;
      if (left > 0) return this.#arm(left);
      this.#silence = {
        type: 'timeout',
        code: 'idle_timeout',
        message: `The model sent nothing${this.#hasBegun ? ' more' : ''} for ${this.#limitMs} ms.`,
      };
      this.#end();
    });
  }

  #end(): void {
    this.#stopTimer();
    this.#controller.abort(this.#silence ? new Error(this.#silence.message) : this.#caller.reason);
    this.#close?.();
  }
}
