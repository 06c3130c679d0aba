/** Progress of a running call. */
export interface ToolProgress {
  readonly message?: string;
  /** Work done so far, in any unit. */
  readonly progress?: number;
  /** All work, in the same unit. */
  readonly total?: number;
}

/** Minimum milliseconds between two reports of a call that are passed on; those in between are dropped. */
const INTERVAL_MS = 1_000;
const MAX_MESSAGE = 500;

/** Passes on the reports of one call, within bounds: a server may send them without end. */
export class ProgressReports {
  readonly #now: () => number;
  readonly #emit: (progress: ToolProgress) => void;
  #last: number = Number.NEGATIVE_INFINITY;

  constructor(now: () => number, emit: (progress: ToolProgress) => void) {
    this.#now = now;
    this.#emit = emit;
  }

  report(given: ToolProgress): void {
    const now = this.#now();
    if (now - this.#last < INTERVAL_MS) return;
    const { message, progress, total } = given ?? {};
    const known: ToolProgress = {
      ...(typeof message === 'string' &&
        message !== '' && { message: message.slice(0, MAX_MESSAGE) }),
      ...(isAmount(progress) && { progress }),
      ...(isAmount(total) && { total }),
    };
    if (Object.keys(known).length === 0) return;
    this.#last = now;
    this.#emit(known);
  }
}

const isAmount = (value: unknown): value is number =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0;
