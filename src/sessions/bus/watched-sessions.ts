/** Time after which the watches of a silent node are dropped, in milliseconds. */
const FORGET_MS = 60_000;
/** Most sessions that one node may watch. */
const MOST_OF_A_NODE = 100_000;

/** The nodes that watch each session, according to their `watch` messages. */
export class WatchedSessions {
  /** When each node last named each session. */
  readonly #bySession: Map<string, Map<string, number>> = new Map();
  readonly #counts: Map<string, number> = new Map();
  readonly #now: () => number;
  #sweptAt = 0;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  watch(node: string, sessionIds: readonly string[]): void {
    const now = this.#now();
    for (const sessionId of sessionIds) {
      const nodes = this.#bySession.get(sessionId) ?? new Map<string, number>();
      const count = this.#counts.get(node) ?? 0;
      if (!nodes.has(node)) {
        if (count >= MOST_OF_A_NODE) continue;
        this.#counts.set(node, count + 1);
      }
      this.#bySession.set(sessionId, nodes.set(node, now));
    }
    if (now - this.#sweptAt > FORGET_MS) this.#forget(now);
  }

  unwatch(node: string, sessionIds: readonly string[]): void {
    for (const sessionId of sessionIds) this.#remove(node, sessionId);
  }

  nodesOf(sessionId: string): Iterable<string> {
    return this.#bySession.get(sessionId)?.keys() ?? [];
  }

  isWatched(sessionId: string): boolean {
    return this.#bySession.has(sessionId);
  }

  #remove(node: string, sessionId: string): void {
    const nodes = this.#bySession.get(sessionId);
    if (!nodes?.delete(node)) return;
    if (nodes.size === 0) this.#bySession.delete(sessionId);
    const count = (this.#counts.get(node) ?? 1) - 1;
    if (count === 0) this.#counts.delete(node);
    else this.#counts.set(node, count);
  }

  #forget(now: number): void {
    this.#sweptAt = now;
    for (const [sessionId, nodes] of this.#bySession)
      for (const [node, at] of nodes) if (now - at > FORGET_MS) this.#remove(node, sessionId);
  }
}
