import { useCallback, useLayoutEffect, useState, type RefObject } from 'react';
import { rowsBetween } from './row-heights.ts';

/** Number of rows up to which all render. */
const maxRendered = 100;
/** Pixels outside of the visible area in which rows render too. */
const margin = 600;
/** Height to assume before anything has a size. */
const defaultHeight = 900;

export interface RowsWindow {
  readonly first: number;
  readonly end: number;
  /** Scrolls a row into view, no further than needed; `tops` are those of the rows. */
  readonly reveal: (index: number) => void;
}

/** Returns which rows to render, from the scroll position. */
export function useRowsWindow(
  list: RefObject<HTMLElement | null>,
  tops: readonly number[],
  stickyHeight: number,
): RowsWindow {
  const isWhole = tops.length - 1 <= maxRendered;
  const [range, setRange] = useState<readonly [number, number]>(() =>
    rowsBetween(tops, 0, defaultHeight),
  );
  const measure = useCallback(() => {
    const element = list.current;
    if (!element || isWhole) return;
    const { above, height } = seenOf(element);
    const [first, end] = rowsBetween(tops, above - margin, above + height + margin);
    setRange((was) => (was[0] === first && was[1] === end ? was : [first, end]));
  }, [list, tops, isWhole]);

  useLayoutEffect(() => {
    measure();
    const scroller = scrollerOf(list.current);
    if (!scroller) return undefined;
    scroller.addEventListener('scroll', measure, { passive: true });
    const observer = new ResizeObserver(measure);
    observer.observe(scroller);
    return () => {
      scroller.removeEventListener('scroll', measure);
      observer.disconnect();
    };
  }, [list, measure]);

  const reveal = useCallback(
    (index: number) => {
      const element = list.current;
      const scroller = scrollerOf(element);
      if (!element || !scroller) return;
      const { above, height } = seenOf(element);
      const [top, bottom] = [tops[index] ?? 0, tops[index + 1] ?? 0];
      if (top < above + stickyHeight) scroller.scrollTop += top - above - stickyHeight;
      else if (bottom > above + height) scroller.scrollTop += bottom - above - height;
      measure();
    },
    [list, tops, stickyHeight, measure],
  );
  return { first: isWhole ? 0 : range[0], end: isWhole ? tops.length - 1 : range[1], reveal };
}

/** Returns how much of the list is above the visible area, and its height. */
export function seenOf(list: HTMLElement): { readonly above: number; readonly height: number } {
  const scroller = scrollerOf(list);
  if (!scroller) return { above: 0, height: defaultHeight };
  const above = scroller.getBoundingClientRect().top - list.getBoundingClientRect().top;
  return { above, height: scroller.clientHeight || defaultHeight };
}

export function scrollerOf(element: HTMLElement | null): HTMLElement | null {
  for (let at = element?.parentElement ?? null; at; at = at.parentElement)
    if (/auto|scroll/.test(getComputedStyle(at).overflowY)) return at;
  return document.documentElement;
}
