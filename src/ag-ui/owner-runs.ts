/** Counts the open runs of each owner. */
export class OwnerRuns {
  readonly #most: number;
  readonly #counts: Map<string, number> = new Map();

  constructor(most: number) {
    this.#most = most;
  }

  /** Counts one more run; null if the owner has the most already. The returned function counts it no longer. */
  open(owner: string): (() => void) | null {
    const count = this.#counts.get(owner) ?? 0;
    if (count >= this.#most) return null;
    this.#counts.set(owner, count + 1);
    let isOpen = true;
    return () => {
      if (!isOpen) return;
      isOpen = false;
      const left = (this.#counts.get(owner) ?? 1) - 1;
      if (left > 0) this.#counts.set(owner, left);
      else this.#counts.delete(owner);
    };
  }
}
