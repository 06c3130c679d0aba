import { useCallback, useLayoutEffect, useState, type RefObject } from 'react';

/** Above the card, so that one sees that it begins there. */
const marginPx = 12;

export interface FirstQuestion {
  readonly onScroll: () => void;
  /** The first question lies below what is in sight. */
  readonly isBelow: boolean;
}

/** A reader at the end is taken to the first question of several, and stays there while the others wait below. */
export function useFirstQuestion(
  box: RefObject<HTMLElement | null>,
  /** Changes when other questions are asked; null while there are none. */
  asked: string | null,
  follow: { readonly onScroll: () => void },
): FirstQuestion {
  const [isBelow, setBelow] = useState(false);
  const { onScroll: onFollow } = follow;
  const onScroll = useCallback((): void => {
    onFollow();
    const place = placeIn(box.current);
    setBelow(place !== null && place.top > place.height - 2 * marginPx);
  }, [box, onFollow]);
  useLayoutEffect(() => {
    const log = box.current;
    const place = placeIn(log);
    // in sight or further down: nothing moves
    if (log && asked !== null && place && place.top < 0) log.scrollTop += place.top - marginPx;
    onScroll();
  }, [box, asked, onScroll]);
  return { onScroll, isBelow };
}

/** Where the first card begins, from the upper edge of what is in sight. */
function placeIn(
  box: HTMLElement | null,
): { readonly top: number; readonly height: number } | null {
  const card = box?.querySelector('.onward-approval');
  if (!box || !card) return null;
  const { top, height } = box.getBoundingClientRect();
  return { top: card.getBoundingClientRect().top - top, height };
}
