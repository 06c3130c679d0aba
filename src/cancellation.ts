/** Who ended the work, and why. */
export interface CancelCause {
  /** `handover`: another process continues the work. */
  readonly by: 'user' | 'deadline' | 'handover';
  readonly reason: string;
  /** Who requested it, if known. */
  readonly requestedBy?: string;
  readonly at?: string;
}

/** Work that is notified of a cancellation. */
export interface Cancellable {
  cancelled(cause: CancelCause): void;
}

/** Rejection of raced work when it is cancelled. */
export class Cancelled extends Error {
  override readonly name = 'Cancelled';
  readonly by: CancelCause['by'];
  constructor({ by, reason }: CancelCause) {
    super(reason);
    this.by = by;
  }
}

/**
 * A cancellation that costs nothing until it is read: it creates the `AbortSignal` on first use, and finished work
 * leaves no listener.
 */
export class Cancellation {
  #cause: CancelCause | null = null;
  #controller: AbortController | null = null;
  /** The only waiting work, in most cases; others are in the set. */
  #first: Cancellable | null = null;
  #others: Set<Cancellable> | null = null;

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

  /** Cancels. The first cause counts; later ones are ignored. */
  cancel(cause: CancelCause): void {
    if (this.#cause) return;
    this.#cause = cause;
    this.#controller?.abort(new Cancelled(cause));
    const waiting = [this.#first, ...(this.#others ?? [])];
    this.#first = this.#others = null;
    for (const work of waiting) work?.cancelled(cause);
  }

  /** Notifies `work` on a cancel; immediately if already cancelled. */
  join(work: Cancellable): void {
    if (this.#cause) work.cancelled(this.#cause);
    else if (this.#first === null) this.#first = work;
    else (this.#others ??= new Set()).add(work);
  }

  leave(work: Cancellable): void {
    if (this.#first === work) this.#first = null;
    else this.#others?.delete(work);
  }

  /** Settles like `work`, or rejects with {@link Cancelled} as soon as this is cancelled. */
  race<T>(work: PromiseLike<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const racer: Cancellable = { cancelled: (cause) => reject(new Cancelled(cause)) };
      this.join(racer);
      work.then(
        (value) => {
          this.leave(racer);
          resolve(value);
        },
        (error: unknown) => {
          this.leave(racer);
          reject(error);
        },
      );
    });
  }
}
