/** Limits the number of operations that run at the same time. The others wait for their turn, in order. */
export class Turns {
  #free: number;
  readonly #waiting: Set<() => void> = new Set();

  constructor(size: number) {
    this.#free = size;
  }

  /** Takes a turn. Resolves with the function that ends it, or rejects with `late` after `ms` milliseconds. */
  take(ms: number, late: () => Error): Promise<() => void> {
    if (this.#free > 0) {
      this.#free -= 1;
      return Promise.resolve(this.#end());
    }
    return new Promise((resolve, reject) => {
      const start = (): void => {
        clearTimeout(timer);
        resolve(this.#end());
      };
      const timer = setTimeout(() => {
        this.#waiting.delete(start);
        reject(late());
      }, ms);
      this.#waiting.add(start);
    });
  }

  /** Whether no operation has a turn or waits for one. */
  isIdle(size: number): boolean {
    return this.#free === size && this.#waiting.size === 0;
  }

  #end(): () => void {
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      const [next] = this.#waiting;
      if (!next) {
        this.#free += 1;
        return;
      }
      this.#waiting.delete(next);
      next();
    };
  }
}

/** Allows one turn at a time for each key. */
export class KeyedTurns {
  readonly #byKey: Map<string, Turns> = new Map();

  async take(key: string, ms: number, late: () => Error): Promise<() => void> {
    const turns = this.#byKey.get(key) ?? new Turns(1);
    this.#byKey.set(key, turns);
    const forget = (): void => {
      if (turns.isIdle(1) && this.#byKey.get(key) === turns) this.#byKey.delete(key);
    };
    try {
      const end = await turns.take(ms, late);
      return () => {
        end();
        forget();
      };
    } catch (error) {
      forget();
      throw error;
    }
  }
}
