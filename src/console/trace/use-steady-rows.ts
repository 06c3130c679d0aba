import { useEffect, useLayoutEffect, useRef, type RefObject } from 'react';
import type { TraceRow } from './trace-rows.ts';
import { scrollerOf, seenOf } from './use-rows-window.ts';

type List = RefObject<HTMLElement | null>;

/** Keeps the visible rows in position when earlier steps are added above. */
export function useSteadyRows(
  list: List,
  rows: readonly TraceRow[],
  tops: readonly number[],
): void {
  const firstNumber = rows[0]?.number ?? 0;
  const was = useRef(firstNumber);
  useLayoutEffect(() => {
    const added = rows.findIndex(({ number }) => number === was.current);
    was.current = firstNumber;
    const scroller = scrollerOf(list.current);
    if (added > 0 && scroller) scroller.scrollTop += tops[added] ?? 0;
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- only another first row moves anything
  }, [firstNumber]);
}

/** Scrolls with the newest step while it is visible; does nothing for a reader who has scrolled away. */
export function useNewestInSight(
  list: List,
  tops: readonly number[],
  reveal: ((index: number) => void) | null,
): void {
  const end = tops.at(-1) ?? 0;
  const was = useRef(end);
  useEffect(() => {
    const before = was.current;
    was.current = end;
    const element = list.current;
    if (!element || !reveal || end <= before) return;
    const { above, height } = seenOf(element);
    if (before > above && before <= above + height + 1) reveal(tops.length - 2);
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- only a longer list moves anything
  }, [end]);
}
