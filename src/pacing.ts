/** Milliseconds that paced work may hold the event loop in one turn. */
const SLICE_MS = 8;
/** Milliseconds for each key even if the slice of a turn is used up, so that small reads do not wait for large ones. */
const SMALL_MS = 1;

// read at load time, so that fake timers in a test do not delay real reads
const { setTimeout: later } = globalThis;
const nextTask: (run: () => void) => unknown =
  (globalThis as { setImmediate?: (run: () => void) => unknown }).setImmediate ?? // Node only
  ((run) => later(run, 0));

/** Continuations that wait for a turn, by key. */
const waiting = new Map<string, (() => void)[]>();

/** Milliseconds that paced work used in this turn of the event loop, in all and by key. */
const used = new Map<string, number>();
let usedInAll = 0;
let measuredAt = 0;
let isEndPlanned = false;

/** Measures from here on. What ran before is not paced, or has been charged. */
function measure(): void {
  measuredAt = performance.now();
  if (isEndPlanned) return;
  isEndPlanned = true;
  nextTask(endTurn);
}

/** Charges the time since the last measurement to a key, and returns what the key used in this turn. */
function charge(key: string): number {
  const ms = isEndPlanned ? performance.now() - measuredAt : 0;
  const own = (used.get(key) ?? 0) + ms;
  used.set(key, own);
  usedInAll += ms;
  measure();
  return own;
}

/** Resumes one continuation per turn, its key last in the rotation: much work of one key does not delay another's. */
function endTurn(): void {
  isEndPlanned = false;
  used.clear();
  usedInAll = 0;
  for (const [key, turns] of waiting) {
    const next = turns.shift();
    waiting.delete(key);
    if (turns.length > 0) waiting.set(key, turns);
    measure();
    next?.();
    break;
  }
}

/**
 * Splits long work into pieces: await the returned function between two of them. All paced work of a process, over all
 * functions and requests, shares one slice per turn of the event loop; work beyond the slice waits for a later turn.
 * `key` is the owner of the work. A slice of 0 always waits.
 */
export function pacer(key: string, sliceMs: number = SLICE_MS): () => Promise<void> | undefined {
  measure();
  return () => {
    const own = charge(key);
    if (sliceMs > 0 && (usedInAll < sliceMs || own < SMALL_MS)) return undefined;
    return new Promise((resolve) => {
      const turns = waiting.get(key);
      if (turns) turns.push(resolve);
      else waiting.set(key, [resolve]);
    });
  };
}
