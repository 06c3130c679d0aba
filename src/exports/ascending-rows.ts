import type { RowRange } from '../sessions/session-store.ts';

interface Positioned {
  readonly position: number;
}

/** Positions that are read at once. */
const WINDOW = 16;

/**
 * Reads rows in ascending order, a few at a time. Gaps, which pruning leaves, are crossed in windows that double.
 */
export async function* rowsOf<T extends Positioned>(
  count: number,
  rowsIn: (range: Required<Pick<RowRange, 'from' | 'before'>> & RowRange) => Promise<readonly T[]>,
): AsyncGenerator<T> {
  let from = 0;
  let window = WINDOW;
  while (from < count) {
    const before = Math.min(count, from + window);
    // the newest row of a wide window shows whether it is a gap
    const rows = await rowsIn({ from, before, ...(window > WINDOW && { limit: 1 }) });
    if (rows.length > 0 && window > WINDOW) {
      window = WINDOW;
      continue;
    }
    yield* rows;
    from = before;
    window = rows.length === 0 ? window * 2 : WINDOW;
  }
}
