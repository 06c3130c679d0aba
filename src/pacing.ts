/** How long one piece of work may hold the event loop before others get a turn, in milliseconds. */
const SLICE_MS = 8;

// taken at load time, so that a test with fake timers does not hold real reads up
const { setTimeout: later } = globalThis;
const nextTask: (run: () => void) => unknown =
  (globalThis as { setImmediate?: (run: () => void) => unknown }).setImmediate ?? // Node only
  ((run) => later(run, 0));

/** What waits for its turn, by key. */
const waiting = new Map<string, (() => void)[]>();

/** One turn per task of the event loop, the keys in rotation: much work of one key does not hold up another's. */
function giveTurn(): void {
  for (const [key, turns] of waiting) {
    const next = turns.shift();
    // behind the other keys
    waiting.delete(key);
    if (turns.length > 0) waiting.set(key, turns);
    next?.();
    break;
  }
  if (waiting.size > 0) nextTask(giveTurn);
}

/**
 * For work that may be long: ask between two pieces of it, and others run whenever a slice is used up. `key` names on
 * whose behalf it works.
 */
export function pacer(key: string, sliceMs: number = SLICE_MS): () => Promise<void> | undefined {
  let since = performance.now();
  return () => {
    if (performance.now() - since < sliceMs) return undefined;
    return new Promise((resolve) => {
      if (waiting.size === 0) nextTask(giveTurn);
      const turns = waiting.get(key) ?? [];
      turns.push(() => {
        since = performance.now();
        resolve();
      });
      waiting.set(key, turns);
    });
  };
}
