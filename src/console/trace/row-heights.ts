import type { TraceRow } from './trace-rows.ts';

const lane = 18;
const head = 36;
const padding = 17;

/** Computed without reading the page, so that thousands of rows need not render. */
export function rowHeight(row: TraceRow, isPhone: boolean): number {
  const chart = (row.step?.bars.length ?? 0) * lane;
  if (isPhone) return padding + head + (chart > 0 ? chart + 4 : 0);
  return padding + Math.max(head, chart);
}

/** Returns the top of each row, and the end of the list. */
export function rowTops(rows: readonly TraceRow[], isPhone: boolean): readonly number[] {
  const tops = [0];
  let top = 0;
  for (const row of rows) {
    top += rowHeight(row, isPhone);
    tops.push(top);
  }
  return tops;
}

/** Returns the rows between two heights: the first, and the one after the last. */
export function rowsBetween(
  tops: readonly number[],
  from: number,
  to: number,
): readonly [first: number, end: number] {
  const count = tops.length - 1;
  const first = Math.max(0, firstAbove(tops, from) - 1);
  return [Math.min(first, count), Math.min(count, firstAbove(tops, to))];
}

/** Returns the index of the first top that is greater than `height`. */
function firstAbove(tops: readonly number[], height: number): number {
  let low = 0;
  let high = tops.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((tops[middle] ?? 0) > height) high = middle;
    else low = middle + 1;
  }
  return low;
}
