/** Who ended the work, and why. */
export interface CancelCause {
  readonly by: 'user' | 'deadline';
  readonly reason: string;
}

/** What raced work rejects with when it is cancelled. */
export class Cancelled extends Error {
  override readonly name = 'Cancelled';
  readonly by: CancelCause['by'];
  constructor({ by, reason }: CancelCause) {
    super(reason);
    this.by = by;
  }
}

/**
 * A cancel switch that costs nothing until somebody looks: the `AbortSignal` is made on first use, and every
 * waiting piece of work leaves no listener behind.
 */
export class Cancellation {
  #cause: CancelCause | null = null;
  #listeners: Set<(cause: CancelCause) => void> | null = null;
  #controller: AbortController | null = null;

  get cause(): CancelCause | null {
    return this.#cause;
  }

  get signal(): AbortSignal {
    if (this.#controller === null) {
      this.#controller = new AbortController();
      if (this.#cause) this.#controller.abort(new Cancelled(this.#cause));
    }
    return this.#controller.signal;
  }

  /** The first cause counts; later ones change nothing. */
  cancel(cause: CancelCause): void {
    if (this.#cause) return;
    this.#cause = cause;
    this.#controller?.abort(new Cancelled(cause));
    const listeners = this.#listeners;
    this.#listeners = null;
    if (listeners) for (const listener of listeners) listener(cause);
  }

  /** Runs `listener` on cancel, at once if that was before; returns how to leave. */
  onCancel(listener: (cause: CancelCause) => void): () => void {
    if (this.#cause) {
      listener(this.#cause);
      return nothing;
    }
    const listeners = (this.#listeners ??= new Set());
    listeners.add(listener);
    return () => listeners.delete(listener);
  }

  /** Settles like `work`, or rejects with {@link Cancelled} as soon as this is cancelled. */
  race<T>(work: Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const leave = this.onCancel((cause) => reject(new Cancelled(cause)));
      work.then(
        (value) => {
          leave();
          resolve(value);
        },
        (error: unknown) => {
          leave();
          reject(error);
        },
      );
    });
  }
}

const nothing = (): void => {};
