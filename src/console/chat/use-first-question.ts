import { useCallback, useLayoutEffect, useState, type RefObject } from 'react';

/** Pixels above the card, so that its start is visible. */
const marginPx = 12;

export interface FirstQuestion {
  readonly onScroll: () => void;
  /** Whether the first approval is below the visible area. */
  readonly isBelow: boolean;
}

/** Scrolls a reader at the end to the first of several approvals, and stays there. */
export function useFirstQuestion(
  box: RefObject<HTMLElement | null>,
  /** Key that changes with other approvals; null while there are none. */
  asked: string | null,
  follow: { readonly onScroll: () => void },
): FirstQuestion {
  const [isBelow, setBelow] = useState(false);
  const { onScroll: onFollow } = follow;
  const onScroll = useCallback((): void => {
    onFollow();
    const edges = edgesIn(box.current);
    setBelow(edges !== null && edges.top > edges.height - 2 * marginPx);
  }, [box, onFollow]);
  useLayoutEffect(() => {
    const log = box.current;
    const edges = edgesIn(log);
    // visible or further down: do not scroll
    if (log && asked !== null && edges && edges.top < 0) log.scrollTop += edges.top - marginPx;
    onScroll();
  }, [box, asked, onScroll]);
  return { onScroll, isBelow };
}

/** Returns the offset of the first card from the top of the visible area. */
function edgesIn(
  box: HTMLElement | null,
): { readonly top: number; readonly height: number } | null {
  const card = box?.querySelector('.onward-approval, .onward-input-request');
  if (!box || !card) return null;
  const { top, height } = box.getBoundingClientRect();
  return { top: card.getBoundingClientRect().top - top, height };
}
