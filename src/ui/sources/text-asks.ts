/**
 * Maximum refills without a result: the worker of another process streams nothing here, so wait for the finished
 * message.
 */
const MAX_MISSES = 3;

export interface TextAsks {
  /** Whether a text has a gap that may be requested now. */
  isDue(): boolean;
  /** Records a request and whether the text is whole now. */
  asked(text: string, isWhole: boolean): void;
}

/** Limits refill requests for an unfinished text with a gap: growing waits, and a maximum. */
export function textAsks(
  missing: () => string | null,
  { textMs = 1_000 }: { readonly textMs?: number | undefined },
): TextAsks {
  let text: string | null = null;
  let misses = 0;
  let notBefore = 0;
  return {
    isDue() {
      const wanted = missing();
      if (wanted === null || performance.now() < notBefore) return false;
      return wanted !== text || misses < MAX_MISSES;
    },
    asked(about, isWhole) {
      misses = isWhole ? 0 : about === text ? misses + 1 : 1;
      text = about;
      notBefore = performance.now() + textMs * 4 ** Math.max(0, misses - 1);
    },
  };
}
